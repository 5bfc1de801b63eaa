"""The search for the base block, run candidate by candidate with its log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pantile.planners.cann import search as rules
from pantile.planners.cann.search import CUBE, SKIPPED_BY_BALANCE, SKIPPED_BY_FP32

if TYPE_CHECKING:
    from pantile.planners.cann.figures import Figures
    from pantile.planners.cann.search import Limits, Rates, State


class Update(NamedTuple):
    """A candidate that became the best.

    Attributes:
        at: Its position among the candidates, from 0.
        m: Its baseM; likewise *n*.
        param: Its 1 / baseM + 1 / baseN.
        rate: Its share of useful work.
        cube: Whether it holds the edge and is better balanced; the edge is then tightened to its param.
        better: Whether its param over rate is smaller.
        edge: The edge before.
    """

    at: int
    m: int
    n: int
    param: float
    rate: float
    cube: bool
    better: bool
    edge: float


@dataclass(frozen=True, slots=True)
class Search:
    """A finished search.

    Attributes:
        rates: Scalars of the machine and the problem.
        limits: Where it ran.
        start: Where it began.
        best: What it found, before the block is clamped to the problem.
        candidates: How many there were.
        skipped_by_balance: Candidates that lost because the best was balanced enough.
        skipped_by_fp32: Candidates that fp32 refuses as too small.
        updates: The candidates taken, in order.
    """

    rates: Rates
    limits: Limits
    start: State
    best: State
    candidates: int
    skipped_by_balance: int
    skipped_by_fp32: int
    updates: tuple[Update, ...]

    def to_json(self, f: Figures) -> dict[str, Any]:
        """Return every intermediate under the names of the recorded cases."""
        r, limit, start, best = self.rates, self.limits, self.start, self.best
        return {
            "hbmBW": r.hbm,
            "l2BW": r.l2,
            "singleCoreComputePower": r.core_power,
            "computePower": r.power,
            "cmr": r.cmr,
            "l2CacheUsage": r.l2_usage,
            "baseMNBufferLimit": f.l0c,
            "cubeBoundEdgeRaw": r.edge,
            "baseMBest": limit.best_m,
            "baseNBest": limit.best_n,
            "cubeBoundParamBest": limit.best_param,
            "isMemoryBound": limit.memory_bound,
            "innerAlignUnit": limit.inner_bytes,
            "fixpBoundEdge": limit.fixp_edge,
            "baseMAlignUnit": limit.unit_m,
            "baseNAlignUnit": limit.unit_n,
            "maxBaseM": limit.max_m,
            "maxBaseN": limit.max_n,
            "initBaseM": start.m,
            "initBaseN": start.n,
            "initCubeBoundParam": start.param,
            "cubeBoundEdgeScaled": start.edge,
            "initBalanceRate": start.rate,
            "candidateCount": self.candidates,
            "skippedByBalanceRule": self.skipped_by_balance,
            "skippedByFp32Rule": self.skipped_by_fp32,
            "updateCount": len(self.updates),
            "updates": [
                {
                    "candidateIndex": each.at,
                    "baseM": each.m,
                    "baseN": each.n,
                    "param": each.param,
                    "rate": each.rate,
                    "cubeBoundCond": each.cube,
                    "balanceCond": each.better,
                    "edgeBefore": each.edge,
                }
                for each in self.updates
            ],
            "finalBalanceRate": best.rate,
            "finalEdge": best.edge,
            "bestBaseM_preClamp": best.m,
            "bestBaseN_preClamp": best.n,
        }


def search_block(f: Figures) -> Search:
    """Return the search of a problem: every candidate is visited, none is cut short (section 5.5)."""
    rates = rules.rates(f)
    limits = rules.limits(f, rates)
    start = best = rules.start(f, rates, limits)
    updates: list[Update] = []
    index = by_balance = by_fp32 = 0
    for m in range(limits.max_m, 0, -limits.unit_m):
        for n in range(rules.top_of_row(f, limits, m), 0, -limits.unit_n):
            param, rate = 1.0 / m + 1.0 / n, rules.balance(f, m, n)
            found = rules.judge(f, best, m, n, param, rate)
            if found == SKIPPED_BY_BALANCE:
                by_balance += 1
            elif found == SKIPPED_BY_FP32:
                by_fp32 += 1
            elif found:
                cube, better = bool(found & CUBE), bool(found & rules.BETTER)
                updates.append(Update(index, m, n, param, rate, cube, better, best.edge))
                best = rules.taken(best, found, m, n, param, rate)
            index += 1
    return Search(rates, limits, start, best, index, by_balance, by_fp32, tuple(updates))
