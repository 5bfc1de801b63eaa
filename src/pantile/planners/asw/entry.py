"""Stage 0: whether there is work for all cores, and how many are used where there is not.

Source: asw-theory.md section 4; errata E-05 (two quantities called P), E-06 (how many cores).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Literal

from pantile.tiling.cut import ceil_div

if TYPE_CHECKING:
    from pantile.planners.asw.chip import Chip
    from pantile.planners.asw.l0_tile import BaseTile
    from pantile.planners.asw.problem import Problem

Mode = Literal["asw", "reduce", "rejected"]

ACCUMULATOR_BYTES = 4
"""Bytes of one element in L0C, which holds fp32 accumulators."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """How the product enters.

    Attributes:
        parallelism: Blocks that fill L0C (P_par), a real number.
        blocks_per_batch: Fewest blocks per batch that give every core one (P_split).
        mode: ``asw`` where all cores have work, ``reduce`` where they have not, ``rejected`` where another
            branch takes the product.
        used_cores: Cores in use under ``reduce``; ``None`` otherwise.
    """

    parallelism: Fraction
    blocks_per_batch: int
    mode: Mode
    used_cores: int | None = None


def entry_of(
    problem: Problem, chip: Chip, base: BaseTile, *, corrected: bool, streamk_eligible: bool = False
) -> Entry:
    """Return stage 0, which under ``corrected`` looks at the tile of stage 1.

    >>> from pantile.planners.asw.chip import Chip
    >>> from pantile.planners.asw.l0_tile import base_tile
    >>> from pantile.planners.asw.problem import Problem
    >>> small, chip = Problem(batch=64, m=32, n=32, k=64), Chip()
    >>> base = base_tile(small, chip, corrected=True)
    >>> [entry_of(small, chip, base, corrected=each).used_cores for each in (False, True)]
    [1, 32]
    """
    parallelism = Fraction(problem.batch * problem.m * problem.n * ACCUMULATOR_BYTES, chip.l0c_bytes)
    split = ceil_div(chip.cores, problem.batch)
    if parallelism >= chip.cores:
        return Entry(parallelism=parallelism, blocks_per_batch=split, mode="asw")
    if streamk_eligible:
        return Entry(parallelism=parallelism, blocks_per_batch=split, mode="rejected")
    if corrected and base.m:
        blocks = problem.batch * ceil_div(problem.m, base.m) * ceil_div(problem.n, base.n)
        used = min(chip.cores, blocks)
    else:
        used = ceil(parallelism)
    return Entry(parallelism=parallelism, blocks_per_batch=split, mode="reduce", used_cores=used)
