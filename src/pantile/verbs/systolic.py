"""A network on a systolic machine: its plans, its programs, the order in which they run."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from pantile.errors import (
    OutsideModelError,
    UsageError,
    raise_all,
    suggestion,
)
from pantile.planners.onnxim.capacity import Overflow
from pantile.planners.onnxim.layer import convolution_layer, gemm_layer
from pantile.planners.onnxim.planner import PLANNER, plan_network
from pantile.planners.onnxim.shapes import with_onnxim_dims
from pantile.targets.systolic.allocate import tensor_addresses
from pantile.targets.systolic.capacity import memory_usages
from pantile.targets.systolic.config import SystolicConfig, require_supported, systolic_config
from pantile.targets.systolic.lower import lower
from pantile.targets.systolic.schedule import layer_order
from pantile.tiling.log import DecisionLog
from pantile.tiling.onnxim import Mapping, parse_mapping, read_mapping_file
from pantile.tiling.plan import NodePlan, Note, Plan
from pantile.verbs.arguments import node_text, refuse_core
from pantile.verbs.element_width import with_element_width
from pantile.verbs.families import PlannedLayer
from pantile.verbs.limits import (
    overflow_of_huge_tile,
    require_addressable,
    require_manageable,
    require_within_limits,
)
from pantile.verbs.outside import infeasible_plans
from pantile.verbs.planned_network import PlannedNetwork
from pantile.workload.convolution import Convolution

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from collections.abc import Mapping as Sizes

    from pantile.check.report import Report
    from pantile.machine import Machine
    from pantile.program.program import Program
    from pantile.verbs.arguments import PlanOptions
    from pantile.verbs.lower import Lowering
    from pantile.verbs.simulate import Simulation
    from pantile.view.trace import Slice
    from pantile.workload.network import Network, Node

Semantics = Literal["fixed", "faithful"]
SEMANTICS = ("fixed", "faithful")


@dataclass(frozen=True)
class Systolic(PlannedNetwork):
    """A network planned on a systolic machine.

    Attributes:
        network: What is computed.
        machine: What it runs on.
        config: The machine's figures, with the workload's element width where it names one.
        semantics: ``fixed`` or ``faithful``.
        plans: One per node, in file order.
        notes: Remarks on the whole run.
        dims: Sizes that were given to the network's symbolic dimensions.
    """

    network: Network
    machine: Machine
    config: SystolicConfig
    semantics: Semantics
    plans: tuple[NodePlan, ...]
    notes: tuple[Note, ...]
    dims: Sizes[str, int] = field(default_factory=dict)

    @property
    def planner(self) -> str:
        """The one planner of these machines."""
        return PLANNER

    @cached_property
    def addresses(self) -> dict[str, int]:
        """Address of every tensor, by name."""
        return tensor_addresses(self.network, self.config.precision, wrap=self.semantics == "faithful")

    @cached_property
    def programs(self) -> dict[str, Program]:
        """Program of every node that has a feasible plan, by the node's name."""
        return {
            each.node.name: lower(each.node, each.plan, self.network, self.addresses, self.config)
            for each in self.plans
            if each.plan is not None and each.plan.feasible
        }

    @cached_property
    def order(self) -> Sequence[int]:
        """Positions of the nodes that run as layers, in execution order.

        Nodes outside the model are skip tiles under ``faithful`` and take no time under ``fixed``.
        """
        return layer_order(self.network, None if self.semantics == "faithful" else set(self.programs))

    def execution(self) -> list[Program | int]:
        """Return the layers in execution order; an integer stands for that many skip tiles."""
        layers: list[Program | int] = []
        for at in self.order:
            node = self.network.nodes[at]
            # onnxim-conv.md C6: MaxPool consists of two skip tiles, every other node of one.
            layers.append(self.programs.get(node.name) or (2 if node.op_type == "MaxPool" else 1))
        return layers

    def layers(self) -> list[PlannedLayer]:
        """Return the layers that have a program, in file order."""
        position = {at: place for place, at in enumerate(self.order)}
        return [
            PlannedLayer(
                node=each.node,
                plan=each.plan,
                program=self.programs[each.node.name],
                layer=position[at],
                workload=node_text(self.network, each.node.name),
                notes=(*each.plan.notes, *self.notes),
            )
            for at, each in enumerate(self.plans)
            if each.plan is not None and each.node.name in self.programs
        ]

    def lowerings(self, core: int | None, window: range | None, notes: tuple[Note, ...]) -> list[Lowering]:
        """Return every layer's program to be listed; *notes* are added to each."""
        from pantile.verbs.lower import lower_layer  # imports this module's callers

        return [lower_layer(self, layer, core, window, notes) for layer in self.layers()]

    def reports(self, on_compile: Callable[[], None]) -> list[Report]:
        """Return a report on every layer's program."""
        from pantile.verbs.check import reports_of  # likewise

        return reports_of(self, on_compile)

    def simulation(self, on_compile: Callable[[], None], core: int | None = None) -> Simulation:
        """Return one run of the network, on all cores: they share its memory."""
        from pantile.verbs.simulate import simulate_session  # likewise

        refuse_core(core)
        return simulate_session(self, on_compile=on_compile)

    def traced(self, on_compile: Callable[[], None], core: int | None) -> tuple[Simulation, Iterator[Slice]]:
        """Return one run of the network, and every operation of one core or of all."""
        from pantile.verbs.simulate import simulate_session  # likewise
        from pantile.verbs.trace import require_traceable, slices_of

        self.require_core(core)
        simulation = simulate_session(self, record=require_traceable(self), on_compile=on_compile)
        return simulation, slices_of(simulation, core)

    def require_core(self, core: int | None) -> None:
        """Check the number of a core; ``None`` means all of them.

        Raises:
            UsageError: If the machine has no such core.
        """
        last = self.config.cores - 1
        if core is not None and not 0 <= core <= last:
            cores = "core 0 only" if not last else f"cores 0 to {last}"
            raise UsageError(f"there is no core {core}; {self.machine.name} has {cores}")

    def require_plans(self) -> None:
        """Check that every node inside the model has a plan.

        Raises:
            InfeasibleError: If a plan is infeasible; all of them together.
            OutsideModelError: If nothing is inside the model.
        """
        raise_all(infeasible_plans(self.network, self.plans))
        if not self.programs:
            reasons = "; ".join(f"{each.node.name}: {each.outside}" for each in self.plans[:3])
            raise OutsideModelError(f"no node of {self.network.name} is inside the model ({reasons})")


