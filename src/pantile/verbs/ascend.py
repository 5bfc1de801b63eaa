"""A network on an Ascend machine: its plans, node by node."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from pantile.errors import (
    MachineError,
    ManyProblems,
    OutsideModelError,
    PantileError,
    Place,
    UsageError,
    raise_all,
    suggestion,
)
from pantile.tiling.plan import NodePlan
from pantile.verbs.arguments import network_text, node_text
from pantile.verbs.ascend_kernels import launch_of
from pantile.verbs.ascend_lower import KernelLowering
from pantile.verbs.ascend_planners import ASCEND_PLANNERS
from pantile.verbs.ascend_report import report_on_launch
from pantile.verbs.ascend_run import KernelRun, core_program, run_launch
from pantile.verbs.families import PlannedLayer
from pantile.verbs.outside import infeasible_plans
from pantile.verbs.planned_network import PlannedNetwork
from pantile.workload.matmul import Matmul

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pantile.check.report import Report
    from pantile.machine import Machine
    from pantile.tiling.plan import Note, Plan
    from pantile.verbs.arguments import PlanOptions
    from pantile.verbs.ascend_kernels import Launch
    from pantile.verbs.ascend_planners import AscendPlanner
    from pantile.view.trace import Slice
    from pantile.workload.network import Network, Node

_NO_PRODUCT = "no matrix product"


@dataclass(frozen=True)
class Ascend(PlannedNetwork):
    """A network planned on an Ascend machine.

    Attributes:
        network: What is computed.
        machine: What it runs on.
        planner: Who planned it.
        semantics: Which of the planner's readings.
        plans: One per node, in file order.
        notes: Remarks on the whole run.
        dims: Sizes that were given to the network's symbolic dimensions.
    """

    network: Network
    machine: Machine
    planner: str
    semantics: str
    plans: tuple[NodePlan, ...]
    notes: tuple[Note, ...] = ()
    dims: Mapping[str, int] = field(default_factory=dict)

    def require_plans(self) -> None:
        """Check that every node inside the model has a plan.

        Raises:
            InfeasibleError: If a plan is infeasible; all of them together.
            OutsideModelError: If nothing is inside the model.
        """
        raise_all(infeasible_plans(self.network, self.plans))
        if all(each.plan is None for each in self.plans):
            raise OutsideModelError(f"no node of {self.network.name} is a matrix product")

    def require_core(self, core: int | None) -> None:
        """Check the number of a core; ``None`` means all of them.

        Raises:
            UsageError: If the machine has no such core.
        """
        last = self.machine.grid.cores - 1
        if core is not None and not 0 <= core <= last:
            raise UsageError(f"there is no core {core}; {self.machine.name} has cores 0 to {last}")

    def launch(self, name: str) -> Launch:
        """Return the kernel that the plan of a node describes.

        Raises:
            PantileError: If it describes none, or its tile does not fit.
        """
        return self._launches[name]

    @cached_property
    def _launches(self) -> dict[str, Launch]:
        """The kernel of every node with a plan; all problems at once."""
        found: dict[str, Launch] = {}
        problems: list[PantileError] = []
        for each in self._planned:
            assert each.plan is not None
            assert isinstance(each.node.computation, Matmul)
            try:
                found[each.node.name] = launch_of(each.plan, each.node.computation, self.machine)
            except PantileError as error:
                problems += _placed(error, self.network, each.node)
        raise_all(problems)
        return found

    @property
    def _planned(self) -> list[NodePlan]:
        return [each for each in self.plans if each.plan is not None]

    def layers(self) -> list[PlannedLayer]:
        """Return the nodes with a plan, each with the program of its first core.

        Raises:
            PantileError: If a plan describes no kernel; all problems at once.
        """
        layers = []
        for number, each in enumerate(self._planned):
            assert each.plan is not None
            launch, text = self.launch(each.node.name), node_text(self.network, each.node.name)
            layers.append(
                PlannedLayer(
                    node=each.node,
                    plan=each.plan,
                    program=core_program(text, launch, launch.classes[0][0]),
                    layer=number,
                    workload=text,
                    notes=(*self.notes, *launch.notes),
                )
            )
        return layers

    def lowerings(
        self, core: int | None, window: range | None, notes: tuple[Note, ...]
    ) -> list[KernelLowering]:
        """Return the streams of every node's cores to be listed; *notes* are added to each."""
        found = []
        for number, each in enumerate(self._planned):
            launch, text = self.launch(each.node.name), node_text(self.network, each.node.name)
            told = (*self.notes, *launch.notes, *notes)
            found.append(KernelLowering(self, text, number, launch, core, window, told))
        return found

    def reports(self, on_compile: Callable[[], None]) -> list[Report]:
        """Return a report on every node: all its distinct core programs, and what they cover."""
        names = [each.node.name for each in self._planned]
        return [
            report_on_launch(node_text(self.network, name), self.launch(name), self.machine, on_compile)
            for name in names
        ]

    def simulation(self, on_compile: Callable[[], None], core: int | None = None) -> KernelRun:
        """Return one run of the network on all cores, or on one of them."""
        self.require_core(core)
        layers = [
            run_launch(
                node_text(self.network, each.node.name),
                self.launch(each.node.name),
                self.machine,
                core,
                on_compile,
            )
            for each in self._planned
        ]
        return KernelRun(self, network_text(self.network), core, tuple(layers))

    def traced(self, on_compile: Callable[[], None], core: int | None) -> tuple[KernelRun, Iterator[Slice]]:
        """Return a run and what every pipe did in it."""
        ran = self.simulation(on_compile, core)
        return ran, ran.slices()


