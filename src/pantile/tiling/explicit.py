"""Orders given by a list of index tuples."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pantile.tiling.orders import Index, Order, check_bijection, check_loops

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True, slots=True)
class Explicit(Order):
    """The order of a list, which must hold every index tuple once.

    Attributes:
        loops: Names of the numbers of an index tuple.
        counts: How many values each of them takes.
        indices: The sequence.
        existing: The index tuples to be taken; ``None`` where those are all of the counts.

    Raises:
        MappingError: If an index tuple is missing, stands twice or does not exist; names which.
    """

    loops: tuple[str, ...]
    counts: tuple[int, ...]
    indices: tuple[Index, ...]
    existing: tuple[Index, ...] | None = field(default=None, compare=False, repr=False)
    places: dict[Index, int] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_loops(self.loops, self.counts)
        indices = tuple(tuple(index) for index in self.indices)
        object.__setattr__(self, "indices", indices)
        object.__setattr__(self, "places", {index: place for place, index in enumerate(indices)})
        check_bijection(indices, self.counts, self.existing)

    @classmethod
    def part_of(cls, order: Order, exists: Callable[[Index], bool]) -> Explicit:
        """Return the index tuples of an order for which *exists* holds, in its sequence."""
        kept = tuple(index for index in order if exists(index))
        return cls(order.loops, order.counts, kept, kept)

    @property
    def size(self) -> int:
        """Index tuples in the order."""
        return len(self.indices)

    def __iter__(self) -> Iterator[Index]:
        return iter(self.indices)

    def at(self, position: int) -> Index:
        """Return the index tuple at a position."""
        self.refuse_position(position)
        return self.indices[position]

    def position(self, index: Index) -> int:
        """Return the place of an index tuple."""
        if tuple(index) not in self.places:
            raise IndexError(f"no index {tuple(index)} in {self._named()}")
        return self.places[tuple(index)]
