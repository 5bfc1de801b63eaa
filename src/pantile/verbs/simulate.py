"""The verb ``simulate``: when everything happens, how long it takes, and what bounds it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from pantile.errors import UsageError
from pantile.program.program import Program
from pantile.targets.systolic.bounds import lower_bounds
from pantile.targets.systolic.simulate import simulate as run
from pantile.targets.systolic.stream import TILE_LAYER
from pantile.targets.systolic.totals import totals_of
from pantile.tiling.plan import Note
from pantile.verbs.arguments import PlanOptions, network_text
from pantile.verbs.layer_times import (
    ACTIVE_TERMS,
    LayerTimes,
    largest,
    mac_utilisation,
    named_terms,
    useful_macs,
)
from pantile.verbs.programfile import is_program, refuse_for_programs, refuse_for_workloads, refuse_other_json
from pantile.verbs.result import Many, as_html
from pantile.verbs.sessions import sessions_of, single_or_many

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping

    from pantile.targets.systolic.result import SystolicResult
    from pantile.targets.systolic.stream import Stream
    from pantile.verbs.arguments import MachineLike, WorkloadLike
    from pantile.verbs.families import PlannedLayer
    from pantile.verbs.program_run import ProgramRun
    from pantile.verbs.programfile import ProgramLike
    from pantile.verbs.result import Result
    from pantile.verbs.systolic import Systolic


@dataclass(frozen=True, eq=False)
class Simulation:
    """One run of a network, or of a single product.

    Attributes:
        session: The planned network.
        workload: Text that names it again.
        stream: What ran.
        result: What was measured.
    """

    session: Systolic
    workload: str
    stream: Stream
    result: SystolicResult

    @property
    def ok(self) -> bool:
        """A run that ended is fine."""
        return True

    @property
    def total_cycles(self) -> int:
        """Core cycles until the last write response."""
        return self.result.core_ticks

    @cached_property
    def last_core(self) -> int:
        """The core that finishes last; the lowest index on a tie."""
        return self._last_core(np.ones(len(self.stream.tiles), bool))

    def _last_core(self, tiles: np.ndarray) -> int:
        rows = self.result.tiles[tiles]
        if not len(rows):
            return 0
        last = rows["finish_cycle"].max()
        return int(rows["core"][rows["finish_cycle"] == last].min())

    @cached_property
    def terms(self) -> dict[str, int]:
        """Cycles by class on the core that finishes last; they sum to the total."""
        return named_terms(self.result.terms.sum(axis=0)[self.last_core])

    @property
    def bound_by(self) -> str:
        """The largest term."""
        return largest(self.terms)

    @cached_property
    def layers(self) -> tuple[LayerTimes, ...]:
        """Every layer that has a program, in execution order."""
        planned = sorted(self.session.layers(), key=lambda each: each.layer)
        return tuple(self._layer(each) for each in planned)

    def _layer(self, planned: PlannedLayer) -> LayerTimes:
        at, config = planned.layer, self.session.config
        terms = self.result.terms[at]
        core = self._last_core(self.stream.tiles[:, TILE_LAYER] == at)
        cycles = int(terms[core].sum())
        totals = totals_of(planned.program, config)
        return LayerTimes(
            planned=planned,
            totals=totals,
            start_cycle=int(self.result.layer_start[at]),
            finish_cycle=int(self.result.layer_finish[at]),
            cycles=cycles,
            terms=named_terms(terms[core]),
            mac_utilisation=mac_utilisation(useful_macs(planned, totals), config, cycles),
            busy=int(terms[:, ACTIVE_TERMS].sum()) / (config.cores * cycles) if cycles else 0.0,
        )

    @cached_property
    def lower_bounds(self) -> dict[str, int]:
        """Cycles that no run of this program can stay below, by what binds."""
        return lower_bounds(self.stream, self.session.config, self.result, self.macs)

    @property
    def macs(self) -> int:
        """Useful multiply-accumulates of all layers."""
        return sum(layer.totals.macs for layer in self.layers)

    @property
    def utilisation(self) -> dict[str, float]:
        """``mac``: useful MACs / (PEs x cycles); ``busy``: cycles with an array active / cycles."""
        config, cycles = self.session.config, self.total_cycles
        active = int(self.result.cores["systolic_active_cycle"].sum())
        useful = sum(useful_macs(layer.planned, layer.totals) for layer in self.layers)
        return {
            "mac": mac_utilisation(useful, config, cycles),
            "busy": active / (config.cores * cycles),
        }

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes of all layers, each once, and the nodes outside the model."""
        seen = dict.fromkeys(note for layer in self.layers for note in layer.planned.notes)
        unlisted = self.total_cycles - sum(layer.cycles for layer in self.layers)
        skipped = (
            [Note("skip", f"{unlisted} cycles go to skip tiles, whose layers are not listed")]
            if unlisted
            else []
        )
        return (*seen, *skipped, *self.session.outside)

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``simulate --json`` prints."""
        config, cores = self.session.config, self.result.cores
        return {
            **self.session.head("simulate", self.workload, self.notes),
            "total_cycles": self.total_cycles,
            "total_seconds": self.total_cycles / config.core_hz,
            "noc_cycles": self.result.noc_ticks,
            "dram_cycles": self.result.dram_ticks,
            "dram_requests_per_channel": self.result.requests_per_channel.tolist(),
            "terms": self.terms,
            "bound_by": self.bound_by,
            "lower_bounds": self.lower_bounds,
            "utilisation": self.utilisation,
            "per_core": [
                {
                    "core": at,
                    **dict(zip(cores.dtype.names or (), cores[at].tolist(), strict=True)),
                    "terms": named_terms(self.result.terms.sum(axis=0)[at]),
                }
                for at in range(config.cores)
            ],
            "per_layer": [layer.to_json() for layer in self.layers],
        }

    def __str__(self) -> str:
        from pantile.verbs.tables import simulation_text

        return simulation_text(self)

    def _repr_html_(self) -> str:
        return as_html(str(self))


@overload
def simulate(
    workload: Program,
    machine: MachineLike,
    *,
    what_if: Iterable[str] = (),
    trace: str | os.PathLike[str] | None = None,
) -> ProgramRun: ...
@overload
def simulate(
    workload: WorkloadLike | ProgramLike,
    machine: MachineLike,
    *,
    planner: str | None = None,
    mapping: str | None = None,
    semantics: str | None = None,
    dims: Mapping[str, int] | None = None,
    trace: str | os.PathLike[str] | None = None,
    core: int | None = None,
    what_if: Iterable[str] = (),
    on_compile: Callable[[], None] = lambda: None,
) -> Result | Many[Result] | ProgramRun: ...
def simulate(
    workload: WorkloadLike | ProgramLike,
    machine: MachineLike,
    *,
    planner: str | None = None,
    mapping: str | None = None,
    semantics: str | None = None,
    dims: Mapping[str, int] | None = None,
    trace: str | os.PathLike[str] | None = None,
    core: int | None = None,
    what_if: Iterable[str] = (),
    on_compile: Callable[[], None] = lambda: None,
) -> Result | Many[Result] | ProgramRun:
    """Return when everything happens that *machine* runs for *workload*, or for a program.

    An ONNX file is one run of all its layers; a table is one run per row.

    Args:
        workload: As of :func:`pantile.lower`, likewise the next five; or a program, or the file of one.
        machine: The machine.
        planner: The planner.
        mapping: An explicit mapping.
        semantics: Which reading of the planner's rules to use.
        dims: Sizes of symbolic dimensions.
        trace: Write what every unit did to this file, for ui.perfetto.dev.
        core: The core that the trace draws, and where cores run alone, the only one that is simulated.
        what_if: Changes of rates, such as ``"ddr>sram=+10%"``, each a run of its own; of programs only.
        on_compile: Called before anything is compiled.

    Raises:
        PantileError: If the input is at fault, there is no plan, the run cannot go on, or the trace cannot
            be written.
    """
    if is_program(workload):
        from pantile.verbs.program_run import simulate_program

        refuse_for_programs(planner=planner, mapping=mapping, semantics=semantics, dim=dims, core=core)
        return simulate_program(workload, machine, what_if=what_if, trace=trace, on_compile=on_compile)
    assert not isinstance(workload, Program)
    refuse_other_json(workload)
    refuse_for_workloads(what_if=(tuple(what_if), "only programs are simulated with other rates so far"))
    options = PlanOptions(planner=planner, mapping=mapping, semantics=semantics, dims=dims or {})
    sessions = sessions_of(workload, machine, options)
    if trace is None:
        runs = [session.simulation(on_compile, core) for session in sessions]
        return single_or_many(workload, runs)
    if len(sessions) != 1:
        raise UsageError(f"a trace holds one run, got {len(sessions)}", mend="name one workload")
    from pantile.view.trace import write_trace

    ran, slices = sessions[0].traced(on_compile, core)
    write_trace(slices, trace)
    return ran


def simulate_session(
    session: Systolic, *, record: range | None = None, on_compile: Callable[[], None] = lambda: None
) -> Simulation:
    """Return one run of a planned network, with the times of the operations to *record*."""
    stream, result = run(session.execution(), session.config, record=record, on_compile=on_compile)
    return Simulation(session, network_text(session.network), stream, result)
