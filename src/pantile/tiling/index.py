"""Levels of a tiling and the indices of their tiles, by name.

An index is called by its dimension, or by the dimension followed by the level as the seed writes it: that
of t on level S is ``S.t``, ``S.ts`` or, where that is unique, ``ts``.

Source: tile-language.md sections 3, 4, 8 and 9.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.errors import MappingError, suggestion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pantile.tiling.tile import Tile
    from pantile.tiling.tiling import Tiling


@dataclass(frozen=True, slots=True)
class IndexSpace:
    """What an index tuple ranges over.

    Attributes:
        names: Dimension of each of its numbers; none where they are nameless counts.
        counts: How many values each number takes.
        depth: Position of the level that it belongs to, -1 where there is none.
        parent: The tile that the level cuts here, where that is known.
    """

    names: tuple[str, ...]
    counts: tuple[int, ...]
    depth: int = -1
    parent: Tile | None = None

    @property
    def is_masked(self) -> bool:
        """Whether some indices may stand for no tile, because a domain restricts the parent."""
        return self.parent is not None and self.parent.masked

    def exists(self, values: Sequence[int]) -> bool:
        """Whether a tile with these numbers exists; numbers that the space lacks may be any."""
        if self.parent is None or not self.parent.masked:
            return True
        tiling, at = self.parent.tiling, dict(zip(self.names, values, strict=True))
        box = []
        for axis, name in enumerate(tiling.dimensions):
            first, stop = self.parent.start[axis], self.parent.stop[axis]
            start, end = tiling.piece(self.depth, axis, at[name]) if name in at else (0, stop - first)
            box.append((first + start, min(first + end, stop)))
        return tiling.count(tuple(box)) > 0


class LevelIndex(tuple[int, ...]):
    """One index tuple of a level; equal to the plain tuple of its numbers.

    Attributes:
        space: What it ranges over.
    """

    space: IndexSpace

    def __new__(cls, values: Sequence[int], space: IndexSpace = IndexSpace((), ())) -> LevelIndex:
        """Return the tuple of *values*, which numbers of *space* they are being remembered."""
        self = tuple.__new__(cls, values)
        self.space = space
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """Dimension of each number, in the order in which the numbers stand."""
        return self.space.names

    def first(self, dimension: str) -> bool:
        """Whether no tile precedes this one along a dimension, its other indices being equal."""
        axis = self._axis(dimension)
        return not self._exists_beside(axis, range(self[axis]))

    def last(self, dimension: str) -> bool:
        """Whether no tile follows this one along a dimension, its other indices being equal."""
        axis = self._axis(dimension)
        return not self._exists_beside(axis, range(self[axis] + 1, self.space.counts[axis]))

    def _exists_beside(self, axis: int, others: range) -> bool:
        if not self.space.is_masked:
            return len(others) > 0
        return any(self.space.exists((*self[:axis], other, *self[axis + 1 :])) for other in others)

    def _axis(self, dimension: str) -> int:
        if dimension not in self.names:
            raise MappingError(
                f"index {tuple(self)} has no dimension {dimension!r}", mend=suggestion(dimension, self.names)
            )
        return self.names.index(dimension)

    def __or__(self, other: LevelIndex) -> LevelIndex:
        """Return both indices as one: those of *other*, an inner loop over further dimensions, come last.

        Raises:
            MappingError: If the two belong to different levels or share a dimension.
        """
        mine, its = self.space, other.space
        if (mine.depth, mine.parent) != (its.depth, its.parent) or set(mine.names) & set(its.names):
            raise MappingError(
                f"indices over {', '.join(mine.names)} and {', '.join(its.names)} do not make one: "
                "they must be of one level and share no dimension"
            )
        space = IndexSpace(mine.names + its.names, mine.counts + its.counts, mine.depth, mine.parent)
        return LevelIndex((*self, *other), space)

    def __getnewargs__(self) -> tuple[tuple[int, ...], IndexSpace]:
        return tuple(self), self.space


def arranged(index: Sequence[int], dimensions: tuple[str, ...]) -> tuple[int, ...]:
    """Return the numbers of an index in the order of *dimensions*, whatever order its loops have.

    Raises:
        MappingError: If it has names, but not exactly those of the dimensions.
    """
    if not isinstance(index, LevelIndex) or index.space.names in ((), dimensions):
        return tuple(index)
    if len(index) != len(dimensions) or set(index.names) != set(dimensions):
        missing = [name for name in dimensions if name not in index.names]
        raise MappingError(
            f"index {tuple(index)} over {', '.join(index.names)} lacks {', '.join(missing)}",
            mend="join it with the index of the other loops: outer | inner",
        )
    at = dict(zip(index.names, index, strict=True))
    return tuple(at[name] for name in dimensions)


@dataclass(frozen=True, slots=True)
class LevelRef:
    """A level of a tiling; ``level.t`` or ``level.tt`` is its index of dimension t."""

    tiling: Tiling
    name: str

    @property
    def depth(self) -> int:
        """Position among the levels, 0 for the outermost."""
        return self.tiling.depth(self.name)

    @property
    def factors(self) -> tuple[int, ...]:
        """Pieces per dimension."""
        return self.tiling.levels[self.depth].factors

    @property
    def indices(self) -> tuple[IndexRef, ...]:
        """Its index of every dimension, in the tiling's order."""
        return tuple(IndexRef(self, dimension) for dimension in self.tiling.dimensions)

    def index(self, name: str) -> IndexRef:
        """Return the index called *name*.

        Raises:
            MappingError: If no dimension is called so.
        """
        dimension = _dimension(self.tiling, self.name, name)
        if dimension is None:
            raise MappingError(
                f"level {self.name!r} has no index {name!r}", mend=suggestion(name, self.tiling.dimensions)
            )
        return IndexRef(self, dimension)

    def __getattr__(self, name: str) -> IndexRef:
        if (
            name in ("tiling", "name")
            or name.startswith("__")
            or _dimension(self.tiling, self.name, name) is None
        ):
            raise AttributeError(f"level {self.name!r} has no index {name!r}")
        return self.index(name)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class IndexRef:
    """The index of one dimension on one level."""

    level: LevelRef
    dimension: str

    @property
    def count(self) -> int:
        """Pieces along the dimension."""
        return self.level.factors[self.level.tiling.axis(self.dimension)]

    def __str__(self) -> str:
        return f"{self.level.name}.{self.dimension}"


def find_index(tiling: Tiling, text: str) -> IndexRef:
    """Return the index that a text names: ``S.t``, ``S.ts`` or ``ts``.

    Raises:
        MappingError: If it names none, or a short form names several.
    """
    level, dot, name = text.strip().rpartition(".")
    if dot:
        return tiling.level(level.strip()).index(name.strip())
    found = [
        IndexRef(LevelRef(tiling, each.name), dimension)
        for each in tiling.levels
        for dimension in tiling.dimensions
        if name == dimension + each.name.lower()
    ]
    if len(found) != 1:
        known = [f"{each.name}.{dimension}" for each in tiling.levels for dimension in tiling.dimensions]
        meaning = " and ".join(map(str, found)) or "no index"
        raise MappingError(f"{text.strip()!r} names {meaning}", mend=f"write one of {', '.join(known)}")
    return found[0]


def _dimension(tiling: Tiling, level: str, name: str) -> str | None:
    """Return the dimension that an index of a level is called by, ``None`` where it is no name of one."""
    stem = name.removesuffix(level.lower())
    return next((each for each in (name, stem) if each in tiling.dimensions), None)
