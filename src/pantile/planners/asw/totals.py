"""Stage 7: the time of the whole product, and its terms.

Source: asw-theory.md section 12; errata E-04 (rate of writes), E-19 (the tail counted twice), E-41 (L2).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from pantile.planners.asw.candidates import DOUBLE_BUFFER

if TYPE_CHECKING:
    from pantile.planners.asw.chip import Chip
    from pantile.planners.asw.l0_tile import BaseTile
    from pantile.planners.asw.l2 import L2Use
    from pantile.planners.asw.problem import Problem
    from pantile.planners.asw.single_core import SingleCore
    from pantile.planners.asw.tail import Tail


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Stage 7, in seconds.

    Attributes:
        memory: Inputs from the chip's memory (T_MTE2, T_GM); ``None`` where re-reads are undefined.
        l2: All panels of all blocks through L2; ``None`` as published, which leaves it out.
        compute: On all cubes (T_MMAD).
        write: Outputs to memory (T_FIX).
        schedule: The chosen tail strategy's waves; ``None`` as published.
        tail: What the tail adds as published; ``None`` under ``corrected``.
        drain: The last step of one tile, and its way out.
        total: Everything together; ``None`` where re-reads are undefined.
        l1_buffers: Moves of each operand that L1 holds.
    """

    memory: Fraction | None
    l2: Fraction | None
    compute: Fraction
    write: Fraction
    schedule: Fraction | None
    tail: Fraction | None
    drain: Fraction
    total: Fraction | None
    l1_buffers: int


def totals_of(
    problem: Problem, chip: Chip, base: BaseTile, block: SingleCore, l2: L2Use, tail: Tail
) -> Totals:
    """Return stage 7, published or corrected as stage 4 was."""
    compute = Fraction(problem.flops, chip.peak_flops)
    write = Fraction(problem.output_bytes, chip.drawn_bytes_per_second)
    memory = None if l2.reread is None else l2.reread * problem.input_bytes / chip.drawn_bytes_per_second
    drain = drain_of(problem, chip, min(base.m, block.m), min(base.n, block.n), block.k_l1)
    printed = tail.printed
    traffic: Fraction | None = None
    total: Fraction | None = None
    if printed is None:
        traffic = Fraction(block.traffic_bytes, chip.l2_bytes_per_second)
        assert memory is not None
        total = max(memory, traffic, compute, write, tail.seconds) + drain
    elif memory is not None:
        total = max(memory, compute, write) + drain + printed.extra
    return Totals(
        memory=memory,
        l2=traffic,
        compute=compute,
        write=write,
        schedule=tail.seconds if printed is None else None,
        tail=None if printed is None else printed.extra,
        drain=drain,
        total=total,
        l1_buffers=l1_buffers(problem, chip, block.m + block.n, block.k_l1),
    )


def drain_of(problem: Problem, chip: Chip, m: int, n: int, k_l1: int, working: int = 0) -> Fraction:
    """Return the seconds of the last K step of a tile on one of the working cores, and of its way out."""
    cores = working or chip.cores
    rate, parts = chip.gm_rate_of(cores)
    computing = Fraction(2 * m * n * min(k_l1, problem.k) * chip.cores, chip.peak_flops)
    return computing + Fraction(m * n * problem.out_bytes * cores * parts, rate)


def l1_buffers(problem: Problem, chip: Chip, perimeter: int, k_l1: int) -> int:
    """Return 4 if L1 holds four moves of each operand, else 2."""
    four = 4 * perimeter * k_l1 * problem.element_bytes
    return 4 if four <= chip.l1_bytes else DOUBLE_BUFFER
