"""The log of a plan: every stage's figures, formulas and rejected alternatives, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pantile.planners.cann import stages
from pantile.planners.cann.block_order import WINDOW
from pantile.planners.cann.gates import BRANCHES
from pantile.planners.cann.integers import ceil_div
from pantile.planners.cann.reasons import declined
from pantile.planners.cann.search import BALANCED, EDGE_SCALE

if TYPE_CHECKING:
    from pantile.planners.cann.asw_basic import AswBasic
    from pantile.planners.cann.figures import Figures
    from pantile.planners.cann.normalise import Normalised
    from pantile.planners.cann.other_branches import Launch
    from pantile.tiling.log import DecisionLog


def log_entry(log: DecisionLog, given: Normalised) -> None:
    """Log how the operator's call became one problem."""
    log.stage = "entry"
    call = given.problem
    shapes = {"A": list(call.a_shape), "B": list(call.b_shape), "output": list(call.c_shape)}
    types = {"A": call.a_dtype, "B": call.b_dtype, "output": call.c_dtype, "bias": call.bias_dtype}
    log.add("types", types, "fp16 or bf16 to the same or fp32, or all fp32", {"hf32": call.hf32})
    log.add(
        "folded",
        given.folded,
        "all batches of A become rows if B has one batch and A is not transposed",
        {"batchA": given.batch_a * given.folded, "batchB": given.batch_b, "adj_x1": call.transpose_a},
    )
    sizes = {"m": given.m, "n": given.n, "k": given.k}
    batches = {"batchA": given.batch_a, "batchB": given.batch_b, "batchC": given.batch_c}
    log.add("problem", sizes | batches | {"batchBias": given.batch_bias}, "last two of each shape", shapes)


def log_branches(log: DecisionLog, f: Figures, gates: tuple[int, ...], folded: int = 1) -> str:
    """Log what every branch answered after so many batches were folded, and return the one taken."""
    log.stage = "branch"
    taken = gates.index(0)
    for branch, condition in enumerate(gates[:taken]):
        why = declined(f, branch, condition)
        name, after = BRANCHES[branch], ""
        if folded > 1 and name == "ITER_BATCH_BROADCAST_BASICAPI":  # which asks about the batches as given
            after = f"after folding {folded} batches into rows, "
        log.add(
            name,
            "declined",
            f"condition {why.condition} of {why.of} fails; all must hold",
            why.figures,
            rejected=(f"{name}: {after}{why.text}",),
        )
    also = tuple(
        f"{BRANCHES[later]}: it would take the problem too, but is asked later"
        for later in range(taken + 1, len(BRANCHES))
        if gates[later] == 0
    )
    return log.add("branch", BRANCHES[taken], "the first that takes the problem", rejected=also)


def log_asw(log: DecisionLog, asw: AswBasic) -> None:
    """Log the seven stages of ASW_BASIC."""
    log.stage = "ResetBase"
    f = asw.figures
    fallback = 128 // f.element_bytes
    log.add("baseK", fallback, "128 B / element", {"element": f.element_bytes})
    log.add("singleCoreK", f.k, "K is not split over cores")
    _log_scalars(log, asw)
    _log_limits(log, asw)
    _log_search(log, asw)
    _log_l1(log, asw)
    _log_buffers(log, asw)
    _log_interface(log, asw)
    _log_packing(log, asw)
    _log_order(log, asw)


def log_launch(log: DecisionLog, launch: Launch) -> None:
    """Log how a branch other than ASW_BASIC is launched."""
    log.stage = "launch"
    log.add("tilingKey", launch.key.to_json() if launch.key else None, "fields of 4, 2, 2, 4, 4, 4, 4 bits")
    log.add("blockDim", launch.cores, "cores that the kernel is launched on")
    info = launch.run_info
    if info is not None and info.base_m > 1:
        log.add("base", [info.base_m, info.base_n, info.base_k], "baseM, baseN, baseK")
        log.add(
            "singleCore", [info.single_core_m, info.single_core_n, info.single_core_k], "of a core at a time"
        )
        log.add("stepK", [info.step_ka, info.step_kb], "base depths in a chunk of A and of B")


def _log_scalars(log: DecisionLog, asw: AswBasic) -> None:
    log.stage = "GetRebalanceBlock"
    f, r = asw.figures, asw.search.rates
    clock = {"cube_freq": f.cube_freq, "ai_core_cnt": f.soc_cores}
    log.add("hbmBW", r.hbm, "freq / 1000 x cores x ddr_rate / 1024", clock | {"ddr_rate": f.ddr_rate})
    log.add("l2BW", r.l2, "freq / 1000 x cores x l2_rate / 1024", clock | {"l2_rate": f.l2_rate})
    slowed = " / 16 for fp32" if f.true_fp32 else ""
    log.add(
        "computePower",
        r.power,
        f"freq / 1000 x 8{slowed} x cores",
        {"cube_freq": f.cube_freq, "cores": f.cores},
    )
    log.add("cmr", r.cmr, "(M + N) / (M N)", {"M": f.m, "N": f.n})
    sizes = {"batchA": f.batch_a, "M": f.m, "N": f.n, "K": f.k, "element": f.element_bytes, "L2": f.l2}
    log.add("l2Usage", r.l2_usage, "max(batchA (M + N) K element / L2, 1)", sizes)
    log.add(
        "edge",
        r.edge,
        "l2BW / computePower + l2Usage (1 - l2BW / hbmBW) cmr - (1 + l2BW / hbmBW) / K",
        {
            "l2BW": r.l2,
            "hbmBW": r.hbm,
            "computePower": r.power,
            "l2Usage": r.l2_usage,
            "cmr": r.cmr,
            "K": f.k,
        },
    )


