"""The verb ``simulate`` on programs: when everything happens on a machine, and why not earlier."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pantile.check.report import Finding
from pantile.errors import Place, UsageError
from pantile.simulate.service import TICKS_PER_SECOND
from pantile.simulate.show import end_sentences
from pantile.simulate.spaces import core_index, parse_space
from pantile.targets.ascend.kept_trace import require_trace
from pantile.targets.ascend.trace import FAMILY as ASCEND
from pantile.targets.ascend.trap import until_trap
from pantile.tiling.plan import Note
from pantile.verbs.arguments import machine_of
from pantile.verbs.ascend_check import buffers_of
from pantile.verbs.program_check import finding_json, program_head
from pantile.verbs.programfile import dynamic_source, program_of
from pantile.verbs.result import as_html
from pantile.verbs.timing import timed
from pantile.verbs.what_if import WhatIfRun, parse_what_if, run_what_if

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping

    from pantile.machine import Machine
    from pantile.program.program import Program
    from pantile.simulate.timeline import Timeline
    from pantile.verbs.arguments import MachineLike
    from pantile.verbs.programfile import ProgramLike


SHOWN_BOUNDS = 6
"""Lower bounds that the text of a run tells, the largest first; ``to_json`` has all."""


@dataclass(frozen=True)
class ProgramRun:
    """One run of a program on a machine.

    Attributes:
        name: The program's name.
        machine: The machine's name.
        timeline: When each operation happened, and why not earlier.
        what_ifs: Runs with one rate changed.
        notes: What the reader must know.
    """

    name: str
    machine: str
    timeline: Timeline
    what_ifs: tuple[WhatIfRun, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every operation happened."""
        return self.timeline.finished

    @property
    def program(self) -> Program:
        """What ran, as literal rows."""
        return self.timeline.bound.program

    @property
    def total_cycles(self) -> int:
        """Cycles of the machine's base clock until the last finish, rounded up."""
        return self.timeline.cycles

    @property
    def total_seconds(self) -> float:
        """The same in seconds, exact to the picosecond."""
        return self.timeline.seconds

    @cached_property
    def terms(self) -> dict[str, int]:
        """Cycles by class of the engine that finishes last; they sum to :attr:`total_cycles`."""
        return self.in_cycles(self.timeline.terms)

    @property
    def bound_by(self) -> str:
        """The largest term."""
        return self.timeline.bound_by

    @property
    def lower_bounds(self) -> dict[str, int]:
        """Cycles, rounded up, that no timing of this program can stay below, by what binds."""
        bounds = self.timeline.lower_bounds
        return {name: cycles_of(ticks, self._machine) for name, ticks in bounds.items()}

    @property
    def utilisation(self) -> dict[str, float | None]:
        """``mac``: useful MACs / (PEs x cycles), ``None`` if no engine says its MACs; ``busy``: engines."""
        return {name: self.timeline.utilisation.get(name) for name in ("mac", "busy")}

    @cached_property
    def finding(self) -> Finding | None:
        """What stopped the run; ``None`` if it came to its end."""
        if self.ok:
            return None
        timeline = self.timeline
        sentences = "; ".join(end_sentences(timeline.bound, timeline.run))
        done = int((timeline.times["finish"] >= 0).sum())
        after = f"after {self.total_cycles} cycles and {done} of {timeline.bound.operations} operations"
        fault = timeline.fault
        return Finding(
            code="PT-STATE" if fault else "PT-DEADLOCK",
            severity="error",
            sentence=f"nothing goes on {after}: {sentences}",
            operations=(fault.op,) if fault else tuple(stuck.op for stuck in timeline.stuck),
            grade="" if fault else "hang",
            mend="use check: it says whether that is so under every timing, and the cycle of waits",
        )

    def in_cycles(self, terms: Mapping[str, int]) -> dict[str, int]:
        """Return *terms*, in ticks, as whole cycles that sum to their sum, rounded up.

        Where the total is no multiple of a cycle, a term may be off by less than one.
        """
        found, ticks, before = {}, 0, 0
        for name, term in terms.items():
            ticks += term
            after = cycles_of(ticks, self._machine)
            found[name], before = after - before, after
        return found

    @property
    def _machine(self) -> Machine:
        machine = self.timeline.bound.machine
        assert machine is not None
        return machine

    def _per_core(self) -> list[dict[str, Any]]:
        """Terms of every engine that computes, or of every thread where none does."""
        return [
            {"core": _core_of(name, self._machine), "unit": name, "terms": self.in_cycles(terms)}
            for name, terms in self.timeline.unit_terms.items()
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``simulate --json`` prints."""
        found = self.timeline.to_json()
        return {
            **program_head("simulate", self.program, self.machine, self.notes),
            "finished": self.ok,
            "findings": [finding_json(self.program, self.finding)] if self.finding else [],
            "operations": self.timeline.bound.operations,
            "macs": self.program.macs,
            "total_cycles": self.total_cycles,
            "total_seconds": self.total_seconds,
            "total_ps": self.timeline.total,
            "terms": self.terms,
            "terms_ps": found["terms"],
            "bound_by": self.bound_by,
            "lower_bounds": self.lower_bounds,
            "per_core": self._per_core(),
            "utilisation": self.utilisation,
            "busy_ps": found["busy"],
            "critical_chain": found["critical_chain"],
            "what_if": [self._what_if_json(each) for each in self.what_ifs],
        }

    def _what_if_json(self, each: WhatIfRun) -> dict[str, Any]:
        cycles = each.timeline.cycles
        return {
            "change": each.change.text,
            "total_cycles": cycles,
            "total_ps": each.timeline.total,
            "saved_cycles": self.total_cycles - cycles,
        }

    def __str__(self) -> str:
        return "\n".join([f"{self.name} on {self.machine}", *(f"  {line}" for line in self._lines())])

    def _lines(self) -> Iterable[str]:
        """What the terminal shows below the title."""
        threads = len(self.timeline.thread_busy)
        yield f"{self.timeline.bound.operations} operations of {threads} threads, {self.program.macs} MACs"
        terms = " + ".join(f"{name} {cycles}" for name, cycles in self.terms.items() if cycles)
        microseconds = self.total_seconds * 1e6
        yield f"total {self.total_cycles} cycles ({microseconds:.2f} us) = {terms or 0}"
        use = self.utilisation
        mac = "" if use["mac"] is None else f"MAC utilisation {use['mac']:.1%}, "
        busy = "" if use["busy"] is None else f"engines busy {use['busy']:.1%}"
        yield f"bound by {self.bound_by or 'nothing'}; {mac}{busy}".rstrip("; ,")
        bounds = sorted(self.lower_bounds.items(), key=lambda each: -each[1])
        more = f", and {len(bounds) - SHOWN_BOUNDS} smaller ones" if len(bounds) > SHOWN_BOUNDS else ""
        yield "lower bounds: " + ", ".join(f"{name} {at}" for name, at in bounds[:SHOWN_BOUNDS]) + more
        for each in self.what_ifs:
            cycles = each.timeline.cycles
            less = (self.total_cycles - cycles) / self.total_cycles if self.total_cycles else 0.0
            words = "less" if less >= 0 else "more"
            yield f"what if {each.change.text}: {cycles} cycles, {abs(less):.1%} {words}"
        if self.finding:
            yield from str(self.finding).splitlines()
        yield from (f"note {note}" for note in self.notes)

    def _repr_html_(self) -> str:
        return as_html(str(self))


def cycles_of(ticks: int, machine: Machine) -> int:
    """Return picoseconds as cycles of the machine's base clock, rounded up."""
    return -(-ticks * machine.clock(machine.base_clock).hz // TICKS_PER_SECOND)


def _core_of(unit: str, machine: Machine) -> int | None:
    """The core that an engine belongs to; ``None`` for what is no engine of a core."""
    try:
        return core_index(parse_space(unit).at, machine)
    except ValueError:  # a thread may be called anything
        return None


def _of_core(program: Program, machine: Machine) -> tuple[Program, tuple[Note, ...]]:
    """Return what runs of the program of an Ascend core, and remarks.

    Raises:
        PantileError: If the machine is no Ascend machine, or the program does not keep its trace.
    """
    buffers_of(machine)
    require_trace(program)
    ran, left = until_trap(program)
    notes = [Note("trace", remark) for remark in program.parameters.get("remarks", ())]
    if left:
        at = ran.parameters["lines"][-1]
        after = f"{left} instruction{'s' if left > 1 else ''} after it did not run"
        notes.append(Note("trap", f"the program ends at the trap of {program.name}:{at}: {after}"))
    return ran, tuple(notes)


def simulate_program(
    program: ProgramLike,
    machine: MachineLike,
    *,
    what_if: Iterable[str] = (),
    trace: str | os.PathLike[str] | None = None,
    on_compile: Callable[[], None] = lambda: None,
) -> ProgramRun:
    """Return when each operation of *program* happens on *machine*.

    Args:
        program: A program, or the file of one.
        machine: What it runs on.
        what_if: Changes of rates, such as ``"ddr>sram=+10%"``; each is a run of its own.
        trace: Write what every thread did to this file, for ui.perfetto.dev.
        on_compile: Called before anything is compiled.

    Raises:
        PantileError: If the program or the machine is at fault, the machine lacks a place that the program
            names, or the trace cannot be written.
    """
    asked, chosen = program_of(program), machine_of(machine)
    changes, notes = [parse_what_if(text) for text in what_if], tuple[Note, ...]()
    if asked.family == ASCEND:
        asked, notes = _of_core(asked, chosen)
    if dynamic_source(asked) is not None:
        notes = (Note("dynamic", "the program asks at run time: this is what it did here"),)
        if changes:
            raise UsageError(
                "the program asks at run time, so it may do something else on another machine",
                place=Place("--what-if"),
                mend="change the machine, and simulate again",
            )
    timeline = timed(asked, chosen, on_compile)
    made = tuple(run_what_if(timeline.bound, change) for change in changes)
    result = ProgramRun(asked.name, chosen.name, timeline, made, notes)
    if trace is not None:
        from pantile.verbs.program_trace import slices_of_program
        from pantile.view.trace import write_trace

        write_trace(slices_of_program(timeline), trace)
    return result
