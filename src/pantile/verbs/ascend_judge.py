"""Plans for Ascend machines, measured alike whoever made them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from pantile.errors import CapacityError, ManyProblems, OutsideModelError
from pantile.planners.asw.chip import chip_of
from pantile.planners.asw.errata import errata_met
from pantile.planners.asw.judge import Judged, judged
from pantile.planners.asw.pieces import Pieces
from pantile.planners.asw.planner import DEFAULT_DTYPE
from pantile.planners.asw.problem import problem_of
from pantile.simulate.service import TICKS_PER_SECOND
from pantile.tiling.plan import Note
from pantile.verbs.ascend_kernels import launch_of
from pantile.verbs.ascend_run import ALONE, run_launch

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.machine import Machine
    from pantile.planners.asw.judge import How
    from pantile.planners.asw.problem import Problem
    from pantile.tiling.plan import Plan
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


def simulate_plan(
    plan: Plan, product: Matmul, machine: Machine, on_compile: Callable[[], None] = lambda: None
) -> tuple[Judged | None, tuple[Note, ...]]:
    """Return what the slowest core of *plan* takes, and remarks; no time where the plan is not lowered.

    The terms are those of that core; they sum to its time.
    """
    try:
        launch = launch_of(plan, product, machine)
        ran = run_launch(str(product), launch, machine, None, on_compile)
    except (OutsideModelError, CapacityError, ManyProblems) as error:
        return None, (Note("simulate", f"not run: {error.problem}"),)
    terms = {name: Fraction(ticks, TICKS_PER_SECOND) for name, ticks in ran.slowest[1].terms.items() if ticks}
    return Judged(Fraction(ran.ticks, TICKS_PER_SECOND), terms), (*launch.notes, ALONE)


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
