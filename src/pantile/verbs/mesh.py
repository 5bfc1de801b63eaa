"""A network on a grid of chiplets: its plans, its programs, one run after the other."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pantile.errors import (
    InfeasibleError,
    OutsideModelError,
    Place,
    UsageError,
    raise_all,
    suggestion,
)
from pantile.planners.mesh.planner import SEMANTICS, plan_network
from pantile.simulate.timeline import simulate
from pantile.targets.mesh.config import MeshConfig, mesh_config
from pantile.targets.mesh.lower import lower
from pantile.targets.mesh.routes import mesh_route, topology_of
from pantile.targets.mesh.traffic import Traffic, traffic_of
from pantile.verbs.arguments import network_text, node_text
from pantile.verbs.families import PlannedLayer
from pantile.verbs.outside import outside_notes
from pantile.verbs.program import check_program
from pantile.verbs.result import as_html, head
from pantile.verbs.rows import listed_rows, row_numbers, row_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pantile.check.report import Report
    from pantile.machine import Machine
    from pantile.program.program import Program
    from pantile.simulate.timeline import Timeline
    from pantile.tiling.plan import NodePlan, Note
    from pantile.verbs.arguments import PlanOptions
    from pantile.view.trace import Slice
    from pantile.workload.network import Network


@dataclass(frozen=True)
class Mesh:
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

    def head(self, verb: str, workload: str, notes: Sequence[Note]) -> dict[str, Any]:
        """Return the keys that every object of this session has."""
        return head(
            verb,
            workload=workload,
            machine=self.machine.name,
            planner=self.planner,
            semantics=self.semantics,
            notes=notes,
        )

    def with_note(self, note: Note) -> Mesh:
        """Return the session with one more remark on the whole run."""
        return replace(self, notes=(*self.notes, note))

    @cached_property
    def outside(self) -> tuple[Note, ...]:
        """A note per reason why nodes are outside the model, with their share of the known work."""
        return outside_notes(self.plans)

    def require_plans(self) -> None:
        """Check that every node inside the model has a plan.

        Raises:
            InfeasibleError: If a plan is infeasible; all of them together.
            OutsideModelError: If nothing is inside the model.
        """
        inside = [each for each in self.plans if each.plan is not None]
        raise_all(
            [
                InfeasibleError(each.plan.reason, place=Place(node_text(self.network, each.node.name)))
                for each in inside
                if each.plan is not None and not each.plan.feasible
            ]
        )
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
        """Refuse: planned products of meshes are not drawn yet.

        Raises:
            OutsideModelError: Always.
        """
        from pantile.verbs.systolic import require_systolic  # which says what is covered, and imports much

        require_systolic(self, "traces show")
        raise AssertionError(core, on_compile)

    def simulation(self, on_compile: Callable[[], None], core: int | None = None) -> MeshRun:
        """Return one run of the network, layer after layer."""
        del on_compile, core
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


@dataclass(frozen=True, eq=False)
class MeshLowering:
    """The program of one node.

    Attributes:
        session: The planned network it belongs to.
        layer: The node with its program.
        core: The chiplet whose operations are listed; all if ``None``.
        window: Numbers of the operations to list; all if ``None``.
        notes: Remarks.
    """

    session: Mesh
    layer: PlannedLayer
    core: int | None
    window: range | None
    notes: tuple[Note, ...]

    @property
    def ok(self) -> bool:
        """A lowering that exists is fine."""
        return True

    @property
    def workload(self) -> str:
        """Text that names the node again."""
        return self.layer.workload

    @property
    def program(self) -> Program:
        """The program."""
        return self.layer.program

    @property
    def operation_count(self) -> int:
        """Operations of the program."""
        return self.program.operations

    @cached_property
    def _rows(self) -> range | list[int]:
        at = None if self.core is None else divmod(self.core, self.session.config.columns)
        return row_numbers(self.program, at, self.window)

    @property
    def left_out(self) -> int:
        """Operations that ``to_json`` leaves out, because no window was asked for and they are many."""
        return listed_rows(self._rows)

    @cached_property
    def traffic(self) -> Traffic:
        """What the program moves."""
        return traffic_of(self.program, topology_of(self.session.machine))

    def totals(self) -> dict[str, Any]:
        """Return totals of the whole program, by name."""
        operations = self.program.tables()["op"]
        opcodes = Counter(self.program.text(each) for each in operations["opcode"].tolist())
        traffic = self.traffic
        return {
            "tiles": opcodes["compute"],
            "instructions": dict(opcodes),
            "macs": int(operations["macs"].sum()),
            "bytes": {
                "ddr": {
                    "read": sum(traffic.read_bytes.values()),
                    "write": sum(traffic.written_bytes.values()),
                }
            },
            "traffic": traffic.to_json(),
        }

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``lower --json`` prints; beyond 100 000 operations only with a window."""
        listed = None
        if not self.left_out:
            listed = [
                {"number": number, "text": text}
                for number, text in zip(self._rows, row_texts(self.program, self._rows), strict=True)
            ]
        return {
            **self.session.head("lower", self.workload, self.notes),
            "layer": self.layer.layer,
            "totals": self.totals(),
            "operation_count": self.program.operations,
            "operations": listed,
        }

    def text(self) -> str:
        """Return the listing, one operation a line.

        Raises:
            UsageError: If it has more than 100 000.
        """
        if self.left_out:
            raise UsageError(
                f"{self.left_out} operations are too many for one listing",
                place=Place(self.workload),
                mend="add --window 0:100000, or another range of that length",
            )
        heading = f"# {self.workload}: number, thread, operation; <- read, -> written"
        numbered = zip(self._rows, row_texts(self.program, self._rows), strict=True)
        return "\n".join([heading, *(f"{number:>7}  {text}" for number, text in numbered)])

    def __str__(self) -> str:
        totals, traffic = self.totals(), self.traffic
        opcodes = ", ".join(f"{count} {opcode}" for opcode, count in totals["instructions"].items())
        inputs = ", ".join(f"{count} B of {name}" for name, count in traffic.read_bytes.items() if count)
        lines = [
            f"  operations    {opcodes}",
            f"  MACs          {totals['macs']} in {totals['tiles']} tiles",
            f"  off chip      {inputs} read, {sum(traffic.written_bytes.values())} B written",
            f"  passed on     {traffic.passed_bytes} B between chiplets",
            f"  hops          {traffic.hop_bytes} B x links, the longest way over {traffic.most_hops}",
        ]
        return "\n".join([self.workload, *lines, *(f"  note          {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        return as_html(str(self))


@dataclass(frozen=True, eq=False)
class MeshRun:
    """One run of a network, its layers one after the other.

    Attributes:
        session: The planned network.
        workload: Text that names it again.
        timelines: One per layer, in file order.
    """

    session: Mesh
    workload: str
    timelines: tuple[Timeline, ...]

    @property
    def ok(self) -> bool:
        """Whether every operation happened."""
        return all(timeline.finished for timeline in self.timelines)

    @property
    def total_cycles(self) -> int:
        """Core cycles of all layers, each rounded up."""
        return sum(timeline.cycles for timeline in self.timelines)

    @cached_property
    def terms(self) -> dict[str, int]:
        """Picoseconds by class on the engine that finishes last in every layer; they sum to the total."""
        found: Counter[str] = Counter()
        for timeline in self.timelines:
            found.update(timeline.terms)
        return dict(found)

    @property
    def bound_by(self) -> str:
        """The largest term."""
        return max(self.terms, key=lambda term: self.terms[term], default="")

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes of all layers, each once, and the nodes outside the model."""
        layers = self.session.layers()
        return (*dict.fromkeys(note for layer in layers for note in layer.notes), *self.session.outside)

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``simulate --json`` prints."""
        layers = list(zip(self.session.layers(), self.timelines, strict=True))
        single = self.timelines[0] if len(self.timelines) == 1 else None
        return {
            **self.session.head("simulate", self.workload, self.notes),
            "finished": self.ok,
            "total_cycles": self.total_cycles,
            "total_seconds": sum(timeline.seconds for timeline in self.timelines),
            "terms": self.terms,
            "bound_by": self.bound_by,
            "lower_bounds": single.lower_bounds if single else {},
            "utilisation": single.utilisation if single else {},
            "per_layer": [
                {
                    "node": layer.node.name,
                    "mapping": layer.plan.parameters["mapping"],
                    "predicted": layer.plan.predicted,
                    **timeline.to_json(),
                }
                for layer, timeline in layers
            ],
        }

    def __str__(self) -> str:
        lines = [f"{self.workload} on {self.session.machine.name} ({self.session.planner})"]
        for layer, timeline in zip(self.session.layers(), self.timelines, strict=True):
            lines += _layer_lines(layer, timeline, self.session.config.core_hz)
        if len(self.timelines) > 1:
            lines.append(f"  total {self.total_cycles} cycles")
        return "\n".join([*lines, *(f"  note {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        return as_html(str(self))


def _largest(timeline: Timeline) -> dict[str, int]:
    """The largest lower bound of every kind: link, engine, thread, chain."""
    found: dict[str, tuple[str, int]] = {}
    for name, ticks in timeline.lower_bounds.items():
        kind = name.partition(" ")[0]
        if kind not in found or ticks > found[kind][1]:
            found[kind] = (name, ticks)
    return dict(found.values())


def _layer_lines(layer: PlannedLayer, timeline: Timeline, core_hz: int) -> list[str]:
    """What is said of one layer's run; times in cycles, rounded down, but the total up."""

    def cycles(ticks: int) -> int:
        return ticks * core_hz // 10**12

    terms = " + ".join(f"{name} {cycles(ticks)}" for name, ticks in timeline.terms.items() if ticks)
    bounds = ", ".join(f"{name} {cycles(ticks)}" for name, ticks in _largest(timeline).items())
    stopped = str(timeline).splitlines()[2:]
    return [
        f"  {layer.node.name} ({layer.node.computation})",
        f"  mapping  {layer.plan.parameters['mapping']}",
        f"  {timeline.cycles} cycles ({timeline.seconds * 1e6:.4g} us) = {terms}",
        f"  bound by {timeline.bound_by}; MAC utilisation {timeline.utilisation.get('mac', 0):.1%}",
        f"  lower bounds: {bounds}",
        *(f"  {line}" for line in stopped),
    ]
