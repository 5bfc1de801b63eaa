"""What is wrong with a core program beyond what holds for programs of any kind.

The generic checks see threads, counters and bytes. This is what is left: what the unit flag leaves behind,
and what was found while the program was emitted, about event ids and about callers and callees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.check.naming import Naming
from pantile.check.report import Finding, Report
from pantile.targets.ascend.events import finding_of

if TYPE_CHECKING:
    from pantile.program.program import Program


def core_findings(program: Program) -> Report:
    """Return the findings on the program of a trace that only this family has."""
    emitted = [finding_of(each) for each in program.parameters.get("emission", ())]
    return Report((*emitted, *_kept_blocks(program)))


def _kept_blocks(program: Program) -> list[Finding]:
    """Return a finding for every hand-over of blocks that FIX never gives back."""
    naming = Naming(program)
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
