"""The eight stages in their order: 0, 1, 2, 6, 3, 5, 4, 7.

Nothing is taken back: a later stage does not change an earlier one.

Source: asw-theory.md section 3.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, get_args

from pantile.errors import UsageError, suggestion
from pantile.planners.asw.block_order import BlockOrder, OrderName, block_order
from pantile.planners.asw.block_time import TimeModel
from pantile.planners.asw.candidates import candidates_of
from pantile.planners.asw.chip import ticks_of
from pantile.planners.asw.entry import Entry, entry_of
from pantile.planners.asw.l0_tile import BaseTile, InnerTile, base_tile, inner_tile
from pantile.planners.asw.l2 import Consumer, L2Use, Semantics, l2_use
from pantile.planners.asw.limits import refuse_sizes
from pantile.planners.asw.reduction import Reduction, reduce_cores
from pantile.planners.asw.single_core import SingleCore, choose_block
from pantile.planners.asw.tail_choice import tail_of
from pantile.planners.asw.totals import Totals, totals_of

if TYPE_CHECKING:
    from pantile.planners.asw.assignment import Assignment
    from pantile.planners.asw.candidates import Candidates
    from pantile.planners.asw.chip import Chip
    from pantile.planners.asw.problem import Problem
    from pantile.planners.asw.recut import Recut
    from pantile.planners.asw.tail import Tail

SEMANTICS: tuple[Semantics, ...] = get_args(Semantics)


@dataclass(frozen=True, slots=True, kw_only=True)
class AswOptions:
    """What the analysis leaves to whoever applies it.

    Attributes:
        streamk_eligible: Another branch, which cuts K, takes products that do not fill the cores.
        order: Order of the blocks of a batch.
        assignment: How blocks are dealt to cores.
        consumer: ``fused`` if another operator reads the outputs at once.
        unit_flag: Results leave while the cube computes.
        gated: As published, cut tails of at most three waves only.
        bias_batch: Batches of the bias, which the operator's rule for full loads reads.
    """

    streamk_eligible: bool = False
    order: OrderName = "swizzle"
    assignment: Assignment = "linear"
    consumer: Consumer = "memory"
    unit_flag: bool = True
    gated: bool = False
    bias_batch: int = 1


DEFAULTS = AswOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """What every stage gave; a stage that was not reached is ``None``.

    Attributes:
        problem: What is computed.
        chip: Where.
        semantics: Which reading of the rules was used.
        options: What was left open.
        entry: Stage 0.
        base: Stage 1.
        block: Stage 2, chosen among the *candidates*.
        l2: Stage 6.
        order: Stage 5.
        tail: Stage 4.
        totals: Stage 7.
        reduction: Instead of stages 2 to 7, the product on few cores.
        inner: The tile that is computed at a time, of the blocks that cores really take.
    """

    problem: Problem
    chip: Chip
    semantics: Semantics
    options: AswOptions
    entry: Entry
    base: BaseTile
    block: SingleCore | None = None
    l2: L2Use | None = None
    order: BlockOrder | None = None
    tail: Tail | None = None
    totals: Totals | None = None
    reduction: Reduction | None = None
    inner: InnerTile | None = None
    candidates: Candidates | None = field(default=None, compare=False, repr=False)

    @property
    def corrected(self) -> bool:
        """Whether the demonstrable errors are repaired."""
        return self.semantics == "corrected"

    @property
    def cut(self) -> SingleCore | Recut | Reduction | None:
        """The blocks that cores really take, those of B if it was chosen; ``None`` without a plan."""
        if self.tail is not None and self.tail.effective == "B":
            return self.tail.fewer or self.tail.recut
        return self.block or self.reduction

    @property
    def feasible(self) -> bool:
        """Whether there is a plan."""
        return self.block is not None or self.reduction is not None


def run_stages(
    problem: Problem, chip: Chip, semantics: Semantics = "corrected", options: AswOptions = DEFAULTS
) -> Stages:
    """Return all stages for one product.

    Raises:
        UsageError: If there is no such reading of the rules.
        OutsideModelError: If a size is above what the analysis counts, or too much would be tried.
    """
    if semantics not in SEMANTICS:
        raise UsageError(f"unknown semantics {semantics!r}", mend=suggestion(semantics, SEMANTICS))
    refuse_sizes(problem, chip)
    corrected = semantics == "corrected"
    base = base_tile(problem, chip, corrected=corrected)
    eligible = options.streamk_eligible
    entry = entry_of(problem, chip, base, corrected=corrected, streamk_eligible=eligible)
    start = Stages(problem=problem, chip=chip, semantics=semantics, options=options, entry=entry, base=base)
    if entry.mode == "rejected" or not base.m:
        return start
    if entry.mode == "reduce":
        return _reduced(start)
    return _split(start)


def _reduced(start: Stages) -> Stages:
    """Go on with few cores."""
    problem, chip, base = start.problem, start.chip, start.base
    found = reduce_cores(problem, chip, start.entry, base, corrected=start.corrected)
    if found is None:
        return start
    size = (found.m, found.n)
    inner = inner_tile(problem, chip, base, size, found.k_l1, corrected=start.corrected)
    return replace(start, reduction=found, inner=inner)


def _split(start: Stages) -> Stages:
    """Go on with all cores."""
    problem, chip, base, options = start.problem, start.chip, start.base, start.options
    corrected = start.corrected
    found = candidates_of(problem, chip, start.entry, base, corrected=corrected)
    start = replace(start, candidates=found)
    block = choose_block(problem, chip, start.entry, found, corrected=corrected)
    if block is None:
        return start
    l2 = l2_use(problem, chip, block, start.semantics, options.consumer)
    order = block_order(problem, chip, block, l2, options.order)
    inner = inner_tile(problem, chip, base, (block.m, block.n), block.k_l1, corrected=corrected)
    overlapped = options.unit_flag or inner.buffers == 2
    delivered = None
    if corrected:
        assert l2.reread is not None
        delivered = l2.reread * problem.input_bytes
    model = TimeModel(problem, ticks_of(chip), delivered, overlapped)
    tail = tail_of(problem, chip, block, model, gated=options.gated)
    totals = totals_of(problem, chip, base, block, l2, tail)
    done = replace(start, block=block, l2=l2, order=order, tail=tail, totals=totals, inner=inner)
    cut = done.cut
    if cut is None or cut is block:
        return done
    inner = inner_tile(problem, chip, base, (cut.m, cut.n), cut.k_l1, corrected=corrected)
    return replace(done, inner=inner)
