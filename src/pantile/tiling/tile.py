"""Tiles: boxes of an iteration space, named by their path of indices.

Source: tile-language.md section 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from operator import add, ge
from typing import TYPE_CHECKING, cast

from pantile.errors import MappingError, suggestion
from pantile.tiling.index import IndexSpace, LevelIndex, arranged
from pantile.tiling.operand import OperandTile

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from pantile.tiling.tiling import Tiling

Index = tuple[int, ...]
Path = tuple[Index, ...]

_set = object.__setattr__


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class Tile:
    """One tile: a path of index tuples, one per level from the outermost.

    Two tiles are equal if path, location and tiling are.

    Attributes:
        tiling: The tiling it belongs to.
        path: Indices on the first ``len(path)`` levels; the empty path is the whole space.
        location: Where the copies of its operands are, if that is said.
        start: First element in each dimension.
        stop: End in each dimension: the nominal one, clipped at every enclosing tile and the total.
    """

    tiling: Tiling
    path: Path
    location: Hashable
    start: Index
    stop: Index

    def __init__(
        self,
        tiling: Tiling,
        path: Sequence[int] | Sequence[Sequence[int]] = (),
        *,
        location: Hashable = None,
        size: Sequence[int] | None = None,
    ) -> None:
        """Name a tile by its path, or by the one index tuple of the outermost level.

        *size* follows from the tiling; where it is given, it must be the nominal or the actual one.

        Raises:
            MappingError: If an index is outside its level, the tile would be empty, or *size* is another.
        """
        one_index = isinstance(path, LevelIndex) or (len(path) > 0 and isinstance(path[0], int))
        indices = cast("Sequence[Sequence[int]]", (path,) if one_index else path)
        if len(indices) > len(tiling.levels):
            raise MappingError(f"a path of {len(indices)} indices in {len(tiling.levels)} levels")
        start, stop = (0,) * len(tiling.dimensions), tiling.total
        _refuse_empty(tiling, (), start, stop)
        arranged_path: Path = ()
        for index in indices:
            arranged_path = (*arranged_path, arranged(index, tiling.dimensions))
            start, stop = _inside(tiling, arranged_path, start, stop)
        _fill(self, tiling, arranged_path, location, start, stop)
        if size is not None and tuple(size) not in (self.nominal_size, self.size):
            raise MappingError(
                f"size of {self} is {self.size}, nominally {self.nominal_size}, got {tuple(size)}",
                mend="leave the size out: it follows from the tiling",
            )

    @property
    def level(self) -> str:
        """Name of the level whose index selects the tile; empty for the whole space."""
        return self.tiling.levels[len(self.path) - 1].name if self.path else ""

    @property
    def nominal_size(self) -> Index:
        """Planned element counts, the same for all tiles of a level that is cut evenly."""
        if not self.path:
            return self.tiling.total
        depth = len(self.path) - 1
        level, sizes = self.tiling.levels[depth], self.tiling.nominal_sizes[depth]
        if not level.bounds:
            return sizes
        return tuple(
            bounds[i + 1] - bounds[i] if bounds else size
            for i, bounds, size in zip(self.path[-1], level.bounds, sizes, strict=True)
        )

    @property
    def size(self) -> Index:
        """Actual element counts."""
        return tuple([stop - start for start, stop in zip(self.start, self.stop, strict=True)])

    @property
    def box(self) -> tuple[range, ...]:
        """Element range in each dimension."""
        return tuple(map(range, self.start, self.stop))

    @property
    def volume(self) -> int:
        """Points of the iteration space inside the tile."""
        if not self.tiling.inequalities:
            return prod(self.size)
        return self.tiling.count(tuple(zip(self.start, self.stop, strict=True)))

    @property
    def masked(self) -> bool:
        """Whether some points of the box lie outside the domain."""
        return bool(self.tiling.inequalities) and self.volume < prod(self.size)

    @property
    def parent(self) -> Tile | None:
        """The tile of the level above, ``None`` above the whole space."""
        return Tile(self.tiling, self.path[:-1], location=self.location) if self.path else None

    def child(self, index: Sequence[int]) -> Tile:
        """Return the tile *index* of the next level inside this one, at the same location.

        Raises:
            MappingError: If there is no such tile, or no further level.
        """
        if len(self.path) == len(self.tiling.levels):
            raise MappingError(f"{self} is an element: there is no further level of {len(self.path)}")
        path = (*self.path, arranged(index, self.tiling.dimensions))
        start, stop = _inside(self.tiling, path, self.start, self.stop)
        inner = object.__new__(Tile)
        _fill(inner, self.tiling, path, self.location, start, stop)
        return inner

    def children(self) -> Iterator[Tile]:
        """Return the tiles of the next level inside this one that exist, the last dimension fastest."""
        if len(self.path) == len(self.tiling.levels):
            return
        pieces = self.tiling.pieces(len(self.path), self.size)
        space = IndexSpace(self.tiling.dimensions, pieces, len(self.path), self)
        for index in product(*map(range, pieces)):
            if space.exists(index):
                yield self.child(index)

    def at(self, location: Hashable) -> Tile:
        """Return the same tile at another location."""
        return Tile(self.tiling, self.path, location=location)

    def operand(self, name: str) -> OperandTile:
        """Return the tile of data of one operand: the path with the dimensions dropped that it lacks.

        Raises:
            MappingError: If the tiling has no such operand.
        """
        operands = self.tiling.operands
        if name not in operands:
            raise MappingError(
                f"no operand {name!r}",
                mend=suggestion(name, operands) if operands else "give the tiling its sum, e.g. 'ti,oi->to'",
            )
        axes = self.tiling.operand_axes[name]
        path = tuple([tuple([index[axis] for axis in axes]) for index in self.path])
        start = tuple([self.start[axis] for axis in axes])
        return OperandTile(
            self.tiling, name, path, start, tuple([self.stop[axis] for axis in axes]), self.location
        )

    def held(self, name: str) -> OperandTile:
        """Return the operand tile whose copy serves this tile: the nearest one that is moved.

        Where the tiling names the levels at which an operand is moved (``X=("D", "S")``), a tile of another
        level uses the copy of the tile around it.
        """
        tile, moved = self, dict(self.tiling.moves).get(name)
        while moved is not None and tile.path and tile.level not in moved:
            tile = Tile(self.tiling, tile.path[:-1], location=self.location)
        return tile.operand(name)

    def __getattr__(self, name: str) -> OperandTile:
        """Return the operand tile of that name, e.g. ``tile.Y``."""
        if name.startswith("_") or name in self.__slots__ or name not in self.tiling.operands:
            raise AttributeError(f"a tile has no {name!r}")
        return self.operand(name)

    def contains(self, other: Tile) -> bool:
        """Whether every element of *other* belongs to this tile.

        Raises:
            MappingError: If the two overlap without one containing the other, which no single tiling does, or
                belong to different spaces.
        """
        if self.tiling is other.tiling or self.tiling == other.tiling:
            return other.path[: len(self.path)] == self.path
        self._refuse_overlap(other)
        return self._spans(other)

    def disjoint(self, other: Tile) -> bool:
        """Whether no element belongs to both tiles; two tiles of one tiling nest or are disjoint.

        Raises:
            MappingError: As :meth:`contains`.
        """
        return not (self.contains(other) or other.contains(self))

    def _spans(self, other: Tile) -> bool:
        starts = all(mine <= its for mine, its in zip(self.start, other.start, strict=True))
        return starts and all(its <= mine for mine, its in zip(self.stop, other.stop, strict=True))

    def _refuse_overlap(self, other: Tile) -> None:
        mine, its = self.tiling, other.tiling
        if (mine.dimensions, mine.total, mine.domain) != (its.dimensions, its.total, its.domain):
            raise MappingError(f"{self} and {other} belong to different spaces")
        apart = any(
            max(starts) >= min(stops)
            for starts, stops in zip(
                zip(self.start, other.start, strict=True),
                zip(self.stop, other.stop, strict=True),
                strict=True,
            )
        )
        if not (apart or self._spans(other) or other._spans(self)):
            raise MappingError(f"{self} and {other} overlap, but neither contains the other")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tile):
            return NotImplemented
        same = self.path == other.path and self.location == other.location
        return same and (self.tiling is other.tiling or self.tiling == other.tiling)

    def __hash__(self) -> int:
        return hash((self.path, self.location))

    def __repr__(self) -> str:
        return f"Tile({self})"

    def __str__(self) -> str:
        """Print the path level by level, and the location.

        ``D (0, 1, 2) T (1, 0, 0) at Core(0, 1)``
        """
        named = zip(self.tiling.levels, self.path, strict=False)
        parts = " ".join(f"{level.name} {index}" for level, index in named) or "whole space"
        return f"{parts} at {self.location}" if self.location is not None else parts


def _fill(tile: Tile, tiling: Tiling, path: Path, location: Hashable, start: Index, stop: Index) -> None:
    """Give a new tile its attributes."""
    _set(tile, "tiling", tiling)
    _set(tile, "path", path)
    _set(tile, "location", location)
    _set(tile, "start", start)
    _set(tile, "stop", stop)


def _inside(tiling: Tiling, path: Path, start: Index, stop: Index) -> tuple[Index, Index]:
    """Return start and stop of the tile at the end of a path, from those of the tile around it.

    This runs once for every tile that a program names, hence no loop in Python.
    """
    first, end = tiling.offset(len(path) - 1, path[-1])
    ends = tuple(map(add, start, end))
    start = tuple(map(add, start, first))
    if tiling.is_even:
        return start, ends
    stop = tuple(map(min, ends, stop))
    if tiling.inequalities or any(map(ge, start, stop)):
        _refuse_empty(tiling, path, start, stop)
    return start, stop


def _refuse_empty(tiling: Tiling, path: Path, start: Index, stop: Index) -> None:
    mend = "go through the tiles that exist: Range(level, within=tile)"
    for dimension, first, end in zip(tiling.dimensions, start, stop, strict=True):
        if first >= end:
            raise MappingError(
                f"tile {path} does not exist: along {dimension} it starts at {first}, its parent ends "
                f"at {end}",
                mend=mend,
            )
    if tiling.inequalities and tiling.count(tuple(zip(start, stop, strict=True))) == 0:
        raise MappingError(
            f"tile {path} does not exist: it has no point of the domain {str(tiling.domain)!r}", mend=mend
        )
