"""Fewer cores than there are: one block of stage 1 at a time on each core in use.

Source: asw-theory.md section 4; [5.9] on the rate of few cores.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from pantile.planners.asw.block_time import BlockTime
from pantile.planners.asw.candidates import k_step
from pantile.planners.asw.totals import drain_of, l1_buffers
from pantile.tiling.cut import ceil_div

if TYPE_CHECKING:
    from pantile.planners.asw.chip import Chip
    from pantile.planners.asw.entry import Entry
    from pantile.planners.asw.l0_tile import BaseTile
    from pantile.planners.asw.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class FewBlocks:
    """The product in blocks of stage 1 for few cores, whatever L1 holds.

    Attributes:
        m: Rows of a block.
        n: Columns of a block.
        rows: Blocks of one batch along m; likewise columns.
        blocks: Blocks of all batches.
        cores: Cores in use.
        waves: Rounds of those cores.
    """

    m: int
    n: int
    rows: int
    columns: int
    blocks: int
    cores: int
    waves: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduction(FewBlocks):
    """The product on few cores; times in seconds.

    Attributes:
        k_l1: K extent of one move to L1.
        gm_rate: Bytes per second that they draw from memory together.
        time: Of one block.
        drain: The last step of one tile, and its way out.
        total: Everything together.
        l1_buffers: Moves of each operand that L1 holds.
    """

    k_l1: int
    gm_rate: Fraction
    time: BlockTime
    drain: Fraction
    total: Fraction
    l1_buffers: int


def few_blocks(problem: Problem, entry: Entry, base: BaseTile) -> FewBlocks:
    """Return how section 4 cuts and deals a product that does not fill the cores."""
    assert entry.used_cores is not None
    rows, columns = ceil_div(problem.m, base.m), ceil_div(problem.n, base.n)
    blocks, cores = problem.batch * rows * columns, entry.used_cores
    return FewBlocks(
        m=base.m,
        n=base.n,
        rows=rows,
        columns=columns,
        blocks=blocks,
        cores=cores,
        waves=ceil_div(blocks, cores),
    )


def reduce_cores(
    problem: Problem, chip: Chip, entry: Entry, base: BaseTile, *, corrected: bool
) -> Reduction | None:
    """Return the plan for few cores, or ``None`` if L1 holds no step of such a block.

    Each core draws an equal part of what the cores in use get of the memory's rate: c cores get no more
    than c times what one core can draw. There is no swizzle and no grouping.
    """
    k_l1 = k_step(problem, chip, base.m + base.n)
    if not k_l1:
        return None
    found = few_blocks(problem, entry, base)
    rate = Fraction(*chip.gm_rate_of(found.cores))
    share = found.cores / rate
    time = _block_time(problem, chip, base, share, k_l1 if not corrected else 0, found.blocks)
    drain = drain_of(problem, chip, base.m, base.n, k_l1)
    return Reduction(
        m=found.m,
        n=found.n,
        k_l1=k_l1,
        rows=found.rows,
        columns=found.columns,
        blocks=found.blocks,
        cores=found.cores,
        waves=found.waves,
        gm_rate=rate,
        time=time,
        drain=drain,
        total=found.waves * time.total + drain,
        l1_buffers=l1_buffers(problem, chip, base.m + base.n, k_l1),
    )


def _block_time(
    problem: Problem, chip: Chip, base: BaseTile, share: Fraction, step: int, blocks: int
) -> BlockTime:
    """Return the time of one block where a byte takes *share* seconds a core.

    With a *step* it is what one step along k loads, as published; without, all of k through L2 and the
    block's part of the inputs from memory.
    """
    perimeter, area = (base.m + base.n) * problem.element_bytes, base.m * base.n
    if step:
        load = perimeter * step * share
    else:
        own = Fraction(perimeter * problem.k * chip.cores, chip.l2_bytes_per_second)
        load = max(own, Fraction(problem.input_bytes, blocks) * share)
    return BlockTime(
        Fraction(2 * area * problem.k * chip.cores, chip.peak_flops),
        load,
        area * problem.out_bytes * share,
        Fraction(chip.block_overhead_ps, 10**12),
    )
