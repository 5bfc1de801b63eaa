"""Where every tile that a program names lies, as columns.

A tile's box is the last of a chain: one box per depth, from the whole space inwards. Depth *d* is the tile
that the first *d* indices of its path select; rows beyond a tile's own depth repeat its own box.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from pantile.errors import ProgramError
from pantile.program.language.places import Any, Place, storage
from pantile.tiling.cut import nominal_sizes
from pantile.tiling.steps import begins_reduction, ends_reduction

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from pantile.program.language.recorder import Recording
    from pantile.tiling.tiling import Tiling

Ints = np.ndarray[tuple[int, ...], np.dtype[np.int64]]

ALL = -1
"""Stands for all input operands of a compute tile: its bundle."""

ANYWHERE = -2
"""The location of a tile at ``Any``."""


@dataclass(frozen=True, slots=True, eq=False)
class Operands:
    """The tensors of a program: inputs in order, the output last.

    Attributes:
        names: What the user calls them.
        axes: Axes of the iteration space that each has, in the order of its own dimensions.
        element_bytes: Width of one element.
        dtypes: Element types.
    """

    names: tuple[str, ...]
    axes: tuple[tuple[int, ...], ...]
    element_bytes: tuple[int, ...]
    dtypes: tuple[str, ...]

    @property
    def output(self) -> int:
        """Position of the output."""
        return len(self.names) - 1

    @property
    def inputs(self) -> range:
        """Positions of the inputs."""
        return range(len(self.names) - 1)


@dataclass(frozen=True, slots=True, eq=False)
class Geometry:
    """Boxes of tiles.

    Attributes:
        tiling: The tiling that they belong to.
        operands: The tensors.
        depth: Indices in each tile's path; shape ``(tiles,)``.
        lo: First element; shape ``(levels + 1, dimensions, tiles)``.
        hi: One past the last element; same shape.
        operand: The operand that a tile names alone, or :data:`ALL`.
        place: The memory that its location means, as a number of the recording, or -1, or :data:`ANYWHERE`.
        number: Position among all tiles of the tiling: the whole, then each level, the last index fastest.
        points: Points of the iteration space in the tile.
    """

    tiling: Tiling
    operands: Operands
    depth: Ints
    lo: Ints
    hi: Ints
    operand: Ints
    place: Ints
    number: Ints
    points: Ints
    _flat: dict[tuple[int, int], Ints] = field(default_factory=dict)

    def keys(self, operand: int, tiles: Ints, depth: int, places: Ints) -> Ints:
        """Return numbers that tell the operand tiles at *depth* and *places* apart.

        Args:
            operand: Which operand, or :data:`ALL` for compute tiles.
            tiles: Tiles of at least that depth.
            depth: The depth of the tile that contains each.
            places: Where it is.
        """
        flat = self._flat.get((operand, depth))
        if flat is None:
            axes = self.operands.axes[operand] if operand != ALL else range(len(self.tiling.dimensions))
            flat = np.zeros(len(self.depth), np.int64)
            for axis in axes:
                flat = flat * (self.tiling.total[axis] + 1) + self.lo[depth, axis]
            flat *= PLACE_LIMIT
            self._flat[operand, depth] = flat
        return np.asarray(flat[tiles] + places)

    def sizes(self, operand: int, tiles: Ints, depth: Ints | int) -> Ints:
        """Return the bytes of the operand tiles at *depth* that contain *tiles*."""
        size: Ints = np.full(len(tiles), self.operands.element_bytes[operand], np.int64)
        for axis in self.operands.axes[operand]:
            size *= self.hi[depth, axis, tiles] - self.lo[depth, axis, tiles]
        return size

    def first_step(self, tiles: Ints) -> np.ndarray:
        """Whether each tile begins its reductions; always where there is none."""
        if self.tiling.inequalities:
            return self._in_domain(begins_reduction, tiles)
        first = np.ones(len(tiles), bool)
        for axis in self._reductions():
            first &= self.lo[-1, axis, tiles] == 0
        return first

    def last_step(self, tiles: Ints) -> np.ndarray:
        """Whether each tile ends its reductions."""
        if self.tiling.inequalities:
            return self._in_domain(ends_reduction, tiles)
        last = np.ones(len(tiles), bool)
        for axis in self._reductions():
            last &= self.hi[-1, axis, tiles] == self.tiling.total[axis]
        return last

    def _in_domain(
        self, holds: Callable[[Tiling, Sequence[int], Sequence[int]], bool], tiles: Ints
    ) -> np.ndarray:
        """Ask every distinct box of *tiles* once."""
        ends = np.concatenate([self.lo[-1][:, tiles], self.hi[-1][:, tiles]])
        boxes, which = np.unique(ends, axis=1, return_inverse=True)
        half = len(ends) // 2
        answers = [holds(self.tiling, box[:half], box[half:]) for box in boxes.T.tolist()]
        return np.array(answers, bool)[which.reshape(-1)]

    def _reductions(self) -> list[int]:
        kept = self.operands.axes[self.operands.output]
        return [axis for axis in range(len(self.tiling.dimensions)) if axis not in kept]


PLACE_LIMIT = 1 << 18
"""Places that a program may name."""


def geometry_of(recording: Recording, operands: Operands) -> Geometry:
    """Return the boxes of every tile that *recording* names.

    Raises:
        ProgramError: If the space is too large to number its elements, or there are too many places.
    """
    tiling = recording.tiling
    if len(recording.places) >= PLACE_LIMIT or prod(t + 1 for t in tiling.total) >= 2**62 // PLACE_LIMIT:
        raise ProgramError(
            f"{len(recording.places)} places and {prod(tiling.total)} points are too many to tell apart",
            mend=f"stay below {PLACE_LIMIT} places and 10^13 points",
        )
    paths = recording.paths
    depth = np.array(list(map(len, paths)), np.int64)
    operand = np.array(recording.operand, np.int64)
    index = _indices(paths, depth, operand, operands, len(tiling.levels))
    lo, hi = _boxes(tiling, depth, index)
    place_of = [_memory(recording, location) for location in recording.locations]
    return Geometry(
        tiling,
        operands,
        depth,
        lo,
        hi,
        operand,
        np.array(place_of, np.int64)[np.array(recording.location, np.int64)],
        _numbers(tiling, depth, index),
        _points(tiling, lo[-1], hi[-1]),
    )


def _memory(recording: Recording, location: Hashable) -> int:
    """Return the number of the memory that a tile's location means."""
    if location is None:
        return -1
    assert isinstance(location, Place)
    return ANYWHERE if location == Any else recording.place(storage(location))


