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
    assert not is_case({"input": case["input"], "trace": []})


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


@pytest.mark.parametrize("revision", ["head", "seed"])
@pytest.mark.parametrize("stream", [None, [], 7, {}, {"trace": None}])
def test_a_revision_without_a_trace_fails_and_hides_nothing(
    case: dict[str, Any], revision: str, stream: Any, tmp_path: Path
) -> None:
    (tmp_path / "right.json").write_text(json.dumps(case), encoding="utf-8")
    case[revision] = stream
    (tmp_path / "wrong.json").write_text(json.dumps(case), encoding="utf-8")
    result = conform([tmp_path])
    assert result.counts == {"passed": 1, "failed": 1}
    assert f"FAILED {(tmp_path / 'wrong.json').as_posix()} uf3_ntail: {revision}" in str(result)
    json.dumps(result.to_json())


def test_arguments_are_compared_both_ways(case: dict[str, Any]) -> None:
    args = case["head"]["trace"][4]["args"]
    args["more"] = 1
    assert failed_field(case) == "head.trace[4].args.more"
    del args["more"]
    del args["size_channel"]
    assert failed_field(case) == "head.trace[4].args.size_channel"


def test_a_trace_of_another_length_is_told_without_noise(case: dict[str, Any]) -> None:
    del case["head"]["trace"][2]
    (outcome,) = check_case(case, "stem", lambda: None)
    assert outcome.difference is not None
    assert outcome.difference.field == "head.trace"
    assert outcome.unchecked == ()


INPUTS: list[tuple[str, Any]] = [
    ("dtype", "fp64"),
    ("dtype", ["half"]),
    ("acc_dtype", "int32"),
    ("m", -3),
    ("m", 64.5),
    ("m", "64"),
    ("m", True),
    ("TA", "no"),
    ("TA", 0),
    ("init", None),
    ("unit_flag_mode", 4),
    ("unit_flag_mode", True),
    ("unit_flag_was_disabled_in", 2),
    ("events.kloop_db_cond", "0"),
    ("events.kloop_db_cond", -2),
    ("events", []),
    ("ma.sizes", [1, 2, 16]),
    ("ma.sizes", [1, 2, 16, 16, 1]),
    ("ma.base", 1 << 70),
    ("mc.strides", [0, 0, 0, 0]),
    ("bias", {"dtype": "float", "offset": 0, "sizes": [1, 1, 1, 64]}),
]


@pytest.mark.parametrize(("field", "value"), INPUTS)
def test_what_cannot_be_an_input_fails_the_case(case: dict[str, Any], field: str, value: Any) -> None:
    *path, last = field.split(".")
    inner = case["input"]
    for name in path:
        inner = inner[name]
    inner[last] = value
    (outcome,) = check_case(case, "stem", lambda: None)
    assert outcome.difference is not None
    assert outcome.difference.field.startswith(f"input.{field}")
    assert outcome.difference.why.startswith("an input of the case")


def all_inputs(value: Any, at: str = "input") -> list[str]:
    """Every name in an input, with what is below it."""
    if not isinstance(value, dict):
        return []
    return [name for key in value for name in (f"{at}.{key}", *all_inputs(value[key], f"{at}.{key}"))]


def test_whatever_is_missing_fails_the_case(case: dict[str, Any]) -> None:
    for field in all_inputs(case["input"]):
        left = copy.deepcopy(case)
        inner, (*path, last) = left, field.split(".")
        for name in path:
            inner = inner[name]
        del inner[last]
        assert failed_field(left) == field


def test_no_input_at_all_fails_the_case(case: dict[str, Any]) -> None:
    case["input"] = {}
    assert failed_field(case) == "input.dtype"
    case["input"] = None
    assert failed_field(case) == "input"


def test_an_input_that_nothing_reads_is_unchecked(case: dict[str, Any]) -> None:
    case["input"]["colour"] = "red"
    (outcome,) = check_case(case, "stem", lambda: None)
    assert outcome.status == "passed"
    assert outcome.unchecked == ("input.colour",)


def test_what_the_library_does_not_have_is_refused(case: dict[str, Any]) -> None:
    case["input"]["HF32"] = True
    (outcome,) = check_case(case, "stem", lambda: None)
    assert outcome.difference is not None
    assert "hf32 rounds fp32 operands" in outcome.difference.got


def test_an_endless_call_is_skipped(case: dict[str, Any]) -> None:
    case["input"]["k"] = 1 << 30
    (outcome,) = check_case(case, "stem", lambda: None)
    assert "at most 200000 are listed" in outcome.skipped
