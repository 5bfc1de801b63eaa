"""One measure for cuts of any planner: the corrected closed form, or every block at its true size.

Source: asw-theory.md sections 10, 12 and 14.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from pantile.planners.asw.block_time import TimeModel
from pantile.planners.asw.chip import ticks_of
from pantile.planners.asw.exact import Judge
from pantile.planners.asw.l2 import l2_use
from pantile.planners.asw.pieces import Pieces
from pantile.planners.asw.single_core import block_of
from pantile.tiling.cut import ceil_div

if TYPE_CHECKING:
    from pantile.planners.asw.chip import Chip
    from pantile.planners.asw.problem import Problem
    from pantile.planners.asw.single_core import SingleCore

How = Literal["closed", "exact"]


@dataclass(frozen=True, slots=True)
class Judged:
    """What a cut takes, and why.

    Attributes:
        seconds: The whole product.
        terms: Seconds of each term, by name; the largest is the answer.
    """

    seconds: Fraction
    terms: dict[str, Fraction]

    @property
    def bound(self) -> str:
        """Which term is the largest."""
        return max(self.terms, key=lambda name: self.terms[name])


def judged(
    problem: Problem,
    chip: Chip,
    size: tuple[int, int],
    how: How,
    pieces: Pieces | None = None,
    cores: int = 0,
) -> Judged:
    """Return what blocks of so many rows and columns take, dealt in turn to all cores.

    Args:
        problem: What is computed.
        chip: Where.
        size: Rows and columns of a block.
        how: ``closed`` counts every block as a whole one, ``exact`` at its true size.
        pieces: Into what the last wave's blocks are cut, if they are.
        cores: Cores that work; 0 is all of them.
    """
    block = block_of(problem, chip, *size)
    reread = l2_use(problem, chip, block, "corrected").reread
    assert reread is not None
    working = min(cores or chip.cores, problem.batch * block.rows * block.columns)
    rate = Fraction(*chip.gm_rate_of(working))
    terms = {
        "memory": reread * problem.input_bytes / rate,
        "l2": Fraction(block.traffic_bytes, chip.l2_bytes_per_second),
        "compute": Fraction(problem.flops, chip.peak_flops),
        "write": problem.output_bytes / rate,
    }
    if how == "closed":
        terms["schedule"] = _waves(problem, chip, block, reread, pieces, working)
    else:
        judge = Judge(problem=problem, chip=chip, reread=reread, working=working)
        found = judge.whole(*size) if pieces is None else judge.with_pieces(*size, pieces)
        terms["busiest core"] = found.longest
    return Judged(max(terms.values()), terms)


def _waves(
    problem: Problem, chip: Chip, block: SingleCore, reread: Fraction, pieces: Pieces | None, cores: int
) -> Fraction:
    """Return the time of all waves, every block a whole one."""
    blocks = problem.batch * block.rows * block.columns
    model = TimeModel(problem, ticks_of(chip, cores), reread * problem.input_bytes)
    time = model.block(block.m, block.n, block.k_l1, Fraction(1, blocks)).total
    waves = ceil_div(blocks, cores)
    return waves * time if pieces is None else (waves - 1) * time + pieces.seconds
