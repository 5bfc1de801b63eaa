"""Orders: in which sequence the tiles of a level are taken.

An order is a bijection between positions and the index tuples of a box. All orders have one interface,
:class:`Order`; loop nests and nests of other orders are here, the others in files of their own.

Source: tile-language.md section 4.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from pantile.errors import MappingError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Index = tuple[int, ...]


class Order(ABC):
    """A sequence of index tuples, each of which stands in it once.

    Attributes:
        loops: Names of the numbers of an index tuple.
        counts: How many values each of them takes, from 0.
    """

    __slots__ = ()

    loops: tuple[str, ...]
    counts: tuple[int, ...]

    @property
    def size(self) -> int:
        """Index tuples in the order; unlike :func:`len`, not limited to the machine's word."""
        return prod(self.counts)

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[Index]:
        return map(self.at, range(self.size))

    @abstractmethod
    def at(self, position: int) -> Index:
        """Return the index tuple at a position.

        Raises:
            IndexError: If the order is shorter, or the position negative.
        """

    @abstractmethod
    def position(self, index: Index) -> int:
        """Return the place of an index tuple in the order; the inverse of :meth:`at`.

        Raises:
            IndexError: If the order has no such index tuple.
        """

    def refuse_position(self, position: int) -> None:
        """Raise IndexError for a position that is outside."""
        if not 0 <= position < self.size:
            raise IndexError(f"no position {position} in {self._named()}")

    def refuse_index(self, index: Index) -> None:
        """Raise IndexError for an index tuple that is outside the counts."""
        if len(index) != len(self.counts) or not all(
            0 <= i < count for i, count in zip(index, self.counts, strict=True)
        ):
            raise IndexError(f"no index {tuple(index)} in {self._named()}")

    def _named(self) -> str:
        return f"a {type(self).__name__.lower()} of {self.counts}"


def check_loops(loops: tuple[str, ...], counts: tuple[int, ...], needed: int | None = None) -> None:
    """Refuse names and counts that no order can have; *needed* is how many loops it takes.

    Raises:
        MappingError: If the loops are too many or few, or have not one count each that is not negative.
    """
    if len(counts) != len(loops):
        raise MappingError(f"{len(counts)} counts for {len(loops)} loops")
    for loop, count in zip(loops, counts, strict=True):
        if count < 0:
            raise MappingError(f"loop {loop} cannot run {count} times")
    if needed is not None and len(loops) != needed:
        raise MappingError(f"this order takes {needed} loops, got {len(loops)} ({', '.join(loops)})")


def check_bijection(
    indices: Iterable[Index], counts: tuple[int, ...], existing: Iterable[Index] | None = None
) -> None:
    """Go through a sequence once, and refuse it if it misses, repeats or invents an index tuple.

    The index tuples to be taken are those of *counts*, or *existing* where some of them stand for no tile.

    Raises:
        MappingError: With up to three index tuples of each fault.
    """
    expected = tuple(product(*map(range, counts)) if existing is None else existing)
    known, seen = set(expected), set[Index]()
    unknown, again = [], []
    for index in indices:
        if index not in known:
            unknown.append(index)
        elif index in seen:
            again.append(index)
        seen.add(index)
    missing = [index for index in expected if index not in seen]
    faults = (("not among them", unknown), ("taken again", again), ("missing", missing))
    said = [
        f"{', '.join(map(str, found[:3]))}{', …' if len(found) > 3 else ''} {what}"
        for what, found in faults
        if found
    ]
    if said:
        raise MappingError(
            f"an order must take each of {len(expected)} indices within {counts} once: {'; '.join(said)}"
        )


@dataclass(frozen=True, slots=True)
class Nest(Order):
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
        check_loops(self.loops, self.counts)

    def __iter__(self) -> Iterator[Index]:
        return product(*map(range, self.counts))

    @property
    def strides(self) -> tuple[int, ...]:
        """How far one step of each loop moves the position."""
        return tuple(prod(self.counts[depth + 1 :]) for depth in range(len(self.counts)))

    def position(self, index: Index) -> int:
        """Return the place of an index tuple in the order; the inverse of :meth:`at`.

        Raises:
            IndexError: If the nest has no such index tuple.
        """
        self.refuse_index(index)
        return sum(i * stride for i, stride in zip(index, self.strides, strict=True))

    def at(self, position: int) -> Index:
        """Return the index tuple at a position.

        >>> Nest(("n", "m", "k"), (2, 2, 2)).at(7)
        (1, 1, 1)

        Raises:
            IndexError: If the nest is shorter.
        """
        self.refuse_position(position)
        index = []
        for stride in self.strides:
            index.append(position // stride)
            position %= stride
        return tuple(index)


@dataclass(frozen=True, slots=True)
class Nested(Order):
    """Orders over different loops, one inside the other, outermost first."""

    parts: tuple[Order, ...]
    loops: tuple[str, ...]
    counts: tuple[int, ...]

    @classmethod
    def of(cls, parts: tuple[Order, ...]) -> Order:
        """Return the nest of *parts*; of one, that part.

        Raises:
            MappingError: If two parts share a loop.
        """
        if len(parts) == 1:
            return parts[0]
        loops = tuple(loop for part in parts for loop in part.loops)
        if len(set(loops)) != len(loops):
            raise MappingError(f"each loop may run once in a nest, got {', '.join(loops)}")
        return cls(parts, loops, tuple(count for part in parts for count in part.counts))

    def __iter__(self) -> Iterator[Index]:
        for indices in product(*self.parts):
            yield tuple(number for index in indices for number in index)

    def at(self, position: int) -> Index:
        """Return the index tuple at a position."""
        self.refuse_position(position)
        index: Index = ()
        for part in reversed(self.parts):
            position, inner = divmod(position, part.size)
            index = part.at(inner) + index
        return index

    def position(self, index: Index) -> int:
        """Return the place of an index tuple."""
        self.refuse_index(index)
        total, since = 0, 0
        for part in self.parts:
            until = since + len(part.loops)
            total = total * part.size + part.position(tuple(index[since:until]))
            since = until
        return total
