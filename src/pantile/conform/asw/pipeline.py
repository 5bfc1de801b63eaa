"""The figures of all stages, under the names that recorded cases have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pantile.conform.asw.inputs import ProductInput
from pantile.conform.case_inputs import read_inputs
from pantile.planners.asw.exact import Judge
from pantile.planners.asw.pipeline import AswOptions, run_stages
from pantile.planners.asw.reduction import few_blocks
from pantile.planners.asw.split import residency, split_kind

if TYPE_CHECKING:
    from fractions import Fraction

    from pantile.planners.asw.l2 import Semantics
    from pantile.planners.asw.pipeline import Stages
    from pantile.planners.asw.recut import Recut
    from pantile.planners.asw.tail import Tail


_PATHS = ("reduce", "stage2", "stage3", "stage4", "stage5", "stage6", "stage7")
"""What only some products come to."""

_BY_PATH = {
    "reduce": ("feasible", "reason", "sM", "sN", "n_blk", "used_cores", "n_wave"),
    "stage2": (
        *("feasible", "reason", "mCnt", "nCnt", "sM", "sN", "kL1", "r", "cost_s"),
        *("n_feasible", "traffic_bytes", "relax_level"),
    ),
    "stage6": ("D", "sub", "closed_form"),
}
"""Figures of them that only some have."""


def figures_of_pipeline(inputs: Any, semantics: Semantics) -> dict[str, Any]:
    """Return the figures of all stages, times in seconds.

    What this product does not come to is ``None``: a file that has a figure there took another path.

    Raises:
        WrongInput: If an input is missing or cannot be one.
        PantileError: If the analysis does not cover the product.
    """
    read = read_inputs(inputs, ProductInput, "inputs")
    options = AswOptions(streamk_eligible=read.streamk_eligible, bias_batch=read.bias_batch)
    figures = _reached(run_stages(read.problem, read.chip, semantics, options))
    for name, below in _BY_PATH.items():
        if name in figures:
            figures[name] = {**dict.fromkeys(below), **figures[name]}
    return {**dict.fromkeys(_PATHS), **figures}


def _reached(stages: Stages) -> dict[str, Any]:
    """Return the figures of the stages that this product comes to."""
    figures: dict[str, Any] = {"stage0": _stage0(stages), "stage1": _stage1(stages)}
    if stages.entry.mode == "rejected":
        return figures
    if stages.entry.mode == "reduce":
        return {**figures, "reduce": _reduce(stages)}
    if stages.block is None:
        reason = "no candidate" if stages.base.m else "base=0"
        return {**figures, "stage2": {"feasible": False, "reason": reason, "unsplit": False}}
    return {
        **figures,
        "stage2": _stage2(stages),
        "stage3": _stage3(stages),
        "stage5": _stage5(stages),
        "stage6": _stage6(stages),
        "stage4": _corrected_tail(stages) if stages.corrected else _published_tail(stages),
        "stage7": _stage7(stages),
    }


def _stage0(stages: Stages) -> dict[str, Any]:
    entry = stages.entry
    return {
        "P_par": float(entry.parallelism),
        "mode": entry.mode,
        "P_split": entry.blocks_per_batch,
        "used_cores": entry.used_cores,
    }


def _stage1(stages: Stages) -> dict[str, Any]:
    base = stages.base
    return {"BaseM": base.m, "BaseN": base.n, "baseK_cap": base.k_cap}


def _reduce(stages: Stages) -> dict[str, Any]:
    if not stages.base.m:
        return {"feasible": False, "reason": "base=0"}
    found = few_blocks(stages.problem, stages.entry, stages.base)
    return {
        "sM": found.m,
        "sN": found.n,
        "n_blk": found.blocks,
        "used_cores": found.cores,
        "n_wave": found.waves,
    }


def _stage2(stages: Stages) -> dict[str, Any]:
    block = stages.block
    assert block is not None
    figures = {
        "feasible": True,
        "mCnt": block.rows,
        "nCnt": block.columns,
        "sM": block.m,
        "sN": block.n,
        "kL1": block.k_l1,
        "r": block.remainder,
        "cost_s": float(block.cost),
        "n_feasible": block.feasible_count,
        "traffic_bytes": block.traffic_bytes,
    }
    if stages.corrected:
        figures["relax_level"] = block.relax_level
    if not stages.corrected or block.rows * block.columns > 1:
        # Under corrected the whole output is a candidate like the others: no rule says what the flag then is.
        figures["unsplit"] = block.unsplit
    return figures


def _stage3(stages: Stages) -> dict[str, Any]:
    block = stages.block
    assert block is not None
    left, right = residency(stages.problem, stages.chip)
    return {
        "used_cores": min(stages.problem.batch * block.rows * block.columns, stages.chip.cores),
        "split": split_kind(block.rows, block.columns),
        "right_resident": right,
        "left_resident": left,
    }


def _stage5(stages: Stages) -> dict[str, Any]:
    order = stages.order
    assert order is not None
    return {
        "W": order.window,
        "transConflict": order.diagonal_readers,
        "transConflict_ok": order.conflict_free,
        "calOrder": order.fastest,
    }


def _stage6(stages: Stages) -> dict[str, Any]:
    l2, problem = stages.l2, stages.problem
    assert l2 is not None
    reach: float | int | None = None
    if l2.reach is not None:
        reach = int(l2.reach) if stages.corrected else float(l2.reach)
    figures: dict[str, Any] = {
        "S_in": problem.input_bytes,
        "S_out": problem.output_bytes,
        "scene": l2.scene,
        "bw_out": float(l2.write_out),
        "bus_rate": float(l2.bus),
        "r_in": _seconds(l2.reread),
        "groups": l2.groups,
        "m_grp": l2.m_group,
        "n_grp": l2.n_group,
    }
    if reach is not None:
        figures["D"] = reach
    if l2.sub:
        figures["sub"] = l2.sub
    if l2.closed_form is not None:
        rows, columns, reread = l2.closed_form
        figures["closed_form"] = {"m_grp": rows, "n_grp": columns, "r_in": float(reread)}
    return figures


def _tail(tail: Tail) -> dict[str, Any]:
    return {
        "n_blk": tail.blocks,
        "n_wave": tail.waves,
        "r": tail.remainder,
        "bound": tail.time.bound,
        "block": {
            "comp": float(tail.time.compute),
            "load": float(tail.time.load),
            "fix": float(tail.time.write),
        },
        "strategy": tail.strategy,
        "x_min": _seconds(tail.x_min),
    }


def _published_tail(stages: Stages) -> dict[str, Any]:
    tail = stages.tail
    assert tail is not None
    rule = tail.printed
    assert rule is not None
    recut = tail.recut
    return {
        **_tail(tail),
        "resplit_gate": rule.gate,
        "s_star": rule.s_star,
        "g": float(rule.growth),
        "strategy_effective": tail.effective,
        "B_feasible": recut is not None if tail.remainder else None,
        "B_tile": None if recut is None else {**_cut(recut), "T_block": float(recut.block_seconds)},
    }


def _corrected_tail(stages: Stages) -> dict[str, Any]:
    tail = stages.tail
    assert tail is not None
    pieces, recut, fewer = tail.pieces, tail.recut, tail.fewer
    return {
        **_tail(tail),
        "T_A0": float(tail.seconds_a0),
        "T_A1": _seconds(tail.seconds_a1),
        "T_B": _seconds(tail.seconds_b),
        "T_Bstar": _seconds(tail.seconds_fewer),
        "s_star": pieces.count if pieces else 1,
        "axis": pieces.axis if pieces else None,
        "piece": pieces.size if pieces else None,
        "B_tile": None if recut is None else {"waves": recut.waves, **_cut(recut)},
        "Bstar_tile": None if fewer is None else {"waves": fewer.waves, **_cut(fewer)},
        "T": float(tail.seconds),
    }


def _cut(recut: Recut) -> dict[str, Any]:
    return {
        "mCnt": recut.rows,
        "nCnt": recut.columns,
        "sM": recut.m,
        "sN": recut.n,
        "kL1": recut.k_l1,
    }


def _stage7(stages: Stages) -> dict[str, Any]:
    totals, block, l2 = stages.totals, stages.block, stages.l2
    assert totals is not None
    assert block is not None
    assert l2 is not None
    figures = {
        "T_MMAD": float(totals.compute),
        "T_FIX": float(totals.write),
        "T_drain": float(totals.drain),
        "T": _seconds(totals.total),
        "l1BufferNum": totals.l1_buffers,
    }
    if not stages.corrected:
        return {**figures, "T_MTE2": _seconds(totals.memory), "dT_tail": _seconds(totals.tail)}
    assert l2.reread is not None
    cores = Judge(problem=stages.problem, chip=stages.chip, reread=l2.reread).whole(block.m, block.n)
    return {
        **figures,
        "T_GM": _seconds(totals.memory),
        "T_L2": _seconds(totals.l2),
        "T_sched": _seconds(totals.schedule),
        "exact_A0_max_core": float(cores.longest),
        "exact_A0_min_core": float(cores.shortest),
    }


def _seconds(value: Fraction | None) -> float | None:
    return None if value is None else float(value)
