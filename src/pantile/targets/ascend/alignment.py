"""Whether start addresses are aligned as their buffers ask.

Source: ascend-core.md section 1.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

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
    spaces = [str(name) for name in program.parameters["spaces"]]
    steps = np.array([alignments.get(name, 1) for name in spaces], np.int64)
    access = program.tables()["access"]
    step = steps[access["space"]]
    wrong, naming = access[access["lo"] % step != 0], Naming(program)
    findings = {
        (int(row["op"]), int(row["space"]), int(row["lo"])): _finding(
            naming.op(int(row["op"])), spaces[int(row["space"])], row, int(steps[row["space"]])
        )
        for row in wrong
    }
    pointers = int(
        np.isin(access["space"], [at for at, name in enumerate(spaces) if name in alignments]).sum()
    )
    if findings or not pointers:
        return Report(tuple(findings.values()))
    return Report(proved=(f"alignment: {pointers} addresses, each as its buffer allows",))


def _finding(operation: str, buffer: str, row: np.void, step: int) -> Finding:
    lo = int(row["lo"])
    return Finding(
        code="PT-ALIGN",
        severity="error",
        sentence=f"{operation} begins at byte {lo} of {buffer}, which allows multiples of {step}",
        operations=(int(row["op"]),),
        grade="wrong value",
        mend=f"begin at {lo // step * step} or {(lo // step + 1) * step}",
    )
