"""Inputs on which the original fails are refused, each for what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pantile.conform.case_inputs import read_inputs
from pantile.conform.faults import defect
from pantile.conform.onnxim.inputs import FailureInput
from pantile.conform.onnxim.session import plan_run
from pantile.conform.result import CaseOutcome
from pantile.errors import PantileError

Golden = Callable[[str], Any]
Run = Callable[[Any], CaseOutcome]
Runs = Callable[[Any], tuple[CaseOutcome, ...]]

REASONS = {
    "Q1a": r"\(Q1\)",
    "Q1b": r"\(Q1\)",
    "Q1c": r"\(Q1\)",
    "Q2a": r"12800 B of scratchpad are needed, a half holds 8192 B",
    "Q2b": r"\(Q2b\)",
    "Q2c": r"accum_spad_size: .* got 0",
    "Q2d": r"4096 B of scratchpad are needed, a half holds 2048 B",  # 128 chunks of 32 B
    "Q2e": r"262144 B of accumulator are needed, a half holds 8192 B",
    "Q4": r"\(Q4\)",
    "Q4b": r"\(Q4b\)",
    "Q11": r"\(Q11\)",
    "Q13": r"\(Q13\)",
    "Q14": r"quirk Q14",
    "Q19": r"\(Q19\)",
    "Q20": r"\(Q20\)",
    "Q21": r"quirk Q21",
    "Q22": r"quirk Q22",
}


@pytest.mark.parametrize("quirk", REASONS)
def test_the_reason_is_the_quirk(quirk: str, golden: Golden) -> None:
    """The golden test asks for a refusal only; here it must be the right one."""
    (case,) = [case for case in golden("quirks/failures")["cases"] if case["id"] == quirk]
    with pytest.raises(PantileError, match=REASONS[quirk]):
        plan_run(read_inputs(case, FailureInput).as_run())


def test_every_case_has_its_reason(golden: Golden) -> None:
    assert [case["id"] for case in golden("quirks/failures")["cases"]] == list(REASONS)


def changed(golden: Golden, change: dict[str, Any]) -> dict[str, Any]:
    value = golden("quirks/failures")
    value["cases"] = [{**value["cases"][0], **change}]
    return value


def test_an_input_that_runs_is_a_failing_case(golden: Golden, outcome: Run) -> None:
    difference = outcome(changed(golden, {"gemm": [8, 8, 8]})).difference
    assert difference is not None
    assert (difference.field, difference.expected) == ("cases[0]", "refused: SIGFPE at model launch")
    assert difference.got.startswith("a run of ")


def test_cases_that_are_no_product_are_skipped(golden: Golden, outcomes: Runs) -> None:
    value = golden("quirks/failures")
    del value["cases"][3]["gemm"]
    found = outcomes(value)
    assert [each.case for each in found if each.status == "skipped"] == ["Q2a"]
    assert sum(each.status == "passed" for each in found) == 16


def test_a_model_that_is_not_there_is_no_refusal(golden: Golden, outcome: Run) -> None:
    """The machine would be refused whatever the product, which says nothing about the case."""
    value = golden("quirks/failures")
    config = {**value["cases"][0]["config"], "icnt_type": "booksim2"}
    found = outcome(changed(golden, {"config": config}))
    assert found.status == "skipped"
    assert "booksim2" in found.skipped


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"gemm": [8, 8]}, "cases[0].gemm"),
        ({"gemm": [8, 8, 0]}, "cases[0].gemm[2]"),
        ({"gemm": None}, "cases[0].gemm"),
        ({"mapping": 5}, "cases[0].mapping"),
        ({"input_shape": [13, 18]}, "cases[0].layers[0].weight_shape"),
    ],
)
def test_a_case_that_is_none_fails_and_names_the_place(
    change: dict[str, Any], field: str, golden: Golden, outcome: Run
) -> None:
    difference = outcome(changed(golden, change)).difference
    assert difference is not None
    assert difference.field == field


def test_unknown_keys_are_unchecked(golden: Golden, outcomes: Runs) -> None:
    value = changed(golden, {"weather": "fine", "outcome_release_build": "same"})
    value["more"] = 1
    whole, case = outcomes(value)
    assert (whole.case, whole.unchecked) == ("", ("more",))
    assert (case.status, case.unchecked) == ("passed", ("cases[].weather",))


def test_transposes_are_attributes_of_a_gemm(golden: Golden) -> None:
    value = golden("quirks/failures")
    case = {**value["cases"][0], "gemm": [32, 16, 8], "transA": True, "transB": True}
    run = read_inputs(case, FailureInput).as_run()
    assert run.input_shape == [16, 32]
    assert (run.layers[0].node, run.layers[0].weight_shape) == ("Gemm", [8, 16])


def test_a_crash_names_where_it_happened() -> None:
    try:
        _ = 1 // 0
    except ZeroDivisionError as error:
        difference = defect(error, "result", "a run that completes")
    assert difference.got == "ZeroDivisionError: integer division or modulo by zero"
    assert difference.why.startswith("a defect of pantile, test_failures.py:")