def session_of_plan(network: Network, machine: Machine, plan: Plan, dims: Mapping[str, int]) -> Ascend:
    """Return *network*, a single product, with a plan that was made before.

    Raises:
        InfeasibleError: If the plan is not feasible.
    """
    plans = tuple(
        NodePlan(node, plan)
        if isinstance(node.computation, Matmul)
        else NodePlan(node, None, _why_outside(node))
        for node in network.nodes
    )
    session = Ascend(network, machine, plan.planner, plan.semantics, plans, dims=dims)
    session.require_plans()
    return session


def plan_session(network: Network, machine: Machine, options: PlanOptions) -> Ascend:
    """Return *network* planned on *machine*.

    Raises:
        PantileError: If anything of it cannot be planned; all problems at once.
    """
    raise_all(problems_of(network, machine, options))
    planner = _planner(options)
    semantics = options.semantics or planner.semantics[0]
    plan = planner.on(machine, semantics)
    plans = tuple(
        NodePlan(node, plan(node.computation))
        if isinstance(node.computation, Matmul)
        else NodePlan(node, None, _why_outside(node))
        for node in network.nodes
    )
    return Ascend(network, machine, planner.name, semantics, plans, dims=options.dims)


def _planner(options: PlanOptions) -> AscendPlanner:
    """Return the planner that was asked for, else the default."""
    return ASCEND_PLANNERS[options.planner or next(iter(ASCEND_PLANNERS))]


def problems_of(network: Network, machine: Machine, options: PlanOptions) -> list[PantileError]:
    """Return what is wrong with the options, or why the planner refuses products of *network*.

    It plans nothing, so that many workloads can be checked before the first is planned.
    """
    planner = _planner(options)
    if options.mapping is not None:
        mend = "leave --mapping out"
        return [UsageError(f"planner {planner.name!r} takes no mapping, got one", mend=mend)]
    if options.semantics not in (None, *planner.semantics):
        mend = suggestion(str(options.semantics), planner.semantics)
        return [UsageError(f"unknown semantics {options.semantics!r} of planner {planner.name}", mend=mend)]
    found: list[PantileError] = []
    for node in network.nodes:
        if not isinstance(node.computation, Matmul):
            continue
        try:
            planner.refuse(node.computation, machine)
        except MachineError as error:  # of the machine, whatever the product
            return [error]
        except PantileError as error:
            found += _placed(error, network, node)
    return found


def require_supported_machine(machine: Machine) -> None:
    """Check that an Ascend machine has what its own planner reads.

    Raises:
        PantileError: What it lacks; all problems at once.
    """
    planner = ASCEND_PLANNERS.get(machine.planner)
    if planner is not None:
        planner.require(machine)


def _why_outside(node: Node) -> str:
    return node.outside or f"{node.op_type} is {_NO_PRODUCT}"


def _placed(error: PantileError, network: Network, node: Node) -> list[PantileError]:
    """Return the problems of one node with its place."""
    problems = error.problems if isinstance(error, ManyProblems) else (error,)
    path, colon, line = network.source.rpartition(":")
    if colon and path.lower().endswith(".csv"):
        place = Place(path, int(line))
    else:
        place = Place(network.source if len(network.nodes) == 1 else f"{network.source}#{node.name}")
    return [type(each)(each.problem, place=each.place or place, mend=each.mend) for each in problems]
