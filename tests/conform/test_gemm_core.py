"""Recorded macro GEMMs and tables of block orders conform, and differences are found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pantile.conform.gemm_core import check_case, check_swizzle_table, is_case, is_swizzle_table
from pantile.conform.kinds import kind_of
from pantile.conform.run import conform

GOLDEN = Path(__file__).parents[1] / "golden" / "gemm_core"


@pytest.fixture
def case() -> dict[str, Any]:
    value: dict[str, Any] = json.loads((GOLDEN / "int8_ta.json").read_text(encoding="utf-8"))
    return value


@pytest.fixture
def table() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((GOLDEN / "swizzle.json").read_text(encoding="utf-8"))
    return rows


def test_all_11_streams_and_14_tables_conform() -> None:
    result = conform([GOLDEN])
    assert result.counts == {"passed": 25}
    assert not [outcome.unchecked for file in result.files for outcome in file.cases if outcome.unchecked]


def test_told_by_what_they_hold(case: dict[str, Any], table: list[dict[str, Any]]) -> None:
    assert is_case(case)
    assert not is_swizzle_table(case)
    assert is_swizzle_table(table)
    assert not is_swizzle_table([])
    kinds = [kind_of(each) for each in (case, table)]
    assert [kind.name for kind in kinds if kind] == ["gemm core", "gemm swizzle table"]


def test_every_argument_counts(case: dict[str, Any]) -> None:
    case["trace"][19]["args"]["event_id"] = 5
    (outcome,) = check_case(case, "stem", lambda: None)
    assert outcome.difference is not None
    assert outcome.difference.field == "trace[19].args.event_id"


def test_another_tile_is_outside_the_model(case: dict[str, Any]) -> None:
    case["input"]["k_tile"] = 128
    (outcome,) = check_case(case, "stem", lambda: None)
    assert outcome.status == "skipped"
    assert "256 x 256 x 128" in outcome.skipped


@pytest.mark.parametrize(("field", "value"), [("count", 7), ("direct", 1), ("m_loops", 9), ("n_loops", 9)])
def test_every_figure_of_a_row_counts(table: list[dict[str, Any]], field: str, value: int) -> None:
    table[1][field] = value
    outcomes = check_swizzle_table(table, "stem", lambda: None)
    assert [outcome.status for outcome in outcomes].count("failed") == 1
    assert outcomes[1].difference is not None
    assert outcomes[1].difference.field == field


def test_every_block_counts(table: list[dict[str, Any]]) -> None:
    table[2]["blocks"][1] = [9, 9, 9, 9]
    outcomes = check_swizzle_table(table, "stem", lambda: None)
    assert outcomes[2].status == "failed"


def test_arguments_are_compared_both_ways(case: dict[str, Any]) -> None:
    flag = case["trace"][19]["args"]
    flag["more"] = 1
    assert failed_field(case) == "trace[19].args.more"
    del flag["more"], flag["event_id"]
    assert failed_field(case) == "trace[19].args.event_id"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("dtype", "float"),
        ("m", 0),
        ("k", 12.5),
        ("n", "256"),
        ("TA", "no"),
        ("bias", 1),
        ("m_tile", 0),
        ("block_idx", -1),
        ("block_num", 0),
        ("block_num", True),
    ],
)
def test_what_cannot_be_an_input_fails_the_case(case: dict[str, Any], field: str, value: Any) -> None:
    case["input"][field] = value
    assert failed_field(case) == f"input.{field}"
    del case["input"][field]
    assert failed_field(case) == f"input.{field}"


def test_no_list_of_instructions_fails_the_case(case: dict[str, Any]) -> None:
    case["trace"] = None
    assert failed_field(case) == "trace"


def test_an_endless_launch_is_skipped(case: dict[str, Any]) -> None:
    case["input"].update(m=1 << 31, n=1 << 31)
    (outcome,) = check_case(case, "stem", lambda: None)
    assert "at most 1000 of 4096 are listed" in outcome.skipped


@pytest.mark.parametrize("field", ["m", "k", "n", "m_tile", "n_tile", "block_num"])
def test_a_row_that_cannot_be_hides_no_other(table: list[Any], field: str) -> None:
    table[1][field] = 0
    del table[2][field]
    table[3] = 7
    outcomes = check_swizzle_table(table, "stem", lambda: None)
    assert [outcome.status for outcome in outcomes[:5]] == ["passed", "failed", "failed", "failed", "passed"]
    fields = [outcome.difference.field for outcome in outcomes[1:4] if outcome.difference]
    assert fields == [field, field, ""]


def test_a_table_of_too_many_blocks_is_skipped(table: list[dict[str, Any]]) -> None:
    table[0]["m"] = 1 << 40
    table[1]["block_num"] = 1 << 40
    outcomes = check_swizzle_table(table, "stem", lambda: None)
    assert [outcome.status for outcome in outcomes[:3]] == ["skipped", "skipped", "passed"]


def failed_field(case: dict[str, Any]) -> str:
    (outcome,) = check_case(case, "stem", lambda: None)
    assert outcome.difference is not None
    return outcome.difference.field
