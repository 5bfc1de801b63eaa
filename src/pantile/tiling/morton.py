"""Morton order (Z-order) of boxes of any size."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from pantile.tiling.orders import Index, Order, check_loops

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Morton(Order):
    """Indices by their bits in turn, the first loop's bit above the last's.

    A box whose counts are no power of two takes the order of the enclosing power of two, and leaves out
    what is outside.

    Raises:
        MappingError: If there is not one count per loop.
    """

    loops: tuple[str, ...]
    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        check_loops(self.loops, self.counts)

    def _quarters(self, corner: Index, side: int) -> Iterator[tuple[Index, int]]:
        """Return the halves along every loop of a cube, in order, with how many indices each has inside."""
        half = side // 2
        for bits in product((0, 1), repeat=len(self.counts)):
            at = tuple(first + bit * half for first, bit in zip(corner, bits, strict=True))
            ends = zip(at, self.counts, strict=True)
            yield at, prod(max(0, min(half, count - first)) for first, count in ends)

    def _side(self) -> int:
        return 1 << (max(self.counts, default=1) - 1).bit_length() if self.size else 1

    def at(self, position: int) -> Index:
        """Return the index tuple at a position.

        >>> [Morton(("m", "n"), (2, 3)).at(position) for position in range(6)]
        [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (1, 2)]
        """
        self.refuse_position(position)
        corner, side = (0,) * len(self.counts), self._side()
        while side > 1:
            for at, inside in self._quarters(corner, side):
                if position < inside:
                    corner = at
                    break
                position -= inside
            side //= 2
        return corner

    def position(self, index: Index) -> int:
        """Return the place of an index tuple."""
        self.refuse_index(index)
        corner, side, total = (0,) * len(self.counts), self._side(), 0
        while side > 1:
            half = side // 2
            for at, inside in self._quarters(corner, side):
                if all(first <= i < first + half for i, first in zip(index, at, strict=True)):
                    corner = at
                    break
                total += inside
            side = half
        return total
