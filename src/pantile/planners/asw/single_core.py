"""Stage 2: the block of the output that one core handles at a time.

Source: asw-theory.md section 6; errata E-10 (objective), E-12 (multiples), E-13 (thresholds), E-14 (ties).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from pantile.planners.asw.candidates import k_step
from pantile.tiling.cut import ceil_div

if TYPE_CHECKING:
    from pantile.planners.asw.candidates import Candidates
    from pantile.planners.asw.chip import Chip
    from pantile.planners.asw.entry import Entry
    from pantile.planners.asw.problem import Problem

FINER_CUTS = 3
"""The last level of relaxing: L1 holds no step of a block as long as stage 2 asks, so shorter ones do.

Runs and moves count for nothing there; the least traffic decides, that is the largest block that L1 holds.
"""
_NEAR = 1 + 1e-12
"""What floats cannot tell apart is compared exactly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleCore:
    """The block that stage 2 chose.

    Attributes:
        m: Rows of a block (SingleCoreM), in elements.
        n: Columns of a block.
        k_l1: K extent of one move to L1.
        rows: Blocks of one batch along m (mCnt).
        columns: Blocks of one batch along n.
        remainder: Blocks of the last, incomplete wave; 0 if every wave is full.
        cost: Seconds that the objective gives.
        traffic_bytes: Bytes that all blocks together pull through L2.
        feasible_count: Candidates that met the constraints.
        unsplit: Whether the rule for unsplit products chose it.
        relax_level: Thresholds that had to be dropped: 0 none, 1 the size of moves, 2 runs too, 3 the
            bounds of the cuts too.
    """

    m: int
    n: int
    k_l1: int
    rows: int
    columns: int
    remainder: int
    cost: Fraction
    traffic_bytes: int
    feasible_count: int
    unsplit: bool = False
    relax_level: int = 0


def choose_block(
    problem: Problem, chip: Chip, entry: Entry, found: Candidates, *, corrected: bool
) -> SingleCore | None:
    """Return stage 2, one of the candidates *found*, or ``None`` where none meets the constraints.

    As published, the whole output of a batch comes first, if the batches alone fill the cores.
    """
    if not corrected and entry.blocks_per_batch == 1:
        unsplit = _unsplit(problem, chip)
        if unsplit is not None:
            return unsplit
    return _cheapest_traffic(problem, chip, found) if corrected else _cheapest_step(problem, chip, found)


def _unsplit(problem: Problem, chip: Chip) -> SingleCore | None:
    """Return the whole output of a batch as a block, if constraints 2 and 3 allow it."""
    k_l1 = k_step(problem, chip, problem.m + problem.n)
    width = problem.element_bytes
    run = (problem.m if problem.transpose_a else k_l1) * width
    moves = min(problem.m, problem.n) * k_l1 * width
    if k_l1 < 1 or run < chip.run_bytes or moves < chip.move_bytes:
        return None
    return _block(problem, chip, (problem.m, problem.n, k_l1, 1, 1), 1, unsplit=True, full_k=False)


def _cheapest_step(problem: Problem, chip: Chip, found: Candidates) -> SingleCore | None:
    """Choose as published: least time of one K step, then the largest remainder, then fewest blocks."""
    at = np.flatnonzero(found.passes(0))
    if not at.size:
        return None
    m, n, k_l1 = found.m[at], found.n[at], found.k_l1[at]
    cost = (m + n) * k_l1 / (m * n)
    chosen = min(
        (found.at(int(each)) for each in at[cost <= cost.min() * _NEAR]),
        key=lambda c: (
            Fraction((c[0] + c[1]) * c[2], c[0] * c[1]),
            -(problem.batch * c[3] * c[4] % chip.cores),
            c[3] * c[4],
            c[3],
        ),
    )
    return _block(problem, chip, chosen, at.size, full_k=False)


def _cheapest_traffic(problem: Problem, chip: Chip, found: Candidates) -> SingleCore | None:
    """Choose least traffic, then no remainder, then the largest; relax thresholds if nothing passes."""
    for level in (FINER_CUTS,) if found.finer else (0, 1, 2):
        passing = found.passes(level)
        if passing.any():
            break
    else:
        return None
    at = np.flatnonzero(passing)
    count = at.size
    if level == 2:
        run = np.minimum(chip.run_bytes, found.k_l1[at] * problem.element_bytes)
        at = at[run == run.max()]
    traffic = found.columns[at] * problem.m + found.rows[at] * problem.n
    least = at[traffic == traffic.min()]
    chosen = min((found.at(int(each)) for each in least), key=partial(_tie, problem, chip))
    return _block(problem, chip, chosen, count, full_k=True, level=level)


def _tie(problem: Problem, chip: Chip, c: tuple[int, int, int, int, int]) -> tuple[int, ...]:
    remainder = problem.batch * c[3] * c[4] % chip.cores
    return (remainder > 0, -remainder, c[3] * c[4], c[3])


def _block(
    problem: Problem,
    chip: Chip,
    chosen: tuple[int, int, int, int, int],
    count: int,
    *,
    full_k: bool,
    unsplit: bool = False,
    level: int = 0,
) -> SingleCore:
    m, n, k_l1, rows, columns = chosen
    width, rate = problem.element_bytes, chip.drawn_bytes_per_second
    traffic = traffic_bytes(problem, rows, columns)
    step = Fraction(problem.batch * problem.m * problem.n * (m + n) * k_l1 * width, m * n * rate)
    return SingleCore(
        m=m,
        n=n,
        k_l1=k_l1,
        rows=rows,
        columns=columns,
        remainder=problem.batch * rows * columns % chip.cores,
        cost=Fraction(traffic, rate) if full_k else step,
        traffic_bytes=traffic,
        feasible_count=int(count),
        unsplit=unsplit,
        relax_level=level,
    )


def block_of(problem: Problem, chip: Chip, m: int, n: int) -> SingleCore:
    """Return the figures of blocks of m rows and n columns, which no rule has chosen."""
    rows, columns = counts_of(problem, m, n)
    chosen = (m, n, k_step(problem, chip, m + n), rows, columns)
    return _block(problem, chip, chosen, 0, full_k=True)


def traffic_bytes(problem: Problem, rows: int, columns: int) -> int:
    """Return the bytes of all panels that all blocks together read, rows and columns not padded."""
    panels = columns * problem.m + rows * problem.n
    return problem.batch * panels * problem.k * problem.element_bytes


def counts_of(problem: Problem, m: int, n: int) -> tuple[int, int]:
    """Return how many blocks of m rows and n columns one batch has along each axis."""
    return ceil_div(problem.m, m), ceil_div(problem.n, n)
