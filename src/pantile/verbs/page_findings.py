"""What a page tells of a report: its findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.verbs.program_rows import plain
from pantile.view.pagedata import Finding

if TYPE_CHECKING:
    from pantile.check.report import Report


def findings_of(report: Report) -> tuple[Finding, ...]:
    """Return the findings of a report as a page has them, in its order."""
    return tuple(
        Finding(
            code=each.code,
            severity=each.severity,
            sentence=plain(each.sentence),
            operations=each.operations,
            evidence=plain(each.evidence),
            grade=each.grade,
            mend=plain(each.mend),
        )
        for each in report.findings
    )
