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
