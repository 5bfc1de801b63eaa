"""Recorded cases of synchronisation conform, and differences are found."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from pantile.conform.kinds import kind_of
from pantile.conform.run import conform
from pantile.conform.sync_cases import check_case, is_case

GOLDEN = Path(__file__).parents[1] / "golden" / "sync_cases"


@pytest.fixture
def case() -> dict[str, Any]:
    value: dict[str, Any] = json.loads((GOLDEN / "r11_overprimed_even.json").read_text(encoding="utf-8"))
    return copy.deepcopy(value)


def test_all_29_cases_conform() -> None:
    result = conform([GOLDEN])
    assert result.counts == {"passed": 29}
    assert not [outcome.unchecked for file in result.files for outcome in file.cases if outcome.unchecked]


def test_told_by_trace_and_expectation(case: dict[str, Any]) -> None:
    kind = kind_of(case)
    assert kind is not None
    assert kind.name == "synchronisation case"
    assert not is_case({"trace": []})
    assert not is_case([case])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("races", []),
        ("double_set", []),
        ("unmatched_wait", [3]),
        ("unmatched_set", [3]),
        ("deadlock_counter", True),
        ("stuck_ops", [1]),
        ("deadlock_bit", "never"),
        ("flags_left_set", [{"src_pipe": "PIPE_V", "dst_pipe": "PIPE_M", "event_id": 0, "count": 1}]),
        ("source_scope_conflicts", [2]),
        ("id_out_of_range", [0]),
        ("same_pipe", [[1, 2]]),
    ],
)
def test_every_field_is_compared(case: dict[str, Any], field: str, value: Any) -> None:
    case["expect"][field] = value
    (outcome,) = check_case(case, "stem", lambda: None)
    assert outcome.status == "failed"
    assert outcome.difference is not None
    assert outcome.difference.field.startswith(f"expect.{field}")


def test_lists_are_sets(case: dict[str, Any]) -> None:
    for field in ("races", "double_set"):
        case["expect"][field].reverse()
    (outcome,) = check_case(case, "stem", lambda: None)
    assert outcome.status == "passed"


def test_a_field_that_is_not_computed_is_named(case: dict[str, Any]) -> None:
    case["expect"]["seconds"] = 3
    (outcome,) = check_case(case, "stem", lambda: None)
    assert outcome.unchecked == ("expect.seconds",)
    assert outcome.case == "r11_overprimed_even"


def test_an_unknown_instruction_fails_the_case(case: dict[str, Any]) -> None:
    case["trace"].append({"op": "vadd", "args": {}})
    del case["id"]
    (outcome,) = check_case(case, "stem", lambda: None)
    assert outcome.case == "stem"
    assert outcome.difference is not None
    assert "stem:40" in outcome.difference.got


def test_a_trace_that_is_none_is_a_failed_case(case: dict[str, Any]) -> None:
    case["trace"] = [17]
    (outcome,) = check_case(case, "stem", lambda: None)
    assert outcome.status == "failed"
