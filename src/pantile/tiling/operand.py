"""Tiles of data: what a compute tile reads or adds into.

Source: tile-language.md section 3.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

from pantile.errors import MappingError
from pantile.tiling.lattice import count_shadow

if TYPE_CHECKING:
    from collections.abc import Hashable

    from pantile.tiling.tiling import Tiling
    from pantile.workload.dtypes import Dtype


@dataclass(frozen=True, slots=True)
class OperandTile:
    """One tile of one operand: a path of index tuples over the dimensions that the operand has.

    Compute tiles whose operand tiles are equal share that data: reuse in time, multicast in space. Equality
    looks at operand, path and tiling, not at the location.

    Attributes:
        tiling: The tiling it belongs to.
        operand: Name of the operand, e.g. ``"X"``.
        path: Indices on the first ``len(path)`` levels.
        start: First element in each dimension of the operand.
        stop: End in each of them, clipped.
        location: Where the copy is that is meant, if that is said.
    """

    tiling: Tiling = field(hash=False)
    operand: str
    path: tuple[tuple[int, ...], ...]
    start: tuple[int, ...] = field(compare=False)
    stop: tuple[int, ...] = field(compare=False)
    location: Hashable = field(default=None, compare=False)

    @property
    def dimensions(self) -> tuple[str, ...]:
        """Dimensions of the operand, in the order of its axes."""
        return tuple(self.tiling.operands[self.operand])

    @property
    def level(self) -> str:
        """Name of the level whose index selects the tile; empty for the whole operand."""
        return self.tiling.levels[len(self.path) - 1].name if self.path else ""

    @property
    def size(self) -> tuple[int, ...]:
        """Actual element counts, of a block that is moved whole even where a domain masks some elements."""
        return tuple(stop - start for start, stop in zip(self.start, self.stop, strict=True))

    @property
    def box(self) -> tuple[range, ...]:
        """Element range in each dimension of the operand."""
        return tuple(map(range, self.start, self.stop))

    @property
    def elements(self) -> int:
        """Elements of the block."""
        return prod(self.size)

    @property
    def used_elements(self) -> int:
        """Elements of the block that some point of the iteration space reads or adds into."""
        if not self.tiling.inequalities:
            return self.elements
        return count_shadow(self.tiling.inequalities, self._slab, self.tiling.operand_axes[self.operand])

    @property
    def work(self) -> int:
        """Points of the iteration space that read the block or add into it.

        A copy of an output is complete when that many were added, in whatever order.
        """
        return self.tiling.count(self._slab)

    @property
    def _slab(self) -> tuple[tuple[int, int], ...]:
        """The block's ranges, and those of the whole space along the dimensions that the operand lacks."""
        ranges = [(0, total) for total in self.tiling.total]
        for axis, start, stop in zip(
            self.tiling.operand_axes[self.operand], self.start, self.stop, strict=True
        ):
            ranges[axis] = (start, stop)
        return tuple(ranges)

    def bytes(self, dtype: Dtype) -> int:
        """Return the bytes of the block; small elements share a byte, and the last byte is whole."""
        return -(-self.elements * dtype.bits // 8)

    def contains(self, other: OperandTile) -> bool:
        """Whether *other* is this tile or lies inside it.

        Raises:
            MappingError: If the two are of different operands or tilings.
        """
        if self.operand != other.operand or self.tiling != other.tiling:
            raise MappingError(f"{self} and {other} are not of one operand of one tiling")
        return other.path[: len(self.path)] == self.path

    def disjoint(self, other: OperandTile) -> bool:
        """Whether the two share no element.

        Raises:
            MappingError: As :meth:`contains`.
        """
        return not (self.contains(other) or other.contains(self))

    def __str__(self) -> str:
        named = zip(self.tiling.levels, self.path, strict=False)
        parts = " ".join(f"{level.name} {index}" for level, index in named)
        at = f" at {self.location}" if self.location is not None else ""
        return f"{self.operand}{' ' if parts else ''}{parts}{at}"
