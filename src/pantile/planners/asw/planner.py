"""Plans one batched product as the ASW_Basic theory does.

Source: asw-theory.md.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pantile.planners.asw.assignment import Grid, cores_in_use, windows_of
from pantile.planners.asw.block_order import ORDERS
from pantile.planners.asw.chip import chip_of
from pantile.planners.asw.explain_space import (
    explain_assignment,
    explain_block,
    explain_entry,
    explain_full_load,
    explain_order,
    explain_tile,
)
from pantile.planners.asw.explain_time import (
    explain_l2,
    explain_reduction,
    explain_tail,
    explain_totals,
    uses_unit_flag,
)
from pantile.planners.asw.full_load import left_full_load, right_full_load
from pantile.planners.asw.infeasible import why_infeasible
from pantile.planners.asw.l0_tile import PING_PONG, side_of
from pantile.planners.asw.levels import tiling_of
from pantile.planners.asw.pipeline import DEFAULTS, SEMANTICS, run_stages
from pantile.planners.asw.problem import problem_of
from pantile.planners.asw.single_core import FINER_CUTS
from pantile.planners.asw.split import split_kind
from pantile.planners.asw.totals import l1_buffers
from pantile.tiling.log import DecisionLog
from pantile.tiling.plan import Note, Plan
from pantile.workload.dtypes import DTYPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pantile.machine import Machine
    from pantile.planners.asw.executed import Executed
    from pantile.planners.asw.l2 import Semantics
    from pantile.planners.asw.pipeline import AswOptions, Stages
    from pantile.planners.asw.tail import Tail
    from pantile.tiling.plan import Decision
    from pantile.workload.matmul import Matmul

PLANNER = "asw"
DEFAULT_DTYPE = DTYPES["bf16"]

__all__ = ["ORDERS", "PLANNER", "SEMANTICS", "plan_of", "plan_product", "stages_of"]


def stages_of(
    product: Matmul, machine: Machine, semantics: Semantics = "corrected", options: AswOptions = DEFAULTS
) -> Stages:
    """Return every stage's figures for one product on *machine*.

    Raises:
        PantileError: If the product or the machine is outside the analysis, or lacks a constant.
    """
    problem = problem_of(product, DEFAULT_DTYPE)
    return run_stages(problem, chip_of(machine, problem.element_bytes), semantics, options)


def plan_product(
    product: Matmul, machine: Machine, semantics: Semantics = "corrected", options: AswOptions = DEFAULTS
) -> Plan:
    """Return the plan of one product on *machine*, with a decision for every step.

    Raises:
        PantileError: If the product or the machine is outside the analysis, or lacks a constant.
    """
    plan = plan_of(stages_of(product, machine, semantics, options))
    if product.bias is None:
        return plan
    return replace(
        plan, notes=(*plan.notes, Note("model", "the analysis leaves the bias out: it costs nothing"))
    )


def plan_of(stages: Stages) -> Plan:
    """Return the plan that the stages make, with a decision for every step."""
    log = DecisionLog()
    explain_entry(stages, log)
    explain_tile(stages, log)
    if stages.reduction is not None:
        explain_reduction(stages, log)
    elif stages.block is None:
        if stages.entry.mode == "asw" and stages.base.m:
            explain_block(stages, log)
    else:
        for explain in (
            explain_block,
            explain_l2,
            explain_assignment,
            explain_order,
            explain_tail,
            explain_totals,
            explain_full_load,
        ):
            explain(stages, log)
    for code, text in _notes(stages):
        log.note(code, text)
    feasible = stages.feasible
    return Plan(
        planner=PLANNER,
        semantics=stages.semantics,
        feasible=feasible,
        reason="" if feasible else why_infeasible(stages),
        tiling=tiling_of(stages) if feasible else None,
        order=_loops(stages),
        cores=_placement(stages),
        buffering=_buffering(stages),
        parameters=_parameters(stages, log.decisions),
        predicted=_predicted(stages),
        decisions=tuple(log.decisions),
        notes=tuple(log.notes),
    )


def _loops(stages: Stages) -> tuple[str, ...]:
    if not stages.feasible:
        return ()
    fastest = stages.order.fastest if stages.order else 0
    swizzled = stages.order is not None and stages.order.name != "lexicographic"
    return ("b", "n", "m") if swizzled and fastest == 0 else ("b", "m", "n")


def _placement(stages: Stages) -> str:
    cut, done, tail = stages.cut, stages.executed, stages.tail
    if cut is None:
        return ""
    grid = Grid(stages.problem.batch, cut.rows, cut.columns, stages.chip.cores)
    blocks = f"{grid.blocks} block" + ("s" if grid.blocks > 1 else "")
    if stages.reduction is not None:
        cores = stages.reduction.cores
        return f"{blocks} on {cores} core" + ("s in turn" if cores > 1 else "")
    assert done is not None
    assert tail is not None
    order, assignment = done.order, stages.options.assignment
    across = cut.rows if order.fastest == 0 else cut.columns
    windows = " and ".join(str(min(each, across)) for each in windows_of(grid, order, assignment))
    how = f"windows of {windows}" if order.name == "swizzle" else f"{order.name} order"
    dealt = f"{assignment} on {stages.chip.cores} cores"
    said = f"{blocks} of all batches, {how} within each, {dealt}"
    if tail.effective == "A1" and tail.pieces is not None:
        pieces = tail.pieces
        said += f"; the last {tail.remainder} in {pieces.count} pieces of {pieces.size} along {pieces.axis}"
    return said


def _buffering(stages: Stages) -> dict[str, int]:
    cut, inner = stages.cut, stages.inner
    if cut is None or inner is None:
        return {}
    held = l1_buffers(stages.problem, stages.chip, cut.m + cut.n, cut.k_l1)
    return {"l1": held, "l0a": PING_PONG, "l0b": PING_PONG, "l0c": inner.buffers}


def _parameters(stages: Stages, decisions: Sequence[Decision]) -> dict[str, Any]:
    """Return the plan in the dimensions in which it is compared with others."""
    entry, inner = stages.entry, stages.inner
    problem, bias = stages.problem, stages.options.bias_batch
    used = stages.reduction.cores if stages.reduction is not None else entry.used_cores
    figures: dict[str, Any] = {
        "path": list(dict.fromkeys(decision.stage for decision in decisions)),
        "entry": {
            "mode": entry.mode,
            "parallelism": float(entry.parallelism),
            "blocks_per_batch": entry.blocks_per_batch,
        },
        "reduction": {"used_cores": used, "cores": stages.chip.cores} if used is not None else None,
        "full_load": {
            "left": left_full_load(problem, stages.chip, bias_batch=bias).by_theory,
            "right": right_full_load(problem, stages.chip, bias_batch=bias).by_theory,
        },
    }
    if stages.base.m:
        figures["base_tile"] = {"m": stages.base.m, "n": stages.base.n}
    if inner is not None:
        figures["base_tile"]["k"] = inner.k
        figures["inner_tile"] = {"m": inner.m, "n": inner.n, "k": inner.k, "count": inner.count}
        figures["unit_flag"] = uses_unit_flag(stages)
    if stages.reduction is not None:
        found = stages.reduction
        figures["single_core"] = _block(found.m, found.n, found.k_l1, found.rows, found.columns)
        figures["assignment"] = {"kind": "linear", "used_cores": found.cores, "blocks": found.blocks}
    if stages.executed is not None:
        figures |= _split_parameters(stages, stages.executed)
    return figures


def _split_parameters(stages: Stages, done: Executed) -> dict[str, Any]:
    """Return what holds of the blocks that cores take, and those of stage 2 where B replaced them."""
    block, order, l2, tail, first = done.block, done.order, done.l2, stages.tail, stages.block
    assert tail is not None
    assert first is not None
    kind = stages.options.assignment
    grid = Grid(stages.problem.batch, block.rows, block.columns, stages.chip.cores)
    replaced = {"stage_2": _block(first.m, first.n, first.k_l1, first.rows, first.columns)}
    return {
        "single_core": _block(block.m, block.n, block.k_l1, block.rows, block.columns),
        **(replaced if done.again else {}),
        "assignment": {
            "kind": kind,
            "used_cores": cores_in_use(grid, kind),
            "blocks": grid.blocks,
            "split": split_kind(block.rows, block.columns),
        },
        "order": {
            "name": order.name,
            "window": windows_of(grid, order, kind)[0],
            "fastest": "mn"[order.fastest],
        },
        "l2": {
            "scene": l2.scene,
            "m_group": l2.m_group,
            "n_group": l2.n_group,
            "groups": l2.groups,
            "outputs": "allocate" if l2.outputs_stay else "no-allocate",
        },
        "tail": _tail_parameters(tail),
    }


def _block(m: int, n: int, k_l1: int, rows: int, columns: int) -> dict[str, int]:
    return {"m": m, "n": n, "k_l1": k_l1, "rows": rows, "columns": columns}


def _tail_parameters(tail: Tail) -> dict[str, Any]:
    figures: dict[str, Any] = {
        "waves": tail.waves,
        "remainder": tail.remainder,
        "strategy": tail.effective,
        "bound": tail.time.bound,
    }
    recut = tail.fewer or tail.recut
    if tail.effective == "A1" and tail.pieces is not None:
        pieces = tail.pieces
        cut = {"axis": pieces.axis, "size": pieces.size, "count": pieces.count}
        figures["pieces"] = {**cut, "seconds": float(pieces.seconds)}
    if tail.effective == "B" and recut is not None:
        again = _block(recut.m, recut.n, recut.k_l1, recut.rows, recut.columns)
        figures["recut"] = {**again, "waves": recut.waves}
    return figures


def _predicted(stages: Stages) -> dict[str, Any]:
    """Return the predicted terms in seconds, of the blocks that cores take."""
    if not stages.feasible:
        return {}
    if stages.reduction is not None:
        found = stages.reduction
        terms = {
            "total_seconds": found.total,
            "compute_seconds": found.waves * found.time.compute,
            "load_seconds": found.waves * found.time.load,
            "write_seconds": found.waves * found.time.write,
            "drain_seconds": found.drain,
        }
        return {name: float(value) for name, value in terms.items()}
    done = stages.executed
    assert done is not None
    totals = done.totals
    every = {
        "total_seconds": totals.total,
        "memory_seconds": totals.memory,
        "l2_seconds": totals.l2,
        "compute_seconds": totals.compute,
        "write_seconds": totals.write,
        "schedule_seconds": totals.schedule,
        "tail_seconds": totals.tail,
        "drain_seconds": totals.drain,
        "input_rereads": done.l2.reread,
    }
    found_terms = {name: float(value) for name, value in every.items() if value is not None}
    return {**found_terms, "l2_bytes": done.block.traffic_bytes}


def _notes(stages: Stages) -> list[tuple[str, str]]:
    """Return remarks that a reader must not miss."""
    found = []
    base, chip = stages.base, stages.chip
    if not stages.corrected and base.m and not base.k_cap:
        need = PING_PONG * chip.grain * stages.problem.element_bytes * max(base.m, base.n)
        held = min(chip.l0a_bytes, chip.l0b_bytes)
        text = (
            f"the tile {base.m} x {base.n} takes {need} B of L0 for {chip.grain} of k, which holds {held} B"
        )
        found.append(("L0", f"{text}; corrected cuts it"))
    if stages.block is not None and stages.block.relax_level == FINER_CUTS:
        side = side_of(chip)
        text = (
            f"L1 of {chip.l1_bytes} B holds no step of blocks as long as the rule has them (sides of {side}, "
            "or whole axes): the largest that it holds is taken, and no threshold counts"
        )
        found.append(("L1", text))
    elif stages.block is not None and stages.block.relax_level:
        dropped = "moves" if stages.block.relax_level == 1 else "moves and runs"
        found.append(("E-13", f"no block keeps every threshold: those on {dropped} are dropped"))
    few = stages.reduction
    if few is not None and (few.m, few.n) != (base.m, base.n):
        text = (
            f"L1 of {chip.l1_bytes} B holds no step of the {base.m} x {base.n} tile of stage 1: cores take "
            f"blocks of {few.m} x {few.n}"
        )
        found.append(("L1", text))
    if stages.block is not None and stages.options.assignment != "linear":
        text = "the last wave stays as it is: A1 and B deal blocks to all cores in turn, and are left out"
        found.append(("model", text))
    if stages.l2 is not None and stages.l2.reread is None:
        text = "no time is given: as published L2 holds no pair of blocks, so that r_in is undefined"
        found.append(("E-29", text))
    if stages.l2 is not None and stages.l2.scene == "C" and any(stages.problem.shares):
        text = "the operand that batches share counts once if it fits L2 beside a batch, else once per batch"
        found.append(("E-21", text))
    return found
