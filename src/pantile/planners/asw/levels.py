"""The plan as nested cuts: blocks of cores, K steps of L1, tiles of L0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.tiling.cut import ceil_div
from pantile.tiling.tiling import Level, Tiling

if TYPE_CHECKING:
    from pantile.planners.asw.pipeline import Stages

DIMENSIONS = ("b", "m", "n", "k")


def tiling_of(stages: Stages) -> Tiling:
    """Return the levels *block* (one core's at a time), *step* (one move to L1), *tile* (L0), *element*.

    Under strategy A1 the blocks of the last wave are cut further, which nested cuts do not show. Tiles
    within a block are cut at given points, because their size need not divide the block's.
    """
    problem, inner = stages.problem, stages.inner
    cut = stages.cut
    assert cut is not None
    assert inner is not None
    blocks = (problem.batch, cut.rows, cut.columns, 1)
    steps = (1, 1, 1, ceil_div(problem.k, cut.k_l1))
    bounds = (
        (0, 1),
        _bounds(cut.m, inner.m),
        _bounds(cut.n, inner.n),
        _bounds(cut.k_l1, inner.k),
    )
    tiles = tuple(len(each) - 1 for each in bounds)
    elements = tuple(each[1] for each in bounds)
    levels = (
        Level("block", blocks),
        Level("step", steps),
        Level("tile", tiles, bounds),
        Level("element", elements),
    )
    return Tiling(DIMENSIONS, (problem.batch, problem.m, problem.n, problem.k), levels)


def _bounds(length: int, piece: int) -> tuple[int, ...]:
    return (*range(0, length, piece), length)
