"""Strategies B and B*: cut the whole output again, so that every wave is full.

Source: asw-theory.md section 10.3; errata E-17 (feasibility), E-37 (fewer waves).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING

import numpy as np

from pantile.planners.asw.candidates import every_cut

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pantile.planners.asw.block_time import TimeModel
    from pantile.planners.asw.candidates import Candidates
    from pantile.planners.asw.chip import Chip
    from pantile.planners.asw.grain import Integers
    from pantile.planners.asw.problem import Problem

_NEAR = 1 + 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Recut:
    """Equal blocks, one for every core in every wave.

    Attributes:
        waves: Waves.
        rows: Blocks of one batch along m.
        columns: Blocks of one batch along n.
        m: Rows of a block, in elements.
        n: Columns of a block.
        k_l1: K extent of one move to L1.
        seconds: Time of all waves together.
    """

    waves: int
    rows: int
    columns: int
    m: int
    n: int
    k_l1: int
    seconds: Fraction

    @property
    def block_seconds(self) -> Fraction:
        """Time of one block."""
        return self.seconds / self.waves


def recuts(problem: Problem, chip: Chip, model: TimeModel, waves: int) -> tuple[Recut | None, Recut | None]:
    """Return the quickest cut into exactly *waves* full waves (B), and into at most so many (B*).

    Ties go to fewer waves, then to the smaller perimeter, then to fewer rows of blocks.
    """
    found = every_cut(problem, chip, 1)
    pieces = found.rows * found.columns
    unit = chip.cores // gcd(chip.cores, problem.batch)
    fits = found.runs & (found.k_l1 > 0) & (pieces <= waves * chip.cores // problem.batch)
    at = np.flatnonzero(fits & (pieces % unit == 0))
    if not at.size:
        return None, None
    counts = pieces[at] * problem.batch // chip.cores
    rough = _seconds(model, chip, found, at, counts)
    exact = counts == waves
    same = _quickest(model, chip, found, at[exact], counts[exact], rough[exact])
    return same, _quickest(model, chip, found, at, counts, rough)


def _seconds(
    model: TimeModel, chip: Chip, found: Candidates, at: Integers, waves: Integers
) -> NDArray[np.float64]:
    """Return the ticks of all waves, as floats."""
    problem, ticks = model.problem, model.ticks
    m, n = found.m[at].astype(np.float64), found.n[at].astype(np.float64)
    write = m * n * (problem.out_bytes * ticks.gm_byte)
    compute = m * n * float(2 * problem.k * ticks.flop) + (0 if model.overlapped else write)
    if model.delivered is None:
        load = (m + n) * found.k_l1[at] * float(problem.element_bytes * ticks.gm_byte)
    else:
        load = (m + n) * float(problem.element_bytes * problem.k * ticks.l2_byte)
    block = np.maximum(np.maximum(compute, load), write)
    shared = float(model.shared_ticks / chip.cores)
    total: NDArray[np.float64] = np.maximum(waves * block, shared) + waves * float(ticks.overhead)
    return total


def _quickest(
    model: TimeModel,
    chip: Chip,
    found: Candidates,
    at: Integers,
    waves: Integers,
    rough: NDArray[np.float64],
) -> Recut | None:
    """Return the quickest of some cuts; those that floats cannot tell apart are compared exactly."""
    if not at.size:
        return None
    near = np.flatnonzero(rough <= rough.min() * _NEAR)
    shared = model.shared_ticks / chip.cores

    def key(position: int) -> tuple[Fraction, int, int, int]:
        m, n, k_l1, rows, _ = found.at(int(at[position]))
        count = int(waves[position])
        own = count * max(model.compute(m, n), model.local_load(m, n, k_l1), model.write(m, n))
        return max(Fraction(own), shared) + count * model.ticks.overhead, count, m + n, rows

    chosen = min((int(each) for each in near), key=key)
    m, n, k_l1, rows, columns = found.at(int(at[chosen]))
    return Recut(
        waves=int(waves[chosen]),
        rows=rows,
        columns=columns,
        m=m,
        n=n,
        k_l1=k_l1,
        seconds=key(chosen)[0] / model.ticks.per_second,
    )
