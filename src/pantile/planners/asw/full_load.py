"""Full load: a small operand that all batches share stays in L1.

Source: asw-theory.md section 11; erratum E-48 (what the operator really tests).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pantile.planners.asw.grain import up
from pantile.tiling.cut import ceil_div

if TYPE_CHECKING:
    from pantile.planners.asw.chip import Chip
    from pantile.planners.asw.problem import Problem

SIDE = 256
"""Rows up to which an operand counts as small, and columns that a round covers."""
ROUNDS = 4
"""Rounds of every core that make keeping it worth while."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FullLoad:
    """Whether one operand stays in L1.

    Attributes:
        batch_ok: It has no batch.
        side_ok: It is narrow.
        l1_ok: L1 holds it twice.
        rounds: Rounds of all cores over the other operand.
        rounds_ok: They are enough.
        by_source: Whether the operator's own rule takes it.
    """

    batch_ok: bool
    side_ok: bool
    l1_ok: bool
    rounds: int
    rounds_ok: bool
    by_source: bool

    @property
    def by_theory(self) -> bool:
        """Whether every condition of the theory holds."""
        return self.batch_ok and self.side_ok and self.l1_ok and self.rounds_ok


def left_full_load(problem: Problem, chip: Chip, *, bias_batch: int = 1) -> FullLoad:
    """Return whether the left operand stays in L1 (AL1).

    >>> from pantile.planners.asw.chip import Chip
    >>> from pantile.planners.asw.problem import Problem
    >>> left_full_load(Problem(batch=64, m=128, n=2048, k=512, a_batch=1), Chip()).by_theory
    True
    """
    grain, width = chip.grain, problem.element_bytes
    lefts = problem.a_batch or problem.batch
    rights = problem.b_batch or problem.batch
    rounds = problem.batch * ceil_div(problem.n, SIDE)
    depth, columns = up(problem.k, grain), up(problem.n, grain)
    held = lefts * up(problem.m, grain) * depth * width * 2 <= chip.l1_bytes
    little = rights * depth * columns * width < chip.l1_bytes * chip.cores
    few = rights * ceil_div(problem.n, SIDE) < ROUNDS * chip.cores
    narrow = problem.m <= SIDE
    return FullLoad(
        batch_ok=lefts == 1,
        side_ok=narrow,
        l1_ok=problem.left_bytes * 2 <= chip.l1_bytes,
        rounds=rounds,
        rounds_ok=rounds >= ROUNDS * chip.cores,
        by_source=lefts == 1 and narrow and bias_batch <= 1 and held and not (little and few),
    )


def right_full_load(problem: Problem, chip: Chip, *, bias_batch: int = 1) -> FullLoad:
    """Return whether the right operand stays in L1, by symmetry (BL1)."""
    mirrored = replace(problem, m=problem.n, n=problem.m, a_batch=problem.b_batch, b_batch=problem.a_batch)
    return left_full_load(mirrored, chip, bias_batch=bias_batch)
