"""Tables that one model reads are checked by a description of their keys."""

from __future__ import annotations

import pytest

from pantile.machine.constant import Constant, constant_problems

KEYS = {
    "model": Constant(meaning="which model", kind="text", choices=("simple", "exact")),
    "latency": Constant(meaning="cycles", minimum=0, maximum=9, needed_with=("model", "simple")),
    "parts": Constant(meaning="parts of each core", kind="counts", minimum=0, required=False),
    "file": Constant(meaning="a file", kind="text", required=False),
    "rest": Constant(meaning="anything", kind="table", required=False),
}


def problems(values: dict[str, object]) -> list[str]:
    return [error.problem for error in constant_problems("family.x", values, KEYS, also_known=("name",))]


@pytest.mark.parametrize(
    "values",
    [
        {"model": "simple", "latency": 0},
        {"model": "exact"},
        {"model": "exact", "name": object(), "parts": [0, 1], "file": "a", "rest": {"b": [1]}},
    ],
)
def test_complete_tables(values: dict[str, object]) -> None:
    assert problems(values) == []


def test_all_problems_in_the_order_of_the_keys() -> None:
    found = problems({"latncy": 1, "parts": [1, -1], "file": "", "rest": 3})
    assert found == [
        "family.x.latncy: nothing reads this key",
        "family.x.parts: expected a whole number from 0, got -1",
        "family.x.file: expected a text, got ''",
        "family.x.rest: expected a table, got 3",
        "family.x.model: missing: which model",
    ]


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"model": "simple"}, "family.x.latency: missing: cycles, which model simple needs"),
        ({"model": "simple", "latency": 10}, "family.x.latency: expected at most 9, got 10"),
        ({"model": 3}, "family.x.model: expected 'simple' or 'exact', got 3"),
        ({"model": "exact", "parts": 3}, "family.x.parts: expected a list of whole numbers, got 3"),
    ],
)
def test_single_problems(values: dict[str, object], problem: str) -> None:
    assert problems(values) == [problem]
