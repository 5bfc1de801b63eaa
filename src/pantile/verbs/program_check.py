"""The verb ``check`` on programs: right under every timing, and on one machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pantile.check.program import BUDGET
from pantile.check.program import check_program as find_faults
from pantile.check.report import Finding, Report
from pantile.program.language.lower import FAMILY
from pantile.simulate.bound import place_of
from pantile.simulate.queries import simulate_dynamic
from pantile.simulate.spaces import parse_space
from pantile.targets.ascend.trace import FAMILY as ASCEND
from pantile.tiling.plan import Note
from pantile.verbs.arguments import machine_of
from pantile.verbs.ascend_check import report_on_trace
from pantile.verbs.judge import ValueJudge
from pantile.verbs.programfile import dynamic_source, program_of
from pantile.verbs.redundant_cost import RedundantCost
from pantile.verbs.result import as_html, head
from pantile.verbs.timing import timed

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.machine import Machine
    from pantile.program.program import Program
    from pantile.simulate.timeline import Timeline
    from pantile.verbs.arguments import MachineLike
    from pantile.verbs.programfile import ProgramLike


@dataclass(frozen=True, slots=True)
class ProgramCheck:
    """The report on a program.

    Attributes:
        program: What was checked: literal rows, those of one run where the program asks.
        machine: Name of the machine; empty without one.
        report: Findings, and what was proved.
        notes: What the reader must know about them.
    """

    program: Program
    machine: str
    report: Report
    notes: tuple[Note, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return self.report.ok

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is, or could go, wrong: errors first."""
        return self.report.findings

    @property
    def proved(self) -> tuple[str, ...]:
        """What holds under every timing."""
        return self.report.proved

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``check --json`` prints."""
        found = self.report.to_json()
        found["findings"] = [finding_json(self.program, finding) for finding in self.findings]
        return {**program_head("check", self.program, self.machine, self.notes), **found}

    def __str__(self) -> str:
        lines = [*str(self.report).splitlines()[:-1], *(f"note {note}" for note in self.notes)]
        where = f" on {self.machine}" if self.machine else ""
        verdict = "ok" if self.ok else "not ok"
        return "\n".join([f"{self.program.name}{where}", *(f"  {line}" for line in [*lines, verdict])])

    def _repr_html_(self) -> str:
        return as_html(str(self))


def program_head(verb: str, program: Program, machine: str, notes: tuple[Note, ...]) -> dict[str, Any]:
    """Return the keys that every object about a program has; there is no planner."""
    return head(
        verb,
        workload=program.name,
        machine=machine or None,
        planner=None,
        semantics=program.semantics,
        notes=notes,
    )


def finding_json(program: Program, finding: Finding) -> dict[str, Any]:
    """Return a finding with the lines of its operations, ``file:line``; ``None`` where one has no line."""
    tables = program.tables()
    places = [place_of(program, tables, op) for op in finding.operations]
    return {**finding.to_json(), "sources": [str(place) if place else None for place in places]}


def check_program(
    program: ProgramLike,
    machine: MachineLike | None = None,
    *,
    budget: int = BUDGET,
    on_compile: Callable[[], None] = lambda: None,
) -> ProgramCheck:
    """Return whether *program* is right under every timing, and on *machine*.

    Args:
        program: A program, or the file of one. Of one that asks at run time, one run is checked.
        machine: What it runs on: says what memories hold, whether what could go wrong does, and what
            redundant waits cost. Without one, peaks are given and not judged.
        budget: States with a choice that may be walked through.
        on_compile: Called before anything is compiled.

    Raises:
        PantileError: If the program or the machine is at fault, or it lacks a place that the program names.
    """
    asked = program_of(program)
    chosen = None if machine is None else machine_of(machine)
    if asked.family == ASCEND:
        report, notes = report_on_trace(asked, chosen, budget=budget, on_compile=on_compile)
        return ProgramCheck(asked, chosen.name if chosen else "", report, notes)
    literal, timeline, notes = _literal(asked, chosen, on_compile)
    report, more = report_on(literal, timeline, budget=budget, on_compile=on_compile)
    return ProgramCheck(literal, chosen.name if chosen else "", report, (*notes, *more))


def report_on(
    program: Program,
    timeline: Timeline | None,
    *,
    budget: int = BUDGET,
    on_compile: Callable[[], None] = lambda: None,
) -> tuple[Report, tuple[Note, ...]]:
    """Return the report on a literal program, and remarks.

    Args:
        program: What is checked.
        timeline: Its run on a machine, if one is given.
        budget: As of :func:`check_program`, likewise the next.
        on_compile: Called before anything is compiled.
    """
    judge = ValueJudge(program, timeline) if program.family == FAMILY else None
    report = find_faults(
        program,
        budget=budget,
        capacities=_capacities(program, timeline.bound.machine if timeline else None),
        judge=judge,
        cost=RedundantCost(timeline) if timeline else None,
        on_compile=on_compile,
    )
    if judge is None or timeline is None:
        return report, ()
    wrong = judge.finding_of_run(report.findings)
    if wrong:
        report += Report((wrong,))
    return report, _values_note(judge)


def _values_note(judge: ValueJudge) -> tuple[Note, ...]:
    """Say what the run on the machine computed, or why that is not known."""
    outcome = judge.run_outcome
    if outcome is None or outcome.difference:
        return ()
    if outcome.untried:
        return (Note("values", f"the run on {judge.machine} was not executed: {outcome.untried}"),)
    return (Note("values", f"executed as it runs on {judge.machine}, the output is NumPy's"),)


def _literal(
    program: Program, machine: Machine | None, on_compile: Callable[[], None]
) -> tuple[Program, Timeline | None, tuple[Note, ...]]:
    """Return what is checked, its run on a machine if one is given, and remarks."""
    source = dynamic_source(program)
    timeline = timed(program, machine, on_compile) if machine else None
    if source is None:
        return program, timeline, ()
    where = f"on {machine.name}" if machine else "without a machine, every move and compute in one tick"
    text = f"the program asks at run time: only what it did in one run is checked, {where}"
    ran = timeline or simulate_dynamic(source)
    return ran.bound.program, timeline, (Note("dynamic", text),)


def _capacities(program: Program, machine: Machine | None) -> dict[str, int]:
    """Return the bytes of each memory of *program*, where the machine says them."""
    memories = {memory.name: memory for memory in machine.memories} if machine else {}
    found = {}
    for name in program.parameters.get("spaces", ()) if memories else ():
        memory = memories.get(parse_space(name).kind)
        if memory is not None and memory.capacity_bytes is not None:
            found[name] = memory.capacity_bytes
    return found
