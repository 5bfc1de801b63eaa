"""Reports: what a check found, and what it proved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Severity = Literal["error", "warning", "note"]
Grade = Literal[
    "wrong value",
    "hang",
    "leak",
    "unordered, equal bytes on this data",
    "timing-dependent",
    "undecided",
    "",
]

CODES = (
    "PT-RACE",
    "PT-DEADLOCK",
    "PT-DOUBLE-SET",
    "PT-UNPAIRED",
    "PT-LEAK",
    "PT-EVENT-ID",
    "PT-SCOPE",
    "PT-BARRIER",
    "PT-STATE",
    "PT-CAPACITY",
    "PT-ALIGN",
    "PT-COVERAGE",
    "PT-REDUNDANT",
    "PT-UNDECIDED",
)
"""Every code that a finding may carry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is, or could go, wrong.

    Attributes:
        code: One of :data:`CODES`.
        severity: ``error`` makes the report not ok.
        sentence: What is wrong, with its figures.
        operations: The operations involved, as numbers in the program's listing.
        evidence: What shows it: an order of events, a range of elements, two numbers.
        grade: How bad it is.
        mend: How to repair it; empty where nothing sensible can be said.
        order: Operations in a legal order that shows it, up to the one that goes wrong; ``None`` where there
            is none. Not part of :meth:`to_json`: there it is told in words.
    """

    code: str
    severity: Severity
    sentence: str
    operations: tuple[int, ...] = ()
    evidence: str = ""
    grade: Grade = ""
    mend: str = ""
    order: npt.NDArray[np.int64] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        assert self.code in CODES, self.code

    def to_json(self) -> dict[str, Any]:
        """Return the finding as the object that ``check --json`` prints."""
        return {
            "code": self.code,
            "severity": self.severity,
            "sentence": self.sentence,
            "operations": list(self.operations),
            "evidence": self.evidence,
            "grade": self.grade,
            "mend": self.mend,
        }

    def __str__(self) -> str:
        grade = f" ({self.grade})" if self.grade else ""
        lines = [f"{self.severity}: {self.code}{grade}: {self.sentence}"]
        lines += [
            f"  {name}: {text}" for name, text in (("shown by", self.evidence), ("mend", self.mend)) if text
        ]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of all checks of one program.

    Attributes:
        findings: Errors first, then warnings, then notes.
        proved: Sentences that hold under every timing.
    """

    findings: tuple[Finding, ...] = ()
    proved: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there is no error; warnings and notes do not count."""
        return all(finding.severity != "error" for finding in self.findings)

    def __add__(self, other: Report) -> Report:
        order = ("error", "warning", "note")
        findings = sorted(self.findings + other.findings, key=lambda each: order.index(each.severity))
        return Report(tuple(findings), self.proved + other.proved)

    def to_json(self) -> dict[str, Any]:
        """Return the report's own part of the object that ``check --json`` prints."""
        return {
            "ok": self.ok,
            "findings": [finding.to_json() for finding in self.findings],
            "proved": list(self.proved),
        }

    def __str__(self) -> str:
        lines = [*map(str, self.findings), *(f"proved: {sentence}" for sentence in self.proved)]
        return "\n".join([*lines, "ok" if self.ok else "not ok"])
