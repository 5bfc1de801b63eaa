"""What the source does that a reader may not expect, noted where a problem meets it (section 14)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.planners.cann import stages
from pantile.planners.cann.integers import ceil_div, round_up

if TYPE_CHECKING:
    from pantile.planners.cann.asw_basic import AswBasic
    from pantile.planners.cann.normalise import Normalised
    from pantile.tiling.log import DecisionLog

_WORD = 2**64


def note_entry(log: DecisionLog, given: Normalised) -> None:
    """Note what normalisation does."""
    if given.batch_b == 1 and given.batch_a > 1:
        log.note(
            "Q8", "A is transposed, so its batches are not folded into rows as those of a plain A would be"
        )


def note_asw(log: DecisionLog, asw: AswBasic) -> None:
    """Note what the stages of ASW_BASIC do."""
    f, best = asw.figures, asw.search.best
    if f.batch_c == 1:
        log.note("Q1", "a batch of 1 is cut by other rules here than by MatMulV3: no tail is split")
    if asw.search.rates.edge <= 0:
        log.note("Q2", "the edge is not positive, so that only param / rate decides")
    per_batch = ceil_div(f.m, best.m) * ceil_div(f.n, best.n)
    small = best.m < 64 or best.n < 64
    if f.true_fp32 and small and per_batch <= f.cores < per_batch * f.batch_a:
        log.note("Q3", f"a block below 64 is allowed for {per_batch} tiles a batch; the batch is not counted")
    whole = round_up(f.k, 16)
    if asw.base_k * asw.steps < f.k and stages.fits_l1(f, asw.base_m, asw.base_n, whole):
        log.note("Q4", f"K moves in chunks of {asw.chunk} although all of it would fit in L1")
    if (asw.base_m, asw.base_n) != (best.m, best.n):
        log.note("Q5", f"rate and param are those of {best.m} x {best.n}, before the block was clamped")
    shorter = min(asw.base_m, asw.base_n)
    deeper = stages.base_depth(f, shorter, shorter)
    if asw.base_k < deeper:
        log.note("Q6", f"baseK {asw.base_k} follows the longer side; the shorter one would allow {deeper}")
    if f.bias_bytes:
        true_bytes = asw.base_k * asw.steps * (asw.base_m + asw.base_n) * f.element_bytes
        true_bytes += asw.base_n * f.bias_bytes
        if (4 if true_bytes * 4 <= f.l1 else 2) != asw.buffers:
            log.note("Q7", "a bias counts 4 B an element, which leaves room for 2 chunks instead of 4")
    if asw.used_cores < f.cores:
        log.note("Q10", f"usedCoreNum is {asw.used_cores}, yet the kernel is launched on {f.cores} cores")
    products = (f.m * f.n * f.out_bytes * f.batch_c, f.batch_a * (f.m + f.n) * f.k * f.element_bytes)
    if max(*products, stages.total_bytes(f)) >= _WORD:
        log.note("model", "a product of sizes passes 64 bits: the source's would wrap, these figures do not")
