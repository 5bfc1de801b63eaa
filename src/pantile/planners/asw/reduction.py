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
class Reduction:
    """The product on few cores; times in seconds.

    Attributes:
        m: Rows of a block.
        n: Columns of a block.
        k_l1: K extent of one move to L1.
        rows: Blocks of one batch along m; likewise columns.
        blocks: Blocks of all batches.
        cores: Cores in use.
        waves: Rounds of those cores.
        gm_rate: Bytes per second that they draw from memory together.
        time: Of one block.
        drain: The last step of one tile, and its way out.
        total: Everything together.
        l1_buffers: Moves of each operand that L1 holds.
    """

    m: int
    n: int
    k_l1: int
    rows: int
    columns: int
    blocks: int
    cores: int
    waves: int
    gm_rate: Fraction
    time: BlockTime
    drain: Fraction
    total: Fraction
    l1_buffers: int


def reduce_cores(
    problem: Problem, chip: Chip, entry: Entry, base: BaseTile, *, corrected: bool
) -> Reduction | None:
    """Return the plan for few cores, or ``None`` if L1 holds no step of such a block.

    Each core draws an equal part of what the cores in use get of the memory's rate: c cores get no more
    than c times what one core can draw. There is no swizzle and no grouping.
    """
    assert entry.used_cores is not None
    k_l1 = k_step(problem, chip, base.m + base.n)
    if not k_l1:
        return None
    rows, columns = ceil_div(problem.m, base.m), ceil_div(problem.n, base.n)
    blocks = problem.batch * rows * columns
    cores = entry.used_cores
    waves = ceil_div(blocks, cores)
    rate = Fraction(*chip.gm_rate_of(cores))
    time = _block_time(problem, chip, base, cores / rate, k_l1 if not corrected else 0, blocks)
    drain = drain_of(problem, chip, base.m, base.n, k_l1)
    return Reduction(
        m=base.m,
        n=base.n,
        k_l1=k_l1,
        rows=rows,
        columns=columns,
        blocks=blocks,
        cores=cores,
        waves=waves,
        gm_rate=rate,
        time=time,
        drain=drain,
        total=waves * time.total + drain,
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
