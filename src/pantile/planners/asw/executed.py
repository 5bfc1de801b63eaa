"""The blocks that cores really take: those of stage 2, or of strategy B, which cuts the whole output again.

Stages 5 to 7 describe the block of stage 2, as the analysis has it; what a plan says of L2, order and time
must be about its own blocks.

Source: asw-theory.md sections 9 and 12, applied to the cut of section 10.3.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from pantile.planners.asw.block_order import block_order
from pantile.planners.asw.block_time import TimeModel
from pantile.planners.asw.l2 import l2_use
from pantile.planners.asw.single_core import block_of
from pantile.planners.asw.totals import totals_of

if TYPE_CHECKING:
    from pantile.planners.asw.block_order import BlockOrder
    from pantile.planners.asw.l2 import L2Use
    from pantile.planners.asw.pipeline import Stages
    from pantile.planners.asw.recut import Recut
    from pantile.planners.asw.single_core import SingleCore
    from pantile.planners.asw.totals import Totals


@dataclass(frozen=True, slots=True, kw_only=True)
class Executed:
    """What the blocks that cores take use of L2, in which order they come, and what they take.

    Attributes:
        block: The block.
        l2: Stage 6 of it.
        order: Stage 5 of it.
        totals: Stage 7 of it.
        again: Whether strategy B cut it, not stage 2.
    """

    block: SingleCore
    l2: L2Use
    order: BlockOrder
    totals: Totals
    again: bool = False


def executed_of(stages: Stages, model: TimeModel) -> Executed:
    """Return what is carried out, after stage 7; *model* is how blocks of stage 2 are timed."""
    assert stages.block is not None
    assert stages.l2 is not None
    assert stages.order is not None
    assert stages.tail is not None
    assert stages.totals is not None
    recut = stages.tail.fewer or stages.tail.recut
    if stages.tail.effective != "B" or recut is None:
        return Executed(block=stages.block, l2=stages.l2, order=stages.order, totals=stages.totals)
    return _executed_again(stages, model, recut)


def _executed_again(stages: Stages, model: TimeModel, recut: Recut) -> Executed:
    problem, chip, options, tail = stages.problem, stages.chip, stages.options, stages.tail
    assert tail is not None
    block = block_of(problem, chip, recut.m, recut.n)
    l2 = l2_use(problem, chip, block, stages.semantics, options.consumer)
    if model.delivered is not None:
        assert l2.reread is not None
        model = TimeModel(problem, model.ticks, l2.reread * problem.input_bytes, model.overlapped)
    share = Fraction(1, problem.batch * block.rows * block.columns)
    time = model.block(block.m, block.n, block.k_l1, share)
    tail = replace(tail, seconds=recut.waves * time.total)
    return Executed(
        block=block,
        l2=l2,
        order=block_order(problem, chip, block, l2, options.order),
        totals=totals_of(problem, chip, stages.base, block, l2, tail),
        again=True,
    )