def _candidates(count: int) -> str:
    return "1 candidate" if count == 1 else f"{count} candidates"


def _log_limits(log: DecisionLog, asw: AswBasic) -> None:
    f, limit, r = asw.figures, asw.search.limits, asw.search.rates
    sizes = {"M": f.m, "N": f.n}
    log.add(
        "mBest, nBest",
        [limit.best_m, limit.best_n],
        "up to 256 rows, then what L0C / 4 holds",
        sizes | {"L0C": f.l0c},
    )
    log.add(
        "isMemoryBound",
        limit.memory_bound,
        "1 / mBest + 1 / nBest > edge",
        {"param": limit.best_param, "edge": r.edge},
    )
    log.add(
        "inner", limit.inner_bytes, "128 B if memory bound, else 64 B", {"isMemoryBound": limit.memory_bound}
    )
    rates = {"hbmBW": r.hbm, "l2BW": r.l2}
    log.add("fixpEdge", limit.fixp_edge, "M N hbmBW / ((M + N) l2BW)", sizes | rates)
    inner = {"inner": limit.inner_bytes, "element": f.element_bytes}
    transposed = {"adj_x1": bool(f.transpose_a), "adj_x2": bool(f.transpose_b)}
    log.add("unitM", limit.unit_m, "inner / element if A is transposed, else 16", inner | transposed)
    log.add(
        "unitN",
        limit.unit_n,
        "256 B / element if K < fixpEdge, else 16 if B is transposed, else inner / element",
        inner | transposed | {"K": f.k, "fixpEdge": limit.fixp_edge},
    )
    rule = "least of L0A/2 / (least K), L0C/4 / 16, L1 / (4 element K unit), BT; in units, up to the size"
    memories = {"L0A": f.l0a, "L0C": f.l0c, "L1": f.l1, "BT": f.bt if f.bias_bytes else None}
    log.add("maxBaseM", limit.max_m, rule, memories)
    log.add("maxBaseN", limit.max_n, rule, memories)


