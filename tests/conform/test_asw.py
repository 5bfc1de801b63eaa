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
        ({"chip_overrides": {"C": 0}}, "C must be a positive whole number"),
        ({"chip_overrides": {"CORES": 4}}, "unknown constant 'CORES'"),
        ({"chip_overrides": {"PEAK": 1e999}}, "PEAK must be a positive whole number"),
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
    assert lacking.difference is not None
    assert lacking.difference.field == "inputs.dtype"
    assert lacking.difference.expected == "field required"
    assert lacking.difference.why == "an input of the case; 4 more in it cannot be one either"


def outcome_of_inputs(name: str, change: dict[str, Any]) -> Any:
    """What conform says of a layout's first case with changed inputs; ``...`` leaves one out."""
    case = recorded(name)["cases"][0]
    case["inputs"] = {key: new for key, new in {**case["inputs"], **change}.items() if new is not ...}
    (outcome,) = check_file({"cases": [case]}, name, lambda: None)
    return outcome


@pytest.mark.parametrize("wrong", ["8", 8.0, None, True, -1, 0, [8], ...])
@pytest.mark.parametrize(
    ("layout", "field"),
    [("pipeline", "B"), ("al1", "N"), ("mapping", "C"), ("mapping", "mCnt"), ("xmin", "sM")],
)
def test_an_input_that_cannot_be_one_is_named(layout: str, field: str, wrong: Any) -> None:
    outcome = outcome_of_inputs(layout, {field: wrong})
    assert outcome.difference.field == f"inputs.{field}"
    assert outcome.difference.why.startswith("an input of the case")
    assert outcome.difference.got == (None if wrong is ... else wrong)


@pytest.mark.parametrize("wrong", ["BF16", 2.0, None, True, 3, 0, -2, 8])
def test_an_unknown_type_is_refused(wrong: Any) -> None:
    for layout in ("pipeline", "al1", "xmin"):
        outcome = outcome_of_inputs(layout, {"dtype": wrong})
        assert outcome.difference.field == "inputs.dtype"
        assert outcome.difference.expected in ("a valid integer", "bytes of a known element type: 1, 2, 4")


def test_overrides_are_an_object() -> None:
    outcome = outcome_of_inputs("pipeline", {"chip_overrides": [["C", 20]]})
    assert (outcome.difference.field, outcome.difference.expected) == (
        "inputs.chip_overrides",
        "a valid dictionary",
    )


def test_sizes_beyond_what_is_tried_are_skipped_with_both_numbers() -> None:
    outcome = outcome_of_inputs("pipeline", {"M": 10**12})
    assert "m up to 2147483647, got 1000000000000" in outcome.skipped


def test_a_map_of_another_length_is_not_counted_out() -> None:
    outcome = outcome_of_inputs("mapping", {"B": 10**12})
    assert outcome.difference.field == "expected.order_swizzle"
    assert outcome.difference.got == f"{45 * 10**12} entries"


def expecting(inputs: dict[str, Any], **expected: Any) -> Any:
    """What conform says of one run of all stages with these figures."""
    case = {"inputs": {"outB": 2, "chip_overrides": {}, **inputs}, "expected": expected}
    (outcome,) = check_file({"cases": [case]}, "x", lambda: None)
    return outcome


TALL = {"B": 1, "M": 4096, "N": 16, "K": 1, "dtype": 4}
SMALL_L1 = {"B": 1, "M": 4096, "N": 17, "K": 1024, "dtype": 2, "chip_overrides": {"L1": 65536}}


@pytest.mark.parametrize(
    ("inputs", "semantics", "m", "n", "blocks", "cores"),
    [
        (TALL, "published", 4096, 16, 1, 1),
        (TALL, "corrected", 4096, 16, 1, 1),
        (SMALL_L1, "published", 4096, 16, 2, 2),
        (SMALL_L1, "corrected", 2048, 32, 2, 2),
    ],
)
def test_few_cores_are_dealt_blocks_whatever_l1_holds(
    inputs: dict[str, Any], semantics: str, m: int, n: int, blocks: int, cores: int
) -> None:
    figures = {"sM": m, "sN": n, "n_blk": blocks, "used_cores": cores, "n_wave": 1}
    outcome = expecting(inputs, **{semantics: {"reduce": figures}})
    assert (outcome.status, outcome.unchecked) == ("passed", ())


def test_a_figure_of_a_path_that_is_not_taken_is_wrong() -> None:
    large = {"B": 8, "M": 2048, "N": 2048, "K": 1024, "dtype": 2}
    for inputs, figures, field in (
        (large, {"reduce": {"sM": 256}}, "reduce"),
        (TALL, {"stage2": {"sM": 256}}, "stage2"),
        (TALL, {"reduce": {"feasible": False}}, "reduce.feasible"),
        (large, {"stage6": {"D": 12.0}}, "stage6.D"),
        ({**large, "N": 8}, {"stage2": {"sM": 256}}, "stage2"),
        ({**large, "K": 64}, {"stage2": {"sM": 256}}, "stage2.sM"),
    ):
        outcome = expecting(inputs, published=figures)
        assert outcome.difference is not None, figures
        assert outcome.difference.field == f"expected.published.{field}"


def test_another_branch_may_have_taken_the_product() -> None:
    small = {"B": 2, "M": 512, "N": 512, "K": 1024, "dtype": 2, "streamk_eligible": True}
    for semantics in ("published", "published_5_2", "corrected"):
        entry = {"P_par": 8.0, "mode": "rejected", "P_split": 16, "used_cores": None}
        assert expecting(small, **{semantics: {"stage0": entry, "reduce": None}}).status == "passed"
        taken = expecting({**small, "streamk_eligible": False}, **{semantics: {"stage0": entry}})
        assert taken.difference.field == f"expected.{semantics}.stage0.mode"
        large = {**small, "B": 64}
        assert expecting(large, **{semantics: {"stage0": {"mode": "asw"}}}).status == "passed"


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
