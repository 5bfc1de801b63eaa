"""How often the points of a box are covered by other boxes, exactly and without enumerating points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

Intervals = tuple[tuple[int, int], ...]
"""Half-open element ranges along one axis."""

Box = tuple[Intervals, ...]
"""A product of unions of ranges: one entry per axis."""

MAX_CELLS = 20_000_000
"""Cells of the compressed grid above which a cover is not decided."""


@dataclass(frozen=True, slots=True)
class Cover:
    """How a domain is covered.

    Attributes:
        missing: Points covered by no box.
        repeated: Extra times that points are covered: twice counts one.
        outside: Points of boxes that lie outside the domain.
        example: Ranges of the first badly covered cell, one per axis; ``None`` where all is well.
        example_count: How often that cell is covered.
    """

    missing: int
    repeated: int
    outside: int
    example: tuple[tuple[int, int], ...] | None
    example_count: int

    @property
    def exact(self) -> bool:
        """Whether every point of the domain is covered once, and nothing else."""
        return not (self.missing or self.repeated or self.outside)


def cover_of(domain: Sequence[int], boxes: Sequence[Box]) -> Cover | None:
    """Return how *boxes* cover ``range(domain[0]) x range(domain[1]) x …``, or ``None`` if too large.

    Coordinates are compressed: axes are cut only where some box begins or ends, so uniform tilings
    whose neighbours touch cost next to nothing. Empty ranges cover nothing.
    """
    outside = sum(_volume(box) - _volume(_clip(box, domain)) for box in boxes)
    clipped = [box for box in (_clip(box, domain) for box in boxes) if all(box)]
    edges = [
        np.array(sorted({0, size, *(at for box in clipped for each in box[axis] for at in each)}), np.int64)
        for axis, size in enumerate(domain)
    ]
    shape = tuple(len(cuts) - 1 for cuts in edges)
    if prod(shape) > MAX_CELLS or any(size == 0 for size in domain):
        return None if prod(shape) > MAX_CELLS else Cover(0, 0, outside, None, 0)
    grid = np.zeros(shape, np.int32)
    for box in clipped:
        masks = [_cells(cuts, ranges) for cuts, ranges in zip(edges, box, strict=True)]
        grid[np.ix_(*masks)] += _multiplicity(edges, box, masks)
    return _judge(grid, edges, outside)


def _clip(box: Box, domain: Sequence[int]) -> Box:
    return tuple(
        tuple((max(lo, 0), min(hi, size)) for lo, hi in ranges if max(lo, 0) < min(hi, size))
        for ranges, size in zip(box, domain, strict=True)
    )


def _volume(box: Box) -> int:
    return prod(sum(hi - lo for lo, hi in ranges) for ranges in box)


def _cells(cuts: np.ndarray, ranges: Intervals) -> np.ndarray:
    """Positions of the cells that any of *ranges* covers."""
    covered = np.zeros(len(cuts), bool)
    for lo, hi in ranges:
        covered[np.searchsorted(cuts, lo) : np.searchsorted(cuts, hi)] = True
    return np.flatnonzero(covered)


def _multiplicity(edges: list[np.ndarray], box: Box, masks: list[np.ndarray]) -> np.ndarray:
    """How often one box covers each of its cells: its own ranges may overlap one another."""
    counts = []
    for cuts, ranges, cells in zip(edges, box, masks, strict=True):
        change = np.zeros(len(cuts), np.int32)
        for lo, hi in ranges:
            change[np.searchsorted(cuts, lo)] += 1
            change[np.searchsorted(cuts, hi)] -= 1
        counts.append(np.cumsum(change)[cells])
    return np.asarray(reduce(np.multiply.outer, counts))


def _judge(grid: np.ndarray, edges: list[np.ndarray], outside: int) -> Cover:
    bad = np.argwhere(grid != 1)
    if not len(bad):
        return Cover(0, 0, outside, None, 0)
    sizes = [np.diff(cuts) for cuts in edges]
    volumes = np.array([prod(int(size[at]) for size, at in zip(sizes, cell, strict=True)) for cell in bad])
    counts = grid[tuple(bad.T)]
    first = bad[0]
    return Cover(
        missing=int(volumes[counts == 0].sum()),
        repeated=int((volumes * np.maximum(counts - 1, 0)).sum()),
        outside=outside,
        example=tuple((int(cuts[at]), int(cuts[at + 1])) for cuts, at in zip(edges, first, strict=True)),
        example_count=int(counts[0]),
    )
