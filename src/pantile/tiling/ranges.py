"""``Range``: the tiles of a level in an order, as a program goes through them.

    for d in Range(tiling.D): ...                                  # all dimensions, the last one fastest
    for t in Range(tiling.T.o, tiling.T.t, tiling.T.i): ...        # another permutation, outermost first
    for t in Range(swizzle(tiling.T.t, tiling.T.o, window=4), tiling.T.i): ...
    for t in Range(tiling.T, within=tile): ...                     # only the tiles that exist inside this one
    for tt in Range(2): ...                                        # plain numbers

Source: tile-language.md section 4.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

from pantile.errors import MappingError
from pantile.tiling.explicit import Explicit
from pantile.tiling.hilbert import Hilbert
from pantile.tiling.index import IndexRef, IndexSpace, LevelIndex, LevelRef, arranged
from pantile.tiling.morton import Morton
from pantile.tiling.orders import Index, Nest, Nested, Order
from pantile.tiling.swizzle import Diagonal, Swizzle, Tail
from pantile.tiling.tile import Tile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


@runtime_checkable
class HasRange(Protocol):
    """A value that says which numbers it runs through, such as a streaming equation."""

    def range(self) -> range:
        """Return the numbers."""
        ...


@dataclass(frozen=True, slots=True)
class Part:
    """Some indices of a level, and the order in which they are taken.

    Attributes:
        indices: The indices, all of one level.
        make: Makes the order from loop names and counts.
        listed: The sequence, in the order of *indices*, where it is given as a list.
    """

    indices: tuple[IndexRef, ...]
    make: Callable[[tuple[str, ...], tuple[int, ...]], Order] = Nest
    listed: tuple[Index, ...] | None = None


def nest(*indices: IndexRef | LevelRef) -> Part:
    """Take the last index fastest."""
    return Part(_indices(indices))


def swizzle(rows: IndexRef, columns: IndexRef, *, window: int, tail: Tail = "short") -> Part:
    """Take windows of *window* rows column by column, every second one from the far end."""
    return Part((rows, columns), partial(Swizzle, window=window, tail=tail))


def diagonal(rows: IndexRef, columns: IndexRef) -> Part:
    """Take the diagonals one after the other, around the edges."""
    return Part((rows, columns), Diagonal)


def morton(*indices: IndexRef | LevelRef) -> Part:
    """Take the indices by their bits in turn (Z-order)."""
    return Part(_indices(indices), Morton)


def hilbert(rows: IndexRef, columns: IndexRef) -> Part:
    """Take a walk that stays close to where it was."""
    return Part((rows, columns), Hilbert)


def listed(indices: LevelRef | Sequence[IndexRef], sequence: Iterable[Sequence[int]]) -> Part:
    """Take the index tuples of a list, which must hold each that exists once."""
    refs = indices.indices if isinstance(indices, LevelRef) else _indices(indices)
    dimensions = tuple(ref.dimension for ref in refs)
    return Part(refs, listed=tuple(arranged(index, dimensions) for index in sequence))


class Range:
    """The index tuples of a level, or part of one, in an order.

    Each is a :class:`LevelIndex`. Of the outermost level, and of the level below the tile *within*, only
    tiles that exist are taken; another level is gone through with its full factors. Indices given as a set
    are taken in the tiling's order. One plain count, a Python range or a streaming equation gives plain
    numbers.

    Attributes:
        order: The sequence as a bijection.
        space: What the index tuples range over.

    Raises:
        MappingError: If the parts belong to several levels, share a dimension, or are no parts.
    """

    __slots__ = ("_numbers", "order", "space")

    order: Order
    space: IndexSpace

    def __init__(
        self,
        *parts: LevelRef | IndexRef | Part | AbstractSet[IndexRef] | int | range | HasRange,
        within: Tile | None = None,
    ) -> None:
        self._numbers = _numbers(parts)
        if self._numbers is not None or (parts and all(isinstance(part, int) for part in parts)):
            counts = (
                (len(self._numbers),)
                if self._numbers is not None
                else tuple(part for part in parts if isinstance(part, int))
            )
            self.order = Nest(tuple(f"loop {at}" for at in range(len(counts))), counts)
            self.space = IndexSpace((), counts)
            return
        named = [_part(part) for part in parts]
        refs = [ref for part in named for ref in part.indices]
        if not refs:
            raise MappingError("a range needs a level, indices of one, or counts; got nothing")
        for ref in refs:
            if ref.level != refs[0].level:
                raise MappingError(f"a range runs over one level, got {refs[0]} and {ref}")
        self.space = _space(refs[0].level, tuple(ref.dimension for ref in refs), within)
        self.order = _order(named, self.space)

    def __len__(self) -> int:
        return len(self.order)

    def __iter__(self) -> Iterator[Any]:
        if self._numbers is not None:
            return iter(self._numbers)
        space = self.space
        return (LevelIndex(index, space) for index in self.order)

    def __contains__(self, index: object) -> bool:
        if self._numbers is not None:
            return index in self._numbers
        try:
            self.position(cast("Sequence[int]", index))
        except (IndexError, TypeError, MappingError):
            return False
        return True

    def at(self, position: int) -> Any:
        """Return the index tuple, or the number, at a position.

        Raises:
            IndexError: If the range is shorter.
        """
        index = self.order.at(position)
        return LevelIndex(index, self.space) if self._numbers is None else self._numbers[position]

    def position(self, index: Sequence[int] | int) -> int:
        """Return the place of an index tuple, or of a number; the inverse of :meth:`at`.

        Raises:
            IndexError: If the range has no such index.
        """
        if self._numbers is not None:
            if not isinstance(index, int) or index not in self._numbers:
                raise IndexError(f"no {index} in {self._numbers}")
            return self._numbers.index(index)
        return self.order.position(arranged(cast("Sequence[int]", index), self.space.names))


def _numbers(parts: Sequence[object]) -> range | None:
    """Return the plain numbers that a single part stands for, if it does."""
    if len(parts) != 1 or isinstance(parts[0], LevelRef | IndexRef | Part | AbstractSet):
        return None
    if isinstance(parts[0], int):
        return range(parts[0])
    if isinstance(parts[0], range):
        return parts[0]
    return parts[0].range() if isinstance(parts[0], HasRange) else None


def _part(part: object) -> Part:
    if isinstance(part, Part):
        return part
    if isinstance(part, LevelRef | IndexRef):
        return nest(part)
    if isinstance(part, AbstractSet) and all(isinstance(each, IndexRef) for each in part):
        return nest(*sorted(part, key=lambda ref: ref.level.tiling.axis(ref.dimension)))
    raise MappingError(
        f"a range runs over a level, indices of one, or counts, got {part!r}",
        mend="write Range(tiling.D), Range(tiling.D.t, tiling.D.o) or Range(2, 4)",
    )


def _indices(parts: Sequence[object]) -> tuple[IndexRef, ...]:
    """Return the indices that levels and indices name, a level meaning all of its own."""
    found: list[IndexRef] = []
    for part in parts:
        if isinstance(part, LevelRef):
            found += part.indices
        elif isinstance(part, IndexRef):
            found.append(part)
        else:
            raise MappingError(f"expected a level or an index such as tiling.T.o, got {part!r}")
    return tuple(found)


def _space(level: LevelRef, names: tuple[str, ...], within: Tile | None) -> IndexSpace:
    """Return what the indices range over, with the tile that the level cuts where that is known."""
    tiling, depth = level.tiling, level.depth
    if within is not None and (within.tiling != tiling or len(within.path) != depth):
        above = tiling.levels[depth - 1].name if depth else "whole space"
        raise MappingError(f"level {level.name!r} cuts tiles of level {above!r}, not {within}")
    if within is None and depth == 0 and min(tiling.total, default=1) > 0:
        within = Tile(tiling)
    if within is not None:
        pieces = tiling.pieces(depth, within.size)
    else:
        pieces = tiling.pieces(0, tiling.total) if depth == 0 else level.factors
    return IndexSpace(names, tuple(pieces[tiling.axis(name)] for name in names), depth, within)


def _order(parts: Sequence[Part], space: IndexSpace) -> Order:
    counts = dict(zip(space.names, space.counts, strict=True))
    made: list[Order] = []
    for part in parts:
        names = tuple(ref.dimension for ref in part.indices)
        sizes = tuple(counts[name] for name in names)
        if part.listed is None:
            made.append(part.make(names, sizes))
            continue
        own = IndexSpace(names, sizes, space.depth, space.parent)
        existing = tuple(filter(own.exists, product(*map(range, sizes)))) if own.is_masked else None
        made.append(Explicit(names, sizes, part.listed, existing))
    order = Nested.of(tuple(made))
    return Explicit.part_of(order, space.exists) if space.is_masked else order
