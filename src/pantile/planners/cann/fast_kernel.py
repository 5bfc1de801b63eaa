"""The loop over many problems, written to be compiled; it runs as it is, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pantile.planners.cann.figures import Figures
from pantile.planners.cann.gates import ASW_BASIC, BRANCHES, gate
from pantile.planners.cann.integers import ceil_div, round_up
from pantile.planners.cann.search import (
    BETTER,
    CUBE,
    balance,
    judge,
    limits,
    rates,
    start,
    taken,
    top_of_row,
)
from pantile.planners.cann.stages import (
    MOST_PACKED_STEPS,
    base_depth,
    interface,
    k_steps,
    l0c_buffers,
    l1_buffers,
    l2_bypass,
    ub_buffers,
)

if TYPE_CHECKING:
    from collections.abc import Callable

OUTPUTS = (
    "branch",
    "capable",
    "base_m",
    "base_n",
    "base_k",
    "steps",
    "chunk",
    "l1_buffers",
    "l0c_buffers",
    "ub_buffers",
    "used_cores",
    "l2_bypass",
    "interface",
    "memory_bound",
    "max_m",
    "max_n",
    "unit_m",
    "unit_n",
    "candidates",
    "updates",
    "edge_raw",
    "edge",
    "param",
    "rate",
)
"""Figures of a row, whole numbers first."""

FIRST_FLOAT = OUTPUTS.index("edge_raw")
_BRANCH_COUNT = len(BRANCHES)


def kernel(stamp: int) -> Callable[[Any, Any, Any], None]:
    """Return the loop; *stamp* stands for the text of all that is compiled."""

    def run(table: Any, whole: Any, real: Any) -> None:
        for row in range(len(table)):
            if stamp:
                pick(table[row], whole[row], real[row])

    return run


def pick(row: Any, whole: Any, real: Any) -> None:
    """Fill in the figures of one problem."""
    f = figures(row)
    capable = 0
    for branch in range(_BRANCH_COUNT - 1, -1, -1):
        if gate(f, branch) == 0:
            capable |= 1 << branch
            whole[0] = branch
    whole[1] = capable
    if whole[0] == ASW_BASIC and f.k > 0:
        pick_block(f, whole, real)


def pick_block(f: Figures, whole: Any, real: Any) -> None:
    """Fill in the figures of ASW_BASIC; k is not 0."""
    r = rates(f)
    limit = limits(f, r)
    best = start(f, r, limit)
    candidates = updates = 0
    for m in range(limit.max_m, 0, -limit.unit_m):
        for n in range(top_of_row(f, limit, m), 0, -limit.unit_n):
            param, rate = 1.0 / m + 1.0 / n, balance(f, m, n)
            found = judge(f, best, m, n, param, rate)
            if found & (CUBE | BETTER):
                best = taken(best, found, m, n, param, rate)
                updates += 1
            candidates += 1
    m, n = min(round_up(f.m, 16), best.m), min(round_up(f.n, 16), best.n)
    depth = base_depth(f, m, n)
    steps = k_steps(f, m, n, depth)
    chunk = depth * min(steps, MOST_PACKED_STEPS)
    whole[2], whole[3], whole[4] = m, n, depth
    whole[5], whole[6] = steps, chunk
    whole[7] = l1_buffers(f, m, n, depth * steps)
    whole[8], whole[9] = l0c_buffers(f, m, n), ub_buffers(f, m, n)
    whole[10] = min(f.batch_a * ceil_div(f.m, m) * ceil_div(f.n, n), f.cores)
    whole[11] = l2_bypass(f, m, n, chunk)
    whole[12] = interface(f)
    whole[13] = int(limit.memory_bound)
    whole[14], whole[15] = limit.max_m, limit.max_n
    whole[16], whole[17] = limit.unit_m, limit.unit_n
    whole[18], whole[19] = candidates, updates
    real[0], real[1], real[2], real[3] = r.edge, best.edge, best.param, best.rate


def figures(row: Any) -> Figures:
    """Return a row of the table by its names; compiled, ``fast.py`` puts another form in its place."""
    return Figures(*row)