def plan_session(network: Network, machine: Machine, options: PlanOptions) -> Systolic:
    """Return *network* planned on *machine*.

    Raises:
        PantileError: If anything of it cannot be planned; all problems at once.
    """
    return plan_systolic(
        network, machine, mapping=options.mapping, semantics=options.semantics, dims=options.dims
    )


def require_supported_machine(machine: Machine) -> None:
    """Check that a systolic machine can be timed.

    Raises:
        PantileError: What it lacks or what is not covered; all problems at once.
    """
    require_supported(systolic_config(machine), machine.place)


def plan_systolic(
    network: Network,
    machine: Machine,
    *,
    mapping: str | None = None,
    semantics: str | None = None,
    dims: Sizes[str, int] | None = None,
) -> Systolic:
    """Return *network* planned on *machine*.

    Args:
        network: What is computed.
        machine: A machine of the systolic family.
        mapping: A mapping's text, or the path of a file of them; ``None`` for the automatic one.
        semantics: ``fixed`` (the default) or ``faithful``.
        dims: Sizes that were given to the network's symbolic dimensions, for the record.

    Raises:
        PantileError: If anything of it cannot be planned; all problems at once.
    """
    chosen = _semantics(semantics)
    config, notes = with_element_width(systolic_config(machine), network)
    require_supported(config, machine.place)
    require_manageable(config, machine.place)
    if chosen == "faithful":
        network = with_onnxim_dims(network)
    require_addressable(network, config.precision)
    plans = plan_network(
        network,
        config,
        mapping_file=_mappings(mapping, chosen),
        semantics=chosen,
        fits=_judge(network, config, chosen),
    )
    return Systolic(network, machine, config, chosen, plans, notes, dims or {})


def _judge(
    network: Network, config: SystolicConfig, semantics: Semantics
) -> Callable[[Node, Mapping], Overflow | None]:
    """Return the function that judges exactly, in whole requests, whether tiles of a mapping fit."""
    addresses = tensor_addresses(network, config.precision, wrap=semantics == "faithful")

    def fits(node: Node, candidate: Mapping) -> Overflow | None:
        plan = _candidate_plan(node, network, candidate, semantics)
        overflow = overflow_of_huge_tile(
            candidate, config, is_convolution=isinstance(node.computation, Convolution)
        )
        if overflow is not None:
            return overflow
        require_within_limits(candidate, plan.parameters["batch"])
        program = lower(node, plan, network, addresses, config)
        for usage in memory_usages(program, config):
            if usage.counted_bytes > usage.capacity_bytes:
                return Overflow(usage.memory, usage.counted_bytes, usage.capacity_bytes)
        return None

    return fits


def _candidate_plan(node: Node, network: Network, mapping: Mapping, semantics: Semantics) -> Plan:
    """Return what lowering reads of a plan, before there is one."""
    computation, log = node.computation, DecisionLog()
    if isinstance(computation, Convolution):
        layer = convolution_layer(computation, log)
    else:
        layer = gemm_layer(node, network, semantics, log)
    parameters = {
        "kind": layer.kind,
        "total": layer.total.to_json(),
        "outer": mapping.outer.to_json(),
        "inner": mapping.inner.to_json(),
        "has_bias": layer.has_bias,
        "batch": layer.batch,
    }
    return Plan(planner=PLANNER, semantics=semantics, parameters=parameters)


def _semantics(name: str | None) -> Semantics:
    if name is None:
        return "fixed"
    if name not in SEMANTICS:
        raise UsageError(f"unknown semantics {name!r} of planner {PLANNER}", mend=suggestion(name, SEMANTICS))
    return cast("Semantics", name)


def _mappings(mapping: str | None, semantics: Semantics) -> tuple[Mapping, ...] | None:
    """Read *mapping*: a line of the notation if it has a bracket, else a file of them."""
    if mapping is None:
        return None
    if "[" in mapping:
        return (parse_mapping(mapping, semantics=semantics),)
    try:
        text = Path(mapping).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "not a text file").lower()
        raise UsageError(
            f"mapping file {mapping!r}: {reason}", mend="give a file, or a text such as '[T] N32 …'"
        ) from None
    return read_mapping_file(text, mapping, semantics)
