"""Stage 4: times every strategy for the last wave and takes the quickest, or follows the printed table.

Source: asw-theory.md section 10.4.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from pantile.planners.asw.assignment import Grid, rounds_of
from pantile.planners.asw.block_time import x_min
from pantile.planners.asw.pieces import quickest_pieces
from pantile.planners.asw.printed_tail import printed_tail
from pantile.planners.asw.recut import recuts
from pantile.planners.asw.tail import PrintedRule, Strategy, Tail
from pantile.tiling.cut import ceil_div

if TYPE_CHECKING:
    from pantile.planners.asw.assignment import Assignment
    from pantile.planners.asw.block_time import TimeModel
    from pantile.planners.asw.chip import Chip
    from pantile.planners.asw.pieces import Pieces
    from pantile.planners.asw.problem import Problem
    from pantile.planners.asw.recut import Recut
    from pantile.planners.asw.single_core import SingleCore

_EQUAL = Fraction(1, 10**9)
"""Times that differ by less are a draw, which the simpler strategy wins."""


def tail_of(
    problem: Problem,
    chip: Chip,
    block: SingleCore,
    model: TimeModel,
    *,
    gated: bool = False,
    assignment: Assignment = "linear",
) -> Tail:
    """Return stage 4, published or corrected as *model* counts.

    Args:
        problem: What is computed.
        chip: Where.
        block: Stage 2.
        model: How blocks are timed.
        gated: Cut tails of at most three waves only, as an older rule has it; published alone.
        assignment: How blocks are dealt; A1 and B are about ``linear`` alone.
    """
    if assignment != "linear":
        return _left(problem, chip, block, model, assignment)
    if model.delivered is None:
        return printed_tail(problem, chip, block, model, gated=gated)
    return _quickest(problem, chip, block, model)


def _left(problem: Problem, chip: Chip, block: SingleCore, model: TimeModel, assignment: Assignment) -> Tail:
    """Leave the last wave as it is: the time is that of the core with most blocks."""
    grid = Grid(problem.batch, block.rows, block.columns, chip.cores)
    waves, remainder = rounds_of(grid, assignment)
    time = model.block(block.m, block.n, block.k_l1, Fraction(1, grid.blocks))
    strategy: Strategy = "A0" if remainder else "none"
    published = model.delivered is None
    perfect = Fraction(grid.blocks, chip.cores)
    rate = chip.drawn_bytes_per_second if published else chip.l2_bytes_per_second
    return Tail(
        blocks=grid.blocks,
        waves=waves,
        remainder=remainder,
        time=time,
        seconds_a0=waves * time.total,
        seconds_a1=None,
        seconds_b=None,
        seconds_fewer=None,
        pieces=None,
        recut=None,
        fewer=None,
        strategy=strategy,
        effective=strategy,
        seconds=waves * time.total,
        x_min=x_min(problem, chip, block.m, depth=block.k_l1 if published else problem.k, rate=rate),
        printed=PrintedRule(
            s_star=1,
            direction="n",
            growth=waves / perfect,
            gate=False,
            extra=(waves - perfect) * time.total,
            row=f"it deals linearly, {assignment} leaves the last wave",
        )
        if published
        else None,
    )


def _quickest(problem: Problem, chip: Chip, block: SingleCore, model: TimeModel) -> Tail:
    """Time every strategy and take the quickest."""
    blocks = problem.batch * block.rows * block.columns
    waves, remainder = ceil_div(blocks, chip.cores), blocks % chip.cores
    time = model.block(block.m, block.n, block.k_l1, Fraction(1, blocks))
    pieces: Pieces | None = None
    same: Recut | None = None
    fewer: Recut | None = None
    if remainder:
        pieces = quickest_pieces(chip, model, block, remainder, time.bound)
        if pieces is not None and pieces.seconds >= time.total:
            pieces = None
        same, fewer = recuts(problem, chip, model, waves)
    seconds: dict[Strategy, Fraction] = {"A0" if remainder else "none": waves * time.total}
    if pieces is not None:
        seconds["A1"] = (waves - 1) * time.total + pieces.seconds
    if fewer is not None:
        seconds["B"] = fewer.seconds
    chosen = _simplest(seconds)
    return Tail(
        blocks=blocks,
        waves=waves,
        remainder=remainder,
        time=time,
        seconds_a0=waves * time.total,
        seconds_a1=seconds.get("A1"),
        seconds_b=None if same is None else same.seconds,
        seconds_fewer=seconds.get("B"),
        pieces=pieces,
        recut=same,
        fewer=fewer,
        strategy=chosen,
        effective=chosen,
        seconds=seconds[chosen],
        x_min=x_min(problem, chip, block.m, depth=problem.k, rate=chip.l2_bytes_per_second),
    )


def _simplest(seconds: dict[Strategy, Fraction]) -> Strategy:
    """Return the first strategy that takes the least time, or next to no more."""
    least = min(seconds.values())
    return next(name for name, time in seconds.items() if time <= least * (1 + _EQUAL))
