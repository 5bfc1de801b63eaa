"""Every figure recorded from CANN comes out the same, doubles bit for bit; a wrong one is found."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from pantile.conform.cann.inputs import normalised_case
from pantile.conform.run import conform
from pantile.planners.cann.gates import BRANCHES
from pantile.planners.cann.other_branches import launch

GOLDEN = Path(__file__).parents[2] / "golden" / "cann"


@pytest.mark.parametrize(
    ("file", "summary"),
    [
        ("bmm_cases", "1 file, 73 cases: 73 passed, 0 failed, 0 skipped, 114 fields unchecked"),
        ("asw_block_orders", "1 file, 16 cases: 16 passed, 0 failed, 0 skipped, 32 fields unchecked"),
        ("bmm_random_table", "1 file, 500 cases: 500 passed, 0 failed, 0 skipped, 180 fields unchecked"),
        (
            "ut_expected_batchmatmulv3",
            "1 file, 18 cases: 18 passed, 0 failed, 0 skipped, 34 fields unchecked",
        ),
    ],
)
def test_recorded_cases_come_out_the_same(file: str, summary: str) -> None:
    found = conform([GOLDEN / f"{file}.json"])
    assert found.ok, str(found)
    assert found.summary == summary


def test_the_sibling_operator_is_skipped_with_its_reason() -> None:
    found = conform([GOLDEN / "ut_expected_matmulv3.json"])
    assert not found.ok
    assert found.summary == "1 file, 36 cases: 0 passed, 0 failed, 36 skipped; nothing was checked"
    assert "MatMulV3 is another operator" in str(found)


def read(name: str) -> Any:
    return json.loads((GOLDEN / f"{name}.json").read_text())


def failure(tmp_path: Path, value: Any) -> str:
    """The field that conform finds wrong in a file of one case."""
    (tmp_path / "case.json").write_text(json.dumps(value))
    (failed,) = conform([tmp_path]).to_json()["failed"]
    return str(failed["field"])


@pytest.mark.parametrize(
    "path",
    [
        ("normalized", "m"),
        ("branch",),
        ("capable", "BASE"),
        ("tilingKey", "value"),
        ("blockDim",),
        ("branchRunInfo", "stepKa"),
        ("branchRunInfo", "cubeBoundEdge"),
        ("tilingDataInt32", 17),
        ("workspaceBytes",),
        ("aswBasic", "search", "fixpBoundEdge"),
        ("aswBasic", "search", "updates", 1, "rate"),
        ("aswBasic", "tilingData", "l2CacheDisable"),
        ("aswBasic", "forced"),
    ],
)
def test_a_wrong_figure_of_a_call_is_named(path: tuple[str | int, ...], tmp_path: Path) -> None:
    value = read("bmm_cases")
    value["cases"] = [deepcopy(value["cases"][0])]
    at = value["cases"][0]
    for key in path[:-1]:
        at = at[key]
    found = at[path[-1]]
    at[path[-1]] = (
        (not found) if isinstance(found, bool) else found * (1 + 2**-52) if isinstance(found, float) else 7
    )
    named = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).lstrip(".")
    assert failure(tmp_path, value) == named


def test_a_wrong_block_and_a_wrong_row_are_named(tmp_path: Path) -> None:
    orders = read("asw_block_orders")
    orders["cases"] = orders["cases"][3:4]
    orders["cases"][0]["blocks"][7][3] += 1
    assert failure(tmp_path, orders) == "blocks[7][3]"
    table = read("bmm_random_table")
    table["rows"] = table["rows"][:1]
    table["rows"][0][table["columns"].index("baseN")] += 16
    assert failure(tmp_path, table) == "baseN"


def test_a_figure_of_asw_where_another_branch_has_the_call_is_wrong(tmp_path: Path) -> None:
    table = read("bmm_random_table")
    branch, base = table["columns"].index("branch"), table["columns"].index("baseM")
    table["rows"] = [next(row for row in table["rows"] if row[branch] != "ASW_BASIC")]
    table["rows"][0][base] = 256
    (tmp_path / "case.json").write_text(json.dumps(table))
    assert "baseM" in str(conform([tmp_path]))


def one_call(**changes: Any) -> Any:
    value = read("bmm_cases")
    value["cases"] = [value["cases"][9]]
    value["cases"][0]["input"] |= changes
    return value


def test_a_call_that_the_operator_refuses(tmp_path: Path) -> None:
    value = one_call(a_dtype="fp32")
    assert failure(tmp_path, value) == "status"
    value["cases"][0] |= {"status": "failed", "errors": ["any words"]}
    (tmp_path / "case.json").write_text(json.dumps(value))
    assert conform([tmp_path]).ok
    value["cases"][0]["input"]["a_dtype"] = "bf16"
    assert failure(tmp_path, value) == "status"


def test_views_need_their_strides(tmp_path: Path) -> None:
    (tmp_path / "case.json").write_text(json.dumps(one_call(contiguous=False)))
    found = conform([tmp_path])
    assert "it says that the inputs are views, but not with which strides" in str(found)


def test_other_branches_are_launched_as_recorded() -> None:
    """Beyond what conform checks: key, cores and state where recorded runs let them be concluded."""
    checked = 0
    for case in read("bmm_cases")["cases"]:
        if case["branch"] == "ASW_BASIC":
            continue
        _, f = normalised_case(case["input"], case["platform"])
        found = launch(f, case["branch"])
        assert (found.cores, found.workspace_bytes) == (case["blockDim"], case["workspaceBytes"])
        if found.key is not None:
            assert found.key.to_json() == case["tilingKey"]
        if found.run_info is not None:
            assert found.run_info.to_json() == case["branchRunInfo"]
            checked += 1
    assert checked == 9
    table = read("bmm_random_table")
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    seen = set()
    for row in rows:
        if row["branch"] != "ASW_BASIC":
            _, f = normalised_case(row, table["meta"]["platforms"][row["platform_index"]])
            found = launch(f, row["branch"])
            assert found.cores == row["blockDim"]
            if found.key is not None:
                assert found.key.value == row["tilingKey"]
                seen.add(row["branch"])
    assert seen < set(BRANCHES)
    assert len(seen) == 6
