"""The verb ``simulate`` on plans for Ascend machines: every distinct core program, and the slowest one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pantile.errors import OutsideModelError, Place
from pantile.simulate.service import TICKS_PER_SECOND
from pantile.targets.ascend.kernel_program import program_of_core
from pantile.targets.ascend.kernel_stream import core_stream
from pantile.targets.ascend.kernel_totals import totals_of_core
from pantile.tiling.plan import Note
from pantile.verbs.program_run import cycles_of
from pantile.verbs.program_trace import slices_of_program
from pantile.verbs.result import as_html
from pantile.verbs.timing import timed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pantile.machine import Machine
    from pantile.program.program import Program
    from pantile.simulate.timeline import Timeline
    from pantile.verbs.ascend import Ascend
    from pantile.verbs.ascend_kernels import Launch
    from pantile.view.trace import Slice

LARGEST = 4_000_000
"""Instructions of one core that are simulated or checked; more would not fit common memories."""

ALONE = Note(
    "model",
    "every core moves over its paths as if alone: the rates of the machine's paths are one core's share of "
    "GM, and what L2 holds or cores fetch together makes nothing faster",
)


@dataclass(frozen=True, eq=False)
class LayerRun:
    """One node on all cores.

    Attributes:
        name: The node.
        launch: The kernel and which core computes what.
        machine: What it runs on.
        timelines: By distinct core program, as :attr:`Launch.classes` has them: its run.
    """

    name: str
    launch: Launch
    machine: Machine
    timelines: tuple[tuple[tuple[int, ...], Timeline], ...]

    @property
    def ok(self) -> bool:
        """Whether every operation happened."""
        return all(timeline.finished for _, timeline in self.timelines)

    @cached_property
    def slowest(self) -> tuple[tuple[int, ...], Timeline]:
        """The cores that finish last, and their run; of equals the first."""
        return max(self.timelines, key=lambda each: each[1].total)

    @property
    def ticks(self) -> int:
        """Picoseconds until the last core is done."""
        return self.slowest[1].total

    @cached_property
    def macs(self) -> int:
        """Useful multiply-accumulates of all cores that were simulated."""
        kernel, works = self.launch.kernel, self.launch.works
        return sum(totals_of_core(kernel, works[alike[0]]).macs * len(alike) for alike, _ in self.timelines)

    @property
    def peak(self) -> int:
        """Multiply-accumulates per cycle of one core on these operands."""
        machine = self.slowest[1].bound.machine
        assert machine is not None
        return int(machine.engine("cube").parameter("macs_per_cycle"))

    @property
    def busy_ticks(self) -> int:
        """Picoseconds for which cubes computed, on all cores together."""
        return sum(len(alike) * each.resource_busy.get("cube", 0) for alike, each in self.timelines)


@dataclass(frozen=True, eq=False)
class KernelRun:
    """One run of a network on all cores, or on one of them; its layers one after another.

    Attributes:
        session: The planned network.
        workload: Text that names it again.
        core: The only core that was simulated; all if ``None``.
        layers: One per node with a plan, in file order.
    """

    session: Ascend
    workload: str
    core: int | None
    layers: tuple[LayerRun, ...]

    @property
    def ok(self) -> bool:
        """Whether every operation happened."""
        return all(layer.ok for layer in self.layers)

    @property
    def timelines(self) -> tuple[Timeline, ...]:
        """The run of the slowest core of every layer."""
        return tuple(layer.slowest[1] for layer in self.layers)

    @property
    def total_ps(self) -> int:
        """Picoseconds of all layers, each until its slowest core is done."""
        return sum(layer.ticks for layer in self.layers)

    @property
    def total_cycles(self) -> int:
        """The same in core cycles, rounded up."""
        return cycles_of(self.total_ps, self.session.machine)

    @cached_property
    def terms_ps(self) -> dict[str, int]:
        """Picoseconds by class on the slowest core of every layer; they sum to the total."""
        found: dict[str, int] = {}
        for layer in self.layers:
            for name, ticks in layer.slowest[1].terms.items():
                found[name] = found.get(name, 0) + ticks
        return found

    @property
    def terms(self) -> dict[str, int]:
        """The same in cycles that sum to :attr:`total_cycles`; each may be off by less than one."""
        return self._in_cycles(self.terms_ps)

    @property
    def bound_by(self) -> str:
        """The largest term."""
        return max(self.terms_ps, key=lambda term: self.terms_ps[term], default="")

    @cached_property
    def lower_bounds(self) -> dict[str, int]:
        """Cycles that no timing can stay below: all MACs at the peak, then those of the slowest core."""
        macs = sum(-(-layer.macs // (layer.peak * self._cores)) for layer in self.layers)
        found = {"macs": macs}
        for layer in self.layers:
            for name, ticks in layer.slowest[1].lower_bounds.items():
                found[name] = found.get(name, 0) + cycles_of(ticks, self.session.machine)
        assert macs <= self.total_cycles, (macs, self.total_cycles)
        return found

    @property
    def utilisation(self) -> dict[str, float]:
        """``mac``: useful MACs over what all cores could do in that time; ``busy``: time of their cubes."""
        if not self.total_ps:
            return {"mac": 0.0, "busy": 0.0}
        hz = self.session.machine.clock(self.session.machine.base_clock).hz
        seconds = self.total_ps / TICKS_PER_SECOND
        done = sum(layer.macs / layer.peak for layer in self.layers)
        busy = sum(layer.busy_ticks for layer in self.layers)
        return {"mac": done / (self._cores * hz * seconds), "busy": busy / (self._cores * self.total_ps)}

    @property
    def _cores(self) -> int:
        return 1 if self.core is not None else self.session.machine.grid.cores

    @property
    def notes(self) -> tuple[Note, ...]:
        """What the reader must know; each once."""
        own = [note for layer in self.layers for note in layer.launch.notes]
        return (*dict.fromkeys([*self.session.notes, ALONE, *own]), *self.session.outside)

    def _in_cycles(self, terms: dict[str, int]) -> dict[str, int]:
        found, ticks, before = {}, 0, 0
        for name, term in terms.items():
            ticks += term
            after = cycles_of(ticks, self.session.machine)
            found[name], before = after - before, after
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``simulate --json`` prints."""
        return {
            **self.session.head("simulate", self.workload, self.notes),
            "finished": self.ok,
            "core": self.core,
            "macs": sum(layer.macs for layer in self.layers),
            "total_cycles": self.total_cycles,
            "total_seconds": self.total_ps / TICKS_PER_SECOND,
            "total_ps": self.total_ps,
            "terms": self.terms,
            "terms_ps": self.terms_ps,
            "bound_by": self.bound_by,
            "lower_bounds": self.lower_bounds,
            "utilisation": self.utilisation,
            "per_core": self._per_core(),
            "per_layer": [self._layer_json(layer) for layer in self.layers],
        }

    def _per_core(self) -> list[dict[str, Any]]:
        """Return every core's own time and terms, of all layers together."""
        cores: dict[int, dict[str, int]] = {}
        for layer in self.layers:
            for alike, timeline in layer.timelines:
                for core in alike:
                    mine = cores.setdefault(core, {})
                    for name, ticks in timeline.terms.items():
                        mine[name] = mine.get(name, 0) + ticks
        return [
            {
                "core": core,
                "total_cycles": cycles_of(sum(terms.values()), self.session.machine),
                "terms": self._in_cycles(terms),
            }
            for core, terms in sorted(cores.items())
        ]

    def _layer_json(self, layer: LayerRun) -> dict[str, Any]:
        return {
            "node": layer.name,
            "kernel": layer.launch.kernel.to_json(),
            "total_cycles": cycles_of(layer.ticks, self.session.machine),
            "total_ps": layer.ticks,
            "slowest_core": layer.slowest[0][0],
            "core_kinds": [
                {
                    "cores": list(alike),
                    "operations": timeline.bound.operations,
                    "total_ps": timeline.total,
                    "threads_busy_ps": timeline.thread_busy,
                }
                for alike, timeline in layer.timelines
            ],
        }

    def __str__(self) -> str:
        lines = [f"{self.workload} on {self.session.machine.name} ({self.session.planner})"]
        for layer in self.layers:
            lines += self._layer_lines(layer)
        terms = " + ".join(f"{name} {cycles}" for name, cycles in self.terms.items() if cycles)
        lines.append(f"  total {self.total_cycles} cycles ({self.total_ps / 1e6:.2f} us) = {terms or 0}")
        use = self.utilisation
        shares = f"MAC utilisation {use['mac']:.1%}, cubes busy {use['busy']:.1%}"
        lines.append(f"  bound by {self.bound_by or 'nothing'}; {shares}")
        bounds = ", ".join(f"{name} {cycles}" for name, cycles in self.lower_bounds.items())
        lines.append(f"  lower bounds: {bounds}")
        return "\n".join([*lines, *(f"  note {note}" for note in self.notes)])

    def _layer_lines(self, layer: LayerRun) -> Iterator[str]:
        """Yield the kernel, and the pipes of the slowest core."""
        alike, timeline = layer.slowest
        which = f"core {alike[0]}" + (f" ({len(alike)} alike)" if len(alike) > 1 else "")
        if len(self.layers) > 1:
            yield f"  {layer.name}: {cycles_of(layer.ticks, self.session.machine)} cycles"
        yield f"  {layer.launch.kernel}"
        busy = ", ".join(
            f"{name} {ticks / timeline.total:.0%}" for name, ticks in timeline.thread_busy.items() if ticks
        )
        yield f"  slowest: {which}, {timeline.bound.operations} operations; busy: {busy}"

    def _repr_html_(self) -> str:
        return as_html(str(self))

    def slices(self) -> Iterator[Slice]:
        """Yield what the pipes of every core did, layer after layer."""
        start = 0
        for layer in self.layers:
            for alike, timeline in layer.timelines:
                for core in alike:
                    for each in slices_of_program(timeline):
                        begin, end = each.start_ps + start, each.finish_ps + start
                        yield replace(each, core=core, start_ps=begin, finish_ps=end)
            start += layer.ticks


