"""A network on a grid of chiplets: its plans, its programs, one run after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from pantile.errors import OutsideModelError, UsageError, raise_all, suggestion
from pantile.planners.mesh.planner import SEMANTICS, plan_network
from pantile.simulate.timeline import simulate
from pantile.targets.mesh.config import MeshConfig, mesh_config
from pantile.targets.mesh.lower import lower
from pantile.targets.mesh.routes import mesh_route
from pantile.verbs.arguments import network_text, node_text, refuse_core
from pantile.verbs.families import PlannedLayer
from pantile.verbs.mesh_lowering import MeshLowering
from pantile.verbs.mesh_run import MeshRun
from pantile.verbs.outside import infeasible_plans
from pantile.verbs.planned_network import PlannedNetwork
from pantile.verbs.program import check_program
from pantile.verbs.program_trace import slices_of_layers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pantile.check.report import Report
    from pantile.machine import Machine
    from pantile.tiling.plan import NodePlan, Note
    from pantile.verbs.arguments import PlanOptions
    from pantile.view.trace import Slice
    from pantile.workload.network import Network


@dataclass(frozen=True)
class Mesh(PlannedNetwork):
    """A network planned on a grid of chiplets.

    Attributes:
        network: What is computed.
        machine: What it runs on.
        config: The machine's figures.
        planner: Who planned it.
        plans: One per node, in file order.
        notes: Remarks on the whole run.
        dims: Sizes that were given to the network's symbolic dimensions.
    """

    network: Network
    machine: Machine
    config: MeshConfig
    planner: str
    plans: tuple[NodePlan, ...]
    notes: tuple[Note, ...] = ()
    dims: Mapping[str, int] = field(default_factory=dict)

    @property
    def semantics(self) -> str:
        """The one reading of the planner's rules."""
        return SEMANTICS

    def require_plans(self) -> None:
        """Check that every node inside the model has a plan.

        Raises:
            InfeasibleError: If a plan is infeasible; all of them together.
            OutsideModelError: If nothing is inside the model.
        """
        inside = [each for each in self.plans if each.plan is not None]
        raise_all(infeasible_plans(self.network, self.plans))
        if not inside:
            reasons = "; ".join(f"{each.node.name}: {each.outside}" for each in self.plans[:3])
            raise OutsideModelError(f"no node of {self.network.name} is inside the model ({reasons})")

    def require_core(self, core: int | None) -> None:
        """Check the number of a chiplet; ``None`` means all of them.

        Raises:
            UsageError: If the machine has no such chiplet.
        """
        last = self.config.chiplets - 1
        if core is not None and not 0 <= core <= last:
            raise UsageError(f"there is no core {core}; {self.machine.name} has cores 0 to {last}")

    @cached_property
    def _layers(self) -> list[PlannedLayer]:
        feasible = [(each, each.plan) for each in self.plans if each.plan is not None and each.plan.feasible]
        return [
            PlannedLayer(
                node=each.node,
                plan=plan,
                program=lower(plan, name=node_text(self.network, each.node.name)),
                layer=position,
                workload=node_text(self.network, each.node.name),
                notes=(*plan.notes, *self.notes),
            )
            for position, (each, plan) in enumerate(feasible)
        ]

    def layers(self) -> list[PlannedLayer]:
        """Return the layers that have a program, in file order."""
        return self._layers

    def lowerings(
        self, core: int | None, window: range | None, notes: tuple[Note, ...]
    ) -> list[MeshLowering]:
        """Return every layer's program to be listed; *notes* are added to each."""
        return [MeshLowering(self, each, core, window, (*each.notes, *notes)) for each in self._layers]

    def reports(self, on_compile: Callable[[], None]) -> list[Report]:
        """Return a report on every layer's program."""
        del on_compile
        return [check_program(each.program, self.machine).report for each in self._layers]

    def traced(self, on_compile: Callable[[], None], core: int | None) -> tuple[MeshRun, Iterator[Slice]]:
        """Return one run of the network, and every operation of one core or of all."""
        self.require_core(core)
        ran = self.simulation(on_compile)
        names = [layer.node.name for layer in self.layers()]
        return ran, slices_of_layers(dict(zip(names, ran.timelines, strict=True)), core)

    def simulation(self, on_compile: Callable[[], None], core: int | None = None) -> MeshRun:
        """Return one run of the network, layer after layer."""
        del on_compile
        refuse_core(core)
        route = mesh_route(self.machine)
        timelines = tuple(simulate(each.program, self.machine, route=route) for each in self._layers)
        return MeshRun(self, network_text(self.network), timelines)


def plan_session(network: Network, machine: Machine, options: PlanOptions) -> Mesh:
    """Return *network* planned on *machine*.

    Raises:
        PantileError: If anything of it cannot be planned; all problems at once.
    """
    if options.semantics not in (None, SEMANTICS):
        raise UsageError(
            f"unknown semantics {options.semantics!r} of planner {options.planner}",
            mend=suggestion(options.semantics or "", [SEMANTICS]),
        )
    config = mesh_config(machine)
    assert options.planner is not None  # who calls has chosen
    plans = plan_network(network, config, options.planner, mapping=options.mapping)
    return Mesh(network, machine, config, options.planner, plans, dims=options.dims)


def require_supported_machine(machine: Machine) -> None:
    """Check that a mesh machine can be timed.

    Raises:
        PantileError: What it lacks; all problems at once.
    """
    mesh_config(machine)
