"""The verb ``plan``: how each product is cut, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pantile.errors import Place, UsageError
from pantile.tiling.plan import Plan
from pantile.tiling.plan_text import plan_lines
from pantile.verbs.arguments import PlanOptions, machine_of, node_text
from pantile.verbs.families import PLANNERS
from pantile.verbs.programfile import refuse_programs
from pantile.verbs.result import Many, as_html
from pantile.verbs.sessions import planned, planned_each, single_or_many

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pantile.tiling.plan import Decision, NodePlan
    from pantile.verbs.arguments import MachineLike, WorkloadLike
    from pantile.verbs.families import Session
    from pantile.workload.network import Node


@dataclass(frozen=True, slots=True)
class PlanResult:
    """The plan of one node, or why it is outside the model.

    Attributes:
        session: The planned network it belongs to.
        workload: Text that names the node again.
        node: The node.
        plan: The plan, feasible or not; ``None`` outside the model.
        outside: The reason; empty where there is a plan.
        among: How many planners were asked; of several, the text says whose plan it is.
    """

    session: Session
    workload: str
    node: Node
    plan: Plan | None
    outside: str
    among: int = 1

    @property
    def ok(self) -> bool:
        """Whether there is a feasible plan, or nothing to plan."""
        return self.plan is None or self.plan.feasible

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``plan --json`` prints; ``feasible`` is null outside the model."""
        session = self.session
        head = session.head("plan", self.workload, self.plan.notes if self.plan else ())
        plan = self.plan or Plan(planner=head["planner"], semantics=session.semantics)
        return {
            **head,
            **plan.to_json(),
            "feasible": self.plan and self.plan.feasible,
            "node": self.node.name,
            "outside": self.outside,
            "macs": self.node.macs,
            "dims": dict(session.dims),
        }

    @property
    def shape(self) -> str:
        """The node's sizes, for people."""
        return str(self.node.computation) if self.node.computation else self.node.op_type

    @property
    def _by(self) -> str:
        """Whose plan it is, where that is not clear."""
        if self.among == 1:
            return ""
        return f", {self.session.head('plan', '', ())['planner']} {self.session.semantics}"

    def __str__(self) -> str:
        if self.plan is None:
            return f"{self.node.name}{self._by}: outside the model: {self.outside}"
        if not self.plan.feasible:
            return f"{self.node.name} ({self.shape}){self._by}: infeasible: {self.plan.reason}"
        return "\n".join([f"{self.node.name} ({self.shape}){self._by}", *plan_lines(self.plan)])

    def explain(self) -> str:
        """Return the plan followed by its decisions in order."""
        if self.plan is None:
            return str(self)
        return "\n".join([str(self), *_explained(self.plan.decisions)])

    def _repr_html_(self) -> str:
        return as_html(self.explain())


def _explained(decisions: tuple[Decision, ...]) -> list[str]:
    """The decisions as text, stage by stage."""
    lines: list[str] = []
    stage = ""
    for each in decisions:
        if each.stage != stage:
            stage = each.stage
            lines.append(f"  {stage}")
        inputs = ", ".join(f"{name}={value}" for name, value in each.inputs.items())
        how = "; ".join(part for part in (each.formula, inputs) if part)
        lines.append(f"    {each.name} = {each.value}" + (f"   [{how}]" if how else ""))
        lines += [f"      not {reason}" for reason in each.rejected]
    return lines


def plan(
    workload: WorkloadLike,
    machine: MachineLike,
    *,
    planner: str | Sequence[str] | None = None,
    mapping: str | None = None,
    semantics: str | None = None,
    dims: Mapping[str, int] | None = None,
    objective: str | None = None,
    budget: str | float | None = None,
) -> PlanResult | Many[PlanResult]:
    """Return how *workload* is cut on *machine*.

    Args:
        workload: A workload text, a file, a :class:`~pantile.workload.matmul.Matmul` or a network.
        machine: A preset's name, a file, or a machine.
        planner: The planner, with a reading after a colon if it is not the default; the machine's own if left
            out. Of several, each makes a plan.
        mapping: An explicit mapping, or a file of them.
        semantics: Which reading of the planner's rules to use.
        dims: Sizes of symbolic dimensions of an ONNX file.
        objective: What a planner that searches makes least; none of this version does.
        budget: Seconds that it may search.

    Returns:
        One result for one product, :class:`~pantile.verbs.result.Many` for a table, a network or planners.

    Raises:
        PantileError: If the input is at fault.
    """
    refuse_programs(workload, "plan")
    refuse_search(objective=objective, budget=budget)
    names = [planner] if planner is None or isinstance(planner, str) else list(planner)
    if not names:
        raise UsageError("expected at least one planner, got none", mend="leave planner out for the default")
    asked = [
        PlanOptions(planner=name, mapping=mapping, semantics=semantics, dims=dims or {}) for name in names
    ]
    chosen = machine_of(machine)
    by_planner = [planned(workload, chosen, options, complete=False) for options in asked]
    results = [
        _result(session, session.plans[at], len(asked))
        for sessions in zip(*by_planner, strict=True)
        for at in range(len(sessions[0].plans))
        for session in sessions
    ]
    return single_or_many(workload, results) if len(asked) == 1 else Many(tuple(results))


def refuse_search(**asked: object) -> None:
    """Return if nothing is asked that only a planner that searches could do.

    Raises:
        UsageError: If something is: every planner of this version follows fixed rules.
    """
    for name, value in asked.items():
        if value is not None:
            raise UsageError(
                f"a planner that searches takes it, got {str(value)!r}; those of this version follow fixed "
                f"rules ({', '.join(PLANNERS)})",
                place=Place(f"--{name}"),
                mend=f"leave --{name} out",
            )


def plan_each(
    workload: WorkloadLike, machine: MachineLike, *options: PlanOptions
) -> tuple[int, Iterator[PlanResult]]:
    """Return what :func:`plan` does, one result after the other, and how many there will be at least.

    Raises:
        PantileError: If the input is at fault, before the first result.
    """
    chosen = machine_of(machine)
    streams = [planned_each(workload, chosen, each) for each in options]
    results = (
        _result(session, session.plans[at], len(options))
        for sessions in zip(*(stream for _, stream in streams), strict=True)
        for at in range(len(sessions[0].plans))
        for session in sessions
    )
    return sum(count for count, _ in streams), results


def _result(session: Session, each: NodePlan, among: int) -> PlanResult:
    plan = each.plan
    if plan is not None:
        plan = replace(plan, notes=(*plan.notes, *session.notes))
    return PlanResult(
        session, node_text(session.network, each.node.name), each.node, plan, each.outside, among
    )
