"""The planner ``cann``: branch, tiling and block order that the published operator computes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pantile.planners.cann.asw_basic import WORKSPACE_BYTES, AswBasic, asw_basic
from pantile.planners.cann.block_order import WINDOW
from pantile.planners.cann.explain import log_asw, log_branches, log_entry, log_launch
from pantile.planners.cann.gates import BRANCHES, gate
from pantile.planners.cann.integers import ceil_div
from pantile.planners.cann.levels import tiling_of
from pantile.planners.cann.limits import violated
from pantile.planners.cann.normalise import LARGEST, Normalised, figures_of, normalise
from pantile.planners.cann.other_branches import Launch, launch
from pantile.planners.cann.problem import problem_of
from pantile.planners.cann.quirks import note_asw, note_entry
from pantile.tiling.log import DecisionLog
from pantile.tiling.plan import Plan

if TYPE_CHECKING:
    from pantile.planners.cann.figures import Figures
    from pantile.planners.cann.platform import Platform
    from pantile.planners.cann.problem import OperatorProblem
    from pantile.workload.matmul import Matmul

PLANNER = "cann"
SEMANTICS = "source"
"""There is one reading: what the source computes."""


def plan_matmul(product: Matmul, platform: Platform) -> Plan:
    """Return the plan of a product; see :func:`plan_problem`."""
    return plan_problem(problem_of(product), platform)


def plan_problem(problem: OperatorProblem, platform: Platform) -> Plan:
    """Return what the operator picks for a call, with every decision.

    Outside ASW_BASIC the branch and how it is launched are known, and no cut is given.

    Raises:
        WorkloadError: If the operator refuses the call.
        ManyProblems: If it has several reasons to.
    """
    log = DecisionLog()
    given = normalise(problem)
    log_entry(log, given)
    note_entry(log, given)
    f = figures_of(given, platform)
    too_long = next((letter for letter, size in (("m", f.m), ("n", f.n)) if size > LARGEST), None)
    if too_long:
        size = f.m if too_long == "m" else f.n
        reason = f"{too_long} is {size} with {given.folded} batches as rows, branches take up to {LARGEST}"
        return _infeasible(log, given, reason)
    answers = tuple(gate(f, branch) for branch in range(len(BRANCHES)))
    branch = log_branches(log, f, answers, given.folded)
    parameters = {
        "branch": branch,
        "capable": {name: answer == 0 for name, answer in zip(BRANCHES, answers, strict=True)},
        "normalized": normalized_json(given),
    }
    if branch != "ASW_BASIC":
        return _launched(log, f, launch(f, branch), parameters)
    if f.k == 0:  # only with FRACTAL_NZ, which the branch for k = 0 leaves to others
        log.note("model", "the search divides by k = 0, and what the source makes of that is not known")
        return _launched(log, f, Launch(branch, None, f.cores), parameters)
    asw = asw_basic(f)
    log_asw(log, asw)
    note_asw(log, asw)
    reason = violated(asw)
    if reason:
        return _infeasible(log, given, reason, parameters)
    return _planned(log, asw, parameters)


def normalized_json(given: Normalised) -> dict[str, Any]:
    """Return the normalised problem under the names of the recorded cases."""
    return {
        "m": given.m,
        "n": given.n,
        "k": given.k,
        "isATrans": given.problem.transpose_a,
        "isBTrans": given.problem.transpose_b,
        "isHf32": given.problem.hf32,
        "hasBias": given.problem.bias_shape is not None,
        "batchA": given.batch_a,
        "batchB": given.batch_b,
        "batchC": given.batch_c,
        "batchBias": given.batch_bias,
    }


def _infeasible(
    log: DecisionLog, given: Normalised, reason: str, parameters: dict[str, Any] | None = None
) -> Plan:
    return Plan(
        planner=PLANNER,
        semantics=SEMANTICS,
        feasible=False,
        reason=reason,
        parameters=parameters or {"normalized": normalized_json(given)},
        decisions=tuple(log.decisions),
        notes=tuple(log.notes),
    )


def _launched(log: DecisionLog, f: Figures, launched: Launch, parameters: dict[str, Any]) -> Plan:
    log_launch(log, launched)
    log.note(
        "model", f"{launched.branch} is known by how it is launched; which core computes what is not modelled"
    )
    info = launched.run_info
    return Plan(
        planner=PLANNER,
        semantics=SEMANTICS,
        cores=f"launched on {launched.cores} cores",
        buffering={"l1": info.l1_buffer_num, "l0c": info.db_l0c} if info and info.db_l0c else {},
        parameters={
            **parameters,
            "path": _path(log),
            "tilingKey": launched.key.to_json() if launched.key else None,
            "blockDim": launched.cores,
            "workspaceBytes": launched.workspace_bytes,
            "runInfo": info.to_json() if info else None,
        },
        predicted={"macs": f.batch_c * f.m * f.n * f.k},
        decisions=tuple(log.decisions),
        notes=tuple(log.notes),
    )


def _planned(log: DecisionLog, asw: AswBasic, parameters: dict[str, Any]) -> Plan:
    f, packed, order = asw.figures, asw.packed, asw.order
    return Plan(
        planner=PLANNER,
        semantics=SEMANTICS,
        tiling=tiling_of(asw),
        order=("b", "window", "n", "m", "k"),
        cores=f"tile i on core i mod {f.cores}, {min(f.cores, order.tiles)} of {f.cores} at work",
        buffering={"l1": packed.l1_buffer_num, "l0a": 2, "l0b": 2, "l0c": packed.l0c_db},
        parameters={
            **parameters,
            "path": _path(log),
            "tilingKey": asw.key.to_json(),
            "blockDim": f.cores,
            "workspaceBytes": WORKSPACE_BYTES,
            "runInfo": asw.run_info.to_json(),
            "tilingData": packed.to_json(),
            "tilingDataInt32": packed.words,
            "window": min(WINDOW, order.counts[0]),
            "splitK": order.pieces[0][1] if len(order.pieces) > 1 else 0,
            "offsetX": 128 if f.avoid_tensor else 0,
        },
        predicted=_predicted(asw),
        decisions=tuple(log.decisions),
        notes=tuple(log.notes),
    )


def _path(log: DecisionLog) -> list[str]:
    """Return the stages that were gone through, in order: the way through the flowchart."""
    return list(dict.fromkeys(decision.stage for decision in log.decisions))


def _predicted(asw: AswBasic) -> dict[str, int]:
    """Return what follows from the cut alone: every tile reads its rows and columns once."""
    f, order = asw.figures, asw.order
    m_count, n_count = order.counts
    return {
        "macs": f.batch_c * f.m * f.n * f.k,
        "tiles": order.tiles,
        "rounds": ceil_div(order.tiles, f.cores),
        "tiles_in_last_round": (order.tiles - 1) % f.cores + 1,
        "bytes_to_l1": f.batch_c * f.k * f.element_bytes * (n_count * f.m + m_count * f.n),
        "bytes_out": f.batch_c * f.m * f.n * f.out_bytes,
    }
