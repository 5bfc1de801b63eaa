"""Timelines: when every operation of a program happened on a machine, and why it took as long as it did."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from pantile.program.tables import TIMELINE, Kind, ReleasedBy
from pantile.simulate import show
from pantile.simulate.bind import bind
from pantile.simulate.bound import unit_time
from pantile.simulate.bounds import lower_bounds
from pantile.simulate.chain import critical_chain
from pantile.simulate.classes import classes_of, delay_class
from pantile.simulate.engine import run
from pantile.simulate.service import TICKS_PER_SECOND
from pantile.simulate.spans import length
from pantile.simulate.terms import terms_of, units_of
from pantile.simulate.work import peak_macs_per_second

if TYPE_CHECKING:
    from pantile.machine import Machine
    from pantile.program.program import Program
    from pantile.simulate.bound import BoundProgram, Ints, Rows
    from pantile.simulate.classes import Classes
    from pantile.simulate.links import Route
    from pantile.simulate.outcome import Fault, Run, Stuck


def simulate(program: Program, machine: Machine | None = None, *, route: Route | None = None) -> Timeline:
    """Return when everything of *program* happens on *machine*.

    Args:
        program: A literal program.
        machine: What it runs on; without one every move and compute takes one tick and nothing is shared.
        route: Links between memories that the machine's paths alone do not give.

    Raises:
        ProgramError: If the machine lacks a place or a way that the program names.
    """
    bound = unit_time(program) if machine is None else bind(program, machine, route=route)
    return Timeline(bound, run(bound))


@dataclass(frozen=True, eq=False)
class Timeline:
    """One run of a program.

    Attributes:
        bound: What ran, on which machine.
        run: When each operation happened.
    """

    bound: BoundProgram
    run: Run

    @property
    def finished(self) -> bool:
        """Whether every operation happened."""
        return not self.run.stuck and self.run.fault is None

    @property
    def stuck(self) -> tuple[Stuck, ...]:
        """Threads that wait for ever."""
        return self.run.stuck

    @property
    def fault(self) -> Fault | None:
        """The post that broke a counter's range, if one did."""
        return self.run.fault

    @property
    def times(self) -> Rows:
        """Rows of :data:`~pantile.simulate.outcome.TIMES`, by operation."""
        return self.run.times

    @cached_property
    def rows(self) -> Rows:
        """Rows of ``TIMELINE``, by operation; times of what did not happen are -1."""
        rows = np.zeros(len(self.times), TIMELINE)
        rows["op"] = np.arange(len(rows))
        for name in ("ready", "issue", "start", "finish", "released_by", "releaser"):
            rows[name] = self.times[name]
        rows["class"] = delay_class(self.bound, self.classes, self.times["released_by"])
        rows.setflags(write=False)
        return rows

    @cached_property
    def total(self) -> int:
        """Picoseconds until the last finish (ticks, without a machine)."""
        return max(0, int(self.times["finish"].max(initial=0)))

    @property
    def seconds(self) -> float:
        """The total in seconds."""
        return self.total / TICKS_PER_SECOND

    @property
    def cycles(self) -> int:
        """The total in cycles of the machine's base clock, rounded up; in ticks without a machine."""
        machine = self.bound.machine
        if machine is None:
            return self.total
        return -(-self.total * machine.clock(machine.base_clock).hz // TICKS_PER_SECOND)

    @cached_property
    def classes(self) -> Classes:
        """What carrying out and waiting for each operation counts as."""
        return classes_of(self.bound)

    @cached_property
    def chain(self) -> Ints:
        """The operations that decided when the run ended, first to last."""
        return critical_chain(self.times)

    @cached_property
    def unit_terms(self) -> dict[str, dict[str, int]]:
        """Ticks by class of every engine (or thread, where no engine computes); each sums to the total."""
        units = units_of(self.bound, self.times)
        return {unit.name: terms_of(self.bound, self.classes, self.times, unit, self.total) for unit in units}

    @cached_property
    def terms(self) -> dict[str, int]:
        """Ticks by class of the engine that finishes last, the first such on a tie."""
        units = units_of(self.bound, self.times)
        if not units:
            return {}
        last = [unit.last for unit in units]
        return self.unit_terms[units[last.index(max(last))].name]

    @property
    def bound_by(self) -> str:
        """The largest term; empty if nothing happened."""
        return max(self.terms, key=lambda term: self.terms[term], default="")

    @cached_property
    def lower_bounds(self) -> dict[str, int]:
        """Ticks that no timing of this program can stay below, by what binds.

        Raises:
            AssertionError: If this one does, which would be a defect.
        """
        bounds = lower_bounds(self.bound, self.times)
        assert all(ticks <= self.total for ticks in bounds.values()), (self.total, bounds)
        return bounds

    @cached_property
    def resource_busy(self) -> dict[str, int]:
        """Ticks for which each resource served or was held."""
        use, resources = self.bound.use, self.bound.resources
        done = self.times["finish"][use["op"]] >= 0
        whole = self.times["finish"][use["op"]] - self.times["start"][use["op"]]
        held = resources["rate"][use["resource"]] == 0
        busy = np.zeros(len(resources), np.int64)
        np.add.at(busy, use["resource"], np.where(held, whole, self.bound.use_ticks) * done)
        return dict(zip(self.bound.resource_names, busy.tolist(), strict=True))

    @cached_property
    def thread_busy(self) -> dict[str, int]:
        """Ticks in which each thread has an operation under way."""
        threads = self.bound.tables["thread"]
        busy: dict[str, int] = {}
        for thread, row in enumerate(threads):
            mine = (self.bound.tables["op"]["thread"] == thread) & (self.times["finish"] >= 0)
            name = self.bound.program.text(int(row["name"])) or str(thread)
            name = name if name not in busy else f"{name} #{thread}"
            busy[name] = length(self.times["start"][mine], self.times["finish"][mine])
        return busy

    @property
    def utilisation(self) -> dict[str, float]:
        """Useful MACs over what all engines could do (``mac``), and their busy time (``busy``)."""
        if not self.total:
            return {}
        units = units_of(self.bound, self.times)
        busy = sum(unit.busy for unit in units)
        found = {"busy": busy / (len(units) * self.total)}
        peak = peak_macs_per_second(self.bound.machine) if self.bound.machine else 0
        if peak:
            done = self.times["finish"] >= 0
            found["mac"] = int(self.bound.tables["op"]["macs"][done].sum()) / (peak * self.seconds)
        return found

    def show(self, width: int = 72) -> str:
        """Return one line per thread over time, the terms, and what stopped the run if something did."""
        lines = [str(self), *show.lanes(self.bound, self.classes, self.times, self.total, width), show.LEGEND]
        return "\n".join(lines)

    def to_json(self, *, operations: bool = False) -> dict[str, Any]:
        """Return what ``simulate --json`` prints of a run; with every operation's times if asked."""
        found: dict[str, Any] = {
            "finished": self.finished,
            "total_ticks": self.total,
            "total_seconds": self.seconds if self.bound.machine else None,
            "total_cycles": self.cycles,
            "terms": self.terms,
            "bound_by": self.bound_by,
            "per_engine": self.unit_terms,
            "lower_bounds": self.lower_bounds,
            "utilisation": self.utilisation,
            "busy": {"resources": self.resource_busy, "threads": self.thread_busy},
            "critical_chain": self._chain_json(),
            "stopped": show.end_sentences(self.bound, self.run),
        }
        if operations:
            names = self.rows.dtype.names or ()
            found["operations"] = [dict(zip(names, row, strict=True)) for row in self.rows.tolist()]
        return found

    def _chain_json(self) -> list[dict[str, Any]]:
        """The operations of the chain that take time."""
        ops, program = self.bound.tables["op"], self.bound.program
        return [
            {
                "op": op,
                "opcode": program.text(int(ops["opcode"][op])),
                "start": int(self.times["start"][op]),
                "finish": int(self.times["finish"][op]),
                "released_by": ReleasedBy(self.times["released_by"][op]).name.lower(),
            }
            for op in self.chain[ops["kind"][self.chain] != Kind.SYNC].tolist()
        ]

    def __str__(self) -> str:
        unit = "ps" if self.bound.machine else "ticks"
        lines = [f"{self.total} {unit}, {self.bound.operations} operations"]
        if self.bound.machine:
            lines[0] += f", {self.cycles} cycles"
        terms = ", ".join(f"{name} {ticks}" for name, ticks in self.terms.items() if ticks)
        lines += [f"terms: {terms}"] if terms else []
        lines += show.end_sentences(self.bound, self.run)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.show())}</pre>"
