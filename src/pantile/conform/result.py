"""What conformance found, case by case."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal

from pantile.conform.compare import Comparison, Difference

if TYPE_CHECKING:
    from collections.abc import Iterator

Status = Literal["passed", "failed", "skipped"]

NOT_COMPUTED = "this version does not compute it"
_LONGEST_VALUE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOutcome:
    """What came of one case, or of a file as a whole.

    Attributes:
        case: Its name; empty where the file as a whole is meant, which counts as no case.
        difference: The first figure that differs.
        unchecked: Fields that were not compared.
        skipped: Why nothing was compared.
    """

    case: str
    difference: Difference | None = None
    unchecked: tuple[str, ...] = ()
    skipped: str = ""

    @property
    def status(self) -> Status:
        """Whether the case holds; one of which nothing was compared does not pass, it is skipped."""
        if self.difference is not None:
            return "failed"
        return "skipped" if self.skipped else "passed"


def judged(case: str, comparison: Comparison) -> CaseOutcome:
    """Return the outcome of a case that was compared."""
    empty = comparison.difference is None and not comparison.compared
    return CaseOutcome(
        case=case,
        difference=comparison.difference,
        unchecked=comparison.unchecked,
        skipped="it holds no figure that this version computes" if empty else "",
    )


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """What came of one file.

    Attributes:
        file: Its path, as it was named or found.
        cases: One outcome per case, in file order.
    """

    file: str
    cases: tuple[CaseOutcome, ...]


@dataclass(frozen=True, slots=True)
class ConformResult:
    """What came of all files.

    Attributes:
        paths: What was asked for.
        files: One outcome per file, in the order in which they were run.
    """

    paths: tuple[str, ...]
    files: tuple[FileOutcome, ...]

    @property
    def ok(self) -> bool:
        """Whether no case differs and at least one was checked."""
        statuses = self.counts
        return not statuses["failed"] and statuses["passed"] > 0

    @property
    def counts(self) -> Counter[str]:
        """Number of cases by status."""
        return Counter(outcome.status for _, outcome in self._outcomes() if outcome.case)

    @property
    def summary(self) -> str:
        """One sentence with all counts."""
        counts = self.counts
        cases = f"{_counted(len(self.files), 'file')}, {_counted(sum(counts.values()), 'case')}"
        parts = [f"{counts[status]} {status}" for status in ("passed", "failed", "skipped")]
        whole = sum(not outcome.case and bool(outcome.skipped) for _, outcome in self._outcomes())
        if whole:
            parts.append(f"{_counted(whole, 'file')} skipped as a whole")
        fields = sum(len(outcome.unchecked) for _, outcome in self._outcomes())
        if fields:
            parts.append(f"{_counted(fields, 'field')} unchecked")
        nothing = "" if counts["passed"] or counts["failed"] else "; nothing was checked"
        return f"{cases}: {', '.join(parts)}{nothing}"

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``conform --json`` prints."""
        from pantile.verbs.result import head

        # Machine, planner and semantics are each case's own.
        common = head(
            "conform", workload=" ".join(self.paths), machine="", planner="", semantics="", notes=()
        )
        failed, unchecked, skipped = [], [], []
        for file, outcome in self._outcomes():
            difference = outcome.difference
            if difference is not None:
                values = (difference.field, difference.expected, difference.got, difference.why)
                failed.append(_entry(file, outcome.case, *values))
            elif outcome.skipped:
                skipped.append(_entry(file, outcome.case, None, None, None, outcome.skipped))
            unchecked += [
                _entry(file, outcome.case, field, None, None, NOT_COMPUTED) for field in outcome.unchecked
            ]
        return {
            **common,
            "ok": self.ok,
            "files": len(self.files),
            "cases": sum(self.counts.values()),
            "failed": failed,
            "unchecked": unchecked,
            "skipped": skipped,
            "summary": self.summary,
        }

    def __str__(self) -> str:
        """Print a line per failing case, then what was not checked, then the summary."""
        failed = [
            _failure_line(file, outcome.case, outcome.difference)
            for file, outcome in self._outcomes()
            if outcome.difference is not None
        ]
        return "\n".join([*failed, *self._skipped_lines(), *self._unchecked_lines(), self.summary])

    def _repr_html_(self) -> str:
        from pantile.verbs.result import as_html

        return as_html(str(self))

    def _outcomes(self) -> Iterator[tuple[str, CaseOutcome]]:
        return ((each.file, outcome) for each in self.files for outcome in each.cases)

    def _skipped_lines(self) -> list[str]:
        """One line per file and reason."""
        found: dict[tuple[str, str], list[str]] = {}
        for file, outcome in self._outcomes():
            if outcome.skipped and outcome.difference is None:
                found.setdefault((file, outcome.skipped), []).append(outcome.case)
        return [f"skipped {_named(file, cases)}: {why}" for (file, why), cases in found.items()]

    def _unchecked_lines(self) -> list[str]:
        """One line per file and set of fields."""
        found: dict[tuple[str, str], list[str]] = {}
        for file, outcome in self._outcomes():
            if outcome.unchecked:
                found.setdefault((file, ", ".join(outcome.unchecked)), []).append(outcome.case)
        return [
            f"unchecked {_named(file, cases)}: {fields}; {NOT_COMPUTED}"
            for (file, fields), cases in found.items()
        ]


def _entry(file: str, case: str, field: str | None, expected: Any, got: Any, why: str) -> dict[str, Any]:
    return {"file": file, "case": case, "field": field, "expected": expected, "got": got, "why": why}


def _failure_line(file: str, case: str, difference: Difference) -> str:
    why = f" ({difference.why})" if difference.why else ""
    expected, got = shown(difference.expected), shown(difference.got)
    return f"FAILED {_named(file, [case])}: {difference.field}: expected {expected}, got {got}{why}"


def _named(file: str, cases: list[str]) -> str:
    """Return the file and the cases meant; a single case that the file is named after is left out."""
    if len(cases) > 3:
        return f"{file} {cases[0]} and {len(cases) - 1} more"
    return file if cases in ([""], [PurePath(file).stem]) else f"{file} {', '.join(cases)}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def shown(value: Any) -> str:
    """Return a value of JSON for people, on one line; a text stands without quotes.

    >>> shown([1, "a"])
    '[1, "a"]'
    """
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_VALUE or isinstance(value, str) else f"{text[:_LONGEST_VALUE]}…"
