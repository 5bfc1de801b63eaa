"""Stage 4 as published: the decision table of [5.10], and what its answers really take.

Source: asw-theory.md sections 10.2 to 10.4; errata E-15 to E-18, E-32, E-33.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from pantile.planners.asw.block_time import x_min
from pantile.planners.asw.grain import up
from pantile.planners.asw.pieces import Pieces
from pantile.planners.asw.recut import recuts
from pantile.planners.asw.tail import PrintedRule, Strategy, Tail
from pantile.tiling.cut import ceil_div

if TYPE_CHECKING:
    from pantile.planners.asw.block_time import BlockTime, Bound, TimeModel
    from pantile.planners.asw.chip import Chip
    from pantile.planners.asw.problem import Problem
    from pantile.planners.asw.single_core import SingleCore

GATE_WAVES = 3
"""Waves up to which the older rule cuts a tail again (E-18)."""


def printed_tail(problem: Problem, chip: Chip, block: SingleCore, model: TimeModel, *, gated: bool) -> Tail:
    """Follow the printed table; what its strategies really take is computed beside it."""
    blocks = problem.batch * block.rows * block.columns
    waves, remainder = ceil_div(blocks, chip.cores), blocks % chip.cores
    time = model.block(block.m, block.n, block.k_l1, Fraction(1, blocks))
    least = x_min(problem, chip, block.m, depth=block.k_l1, rate=chip.drawn_bytes_per_second)
    strategy, rule = _rule(problem, chip, block, time, least, gated=gated)
    same = recuts(problem, chip, model, waves)[0] if remainder else None
    effective = strategy
    if strategy == "B" and same is None:
        effective = "A1" if rule.s_star > 1 else "A0"
    pieces = _printed_pieces(chip, model, block, rule.s_star) if rule.s_star > 1 else None
    whole = waves * time.total
    seconds_a1 = None if pieces is None else (waves - 1) * time.total + pieces.seconds
    seconds = {"A1": seconds_a1, "B": same.seconds if same else None}.get(effective) or whole
    extra = extra_seconds(effective, time.total, remainder, chip.cores, rule.s_star)
    return Tail(
        blocks=blocks,
        waves=waves,
        remainder=remainder,
        time=time,
        seconds_a0=whole,
        seconds_a1=seconds_a1,
        seconds_b=None if same is None else same.seconds,
        seconds_fewer=None,
        pieces=pieces,
        recut=same,
        fewer=None,
        strategy=strategy,
        effective=effective,
        seconds=seconds,
        x_min=least,
        printed=replace(rule, extra=extra),
    )


def _rule(
    problem: Problem, chip: Chip, block: SingleCore, time: BlockTime, least: Fraction | None, *, gated: bool
) -> tuple[Strategy, PrintedRule]:
    """Return the table's answer, and what it has looked at; what is extra is not known yet."""
    blocks = problem.batch * block.rows * block.columns
    waves, remainder = ceil_div(blocks, chip.cores), blocks % chip.cores
    limit = most_pieces(problem, chip, block, time.bound, least)
    s_star = max(1, min(chip.cores // remainder, int(limit))) if remainder else 1
    growth = Fraction(waves * chip.cores, blocks)
    run = Fraction(block.n * problem.element_bytes, chip.run_bytes)
    strategy, row = table_answer(
        time.bound, remainder, chip.cores, s_star=s_star, waves=waves, growth=growth, run=run
    )
    gate = waves <= GATE_WAVES and remainder > 0
    if gated and remainder and not gate:
        strategy, row = "A0", "more than three waves: not cut again"
    return strategy, PrintedRule(
        s_star=s_star,
        direction=_direction(chip, block, time.bound, remainder),
        growth=growth,
        gate=gate,
        extra=Fraction(0),
        row=row,
    )


def most_pieces(
    problem: Problem, chip: Chip, block: SingleCore, bound: Bound, least: Fraction | None
) -> Fraction:
    """Return the most pieces along n that alignment and, by bound, moves or hidden loads allow (s_max)."""
    aligned = Fraction(block.n, chip.grain)
    if bound == "memory":
        row = block.n * problem.element_bytes
        return min(Fraction(row, chip.run_bytes), Fraction(row * block.k_l1, chip.move_bytes), aligned)
    return aligned if least is None else min(aligned, block.n / least)


def table_answer(
    bound: Bound,
    remainder: int,
    cores: int,
    *,
    s_star: int,
    waves: int,
    growth: Fraction,
    run: Fraction,
) -> tuple[Strategy, str]:
    """Return what the decision table of [5.10] says, literally, and the row that says so.

    Args:
        bound: Of one block.
        remainder: Blocks of the last wave.
        cores: Cores of a wave.
        s_star: Pieces that A1 may cut a block into.
        waves: Waves.
        growth: How many times more blocks full waves have (g).
        run: A row of a block over the smallest run.
    """
    if not remainder:
        return "none", "r = 0"
    if bound != "memory":
        if 2 * remainder > cores:
            return "B", f"{bound} bound, r > C/2"
        if cores % remainder == 0:
            return "A1", f"{bound} bound, r divides C"
        return "B", f"{bound} bound, r does not divide C"
    if growth > run * run:
        return ("A1" if s_star > 1 else "A0"), "memory bound, g > (sN dt / dValue)^2"
    if s_star == 1:
        return "B", "memory bound, s* = 1"
    # n (1 - 1/sqrt g) > (1 - 1/s)/2, without the root: both sides of (n - right) sqrt g > n are positive.
    right = Fraction(s_star - 1, 2 * s_star)
    if (waves - right) ** 2 * growth > waves * waves:
        return "B", "memory bound, n_wave (1 - 1/sqrt g) > (1 - 1/s*)/2"
    return "A1", "memory bound, otherwise"


def extra_seconds(strategy: Strategy, block: Fraction, remainder: int, cores: int, s_star: int) -> Fraction:
    """Return the seconds that a strategy takes beyond a perfect division of the work (dT)."""
    if strategy == "A0":
        return block * Fraction(cores - remainder, cores)
    if strategy == "A1":
        return block / s_star * Fraction(cores - remainder * s_star, cores)
    return Fraction(0)


def _direction(chip: Chip, block: SingleCore, bound: Bound, remainder: int) -> str:
    """Return the axis along which the text cuts: n, unless alignment leaves too few pieces there."""
    stuck = bound == "compute" and remainder and block.n * remainder < chip.cores * chip.grain
    return "m" if stuck else "n"


def _printed_pieces(chip: Chip, model: TimeModel, block: SingleCore, parts: int) -> Pieces:
    """Return what A1 makes of a block that is cut along n into so many parts."""
    size = up(ceil_div(block.n, parts), chip.grain)
    time = model.block(block.m, size, block.k_l1, Fraction(0))
    return Pieces(axis="n", size=size, count=ceil_div(block.n, size), seconds=time.total)
