"""Counting and showing what conformance found."""

from __future__ import annotations

import json

import jsonschema

from pantile.conform.compare import Comparison, Difference
from pantile.conform.result import CaseOutcome, ConformResult, FileOutcome, judged, shown

PASSED = CaseOutcome(case="fine")
FAILED = CaseOutcome(case="wrong", difference=Difference("a.b", 1, [2, "x"], "a remark"), unchecked=("c",))
SKIPPED = CaseOutcome(case="beyond", skipped="no model")
NO_CASE = CaseOutcome(case="", skipped="expected JSON")


def result(*files: tuple[str, tuple[CaseOutcome, ...]]) -> ConformResult:
    return ConformResult(("here", "there"), tuple(FileOutcome(*file) for file in files))


def test_ok_needs_one_case_that_passed_and_none_that_failed() -> None:
    assert result(("f", (PASSED, SKIPPED))).ok
    assert not result(("f", (PASSED, FAILED))).ok
    assert not result(("f", (SKIPPED,))).ok
    assert not result(("f", (NO_CASE,))).ok
    assert not result().ok


def test_a_case_without_a_compared_figure_does_not_pass() -> None:
    outcome = judged("c", Comparison(compared=0, unchecked=("x",)))
    assert outcome.status == "skipped"
    assert outcome.skipped == "it holds no figure that this version computes"
    assert judged("c", Comparison(compared=1)).status == "passed"
    assert judged("c", Comparison(1, Difference("f", 1, 2))).status == "failed"


def test_json_lists_what_did_not_pass() -> None:
    found = result(("f.json", (PASSED, FAILED, SKIPPED)), ("g.md", (NO_CASE,)))
    data = json.loads(json.dumps(found.to_json()))
    entry = {"type": "object", "required": ["file", "case", "field", "expected", "got", "why"]}
    entries = {"type": "array", "items": {**entry, "maxProperties": 6}}
    jsonschema.validate(
        data,
        {
            "required": ["version", "workload", "machine", "planner", "semantics", "notes", "summary"],
            "properties": {
                "schema": {"const": "pantile/conform/1"},
                "workload": {"const": "here there"},
                "ok": {"const": False},
                "files": {"const": 2},
                "cases": {"const": 3},
                **dict.fromkeys(("failed", "unchecked", "skipped"), entries),
            },
        },
    )
    assert data["failed"] == [
        {"file": "f.json", "case": "wrong", "field": "a.b", "expected": 1, "got": [2, "x"], "why": "a remark"}
    ]
    assert [(each["case"], each["field"]) for each in data["unchecked"]] == [("wrong", "c")]
    assert [(each["file"], each["case"], each["why"]) for each in data["skipped"]] == [
        ("f.json", "beyond", "no model"),
        ("g.md", "", "expected JSON"),
    ]


def test_text_has_a_line_per_failure_and_a_summary() -> None:
    found = result(("f.json", (PASSED, FAILED, SKIPPED)), ("g.md", (NO_CASE,)))
    assert str(found).splitlines() == [
        'FAILED f.json wrong: a.b: expected 1, got [2, "x"] (a remark)',
        "skipped f.json beyond: no model",
        "skipped g.md: expected JSON",
        "unchecked f.json wrong: c; this version does not compute it",
        "2 files, 3 cases: 1 passed, 1 failed, 1 skipped, 1 file skipped as a whole, 1 field unchecked",
    ]


def test_cases_skipped_for_one_reason_share_a_line() -> None:
    cases = tuple(CaseOutcome(case=f"c{at}", skipped="no model") for at in range(5))
    text = str(result(("f.json", cases), ("c9.json", (CaseOutcome(case="c9", skipped="no model"),))))
    assert text.splitlines() == [
        "skipped f.json c0 and 4 more: no model",
        "skipped c9.json: no model",  # named after its only case
        "2 files, 6 cases: 0 passed, 0 failed, 6 skipped; nothing was checked",
    ]


def test_nothing_found_says_so() -> None:
    assert str(result()) == "0 files, 0 cases: 0 passed, 0 failed, 0 skipped; nothing was checked"


def test_long_values_are_cut_and_stay_on_one_line() -> None:
    assert shown("two\nlines") == "two lines"
    assert shown(list(range(100))) == json.dumps(list(range(100)))[:100] + "…"
    assert shown(None) == "null"


def test_a_notebook_shows_the_same_text() -> None:
    assert result()._repr_html_() == f"<pre>{result()}</pre>"
