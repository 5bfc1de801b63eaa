"""Whether start addresses are aligned as their buffers ask.

Source: ascend-core.md section 1.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.check.naming import Naming
from pantile.check.report import Finding, Report

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pantile.program.program import Program

ALIGNMENTS_220X = {"UB": 32, "L1": 32, "L0A": 512, "L0B": 512, "L0C": 64, "BT": 64, "FB": 64}
"""Bytes that a start address in each buffer is a multiple of, on a 220x core."""


def check_alignment(program: Program, alignments: Mapping[str, int] = ALIGNMENTS_220X) -> Report:
    """Report instructions that begin at an address which their buffer does not allow, one per line.

    Args:
        program: As :func:`~pantile.targets.ascend.trace.program_of_trace` makes it.
        alignments: Bytes by buffer; buffers that are not there may begin anywhere.
    """
    tables, spaces = program.tables(), program.parameters["spaces"]
    naming, findings, pointers = Naming(program), [], 0
    for row in tables["access"]:
        name = spaces[int(row["space"])]
        step = alignments.get(name, 1)
        pointers += name in alignments
        if int(row["lo"]) % step == 0:
            continue
        lo, op = int(row["lo"]), int(row["op"])
        finding = Finding(
            code="PT-ALIGN",
            severity="error",
            sentence=f"{naming.op(op)} begins at byte {lo} of {name}, which allows multiples of {step}",
            operations=(op,),
            grade="wrong value",
            mend=f"begin at {lo // step * step} or {(lo // step + 1) * step}",
        )
        findings.append(finding)
    distinct = {(each.operations, each.sentence): each for each in findings}
    if findings or not pointers:
        return Report(tuple(distinct.values()))
    return Report(proved=(f"alignment: {pointers} addresses, each as its buffer allows",))
