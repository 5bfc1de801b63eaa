"""Recorded cases of the ASW_Basic theory conform, and every field is compared."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from pantile.conform.asw.detect import check_file
from pantile.conform.kinds import kind_of
from pantile.conform.run import conform

GOLDEN = Path(__file__).parents[1] / "golden" / "asw_theory"


def recorded(name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    return copy.deepcopy(value)


@pytest.mark.parametrize(("name", "cases"), [("pipeline", 12), ("al1", 3), ("mapping", 2), ("xmin", 2)])
def test_every_case_of_a_layout_conforms(name: str, cases: int) -> None:
    result = conform([GOLDEN / f"{name}.json"])
    assert result.counts == {"passed": cases}, str(result)
    assert not [outcome.unchecked for file in result.files for outcome in file.cases if outcome.unchecked]


def test_worked_examples_are_left_to_the_tests() -> None:
    result = conform([GOLDEN / "l2.json"])
    assert not result.counts
    assert "worked examples" in str(result)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        return [leaf for key, below in value.items() for leaf in leaves(below, (*path, key))]
    if isinstance(value, list) and value and len(path) < 6:
        return leaves(value[-1], (*path, len(value) - 1))
    return [path]


def changed(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value * (1 + 1e-5) + 1e-30
    return f"not {value}"


@pytest.mark.parametrize("name", ["pipeline", "al1", "mapping", "xmin"])
def test_every_field_is_compared(name: str) -> None:
    value = recorded(name)
    value["cases"] = [value["cases"][at] for at in {0, 1, len(value["cases"]) - 1}]
    for at, case in enumerate(value["cases"]):
        for path in leaves(case["expected"]):
            spoilt = copy.deepcopy(case)
            place = spoilt["expected"]
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = changed(place[path[-1]])
            (outcome,) = check_file({**value, "cases": [spoilt]}, name, lambda: None)
            assert outcome.status == "failed", (at, path)


def test_a_float_may_be_off_by_a_millionth_and_no_more() -> None:
    value = recorded("xmin")
    for off, status in ((1 + 5e-7, "passed"), (1 + 3e-6, "failed")):
        case = copy.deepcopy(value["cases"][0])
        case["expected"]["published"] *= off
        (outcome,) = check_file({"cases": [case]}, "xmin", lambda: None)
        assert outcome.status == status


def test_what_is_not_computed_is_named() -> None:
    value = recorded("al1")
    case = value["cases"][0]
    case["expected"]["colour"] = "red"
    (outcome,) = check_file({"cases": [case]}, "al1", lambda: None)
    assert outcome.unchecked == ("expected.colour",)


def test_the_third_reading_is_known() -> None:
    value = recorded("pipeline")
    case = value["cases"][4]
    case["expected"] = {"published_5_2": case["expected"]["published"]}
    (outcome,) = check_file({"cases": [case]}, "pipeline", lambda: None)
    assert outcome.status == "passed"  # two groups each way: both formulas give 2
    case["inputs"]["K"] = 1024
    (outcome,) = check_file({"cases": [case]}, "pipeline", lambda: None)
    assert outcome.status == "failed"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"M": 0}, "m of at least 1"),
        ({"chip_overrides": {"C": 0}}, "C must be a positive whole number"),
        ({"chip_overrides": {"CORES": 4}}, "unknown constant 'CORES'"),
        ({"dtype": -2}, "element_bytes of at least 1"),
    ],
)
def test_inputs_that_no_product_has_fail_their_case(change: dict[str, Any], said: str) -> None:
    value = recorded("pipeline")
    case = value["cases"][0]
    case["inputs"] |= change
    (outcome,) = check_file({"cases": [case]}, "pipeline", lambda: None)
    assert outcome.difference is not None
    assert said in outcome.difference.got


def test_a_case_of_no_known_shape_is_skipped_or_failed() -> None:
    assert check_file({"cases": [{"expected": {}}]}, "x", lambda: None)[0].status == "skipped"
    assert check_file({"cases": [7]}, "x", lambda: None)[0].status == "failed"
    (lacking,) = check_file({"cases": [{"inputs": {}, "expected": {"theory": True}}]}, "x", lambda: None)
    assert lacking.skipped == "its inputs lack 'B'"


def test_told_by_schema() -> None:
    kinds = [kind_of(recorded(name)) for name in ("xmin", "l2")]
    assert [kind and kind.name for kind in kinds] == ["asw_theory", "asw_theory worked examples"]


def test_overrides_reach_every_stage() -> None:
    value = recorded("pipeline")
    case = value["cases"][0]
    case["inputs"]["chip_overrides"] = {"C": 20, "PEAK": 432e12}
    (outcome,) = check_file({"cases": [case]}, "pipeline", lambda: None)
    assert outcome.difference is not None
    assert outcome.difference.field == "expected.published.stage0.P_split"
