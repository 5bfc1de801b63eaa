"""A fault of one case, row or platform is that one's failure, says what is wrong, and hides no other."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from pantile.conform.kinds import kind_of
from pantile.conform.run import conform

GOLDEN = Path(__file__).parents[2] / "golden" / "cann"


def read(name: str) -> Any:
    return json.loads((GOLDEN / f"{name}.json").read_text())


def outcomes(tmp_path: Path, value: Any) -> dict[str, Any]:
    """What conform says of one file, as JSON."""
    (tmp_path / "file.json").write_text(json.dumps(value))
    return conform([tmp_path]).to_json()


def calls(count: int) -> Any:
    value = read("bmm_cases")
    value["cases"] = deepcopy(value["cases"][9 : 9 + count])
    return value


REFUSED = {"status": "failed", "errors": ["the types do not fit"]}


def refused(case: dict[str, Any]) -> dict[str, Any]:
    """The same call with types that the operator does not take, as a file records it."""
    case = {key: case[key] for key in ("id", "input", "platform")} | REFUSED
    return {**case, "input": {**case["input"], "b_dtype": "fp32"}}


def test_a_call_refused_before_any_branch_is_asked_has_no_branches(tmp_path: Path) -> None:
    value = calls(3)
    value["cases"][1] = refused(value["cases"][1])
    found = outcomes(tmp_path, value)
    assert found["summary"] == "1 file, 3 cases: 3 passed, 0 failed, 0 skipped"
    value["cases"] = [value["cases"][1]]
    assert outcomes(tmp_path, value)["summary"] == "1 file, 1 case: 1 passed, 0 failed, 0 skipped"
    value["cases"][0]["blockDim"] = 32
    assert [each["field"] for each in outcomes(tmp_path, value)["unchecked"]] == ["blockDim"]


@pytest.mark.parametrize("key", ["capable", "status", "branch", "aswBasic"])
def test_one_field_tells_a_call(key: str) -> None:
    case = {name: read("bmm_cases")["cases"][9][name] for name in ("input", "platform", key)}
    kind = kind_of({"cases": [7, {}, case]})
    assert kind is not None
    assert kind.name == "cann case"


@pytest.mark.parametrize(
    ("bad", "field", "expected"),
    [
        (7, "", "an object"),
        ({"id": "X"}, "input", "an object"),
        ({"id": "X", "input": []}, "input", "an object"),
    ],
)
def test_a_case_that_is_none_fails_alone(bad: Any, field: str, expected: str, tmp_path: Path) -> None:
    value = calls(3)
    value["cases"][1] = bad
    found = outcomes(tmp_path, value)
    assert found["summary"] == "1 file, 3 cases: 2 passed, 1 failed, 0 skipped"
    (failed,) = found["failed"]
    assert (failed["field"], failed["expected"]) == (field, expected)
    assert failed["why"] == "an input of the case"
    assert failed["case"] == ("file[1]" if bad == 7 else "X")


@pytest.mark.parametrize(
    ("place", "wrong", "expected"),
    [
        ("input.a_shape", ..., "field required"),
        ("input.a_shape", "8x8", "a valid list"),
        ("input.adj_x1", 1, "a valid boolean"),
        ("input.bias_shape", 16, "a valid list"),
        ("input.a_dtype", 2, "a valid string"),
        ("platform.aicNum", ..., "field required"),
        ("platform.aicNum", 0, "greater than or equal to 1"),
        ("platform.aicNum", "32", "a valid integer"),
        ("platform.l1Size", ..., "field required"),
        ("platform.l1Size", 2**64, "less than or equal to 18446744073709551615"),
        ("platform.aicNum", 2**31, "less than or equal to 2147483647"),
        ("platform.l0ASize", 4096, "greater than or equal to 8192"),
        ("platform.l1Size", 1, "greater than or equal to 16384"),
        ("platform.l0CSize", 16384, "greater than or equal to 32768"),
        ("platform.l2Size", 0, "greater than or equal to 1"),
        ("platform.cube_freq", 0, "greater than or equal to 1"),
        ("platform.cube_freq", "0", "greater than or equal to 1"),
        ("platform.ddr_rate", 0, "greater than or equal to 1"),
        ("platform.ddr_rate", [31], "a valid integer"),
    ],
)
def test_an_input_that_cannot_be_one_is_named(place: str, wrong: Any, expected: str, tmp_path: Path) -> None:
    value = calls(2)
    table, key = place.split(".")
    if wrong is ...:
        del value["cases"][0][table][key]
    else:
        value["cases"][0][table][key] = wrong
    found = outcomes(tmp_path, value)
    assert found["summary"] == "1 file, 2 cases: 1 passed, 1 failed, 0 skipped"
    (failed,) = found["failed"]
    assert (failed["field"], failed["expected"]) == (place, expected)
    assert failed["why"].startswith("an input of the case")


def test_a_rate_that_is_no_number_counts_as_left_out(tmp_path: Path) -> None:
    value = calls(1)
    value["cases"][0]["platform"] |= {"cube_freq": "fast", "ddr_rate": -31, "l2_rate": None}
    assert outcomes(tmp_path, value)["summary"] == "1 file, 1 case: 1 passed, 0 failed, 0 skipped"


def table(count: int) -> Any:
    value = read("bmm_random_table")
    value["rows"] = value["rows"][:count]
    return value


@pytest.mark.parametrize("at", [99, -1, None, "0", True])
def test_a_platform_that_is_not_listed_fails_its_row(at: Any, tmp_path: Path) -> None:
    value = table(3)
    value["rows"][0][value["columns"].index("platform_index")] = at
    found = outcomes(tmp_path, value)
    assert (found["cases"], len(found["failed"])) == (3, 1)
    (failed,) = found["failed"]
    assert (failed["field"], failed["got"]) == ("platform_index", at)
    count = len(value["meta"]["platforms"])
    assert failed["expected"] == f"a position among {count} platforms, from 0"


@pytest.mark.parametrize("row", [["short"], [], 7, None, {"id": "RG1"}])
def test_a_row_of_another_form_fails_alone(row: Any, tmp_path: Path) -> None:
    value = table(3)
    value["rows"][1] = row
    found = outcomes(tmp_path, value)
    assert (found["cases"], len(found["failed"])) == (3, 1)
    assert found["failed"][0]["case"] == "file[1]"
    assert found["failed"][0]["expected"] == f"a row of {len(value['columns'])} entries"


def test_a_platform_that_is_none_fails_its_rows(tmp_path: Path) -> None:
    value = table(3)
    at = value["rows"][0][value["columns"].index("platform_index")]
    value["meta"]["platforms"][at] = 5
    found = outcomes(tmp_path, value)
    assert {each["field"] for each in found["failed"]} == {"platform"}


@pytest.mark.parametrize(
    ("name", "path", "field"),
    [
        ("bmm_random_table", ("meta",), "meta.platforms"),
        ("bmm_random_table", ("meta", "platforms"), "meta.platforms"),
        ("asw_block_orders", ("meta",), "meta.columns"),
        ("asw_block_orders", ("meta", "columns"), "meta.columns"),
        ("ut_expected_batchmatmulv3", ("meta",), "meta.platform"),
        ("ut_expected_batchmatmulv3", ("meta", "platform"), "meta.platform"),
    ],
)
def test_what_a_whole_file_lacks_fails_the_file_and_no_other(
    name: str, path: tuple[str, ...], field: str, tmp_path: Path
) -> None:
    value = read(name)
    place = value
    for key in path[:-1]:
        place = place[key]
    del place[path[-1]]
    (tmp_path / "right.json").write_text(json.dumps(calls(1)))
    found = outcomes(tmp_path, value)
    assert (found["cases"], len(found["failed"])) == (2, 1)
    assert (found["failed"][0]["case"], found["failed"][0]["field"]) == ("file", field)


@pytest.mark.parametrize("column", ["colour", 5])
def test_an_unknown_column_of_blocks_is_named(column: Any, tmp_path: Path) -> None:
    value = read("asw_block_orders")
    value["meta"]["columns"][3] = column
    (failed,) = outcomes(tmp_path, value)["failed"]
    assert (failed["field"], failed["got"]) == ("meta.columns", column)


def test_an_order_of_another_length_is_not_counted_out(tmp_path: Path) -> None:
    """A billion batches of 1792 x 1792 are 7 x 7 tiles each."""
    value = read("asw_block_orders")
    value["cases"] = value["cases"][:2]
    value["cases"][0]["input"] |= {
        name: [10**9, *value["cases"][0]["input"][name][1:]] for name in ("a_shape", "b_shape", "c_shape")
    }
    value["cases"][1] = 5
    found = outcomes(tmp_path, value)
    assert [each["got"] for each in found["failed"]] == ["49000000000 entries", 5]


def test_a_unit_test_that_is_none_fails_alone(tmp_path: Path) -> None:
    value = read("ut_expected_batchmatmulv3")
    value["cases"] = [value["cases"][0], 7, {**value["cases"][1], "a": "1x1"}]
    found = outcomes(tmp_path, value)
    assert (found["cases"], len(found["failed"])) == (3, 2)
    assert [each["field"] for each in found["failed"]] == ["", "a_shape"]


@pytest.mark.parametrize(
    ("branch", "path"),
    [
        ("BATCH_MATMUL_INPUT_K_EQUAL_ZERO", ("blockDim",)),
        ("BATCH_MATMUL_TO_MUL", ("blockDim",)),
        ("BATCH_STREAM_K", ("workspaceBytes",)),
        ("BATCH_STREAM_K", ("branchRunInfo", "baseN")),
        ("BATCH_STREAM_K", ("branchRunInfo", "tailKCnt")),
        ("ITER_BATCH_BROADCAST_BASICAPI", ("tilingKey", "batchModel")),
        ("AL1_FULL_LOAD_BASIC", ("blockDim",)),
        ("BL1_FULL_LOAD_BASIC", ("blockDim",)),
        ("BASE", ("tilingKey", "value")),
        ("BASE", ("branchRunInfo", "stepKa")),
    ],
)
def test_what_is_stated_of_another_branch_is_compared(
    branch: str, path: tuple[str, ...], tmp_path: Path
) -> None:
    value = read("bmm_cases")
    value["cases"] = [next(case for case in value["cases"] if case["branch"] == branch)]
    place = value["cases"][0]
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] += 1
    (failed,) = outcomes(tmp_path, value)["failed"]
    assert failed["field"] == ".".join(path)


def test_nothing_is_concluded_where_there_is_no_reduction(tmp_path: Path) -> None:
    """FRACTAL_NZ with k = 0 goes past the branch that clears the output; no rule says how it is launched."""
    value = calls(1)
    call = value["cases"][0]["input"]
    call |= {"a_shape": [2, 64, 0], "b_shape": [2, 0, 64], "c_shape": [2, 64, 64], "format": "FRACTAL_NZ"}
    value["cases"][0] |= {"branch": "ASW_BASIC"}
    found = outcomes(tmp_path, value)
    assert all("defect" not in each["why"] for each in found["failed"])
