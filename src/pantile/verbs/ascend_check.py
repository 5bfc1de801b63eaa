"""The verb ``check`` on traces of an Ascend core."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pantile.check.naming import Naming
from pantile.check.order import happens_before
from pantile.check.program import BUDGET, check_program
from pantile.check.report import Finding, Report
from pantile.errors import PantileError, UsageError
from pantile.targets.ascend.alignment import ALIGNMENTS_220X, check_alignment
from pantile.targets.ascend.calls import call_of_json, contracts_of
from pantile.targets.ascend.contracts import Contract, contract_of
from pantile.targets.ascend.findings import core_findings
from pantile.targets.ascend.judge import StreamJudge
from pantile.targets.ascend.kept_trace import require_trace
from pantile.targets.ascend.listing_order import check_listing_order
from pantile.targets.ascend.memory import BUFFERS_220X
from pantile.targets.ascend.pipes import EVENT_IDS
from pantile.targets.ascend.trace import FAMILY
from pantile.tiling.plan import Note
from pantile.verbs.redundant_cost import RedundantCost
from pantile.verbs.timing import timed

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.machine import Machine
    from pantile.program.program import Program
    from pantile.simulate.timeline import Timeline


def report_on_trace(
    program: Program,
    machine: Machine | None,
    *,
    budget: int = BUDGET,
    on_compile: Callable[[], None] = lambda: None,
) -> tuple[Report, tuple[Note, ...]]:
    """Return the report on the program of a trace, and remarks.

    Every race is executed in an order that shows it. That ids belong to a source alone, and not to a pair of
    pipes, is one reading of the documents: what breaks under it alone is a note.

    Args:
        program: As :func:`~pantile.targets.ascend.trace.program_of_trace` makes it.
        machine: An Ascend machine: says what buffers hold, where addresses may begin, how many ids there are.
            Without one, figures of a 220x core are used.
        budget: As of :func:`pantile.check`, likewise the next.
        on_compile: Called before anything is compiled.

    Raises:
        UsageError: If the machine is no Ascend machine.
        ProgramError: If the program does not keep its trace.
    """
    require_trace(program)
    capacities, alignments = buffers_of(machine)
    ids = event_ids_of(machine, program.parameters["event_ids"])
    judged = replace(program, parameters={**program.parameters, "event_ids": ids})
    timeline = _timeline(judged, machine, on_compile)
    judge = StreamJudge(judged, capacities, timeline)
    report = check_program(
        judged,
        budget=budget,
        capacities=capacities,
        strict_scope=True,
        judge=judge,
        cost=RedundantCost(timeline) if timeline else None,
        on_compile=on_compile,
    )
    order = happens_before(judged, on_compile=on_compile)
    report += check_listing_order(judged, order, judge.tell)
    report = _traps(program) + core_findings(program) + _scope_as_notes(report)
    report += check_alignment(program, alignments)
    remarks = tuple(Note("trace", remark) for remark in program.parameters.get("remarks", ()))
    return report, (*remarks, *_contracts(program), *_without_caller(program, report))


def _without_caller(program: Program, report: Report) -> list[Note]:
    """Return a remark if what stops is a program that waits for flags which its caller would raise."""
    needs = contract_of(program.parameters["stream"]).needs
    if not needs or not any(each.code in ("PT-DEADLOCK", "PT-UNPAIRED") for each in report.findings):
        return []
    flags = Contract(needs=needs).lines()[0]
    mend = "add what the caller sets and takes, or check a call of mma_tile as mma-tile:… with its events"
    return [Note("caller", f"checked alone, without the code of a caller; at its begin it {flags}; {mend}")]


def _contracts(program: Program) -> tuple[Note, ...]:
    """Return what each function of an emitted program needs up and leaves up."""
    calls = [call_of_json(each) for each in program.parameters.get("calls", ())]
    return tuple(
        Note("contract", "; ".join(line.strip() for line in str(each).splitlines()))
        for each in contracts_of(program.parameters["stream"], calls)
    )


def _timeline(program: Program, machine: Machine | None, on_compile: Callable[[], None]) -> Timeline | None:
    """Return the run on a machine; nothing if it does not say all that the time depends on."""
    try:
        return timed(program, machine, on_compile) if machine else None
    except PantileError:
        return None


def buffers_of(machine: Machine | None) -> tuple[dict[str, int], dict[str, int]]:
    """Return bytes and alignment of every buffer of a core; those of a 220x core without a machine.

    Raises:
        UsageError: If the machine is no Ascend machine.
    """
    if machine is None:
        return dict(BUFFERS_220X), dict(ALIGNMENTS_220X)
    if FAMILY not in machine.family:
        raise UsageError(
            f"a trace of an Ascend core needs an Ascend machine, got {machine.name!r}",
            mend="use -m ascend-910b, or another machine with a table [family.ascend]",
        )
    inside = [memory for memory in machine.memories if memory.scope == "core"]
    capacities = {each.name.upper(): each.capacity_bytes for each in inside if each.capacity_bytes}
    alignments = {each.name.upper(): each.granule_bytes for each in inside if each.granule_bytes}
    return capacities, alignments


def event_ids_of(machine: Machine | None, otherwise: int = EVENT_IDS) -> int:
    """Return how many ids of flags every pair of pipes of a machine has, *otherwise* if it does not say."""
    stated = None if machine is None else machine.family_table(FAMILY).get("event_ids")
    return stated if isinstance(stated, int) else otherwise


def _traps(program: Program) -> Report:
    """Report instructions that end the program by a trap."""
    if "trap" not in program.names:
        return Report()
    naming, opcodes = Naming(program), program.tables()["op"]["opcode"]
    findings = [
        Finding(
            code="PT-STATE",
            severity="error",
            sentence=f"{naming.op(op)} ends the program, and nothing after it runs",
            operations=(op,),
            grade="hang",
            mend="give the tile that does not fit L0 in smaller pieces",
        )
        for op in np.flatnonzero(opcodes == program.names.index("trap")).tolist()
    ]
    return Report(tuple(findings))


def _scope_as_notes(report: Report) -> Report:
    findings = (
        replace(each, severity="note") if each.code == "PT-SCOPE" else each for each in report.findings
    )
    return Report((), report.proved) + Report(tuple(findings))
