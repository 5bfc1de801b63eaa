"""The verb ``compare``: two plans of one product side by side, and where they part."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from pantile.errors import OutsideModelError, UsageError, suggestion
from pantile.verbs.arguments import PlanOptions, machine_of, node_text
from pantile.verbs.aspects import Aspect, aspects_of, decision_of, parted
from pantile.verbs.result import Many, as_html, head
from pantile.verbs.sessions import planned, single_or_many
from pantile.workload.matmul import Matmul

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pantile.machine import Machine
    from pantile.planners.asw.judge import Judged
    from pantile.tiling.plan import Decision, NodePlan, Note, Plan
    from pantile.verbs.arguments import MachineLike, WorkloadLike
    from pantile.verbs.families import Session

JudgeName = Literal["closed", "exact", "simulate"]
JUDGES: tuple[JudgeName, ...] = ("closed", "exact", "simulate")
_ASCEND = "ascend"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two plans.

    Attributes:
        planner: Who made it.
        semantics: In which reading.
        plan: The plan; ``None`` outside its model.
        outside: Why it is outside; empty where there is a plan.
        aspects: The plan in every dimension that it has.
        judged: What the judge says; ``None`` where it cannot tell.
    """

    planner: str
    semantics: str
    plan: Plan | None
    outside: str
    aspects: dict[str, Aspect]
    judged: Judged | None

    @property
    def name(self) -> str:
        """Planner and reading."""
        return f"{self.planner} {self.semantics}"

    @property
    def state(self) -> str:
        """Why there is no plan; empty where there is one."""
        if self.plan is None:
            return f"outside the model: {self.outside}"
        return "" if self.plan.feasible else f"infeasible: {self.plan.reason}"

    def to_json(self) -> dict[str, Any]:
        """Return the side as a part of the object that ``compare --json`` prints."""
        return {
            "planner": self.planner,
            "semantics": self.semantics,
            "plan": self.plan.to_json() if self.plan else None,
            "outside": self.outside,
            "judged": None
            if self.judged is None
            else {
                "total_seconds": float(self.judged.seconds),
                "bound_by": self.judged.bound,
                "terms": {name: float(value) for name, value in self.judged.terms.items()},
            },
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two plans of one product.

    Attributes:
        workload: Text that names the product again.
        shape: Its sizes, for people.
        machine: Name of the machine.
        judge: Who judged.
        sides: The two plans.
        errata: Errata of the analysis that show on this product.
    """

    workload: str
    shape: str
    machine: str
    judge: str
    sides: tuple[Side, Side]
    errata: tuple[Note, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there is a plan at all."""
        return any(side.plan is not None and side.plan.feasible for side in self.sides)

    @property
    def dimensions(self) -> tuple[str, ...]:
        """Every dimension that one of the plans has, in the order in which they are decided."""
        names = [name for side in self.sides for name in side.aspects]
        return tuple(dict.fromkeys(names))

    def parts(self, dimension: str) -> bool:
        """Whether the two plans differ in a dimension, or one has come to nothing before it."""
        a, b = (side.aspects.get(dimension) for side in self.sides)
        lacking = self.sides[0] if a is None else self.sides[1]
        if (a is None) != (b is None) and lacking.plan is not None and not lacking.plan.feasible:
            return True
        return parted(a, b)

    @property
    def first(self) -> str:
        """The first dimension in which they differ; empty where they do not."""
        return next((name for name in self.dimensions if self.parts(name)), "")

    def decisions_at(self, dimension: str) -> tuple[Decision | None, Decision | None]:
        """Return the two decisions from which a dimension comes."""
        a, b = (
            decision_of(side.plan, side.aspects[dimension])
            if side.plan is not None and dimension in side.aspects
            else None
            for side in self.sides
        )
        return a, b

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``compare --json`` prints."""
        a, b = self.sides
        first = self.first
        logged = self.decisions_at(first) if first else (None, None)
        return {
            **head(
                "compare",
                workload=self.workload,
                machine=self.machine,
                planner=f"{a.planner} {b.planner}",
                semantics=f"{a.semantics} {b.semantics}",
                notes=self.errata,
            ),
            "judge": self.judge,
            "sides": [side.to_json() for side in self.sides],
            "aspects": [
                {
                    "name": name,
                    "values": [
                        side.aspects[name].value if name in side.aspects else None for side in self.sides
                    ],
                    "parts": self.parts(name),
                }
                for name in self.dimensions
            ],
            "parts_at": {
                "aspect": first,
                "decisions": [each.to_json() if each else None for each in logged],
            }
            if first
            else None,
        }

    def __str__(self) -> str:
        from pantile.verbs.compare_text import comparison_text

        return comparison_text(self)

    def _repr_html_(self) -> str:
        return as_html(str(self))


def compare(
    workload: WorkloadLike,
    machine: MachineLike,
    *,
    planners: Sequence[str],
    judge: str = "closed",
    dims: Mapping[str, int] | None = None,
) -> Comparison | Many[Comparison]:
    """Return the plans of two planners side by side.

    Args:
        workload: A workload text, a file, a :class:`~pantile.workload.matmul.Matmul` or a network.
        machine: A preset's name, a file, or a machine.
        planners: Two planners, each with a reading after a colon if it is not the default, such as
            ``"asw:published"``.
        judge: By what both are measured: ``closed`` and ``exact`` are formulas, ``simulate`` runs the core
            programs.
        dims: Sizes of symbolic dimensions of an ONNX file.

    Raises:
        PantileError: If the input is at fault.
    """
    chosen = machine_of(machine)
    name = _judge(judge, chosen)
    if len(planners) != 2:
        raise UsageError(f"two planners are compared, got {len(planners)}", mend="give -p twice")
    asked = [_options(text, dims or {}) for text in planners]
    pairs = zip(*(planned(workload, chosen, each, complete=False) for each in asked), strict=True)
    results = [
        _comparison(sessions, at, chosen, name) for sessions in pairs for at in range(len(sessions[0].plans))
    ]
    return single_or_many(workload, results)


def _judge(name: str, machine: Machine) -> JudgeName:
    """Return the judge, if it can judge plans for *machine*."""
    for known in JUDGES:
        if known == name:
            break
    else:
        raise UsageError(f"unknown judge {name!r}", mend=suggestion(name, JUDGES))
    if known != "closed" and _ASCEND not in machine.family:
        raise OutsideModelError(
            f"judge {known!r} knows {_ASCEND} machines, {machine.name!r} is none", mend="use --judge closed"
        )
    return known


def _options(text: str, dims: Mapping[str, int]) -> PlanOptions:
    planner, _, semantics = text.partition(":")
    return PlanOptions(planner=planner, semantics=semantics or None, dims=dims)


def _comparison(sessions: tuple[Session, ...], at: int, machine: Machine, judge: JudgeName) -> Comparison:
    one, other = (_side(session, session.plans[at], machine, judge) for session in sessions)
    session = sessions[0]
    node = session.plans[at].node
    product = node.computation
    errata: tuple[Note, ...] = ()
    if isinstance(product, Matmul) and "asw" in (one.planner, other.planner):
        from pantile.verbs.ascend_judge import errata_on

        errata = errata_on(product, machine)
    return Comparison(
        workload=node_text(session.network, node.name),
        shape=str(product) if product else node.op_type,
        machine=machine.name,
        judge=judge,
        sides=(one, other),
        errata=errata,
    )


def _side(session: Session, each: NodePlan, machine: Machine, judge: JudgeName) -> Side:
    plan, product = each.plan, each.node.computation
    found: Judged | None = None
    notes: tuple[Note, ...] = ()
    if plan is not None and plan.feasible and isinstance(product, Matmul) and _ASCEND in machine.family:
        from pantile.verbs.ascend_judge import judge_plan, simulate_plan

        if judge == "simulate":
            found, notes = simulate_plan(plan, product, machine)
        else:
            found = judge_plan(plan, product, machine, judge)
    if plan is not None:
        plan = replace(plan, notes=(*plan.notes, *notes, *session.notes))
    return Side(
        planner=session.head("compare", "", ())["planner"],
        semantics=session.semantics,
        plan=plan,
        outside=each.outside,
        aspects=aspects_of(plan) if plan is not None else {},
        judged=found,
    )
