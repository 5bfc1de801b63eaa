"""Plans for Ascend machines, measured alike whoever made them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from pantile.planners.asw.chip import chip_of
from pantile.planners.asw.errata import errata_met
from pantile.planners.asw.judge import judged
from pantile.planners.asw.pieces import Pieces
from pantile.planners.asw.planner import DEFAULT_DTYPE
from pantile.planners.asw.problem import problem_of

if TYPE_CHECKING:
    from pantile.machine import Machine
    from pantile.planners.asw.judge import How, Judged
    from pantile.planners.asw.problem import Problem
    from pantile.tiling.plan import Note, Plan
    from pantile.workload.matmul import Matmul


def judge_plan(plan: Plan, product: Matmul, machine: Machine, how: How) -> Judged | None:
    """Return what the blocks of *plan* take; ``None`` where it is not known how the product is cut.

    A planner may have turned batches into rows: its own sizes count.
    """
    if plan.tiling is None:
        return None
    problem = _as_planned(plan, problem_of(product, DEFAULT_DTYPE))
    chip = chip_of(machine, problem.element_bytes)
    sizes = dict(zip(plan.tiling.dimensions, plan.tiling.nominal_sizes[0], strict=True))
    cores = plan.parameters["reduction"]["used_cores"] if plan.parameters.get("reduction") else 0
    return judged(problem, chip, (sizes["m"], sizes["n"]), how, _pieces(plan), cores)


def _as_planned(plan: Plan, problem: Problem) -> Problem:
    """Return the problem in the sizes that the plan cuts."""
    assert plan.tiling is not None
    total = dict(zip(plan.tiling.dimensions, plan.tiling.total, strict=True))
    batch = total.get("b", 1)
    if batch == problem.batch and total["m"] == problem.m:
        return problem
    return replace(problem, batch=batch, m=total["m"], n=total["n"], k=total["k"], a_batch=0, b_batch=0)


def _pieces(plan: Plan) -> Pieces | None:
    """Return what strategy A1 makes of the last wave, if the plan says so."""
    cut = plan.parameters.get("tail", {}).get("pieces")
    if cut is None:
        return None
    seconds = Fraction(cut["seconds"])
    return Pieces(axis=cut["axis"], size=cut["size"], count=cut["count"], seconds=seconds)


def errata_on(product: Matmul, machine: Machine) -> tuple[Note, ...]:
    """Return the errata of the analysis that show on a product."""
    problem = problem_of(product, DEFAULT_DTYPE)
    return errata_met(problem, chip_of(machine, problem.element_bytes))
