"""Recorded calls of ``mma_tile`` conform in both revisions, and differences are found."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from pantile.conform.kinds import kind_of
from pantile.conform.mma_tile import check_case, is_case
from pantile.conform.run import conform

GOLDEN = Path(__file__).parents[1] / "golden" / "mma_tile"


@pytest.fixture
def case() -> dict[str, Any]:
    value: dict[str, Any] = json.loads((GOLDEN / "uf3_ntail.json").read_text(encoding="utf-8"))
    return copy.deepcopy(value)


def failed_field(case: dict[str, Any]) -> str:
    (outcome,) = check_case(case, "stem", lambda: None)
    assert outcome.difference is not None
    return outcome.difference.field


def test_all_53_calls_conform_in_both_revisions() -> None:
    result = conform([GOLDEN])
    assert result.counts == {"passed": 53}
    assert not [outcome.unchecked for file in result.files for outcome in file.cases if outcome.unchecked]


def test_told_by_a_call_and_a_revision(case: dict[str, Any]) -> None:
    kind = kind_of(case)
    assert kind is not None
    assert kind.name == "mma_tile call"
    assert not is_case({"input": case["input"]})
    assert not is_case({"input": {}, "seed": case["seed"]})


@pytest.mark.parametrize("revision", ["head", "seed"])
def test_every_instruction_counts(case: dict[str, Any], revision: str) -> None:
    case[revision]["trace"][4]["args"]["step_k"] += 16
    assert failed_field(case) == f"{revision}.trace[4].args.step_k"
    del case[revision]["trace"][-1]
    case[revision]["trace"][4]["args"]["step_k"] -= 16
    assert failed_field(case) == f"{revision}.trace"


def test_trap_and_state_are_compared(case: dict[str, Any]) -> None:
    case["head"]["unit_flag_was_disabled_out"] = 0
    assert failed_field(case) == "head.unit_flag_was_disabled_out"
    case["head"]["unit_flag_was_disabled_out"] = 1
    case["seed"]["trapped"] = True
    assert failed_field(case) == "seed.trapped"


@pytest.mark.parametrize(("field", "value"), [("dtype", "fp64"), ("m", -3), ("unit_flag_mode", 4)])
def test_no_call_of_the_library_is_refused(case: dict[str, Any], field: str, value: Any) -> None:
    case["input"][field] = value
    assert failed_field(case) == "input"
