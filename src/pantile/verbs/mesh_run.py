"""One run of a network on a mesh: times, where they go, and what stopped it if something did."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pantile.simulate.service import TICKS_PER_SECOND
from pantile.verbs.result import as_html

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pantile.simulate.timeline import Timeline
    from pantile.tiling.plan import Note
    from pantile.verbs.families import PlannedLayer
    from pantile.verbs.mesh import Mesh


def in_cycles(terms: Mapping[str, int], hz: int) -> dict[str, int]:
    """Return ticks by class as cycles of a clock that sum to the total, which is rounded up.

    >>> in_cycles({"compute": 1500, "idle": 1200}, 10**9)
    {'compute': 2, 'idle': 1}
    """
    found: dict[str, int] = {}
    ticks = done = 0
    for name, each in terms.items():
        ticks += each
        upto = -(-ticks * hz // TICKS_PER_SECOND)
        found[name], done = upto - done, upto
    return found


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

    def _cycles(self, terms: Mapping[str, int]) -> dict[str, int]:
        return in_cycles(terms, self.session.config.core_hz)

    @cached_property
    def terms(self) -> dict[str, int]:
        """Cycles by class on the engine that finishes last in every layer; they sum to the total."""
        found: Counter[str] = Counter()
        for timeline in self.timelines:
            found.update(self._cycles(timeline.terms))
        return dict(found)

    @property
    def per_core(self) -> list[dict[str, Any]]:
        """Cycles by class of every chiplet; a chiplet that computes nothing in a layer is idle all of it."""
        cores: list[Counter[str]] = [Counter() for _ in range(self.session.config.chiplets)]
        for timeline in self.timelines:
            by_engine = {name.partition("@")[2]: terms for name, terms in timeline.unit_terms.items()}
            for number, core in enumerate(cores):
                row, column = divmod(number, self.session.config.columns)
                core.update(self._cycles(by_engine.get(f"({row},{column})", {"idle": timeline.total})))
        return [{"core": number, "terms": dict(core)} for number, core in enumerate(cores)]

    @property
    def bound_by(self) -> str:
        """The largest term."""
        return max(self.terms, key=lambda term: self.terms[term], default="")

    @cached_property
    def lower_bounds(self) -> dict[str, int]:
        """Cycles that no timing can stay below, by what binds; those of layers added up."""
        found: Counter[str] = Counter()
        for timeline in self.timelines:
            found.update(self._bounds(timeline))
        return dict(found)

    def _bounds(self, timeline: Timeline) -> dict[str, int]:
        """The largest bound of every kind: link, engine, thread, chain."""
        found: dict[str, int] = {}
        for name, ticks in timeline.lower_bounds.items():
            kind = name.partition(" ")[0]
            found[kind] = max(found.get(kind, 0), -(-ticks * self.session.config.core_hz // TICKS_PER_SECOND))
        return found

    @property
    def utilisation(self) -> dict[str, float]:
        """``mac``: MACs done / (PEs x cycles); ``busy``: time with an array at work / time, of all arrays."""
        config, seconds = self.session.config, sum(timeline.seconds for timeline in self.timelines)
        if not seconds:
            return {"mac": 0.0, "busy": 0.0}
        macs = sum(
            int(timeline.bound.tables["op"]["macs"][timeline.times["finish"] >= 0].sum())
            for timeline in self.timelines
        )
        busy = sum(
            ticks
            for timeline in self.timelines
            for name, ticks in timeline.resource_busy.items()
            if name in timeline.unit_terms
        )
        peak = config.array[0] * config.array[1] * config.core_hz * config.chiplets
        ticks = seconds * TICKS_PER_SECOND * config.chiplets
        return {"mac": macs / (peak * seconds), "busy": busy / ticks}

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes of all layers, each once, and the nodes outside the model."""
        layers = self.session.layers()
        return (*dict.fromkeys(note for layer in layers for note in layer.notes), *self.session.outside)

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``simulate --json`` prints."""
        return {
            **self.session.head("simulate", self.workload, self.notes),
            "finished": self.ok,
            "total_cycles": self.total_cycles,
            "total_seconds": sum(timeline.seconds for timeline in self.timelines),
            "terms": self.terms,
            "bound_by": self.bound_by,
            "lower_bounds": self.lower_bounds,
            "utilisation": self.utilisation,
            "per_core": self.per_core,
            "per_layer": [
                self._layer_json(layer, timeline)
                for layer, timeline in zip(self.session.layers(), self.timelines, strict=True)
            ],
        }

    def _layer_json(self, layer: PlannedLayer, timeline: Timeline) -> dict[str, Any]:
        whole = timeline.to_json()
        return {
            "layer": layer.layer,
            "node": layer.node.name,
            "mapping": layer.plan.parameters["mapping"],
            "predicted": layer.plan.predicted,
            "cycles": timeline.cycles,
            "total_ticks": timeline.total,
            "terms": self._cycles(timeline.terms),
            "bound_by": timeline.bound_by,
            "lower_bounds": self._bounds(timeline),
            "busy_ticks": whole["busy"]["resources"],
            "critical_chain": whole["critical_chain"],
            "stopped": whole["stopped"],
        }

    def __str__(self) -> str:
        lines = [f"{self.workload} on {self.session.machine.name} ({self.session.planner})"]
        for layer, timeline in zip(self.session.layers(), self.timelines, strict=True):
            lines += self._layer_lines(layer, timeline)
        if len(self.timelines) > 1:
            lines.append(f"  total {self.total_cycles} cycles")
        lines.append(
            f"  MAC utilisation {self.utilisation['mac']:.1%}, arrays busy {self.utilisation['busy']:.1%}"
        )
        return "\n".join([*lines, *(f"  note {note}" for note in self.notes)])

    def _layer_lines(self, layer: PlannedLayer, timeline: Timeline) -> list[str]:
        terms = " + ".join(f"{name} {count}" for name, count in self._cycles(timeline.terms).items() if count)
        bounds = ", ".join(f"{kind} {count}" for kind, count in self._bounds(timeline).items())
        ends = "" if timeline.finished else "stops after "
        return [
            f"  {layer.node.name} ({layer.node.computation})",
            f"  mapping  {layer.plan.parameters['mapping']}",
            f"  {ends}{timeline.cycles} cycles ({timeline.seconds * 1e6:.4g} us) = {terms}",
            f"  bound by {timeline.bound_by}; lower bounds: {bounds}",
            *(f"  {line}" for line in timeline.to_json()["stopped"]),
        ]

    def _repr_html_(self) -> str:
        return as_html(str(self))
