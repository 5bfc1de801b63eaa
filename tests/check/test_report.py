"""Reports as values, text and JSON."""

from __future__ import annotations

import pytest

from pantile.check.report import Finding, Report, Severity


def finding(severity: Severity = "error", code: str = "PT-RACE") -> Finding:
    return Finding(
        code=code,
        severity=severity,
        sentence="two stores race",
        operations=(3, 8),
        evidence="3 before 8",
        grade="timing-dependent",
        mend="order them",
    )


def test_only_errors_make_a_report_not_ok() -> None:
    assert Report().ok
    assert Report((finding("warning"), finding("note"))).ok
    assert not Report((finding("note"), finding("error"))).ok


def test_sums_put_errors_first_and_keep_the_order_otherwise() -> None:
    notes, warning = Report((finding("note"),), ("a",)), Report((finding("warning"),), ("b",))
    first, second = finding("error", "PT-LEAK"), finding("error", "PT-SCOPE")
    total = notes + warning + Report((first,)) + Report((second,))
    assert total.findings == (first, second, finding("warning"), finding("note"))
    assert total.proved == ("a", "b")


def test_text() -> None:
    assert str(Report((finding(),), ("all is counted",))).splitlines() == [
        "error: PT-RACE (timing-dependent): two stores race",
        "  shown by: 3 before 8",
        "  mend: order them",
        "proved: all is counted",
        "not ok",
    ]
    bare = Finding(code="PT-LEAK", severity="note", sentence="one event is left")
    assert str(Report((bare,))) == "note: PT-LEAK: one event is left\nok"


def test_json() -> None:
    assert Report((finding(),), ("x",)).to_json() == {
        "ok": False,
        "findings": [
            {
                "code": "PT-RACE",
                "severity": "error",
                "sentence": "two stores race",
                "operations": [3, 8],
                "evidence": "3 before 8",
                "grade": "timing-dependent",
                "mend": "order them",
            }
        ],
        "proved": ["x"],
    }


def test_codes_are_those_of_the_design() -> None:
    with pytest.raises(AssertionError, match="PT-OTHER"):
        finding(code="PT-OTHER")