def run_launch(
    name: str, launch: Launch, machine: Machine, core: int | None, on_compile: Callable[[], None]
) -> LayerRun:
    """Return the run of one node: one per distinct core program, or that of one core.

    Raises:
        OutsideModelError: If a core without work is asked for, or a program is too long.
        PantileError: If the machine does not say what the time depends on.
    """
    chosen = [(core,)] if core is not None else launch.classes
    if core is not None and not len(launch.works[core]):
        busy = sum(map(len, launch.classes))
        raise OutsideModelError(f"core {core} has no tile to compute: {busy} of {launch.cores} cores have")
    found = []
    for alike in chosen:
        program = core_program(name, launch, alike[0])
        found.append((tuple(alike), timed(program, machine, on_compile)))
    return LayerRun(name, launch, machine, tuple(found))


def core_program(name: str, launch: Launch, core: int) -> Program:
    """Return the program of one core.

    Raises:
        OutsideModelError: If it is too long to be unrolled.
    """
    stream = core_stream(launch.kernel, launch.works[core])
    if len(stream) > LARGEST:
        raise OutsideModelError(
            f"core {core} runs {len(stream)} instructions, programs of up to {LARGEST} are unrolled",
            place=Place(name),
            mend="take a smaller product",
        )
    return program_of_core(stream, f"core {core}")
