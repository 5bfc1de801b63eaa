"""Stage 4: what becomes of a last wave that does not fill all cores.

A0 leaves it, A1 cuts its blocks into pieces, B cuts the whole output again into full waves, and B* may take
fewer of them.

Source: asw-theory.md section 10; errata E-15 to E-18, E-32, E-33, E-37.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from pantile.planners.asw.block_time import TimeModel, x_min
from pantile.planners.asw.grain import up
from pantile.planners.asw.pieces import Pieces, quickest_pieces
from pantile.planners.asw.recut import Recut, recuts
from pantile.tiling.cut import ceil_div

if TYPE_CHECKING:
    from pantile.planners.asw.block_time import BlockTime, Bound
    from pantile.planners.asw.chip import Chip
    from pantile.planners.asw.problem import Problem
    from pantile.planners.asw.single_core import SingleCore

Strategy = Literal["none", "A0", "A1", "B"]

GATE_WAVES = 3
"""Waves up to which the older rule cuts a tail again (E-18)."""
_EQUAL = Fraction(1, 10**9)
"""Times that differ by less are a draw, which the simpler strategy wins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """Stage 4; times in seconds.

    Attributes:
        blocks: Blocks of all batches.
        waves: Rounds of all cores that they take.
        remainder: Blocks of the last round; 0 if it is full.
        time: Of one block.
        seconds_a0: With the last wave as it is; likewise the others, ``None`` where they are not possible.
        pieces: What A1 cuts a block of the last wave into.
        recut: What B cuts the output into.
        fewer: What B* cuts it into.
        strategy: What the rule says.
        effective: What is left of it: A1 or A0 where B is chosen and there is no such cut.
        seconds: Time of the effective strategy.
        x_min: Columns below which the load of a piece shows; ``None`` if it always does.
        printed: What the published table looks at; ``None`` under ``corrected``.
    """

    blocks: int
    waves: int
    remainder: int
    time: BlockTime
    seconds_a0: Fraction
    seconds_a1: Fraction | None
    seconds_b: Fraction | None
    seconds_fewer: Fraction | None
    pieces: Pieces | None
    recut: Recut | None
    fewer: Recut | None
    strategy: Strategy
    effective: Strategy
    seconds: Fraction
    x_min: Fraction | None
    printed: PrintedRule | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedRule:
    """What the published decision table reads and says.

    Attributes:
        s_star: Pieces of a block that A1 may cut along n (s*).
        direction: Along which axis the text would cut.
        growth: How many times more blocks full waves have (g).
        gate: Whether the older rule, of at most three waves, would cut at all.
        extra: Seconds beyond a perfect division (dT).
        row: The table's row that holds.
    """

    s_star: int
    direction: str
    growth: Fraction
    gate: bool
    extra: Fraction
    row: str


def tail_of(
    problem: Problem, chip: Chip, block: SingleCore, model: TimeModel, *, gated: bool = False
) -> Tail:
    """Return stage 4, published or corrected as *model* counts.

    Args:
        problem: What is computed.
        chip: Where.
        block: Stage 2.
        model: How blocks are timed.
        gated: Cut tails of at most three waves only, as an older rule has it; published alone.
    """
    blocks = problem.batch * block.rows * block.columns
    time = model.block(block.m, block.n, block.k_l1, Fraction(1, blocks))
    waves, remainder = ceil_div(blocks, chip.cores), blocks % chip.cores
    if model.delivered is None:
        return _published(problem, chip, block, model, (blocks, waves, remainder), time, gated)
    return _corrected(problem, chip, block, model, (blocks, waves, remainder), time)


def _corrected(
    problem: Problem,
    chip: Chip,
    block: SingleCore,
    model: TimeModel,
    counted: tuple[int, int, int],
    time: BlockTime,
) -> Tail:
    """Time every strategy and take the quickest."""
    blocks, waves, remainder = counted
    whole = waves * time.total
    pieces: Pieces | None = None
    same: Recut | None = None
    fewer: Recut | None = None
    chosen: Strategy = "none"
    if remainder:
        pieces = quickest_pieces(chip, model, block, remainder, time.bound)
        if pieces is not None and pieces.seconds >= time.total:
            pieces = None
        same, fewer = recuts(problem, chip, model, waves)
    seconds_a1 = None if pieces is None else (waves - 1) * time.total + pieces.seconds
    if remainder:
        timed: list[tuple[Strategy, Fraction | None]] = [
            ("A0", whole),
            ("A1", seconds_a1),
            ("B", None if fewer is None else fewer.seconds),
        ]
        possible = [(name, seconds) for name, seconds in timed if seconds is not None]
        least = min(seconds for _, seconds in possible)
        chosen = next(name for name, seconds in possible if seconds <= least * (1 + _EQUAL))
    seconds = {"A1": seconds_a1, "B": fewer.seconds if fewer else None}.get(chosen) or whole
    return Tail(
        blocks=blocks,
        waves=waves,
        remainder=remainder,
        time=time,
        seconds_a0=whole,
        seconds_a1=seconds_a1,
        seconds_b=None if same is None else same.seconds,
        seconds_fewer=None if fewer is None else fewer.seconds,
        pieces=pieces,
        recut=same,
        fewer=fewer,
        strategy=chosen,
        effective=chosen,
        seconds=seconds,
        x_min=x_min(problem, chip, block.m, depth=problem.k, rate=chip.l2_bytes_per_second),
    )


def _published(
    problem: Problem,
    chip: Chip,
    block: SingleCore,
    model: TimeModel,
    counted: tuple[int, int, int],
    time: BlockTime,
    gated: bool,
) -> Tail:
    """Follow the printed table; what its strategies really take is computed beside it."""
    blocks, waves, remainder = counted
    least = x_min(problem, chip, block.m, depth=block.k_l1, rate=chip.gm_bytes_per_second)
    limit = most_pieces(problem, chip, block, time.bound, least)
    s_star = max(1, min(chip.cores // remainder, int(limit))) if remainder else 1
    growth = Fraction(waves * chip.cores, blocks)
    strategy, row = table_answer(
        time.bound,
        remainder,
        chip.cores,
        s_star=s_star,
        waves=waves,
        growth=growth,
        run=Fraction(block.n * problem.element_bytes, chip.run_bytes),
    )
    gate = waves <= GATE_WAVES and remainder > 0
    if gated and remainder and not gate:
        strategy, row = "A0", "more than three waves: not cut again"
    same = recuts(problem, chip, model, waves)[0] if remainder else None
    effective = strategy
    if strategy == "B" and same is None:
        effective = "A1" if s_star > 1 else "A0"
    pieces = _printed_pieces(chip, model, block, s_star) if s_star > 1 else None
    whole = waves * time.total
    seconds_a1 = None if pieces is None else (waves - 1) * time.total + pieces.seconds
    seconds = {"A1": seconds_a1, "B": same.seconds if same else None}.get(effective) or whole
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
        printed=PrintedRule(
            s_star=s_star,
            direction=_direction(chip, block, time.bound, remainder),
            growth=growth,
            gate=gate,
            extra=extra_seconds(effective, time.total, remainder, chip.cores, s_star),
            row=row,
        ),
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
