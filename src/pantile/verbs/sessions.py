"""From the arguments of a verb to planned networks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from pantile.errors import ManyProblems, PantileError, Place, UsageError, raise_all
from pantile.tiling.plan import Note
from pantile.verbs.arguments import PlanOptions, is_many, machine_of, networks_of
from pantile.verbs.families import family_of, planner_of
from pantile.verbs.planfile import is_plan_file, read_plan_file
from pantile.verbs.result import Many, Result
from pantile.workload.load import load_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pantile.verbs.arguments import MachineLike, WorkloadLike
    from pantile.verbs.families import Session
    from pantile.verbs.planfile import PlanFile

R = TypeVar("R", bound=Result)


def planned(
    workload: WorkloadLike, machine: MachineLike, options: PlanOptions, *, complete: bool
) -> list[Session]:
    """Return *workload* planned on *machine*, one session per network.

    Args:
        workload: What is computed.
        machine: What it runs on.
        options: How to plan it.
        complete: Whether every node inside the model must have a plan.

    Raises:
        PantileError: If the input is at fault; all problems at once.
    """
    chosen = machine_of(machine)
    planner = planner_of(chosen, options.planner)
    family, options = family_of(chosen, planner), replace(options, planner=planner)
    sessions: list[Session] = []
    problems: list[PantileError] = []
    for network in networks_of(workload, options.dims):
        try:
            session = family.plan(network, chosen, options)
            if complete:
                session.require_plans()
            sessions.append(session)
        except PantileError as error:
            problems += error.problems if isinstance(error, ManyProblems) else (error,)
    raise_all(problems)
    return sessions


def planned_each(
    workload: WorkloadLike, machine: MachineLike, options: PlanOptions
) -> tuple[int, Iterator[Session]]:
    """Return what :func:`planned` does, one session after the other, and how many there will be.

    All workloads are checked first. A family that can tell what is wrong without planning plans each one
    when it is asked for, so that a long table takes no memory.

    Raises:
        PantileError: If the input is at fault; all problems at once.
    """
    chosen = machine_of(machine)
    planner = planner_of(chosen, options.planner)
    family, options = family_of(chosen, planner), replace(options, planner=planner)
    if not family.checks_first:
        sessions = planned(workload, chosen, options, complete=False)
        return len(sessions), iter(sessions)
    problems: list[PantileError] = []
    if isinstance(workload, str) and is_many(workload) and not options.dims:
        networks, problems = load_table(
            workload
        )  # what the planner refuses stands beside what cannot be read
    else:
        networks = networks_of(workload, options.dims)
    problems += [problem for network in networks for problem in family.problems_of(network, chosen, options)]
    told = {str(problem): problem for problem in problems}  # wrong options are one problem, not one a row
    raise_all(sorted(told.values(), key=_line))
    return len(networks), (family.plan(network, chosen, options) for network in networks)


def _line(problem: PantileError) -> int:
    """Return the line of a table that a problem stands on; 0 for others."""
    return problem.place.line if problem.place else 0


def sessions_of(workload: WorkloadLike, machine: MachineLike, options: PlanOptions) -> list[Session]:
    """Return *workload*, which may also be a plan's file, planned on *machine*, every node with a plan.

    A plan's file stands for its workload, its mapping and its semantics; naming one of them again is an
    error. On another machine than its own it stands as well, with a note.

    Raises:
        PantileError: If the input is at fault or a node has no plan; all problems at once.
    """
    if is_plan_file(workload):
        return _of_plan(read_plan_file(workload), machine, options)
    return planned(workload, machine, options, complete=True)


def _of_plan(plan: PlanFile, machine: MachineLike, options: PlanOptions) -> list[Session]:
    again = [name for name in ("mapping", "semantics") if getattr(options, name) is not None]
    if again:
        raise UsageError(
            f"a plan has its {again[0]} already, got another",
            place=Place(plan.path),
            mend=f"leave --{again[0]} out",
        )
    chosen = machine_of(machine)
    planner = planner_of(chosen, options.planner or plan.planner)
    family, dims = family_of(chosen, planner), {**plan.dims, **options.dims}
    if family.keeps_plans and planner == plan.planner:
        networks = networks_of(plan.workload, dims)
        sessions = [family.session_of(network, chosen, plan.plan(), dims) for network in networks]
    else:
        plan.require_mapping()
        options = PlanOptions(planner=planner, mapping=plan.mapping, semantics=plan.semantics, dims=dims)
        sessions = planned(plan.workload, chosen, options, complete=True)
    if chosen.name == plan.machine:
        return sessions
    note = Note("plan", f"{plan.path} was made for {plan.machine}, not for this machine")
    return [session.with_note(note) for session in sessions]


def single_or_many(workload: WorkloadLike, results: list[R], notes: Sequence[Note] = ()) -> R | Many[R]:
    """Return the one result of a single product, or all results of a table or a network.

    Args:
        workload: What the results are of.
        results: In input order.
        notes: What many results should say together; a single one says it itself.
    """
    if len(results) == 1 and not is_many(workload):
        return results[0]
    return Many(tuple(results), tuple(notes))
