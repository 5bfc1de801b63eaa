"""Tables of automatic mappings: wrong rows fail where they are wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pantile.conform.result import CaseOutcome

Golden = Callable[[str], Any]
Runs = Callable[[Any], tuple[CaseOutcome, ...]]


@pytest.fixture
def table(golden: Golden) -> dict[str, Any]:
    """Two products, one of which crashes the original, and one convolution."""
    value: dict[str, Any] = golden("mapping_table")
    crash = next(row for row in value["gemm"] if isinstance(row[4], str))
    return {**value, "gemm": [value["gemm"][1], crash], "conv": value["conv"][:1]}


def test_rows_are_cases_with_their_inputs_as_names(table: dict[str, Any], outcomes: Runs) -> None:
    found = outcomes(table)
    assert [each.case for each in found] == [
        "gemm[0] a8x50x70x46",
        "gemm[1] a8c4x13x17x19",
        "conv[0] a8xconv1x1x3x64x7x112x2x3",
    ]
    assert {each.status for each in found} == {"passed"}


@pytest.mark.parametrize(
    ("place", "change", "case", "field"),
    [
        (("gemm", 0, 4, 2), 3, 0, "gemm[0].outer[2]"),
        (("gemm", 0, 5, 0), 32, 0, "gemm[0].inner[0]"),
        (("gemm", 0, 4), "SIGFPE", 0, "gemm[0].outer"),
        (("gemm", 0, 4), [3, 1], 0, "gemm[0].outer"),
        (("gemm", 0, 4), None, 0, "gemm[0].outer"),
        (("gemm", 0, 3), 49, 0, "gemm[0].outer[2]"),  # ceil(56 / 2) = 28 is aligned down to 24: 3 tiles
        (("gemm", 0, 0), "a9", 0, "gemm[0].hw"),
        (("gemm", 0, 1), 0, 0, "gemm[0]"),
        (("gemm", 0, 1), "50", 0, "gemm[0]"),
        (("gemm", 0), ["a8", 1], 0, "gemm[0]"),
        (("gemm", 0), 5, 0, "gemm[0]"),
        (("gemm", 1), ["a8c4", 13, 17, 19, [1, 1, 1], [16, 24, 24]], 1, "gemm[1].outer"),
        (("conv", 0, 9, 3), 9, 2, "conv[0].outer[3]"),
        (("conv", 0, 10, 6), 6, 2, "conv[0].inner[6]"),
        (("conv", 0, 9), "SIGFPE", 2, "conv[0].outer"),
        (("conv", 0, 8), -1, 2, "conv[0]"),
    ],
)
def test_a_wrong_row_fails_alone(
    place: tuple[Any, ...], change: Any, case: int, field: str, table: dict[str, Any], outcomes: Runs
) -> None:
    holder: Any = table
    for step in place[:-1]:
        holder = holder[step]
    holder[place[-1]] = change
    found = outcomes(table)
    assert [at for at, each in enumerate(found) if each.status != "passed"] == [case]
    difference = found[case].difference
    assert difference is not None
    assert difference.field == field
    assert "defect" not in difference.why


def test_a_row_that_should_be_refused_says_what_came_instead(table: dict[str, Any], outcomes: Runs) -> None:
    table["gemm"][0][4:] = ["SIGFPE"]
    difference = outcomes(table)[0].difference
    assert difference is not None
    assert (difference.field, difference.expected) == ("gemm[0].outer", "SIGFPE")
    assert difference.got == "a mapping, [T] N50 C70 M46 - [O] N3 C1 M2 - [I] N24 C72 M24"


def test_one_pixel_is_mapped_as_a_product(table: dict[str, Any], outcomes: Runs) -> None:
    """Golden cv_1x1_on_1x1_c64m40: inner N 8 for one picture."""
    row = ["a8", "fc", 1, 64, 40, 1, 1, 1, 0, [1, 1, 1, 1, 1, 1, 1], [8, 64, 40, 1, 1, 1, 1]]
    table["conv"] = [row]
    assert outcomes(table)[2].status == "passed"


@pytest.mark.parametrize(
    ("key", "change", "field"),
    [
        ("hw_columns", ["id"], "hw_columns"),
        ("hw", None, "hw"),
        ("hw", [["a8", 1, 8, 64, 16]], "hw[0]"),
        ("hw", [["a8", 1, 8, 64, 16, 0]], "hw[0]"),
        ("gemm_columns", None, "gemm_columns"),
        ("gemm", {}, "gemm"),
    ],
)
def test_tables_of_no_known_form_fail(
    key: str, change: Any, field: str, table: dict[str, Any], outcomes: Runs
) -> None:
    table[key] = change
    assert [each.difference.field for each in outcomes(table) if each.difference] == [field]


def test_tables_of_other_things_are_unchecked(table: dict[str, Any], outcomes: Runs) -> None:
    found = outcomes({**table, "pool": [], "pool_columns": []})
    assert (found[0].case, found[0].unchecked) == ("", ("pool", "pool_columns"))
    assert len(found) == 4


def test_an_accumulator_of_nothing_is_refused(table: dict[str, Any], outcomes: Runs) -> None:
    """Q2c: no block fits, and the original divides by zero."""
    table["hw"] = [["a8", 1, 8, 64, 0, 1]]
    table["gemm"], table["conv"] = [["a8", 8, 8, 8, "SIGFPE"]], []
    assert [each.status for each in outcomes(table)] == ["passed"]