def _indices(
    paths: Sequence[tuple[tuple[int, ...], ...]], depth: Ints, operand: Ints, operands: Operands, levels: int
) -> Ints:
    """Return the paths as one array; shape ``(levels, dimensions, tiles)``.

    It is 0 beyond each path, and along dimensions that an operand lacks.
    """
    dimensions = 1 + max(axis for axes in operands.axes for axis in axes)
    index = np.zeros((levels, dimensions, len(paths)), np.int64)
    for each, deep in sorted(set(zip(operand.tolist(), depth.tolist(), strict=True))):
        axes = range(dimensions) if each == ALL else operands.axes[each]
        mine = np.flatnonzero((operand == each) & (depth == deep))
        chosen = [paths[at] for at in mine.tolist()]
        flat = np.fromiter(
            chain.from_iterable(chain.from_iterable(chosen)), np.int64, len(mine) * deep * len(axes)
        ).reshape(len(mine), deep, len(axes))
        for level in range(deep):
            for at, axis in enumerate(axes):
                index[level, axis, mine] = flat[:, level, at]
    return index


def _boxes(tiling: Tiling, depth: Ints, index: Ints) -> tuple[Ints, Ints]:
    levels, dimensions, count = index.shape
    lo = np.zeros((levels + 1, dimensions, count), np.int64)
    hi = np.zeros_like(lo)
    shallow = [np.flatnonzero(depth <= at) for at in range(levels)]
    for axis in range(dimensions):
        nominal = nominal_sizes(tiling.levels, axis)
        hi[0, axis] = tiling.total[axis]
        for at, level in enumerate(tiling.levels):
            chosen = index[at, axis]
            bounds = np.array(level.bounds_of(axis) or [0], np.int64)
            if len(bounds) > 1:
                start, stop = bounds[chosen], bounds[chosen + 1]
            else:
                start = chosen * nominal[at]
                stop = start + nominal[at]
            lo[at + 1, axis] = lo[at, axis] + start
            hi[at + 1, axis] = np.minimum(hi[at, axis], lo[at, axis] + stop)
            rest = shallow[at]  # their own box is the last of their chain
            lo[at + 1, axis, rest], hi[at + 1, axis, rest] = lo[at, axis, rest], hi[at, axis, rest]
    return lo, hi


def _numbers(tiling: Tiling, depth: Ints, index: Ints) -> Ints:
    number: Ints = np.zeros(len(depth), np.int64)
    base = 0
    within: Ints = np.zeros(len(depth), np.int64)
    count = 1
    for at, level in enumerate(tiling.levels):
        base += count
        count *= prod(level.factors)
        for axis, factor in enumerate(level.factors):
            within = within * factor + index[at, axis]
        number = np.where(depth == at + 1, base + within, number)
    return number


def _points(tiling: Tiling, lo: Ints, hi: Ints) -> Ints:
    if not tiling.inequalities:
        return np.asarray((hi - lo).prod(axis=0))
    boxes, back = np.unique(np.stack([lo, hi]).T, axis=0, return_inverse=True)  # (tiles, dimensions, 2)
    counts = [tiling.count(tuple((first, stop) for first, stop in box)) for box in boxes.tolist()]
    return np.array(counts, np.int64)[back.reshape(-1)]
