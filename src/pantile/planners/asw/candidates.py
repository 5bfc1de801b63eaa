"""The blocks that stage 2 may choose among, as columns, and which constraints each of them meets.

Source: asw-theory.md sections 6.1 and 6.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pantile.planners.asw.grain import Integers, aligned_cuts, down, up
from pantile.planners.asw.l0_tile import side_of
from pantile.planners.asw.limits import refuse_many
from pantile.tiling.cut import ceil_div

if TYPE_CHECKING:
    from pantile.planners.asw.chip import Chip
    from pantile.planners.asw.entry import Entry
    from pantile.planners.asw.l0_tile import BaseTile
    from pantile.planners.asw.problem import Problem

Mask = NDArray[np.bool_]

DOUBLE_BUFFER = 2
"""Moves that L1 holds of each operand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Blocks of a product, one per entry of each column.

    Attributes:
        m: Rows; likewise n.
        k_l1: K extent of a move, from what L1 holds twice (constraint 2).
        rows: Blocks of a batch along m; likewise columns.
        enough: Whether there is a block for every core (constraint 1) and L1 holds a step at all.
        runs: Whether contiguous runs are long enough (constraint 3).
        moves: Whether moves are large enough (constraint 3).
    """

    m: Integers
    n: Integers
    k_l1: Integers
    rows: Integers
    columns: Integers
    enough: Mask
    runs: Mask
    moves: Mask

    def passes(self, level: int) -> Mask:
        """Return which blocks pass with so many kinds of thresholds dropped."""
        passing = self.enough
        if level < 2:
            passing = passing & self.runs
        if level < 1:
            passing = passing & self.moves
        return passing

    def at(self, position: int) -> tuple[int, int, int, int, int]:
        """Return m, n, k_l1, rows and columns of one block."""
        columns = (self.m, self.n, self.k_l1, self.rows, self.columns)
        m, n, k_l1, rows, columns_ = (int(each[position]) for each in columns)
        return m, n, k_l1, rows, columns_


def k_step(problem: Problem, chip: Chip, perimeter: int) -> int:
    """Return the K extent of a move of *perimeter* rows and columns, 0 if L1 holds not one grain twice."""
    held = chip.l1_bytes // (DOUBLE_BUFFER * perimeter * problem.element_bytes)
    return min(problem.k, down(held, chip.grain))


def largest_side(problem: Problem, chip: Chip) -> int:
    """Return the longest side of a block with which L1 can still hold one grain of K."""
    return chip.l1_bytes // (DOUBLE_BUFFER * chip.grain * problem.element_bytes) - chip.grain


def candidates_of(
    problem: Problem, chip: Chip, entry: Entry, base: BaseTile, *, corrected: bool
) -> Candidates:
    """Return every cut of a batch into equal blocks, down to the tile of stage 1.

    As published, blocks are whole tiles, and thresholds are absolute; under ``corrected`` they are whole
    grains, and no threshold is above what an operand can offer.
    """
    grain, largest = chip.grain, largest_side(problem, chip)
    axes = []
    for size, tile in ((problem.m, base.m), (problem.n, base.n)):
        smallest = min(side_of(chip), up(size, grain)) if corrected else tile
        sizes, counts = aligned_cuts(size, grain, most=ceil_div(size, smallest), largest=largest)
        if not corrected:
            whole = sizes % tile == 0
            sizes, counts = sizes[whole], counts[whole]
        axes.append((sizes, counts))
    return crossed(problem, chip, axes[0], axes[1], entry.blocks_per_batch, corrected=corrected)


def crossed(
    problem: Problem,
    chip: Chip,
    along_m: tuple[Integers, Integers],
    along_n: tuple[Integers, Integers],
    fewest: int,
    *,
    corrected: bool,
) -> Candidates:
    """Return every pair of a cut along m and one along n, sizes and counts each, with what it meets."""
    refuse_many(along_m[0].size * along_n[0].size, "pairs of cuts")
    m, n = np.repeat(along_m[0], along_n[0].size), _tiled(along_n[0], along_m[0].size)
    rows, columns = np.repeat(along_m[1], along_n[1].size), _tiled(along_n[1], along_m[1].size)
    held = chip.l1_bytes // (DOUBLE_BUFFER * problem.element_bytes) // (m + n)
    k_l1 = np.minimum(problem.k, held // chip.grain * chip.grain)
    enough = (rows * columns >= fewest) & (k_l1 > 0)
    runs, moves = _thresholds(problem, chip, m, n, k_l1, corrected=corrected)
    return Candidates(m=m, n=n, k_l1=k_l1, rows=rows, columns=columns, enough=enough, runs=runs, moves=moves)


def _tiled(values: Integers, times: int) -> Integers:
    """Return *values* one after another so many times; numpy's own way costs more than the sums here."""
    whole = np.empty((times, values.size), np.int64)
    whole[:] = values
    return whole.ravel()


def _thresholds(
    problem: Problem, chip: Chip, m: Integers, n: Integers, k_l1: Integers, *, corrected: bool
) -> tuple[Mask, Mask]:
    """Return which blocks have long enough runs, and large enough moves."""
    width = problem.element_bytes
    run, move = chip.run_bytes, chip.move_bytes
    # The contiguous axis of an operand decides its run: k, unless it is stored the other way round.
    left = (m, problem.m) if problem.transpose_a else (k_l1, problem.k)
    right = (k_l1, problem.k) if problem.transpose_b else (n, problem.n)
    if not corrected:  # the published steps leave out the right operand's run (E-13)
        big = (m * k_l1 * width >= move) & (n * k_l1 * width >= move)
        return left[0] * width >= run, big
    runs = (left[0] * width >= min(run, left[1] * width)) & (right[0] * width >= min(run, right[1] * width))
    big_left = m * k_l1 * width >= min(move, problem.left_bytes)
    big_right = n * k_l1 * width >= min(move, problem.right_bytes)
    return runs, big_left & big_right