def _log_search(log: DecisionLog, asw: AswBasic) -> None:
    f, found = asw.figures, asw.search
    start, best = found.start, found.best
    log.add(
        "start",
        [start.m, start.n],
        "at most 256 rows, then the columns that L0C / 4 holds",
        {"param": start.param, "rate": start.rate},
    )
    log.add("edge in the search", start.edge, f"edge x {EDGE_SCALE}", {"edge": found.rates.edge})
    before = start
    for each in found.updates:
        rules = [name for name, holds in (("cube", each.cube), ("balance", each.better)) if holds]
        inputs = {"candidate": each.at, "param": each.param, "rate": each.rate, "edge": each.edge}
        lost = f"{before.m} x {before.n}: param {before.param:.6g}, rate {before.rate:.6g}"
        log.add("update", [each.m, each.n], f"by {' and '.join(rules)}", inputs, rejected=(lost,))
        before = before._replace(m=each.m, n=each.n, param=each.param, rate=each.rate)
    skipped = []
    if found.skipped_by_balance:
        why = f"the best has a rate of {BALANCED} or more, and they are above its param and the edge"
        skipped.append(f"{_candidates(found.skipped_by_balance)}: {why}")
    if found.skipped_by_fp32:
        skipped.append(f"{_candidates(found.skipped_by_fp32)}: fp32 blocks below 64 that hold the edge")
    rest = found.candidates - len(found.updates) - found.skipped_by_balance - found.skipped_by_fp32
    if rest:
        skipped.append(f"{_candidates(rest)}: no smaller param / rate")
    log.add(
        "best",
        [best.m, best.n],
        "cube: param <= edge and a higher rate; balance: a smaller param / rate",
        {"candidates": found.candidates, "param": best.param, "rate": best.rate, "edge": best.edge},
        rejected=tuple(skipped),
    )
    log.add(
        "baseM, baseN", [asw.base_m, asw.base_n], "not above M and N rounded up to 16", {"M": f.m, "N": f.n}
    )
    log.add(
        "baseK",
        asw.base_k,
        "what half of L0A holds of the longer side, in 256 B",
        {"L0A/2": f.l0a // 2, "longer": max(asw.base_m, asw.base_n), "K": f.k},
    )
    tiles = {"tiles": asw.tiles, "cores": f.cores}
    log.add("usedCoreNum", asw.used_cores, "min(tiles, cores); the kernel does not read it", tiles)


def _log_l1(log: DecisionLog, asw: AswBasic) -> None:
    log.stage = "CalL1Tiling"
    f, m, n, depth = asw.figures, asw.base_m, asw.base_n, asw.base_k
    lost: list[str] = []
    reached = moved = 0
    for step in range(1, min(ceil_div(f.k, depth), stages.MOST_STEPS) + 1):
        k = depth * step
        if not stages.fits_l1(f, m, n, k):
            both, larger = (m + n) * k * f.element_bytes, max(m, n) * k * f.element_bytes
            room = stages.available_l1(f, n)
            lost.append(f"{step} steps: 2 x {both} B or 4 x {larger} B is above {room} B of L1")
            break
        if stages.accepts_step(f, reached, moved, k):
            reached, moved = k, max(m, n) * k * f.element_bytes
        else:
            lost.append(f"{step} steps: {reached} elements are aligned or move {moved} B at a time already")
    log.add(
        "stepK",
        asw.steps,
        f"grow while not aligned to {stages.k_unit(f)} elements or below {stages.LEAST_MOVE_BYTES} B",
        {"baseK": depth, "K": f.k, "L1": stages.available_l1(f, n)},
        rejected=tuple(lost),
    )
    steps = {"baseK": depth, "stepK": asw.steps}
    log.add("depthA1, depthB1", 2 * asw.steps, "2 stepK", steps)
    log.add("kL1", asw.chunk, f"baseK x min(stepK, {stages.MOST_PACKED_STEPS})", steps)


def _log_buffers(log: DecisionLog, asw: AswBasic) -> None:
    log.stage = "buffers"
    f, area = asw.figures, asw.base_m * asw.base_n
    info = asw.packed
    chunk = asw.base_k * asw.steps * (asw.base_m + asw.base_n) * f.element_bytes
    bias = asw.base_n * 4 if f.bias_bytes else 0
    log.add(
        "l1BufferNum",
        info.l1_buffer_num,
        "4 if four chunks of A, B and bias fit in L1, else 2",
        {"chunk": chunk + bias, "L1": f.l1},
    )
    log.add("dbL0C", info.l0c_db, "2 if two blocks of 4 B fit in L0C", {"block": area * 4, "L0C": f.l0c})
    log.add("ubDB", info.ub_db, "2 if a block of 4 B fits in UB", {"block": area * 4, "UB": f.ub})


def _log_interface(log: DecisionLog, asw: AswBasic) -> None:
    log.stage = "API level"
    f, split = asw.figures, stages.split_length(asw.figures)
    log.add("split K", split, "fp32 longer than this is added up in pieces; 0 if not", {"K": f.k})
    level = stages.interface(f)
    why: tuple[str, ...] = ()
    if level == stages.BASIC:
        other = "inputs are strided" if f.strided_a or f.strided_b else "offset_x forbids it"
        cause = "K is split" if split else other
        why = (f"2, TENSOR: {cause}",)
    inputs = {"split": bool(split), "strided": bool(f.strided_a or f.strided_b)}
    log.add("apiLevel", level, "2 TENSOR if dense and not split, else 1 BASIC", inputs, rejected=why)


def _log_packing(log: DecisionLog, asw: AswBasic) -> None:
    log.stage = "packing"
    f, packed = asw.figures, asw.packed
    log.add(
        "l2CacheDisable", packed.l2_cache_disable, "1 A, 2 B: read once, and aligned to 128 B", _traffic(f)
    )
    log.add("tilingKey", asw.key.value, "apiLevel + 16 adj_x1 + 64 adj_x2", asw.key.to_json())
    log.add("blockDim", f.cores, "every cube core", {"usedCoreNum": asw.used_cores})
    log.add("words", packed.words, "25 words of BatchMatMulV3BasicTilingData")


def _traffic(f: Figures) -> dict[str, Any]:
    return {"inputs and output": stages.total_bytes(f), "L2": f.l2}


def _log_order(log: DecisionLog, asw: AswBasic) -> None:
    log.stage = "block order"
    order = asw.order
    m_count, n_count = order.counts
    log.add(
        "mCnt, nCnt", [m_count, n_count], "cdiv(m, mL1), cdiv(n, nL1)", {"mL1": asw.m_l1, "nL1": asw.n_l1}
    )
    log.add(
        "window",
        min(WINDOW, m_count),
        "min(4, mCnt) rows of tiles, the rest in the last window; every second one from the far end",
        {"mCnt": m_count, "nCnt": n_count},
    )
    f = asw.figures
    rounds, last = ceil_div(order.tiles, f.cores), order.tiles % f.cores
    log.add(
        "rounds", rounds, "tile i on core i mod cores", {"tiles": order.tiles, "cores": f.cores, "last": last}
    )
    if len(order.pieces) > 1:
        longest = order.pieces[-1][1] - order.pieces[-1][0]
        log.add(
            "pieces of K", len(order.pieces), "floor(K / length), the rest in the last", {"last": longest}
        )
