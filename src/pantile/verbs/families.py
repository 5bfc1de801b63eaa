"""Families of machines: which planners each has, and what a verb needs of a workload planned for one.

A family is a module of this package with a function ``plan_session``, and sessions that say what every verb
says: programs, reports, runs. A verb names none of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, Self

from pantile.errors import PantileError, UsageError, suggestion
from pantile.verbs.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pantile.check.report import Report
    from pantile.machine import Machine
    from pantile.program.program import Program
    from pantile.simulate.links import Route
    from pantile.tiling.plan import NodePlan, Note, Plan
    from pantile.verbs.arguments import PlanOptions
    from pantile.view.trace import Slice
    from pantile.workload.network import Network, Node


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedLayer:
    """A node with its plan and program.

    Attributes:
        node: The node.
        plan: Its feasible plan.
        program: Its program.
        layer: Its position among the layers, in execution order.
        workload: Text that names the node again.
        notes: Quirks met and labels.
    """

    node: Node
    plan: Plan
    program: Program
    layer: int
    workload: str
    notes: tuple[Note, ...]


class Lowered(Result, Protocol):
    """The program of one node, to be listed."""

    @property
    def workload(self) -> str:
        """Text that names the node again."""

    @property
    def program(self) -> Program:
        """The program."""

    @property
    def operation_count(self) -> int:
        """Operations that could be listed, whatever the window."""

    @property
    def left_out(self) -> int:
        """Operations that ``to_json`` leaves out, because no window was asked for and they are many."""

    def text(self) -> str:
        """Return the listing."""


class Session(Protocol):
    """A network planned on a machine of some family."""

    @property
    def network(self) -> Network:
        """What is computed."""

    @property
    def machine(self) -> Machine:
        """What it runs on."""

    @property
    def semantics(self) -> str:
        """Which reading of the planner's rules was used."""

    @property
    def plans(self) -> tuple[NodePlan, ...]:
        """One per node, in file order."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """Remarks on the whole run."""

    @property
    def dims(self) -> Mapping[str, int]:
        """Sizes that were given to the network's symbolic dimensions."""

    @property
    def outside(self) -> tuple[Note, ...]:
        """A note per reason why nodes are outside the model."""

    def head(self, verb: str, workload: str, notes: Sequence[Note]) -> dict[str, Any]:
        """Return the keys that every object of this session has."""

    def with_note(self, note: Note) -> Self:
        """Return the session with one more remark on the whole run."""

    def require_plans(self) -> None:
        """Raise unless every node inside the model has a plan."""

    def require_core(self, core: int | None) -> None:
        """Raise unless the machine has this core."""

    def layers(self) -> list[PlannedLayer]:
        """Return the layers that have a program, in file order."""

    def lowerings(self, core: int | None, window: range | None, notes: tuple[Note, ...]) -> Sequence[Lowered]:
        """Return every layer's program to be listed; *notes* are added to each."""

    def reports(self, on_compile: Callable[[], None]) -> list[Report]:
        """Return a report on every layer's program."""

    def simulation(self, on_compile: Callable[[], None], core: int | None = None) -> Result:
        """Return one run of the network; of a family whose cores run alone, of one core if it is named.

        Pages show one that is a :class:`~pantile.verbs.shown_run.PlannedRun`, whatever the family.
        """

    def traced(self, on_compile: Callable[[], None], core: int | None) -> tuple[Result, Iterator[Slice]]:
        """Return one run of the network, and what every unit did in it."""


@dataclass(frozen=True, slots=True)
class Family:
    """One family of machines.

    Attributes:
        name: As in ``[family.<name>]``.
        planners: Who can plan for it, the default first.
        module: Has ``plan_session(network, machine, options)`` and ``require_supported_machine(machine)``.
        checks_first: The module has ``problems_of(network, machine, options)`` too, which plans nothing.
        keeps_plans: The module has ``session_of_plan(network, machine, plan, dims)`` too: a plan's file
            stands for itself. Elsewhere a product is planned again, with the mapping that the file has.
        routes: Module and function that gives the routes of its machines; empty where paths say all.
    """

    name: str
    planners: tuple[str, ...]
    module: str
    checks_first: bool = False
    keeps_plans: bool = False
    routes: str = ""

    def plan(self, network: Network, machine: Machine, options: PlanOptions) -> Session:
        """Return *network* planned on *machine*.

        Raises:
            PantileError: If anything of it cannot be planned; all problems at once.
        """
        session: Session = import_module(self.module).plan_session(network, machine, options)
        return session

    def session_of(self, network: Network, machine: Machine, plan: Plan, dims: Mapping[str, int]) -> Session:
        """Return *network* with a plan that was made before, of a family that keeps plans.

        Raises:
            PantileError: If the plan is not feasible.
        """
        session: Session = import_module(self.module).session_of_plan(network, machine, plan, dims)
        return session

    def problems_of(self, network: Network, machine: Machine, options: PlanOptions) -> list[PantileError]:
        """Return why *network* cannot be planned, of a family that can tell without planning it."""
        problems: list[PantileError] = import_module(self.module).problems_of(network, machine, options)
        return problems

    def require_supported(self, machine: Machine) -> None:
        """Check that a machine of this family can be timed.

        Raises:
            PantileError: What it lacks or what is not covered; all problems at once.
        """
        import_module(self.module).require_supported_machine(machine)


FAMILIES = (
    Family("systolic", ("onnxim",), "pantile.verbs.systolic"),
    Family("ascend", ("cann", "asw"), "pantile.verbs.ascend", checks_first=True, keeps_plans=True),
    Family(
        "mesh",
        ("cannon", "summa", "direct"),
        "pantile.verbs.mesh",
        routes="pantile.targets.mesh.routes:mesh_route",
    ),
)
"""Every family that this version plans for."""

PLANNERS = tuple(planner for family in FAMILIES for planner in family.planners)
"""Every planner of this version."""


def planner_of(machine: Machine, planner: str | None) -> str:
    """Return the planner to use: the one named, else the machine's own, else that of its family.

    Raises:
        UsageError: If it is none that is built.
    """
    known = families_of(machine)
    name = planner or machine.planner or (known[0] if known else FAMILIES[0]).planners[0]
    if name not in PLANNERS:
        raise UsageError(f"unknown planner {name!r}", mend=suggestion(name, PLANNERS))
    return name


def families_of(machine: Machine) -> list[Family]:
    """Return the families that *machine* belongs to."""
    return [family for family in FAMILIES if family.name in machine.family]


def route_of(machine: Machine) -> Route | None:
    """Return what gives the links between memories of *machine*; ``None`` leaves it to its paths.

    Raises:
        PantileError: If the machine lacks what its family needs; all problems at once.
    """
    for family in families_of(machine):
        if family.routes:
            module, _, function = family.routes.partition(":")
            found: Route = getattr(import_module(module), function)(machine)
            return found
    return None


def family_of(machine: Machine, planner: str) -> Family:
    """Return the family for which *planner* plans on *machine*.

    Raises:
        UsageError: If the machine belongs to families of other planners only.
    """
    chosen = next(family for family in FAMILIES if planner in family.planners)
    known = families_of(machine)
    if known and chosen not in known:
        planners = ", ".join(each for family in known for each in family.planners)
        names = " and ".join(family.name for family in known)
        article = "an" if names[0] in "aeiou" else "a"
        raise UsageError(
            f"planner {planner!r} plans for {chosen.name} machines, "
            f"{machine.name!r} is {article} {names} machine",
            mend=f"its planners: {planners}",
        )
    return chosen
