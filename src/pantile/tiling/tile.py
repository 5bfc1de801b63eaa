"""Tiles: boxes of an iteration space, named by their path of indices."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from pantile.errors import MappingError

if TYPE_CHECKING:
    from pantile.tiling.tiling import Tiling


@dataclass(frozen=True)
class Tile:
    """One tile: a path of index tuples, one per level from the outermost.

    Attributes:
        tiling: The tiling it belongs to.
        path: Indices on the first ``len(path)`` levels; the empty path is the whole space.

    Raises:
        MappingError: If an index is outside its level, or the tile would be empty.
    """

    tiling: Tiling
    path: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        if len(self.path) > len(self.tiling.levels):
            raise MappingError(f"a path of {len(self.path)} indices in {len(self.tiling.levels)} levels")
        for level, index in zip(self.tiling.levels, self.path, strict=False):
            if len(index) != len(level.factors) or not all(
                0 <= i < factor for i, factor in zip(index, level.factors, strict=False)
            ):
                raise MappingError(
                    f"level {level.name!r} has no tile {index}; its counts are {level.factors}"
                )
        if min(self.size) <= 0:
            raise MappingError(f"tile {self.path} starts at {self.start}, outside {self.tiling.total}")

    @property
    def start(self) -> tuple[int, ...]:
        """First element in each dimension."""
        sizes = self.tiling.nominal_sizes
        return tuple(
            sum(index[axis] * sizes[depth][axis] for depth, index in enumerate(self.path))
            for axis in range(len(self.tiling.dimensions))
        )

    @property
    def nominal_size(self) -> tuple[int, ...]:
        """Planned element counts, the same for all tiles of a level."""
        if not self.path:
            return self.tiling.total
        return self.tiling.nominal_sizes[len(self.path) - 1]

    @property
    def size(self) -> tuple[int, ...]:
        """Actual element counts: the nominal ones, clipped at every enclosing tile and the total."""
        stops = list(self.tiling.total)
        start = [0] * len(stops)
        for depth, index in enumerate(self.path):
            for axis, nominal in enumerate(self.tiling.nominal_sizes[depth]):
                start[axis] += index[axis] * nominal
                stops[axis] = min(stops[axis], start[axis] + nominal)
        return tuple(stop - first for first, stop in zip(start, stops, strict=True))

    @property
    def box(self) -> tuple[range, ...]:
        """Element range in each dimension."""
        return tuple(range(first, first + size) for first, size in zip(self.start, self.size, strict=True))

    @property
    def volume(self) -> int:
        """Points of the iteration space inside the tile."""
        return prod(self.size)

    def contains(self, other: Tile) -> bool:
        """Whether *other* is this tile or one of its descendants."""
        return self.tiling == other.tiling and other.path[: len(self.path)] == self.path

    def disjoint(self, other: Tile) -> bool:
        """Whether no element belongs to both tiles; two tiles of one tiling nest or are disjoint."""
        return not (self.contains(other) or other.contains(self))

    def child(self, index: tuple[int, ...]) -> Tile:
        """Return the tile *index* of the next level inside this one."""
        return Tile(self.tiling, (*self.path, index))
