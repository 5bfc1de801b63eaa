"""Orders: in which sequence the tiles of a level are taken."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from pantile.errors import MappingError

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Nest:
    """A loop nest over index counts, outermost loop first.

    Attributes:
        loops: Names of the loops, outermost first.
        counts: Iterations of each loop; 0 makes the nest empty.

    Raises:
        MappingError: If there is not one count per loop, or a count is negative.
    """

    loops: tuple[str, ...]
    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.counts) != len(self.loops):
            raise MappingError(f"{len(self.counts)} counts for {len(self.loops)} loops")
        for loop, count in zip(self.loops, self.counts, strict=True):
            if count < 0:
                raise MappingError(f"loop {loop} cannot run {count} times")

    @property
    def size(self) -> int:
        """Index tuples in the nest; unlike :func:`len`, not limited to the machine's word."""
        return prod(self.counts)

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return product(*map(range, self.counts))

    @property
    def strides(self) -> tuple[int, ...]:
        """How far one step of each loop moves the position."""
        return tuple(prod(self.counts[depth + 1 :]) for depth in range(len(self.counts)))

    def position(self, index: tuple[int, ...]) -> int:
        """Return the place of an index tuple in the order; the inverse of :meth:`at`.

        Raises:
            IndexError: If the nest has no such index tuple.
        """
        if len(index) != len(self.counts) or not all(
            0 <= i < count for i, count in zip(index, self.counts, strict=True)
        ):
            raise IndexError(f"no index {index} in a nest of {self.counts}")
        return sum(i * stride for i, stride in zip(index, self.strides, strict=True))

    def at(self, position: int) -> tuple[int, ...]:
        """Return the index tuple at a position.

        >>> Nest(("n", "m", "k"), (2, 2, 2)).at(7)
        (1, 1, 1)

        Raises:
            IndexError: If the nest is shorter.
        """
        if not 0 <= position < self.size:
            raise IndexError(f"no position {position} in a nest of {self.counts}")
        index = []
        for stride in self.strides:
            index.append(position // stride)
            position %= stride
        return tuple(index)
