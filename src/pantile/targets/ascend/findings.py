"""What is wrong with a core program beyond what holds for programs of any kind.

The generic checks see threads, counters and bytes. This is what only the family knows: sizes and alignments
of buffers, ids of a SoC, what the unit flag leaves behind, and what was recorded while the program was
emitted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pantile.check.chains import literal_tables
from pantile.check.naming import Naming
from pantile.check.program import check_program
from pantile.check.report import Finding, Report
from pantile.targets.ascend.buffers import ALIGNMENTS
from pantile.targets.ascend.events import finding_of
from pantile.targets.ascend.trace import FAMILY

if TYPE_CHECKING:
    from pantile.check.races import Judge
    from pantile.check.redundant import Cost
    from pantile.machine import Machine
    from pantile.program.program import Program

LISTED = 20
"""Accesses of one kind that are told one by one."""


def check_core(
    program: Program,
    machine: Machine | None = None,
    *,
    budget: int = 100_000,
    strict_scope: bool = False,
    judge: Judge | None = None,
    cost: Cost | None = None,
) -> Report:
    """Return what is wrong with a core program under every timing, and what is proved of it.

    Args:
        program: What one core runs.
        machine: Says the sizes of buffers and how many ids a pair of pipes has; without one, sizes are not
            judged and ids go from 0 to 7.
        budget: States with a choice that may be walked through.
        strict_scope: Also report ids of one source that are pending towards two destinations.
        judge: Carries out a legal order in which a race shows, and says what became of the values.
        cost: Says what time synchronisation costs that orders nothing.
    """
    program = with_ids_of(program, machine)
    report = check_program(program, budget=budget, strict_scope=strict_scope, judge=judge, cost=cost)
    return report + core_findings(program, machine)


def with_ids_of(program: Program, machine: Machine | None) -> Program:
    """Return a core program whose pairs of pipes have as many ids as *machine* says, if it does."""
    ids = machine.family.table(FAMILY).get("event_ids") if machine and FAMILY in machine.family else None
    if not isinstance(ids, int):
        return program
    return replace(program, parameters={**program.parameters, "event_ids": ids})


def core_findings(program: Program, machine: Machine | None = None) -> Report:
    """Return the findings that only this family has."""
    naming, tables = Naming(program), literal_tables(program)
    findings = [
        *(finding_of(each) for each in program.parameters.get("emission", ())),
        *_kept_blocks(program, naming),
        *_misaligned(program, naming, tables),
        *(_too_large(program, naming, tables, machine) if machine else ()),
    ]
    return Report(tuple(findings))


def _kept_blocks(program: Program, naming: Naming) -> list[Finding]:
    """Return a finding for every hand-over of blocks that FIX never gives back."""
    return [
        Finding(
            code="PT-LEAK",
            severity="warning",
            sentence=f"{naming.op(op)} hands {count} blocks of L0C to FIX, which never gives them back",
            operations=(op,),
            evidence="the next mad that checks the unit flag waits for ever",
            grade="leak",
            mend="let the copy out of L0C have unit flag 3, or the mad none",
        )
        for op, count in program.parameters.get("unit_flags", {}).get("kept", ())
    ]


def _misaligned(program: Program, naming: Naming, tables: dict[str, np.ndarray]) -> list[Finding]:
    """Return findings for accesses that begin where none can."""
    access = tables["access"]
    steps = np.array([ALIGNMENTS.get(name, 1) for name in program.parameters["spaces"]] + [1])
    wrong = np.flatnonzero(access["lo"] % steps[access["space"]] != 0)
    return _of_accesses(
        "PT-ALIGN",
        access[wrong],
        lambda row: (
            f"{naming.op(int(row['op']))} begins at byte {row['lo']} of {naming.space(int(row['space']))}: "
            f"expected a multiple of {steps[row['space']]}"
        ),
        "let it begin at such a multiple",
    )


def _too_large(
    program: Program, naming: Naming, tables: dict[str, np.ndarray], machine: Machine
) -> list[Finding]:
    """Return findings for accesses beyond the end of their buffer."""
    sizes = {memory.name.upper(): memory.capacity_bytes for memory in machine.memories}
    spaces = program.parameters["spaces"]
    known = np.array([sizes.get(name) or np.iinfo(np.int64).max for name in spaces] + [0])
    access = tables["access"]
    wrong = np.flatnonzero(access["lo"] + access["length"] > known[access["space"]])
    return _of_accesses(
        "PT-CAPACITY",
        access[wrong],
        lambda row: (
            f"{naming.op(int(row['op']))} touches {naming.space(int(row['space']))} up to byte "
            f"{row['lo'] + row['length']}, and it has {known[row['space']]} on {machine.name}"
        ),
        "cut the tile so that it fits",
    )


def _of_accesses(code: str, rows: np.ndarray, sentence: Callable[[np.void], str], mend: str) -> list[Finding]:
    """Return a finding for each of some accesses; beyond :data:`LISTED`, their number."""
    findings = [
        Finding(code=code, severity="error", sentence=sentence(row), operations=(int(row["op"]),), mend=mend)
        for row in rows[:LISTED]
    ]
    if len(rows) > LISTED:
        more = f"{len(rows) - LISTED} more accesses likewise"
        findings.append(Finding(code=code, severity="error", sentence=more, mend=mend))
    return findings
