"""The cut of ASW_BASIC as a tiling: blocks, pieces of the reduction, chunks in L1, steps in L0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.planners.cann.integers import ceil_div
from pantile.tiling.tiling import Level, Tiling

if TYPE_CHECKING:
    from pantile.planners.cann.asw_basic import AswBasic

DIMENSIONS = ("b", "m", "n", "k")


def tiling_of(asw: AswBasic) -> Tiling:
    """Return the levels ``block``, ``chunk``, ``step`` and ``element``; ``piece`` where fp32 splits K.

    A block is what a core does at a time, a chunk of K what L1 holds of it, a step what L0 holds.
    """
    f, order = asw.figures, asw.order
    m_count, n_count = order.counts
    longest = order.pieces[-1][1] - order.pieces[-1][0]
    chunk = min(longest, asw.chunk)
    levels = [Level("block", (f.batch_c, m_count, n_count, 1))]
    if len(order.pieces) > 1:
        bounds = ((), (), (), (*(start for start, _ in order.pieces), f.k))
        levels.append(Level("piece", (1, 1, 1, len(order.pieces)), bounds))
    levels += [
        Level("chunk", (1, 1, 1, ceil_div(longest, chunk))),
        Level("step", (1, 1, 1, ceil_div(chunk, asw.base_k))),
        Level("element", (1, order.rows, order.columns, min(asw.base_k, chunk))),
    ]
    return Tiling(DIMENSIONS, (f.batch_c, f.m, f.n, f.k), tuple(levels))
