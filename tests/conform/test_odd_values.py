"""Whatever stands where an input is meant, no case ends in a defect of pantile, and none runs for ever."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pantile.conform.faults import WrongInput
from pantile.conform.kinds import kind_of

GOLDEN = Path(__file__).parents[1] / "golden"
ODD = (
    *(None, True, False, "", "8", [], [1], [None], {}, {"C": 20}, 0.5, 8.0, 1e300, float("inf")),
    *(-5, -1, 0, 1, 3, 7, 16, 255, 1000, 8192, 65536, 10**12, 2**31 - 1, 2**31, 2**63, 2**64, 10**30),
)


def first_of(name: str) -> Any:
    """A recorded file with its first case, or row, alone."""
    value = json.loads((GOLDEN / f"{name}.json").read_text())
    key = "rows" if "rows" in value else "cases"
    return {**value, key: value[key][:1]}


def inputs(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Where the inputs of a file stand."""
    if isinstance(value, dict | list):
        keys = value if isinstance(value, dict) else range(len(value))
        return [found for key in keys for found in ((*path, key), *inputs(value[key], (*path, key)))]
    return []


def is_input(path: tuple[str | int, ...]) -> bool:
    if path[0] == "meta":
        return "columns" in path or "platform" in path or "platforms" in path[:2]
    return path[0] == "rows" or any(key in path for key in ("input", "inputs", "platform", *"abc"))


FILES = {
    name: first_of(name)
    for name in (
        *("cann/bmm_cases", "cann/asw_block_orders", "cann/bmm_random_table"),
        *("cann/ut_expected_batchmatmulv3", "asw_theory/pipeline", "asw_theory/al1"),
        *("asw_theory/mapping", "asw_theory/xmin"),
    )
}
PLACES = [(name, path) for name, value in FILES.items() for path in inputs(value) if is_input(path)]


@pytest.mark.slow
@settings(max_examples=1500, deadline=None)
@given(st.sampled_from(PLACES), st.sampled_from(ODD))
@example(("cann/bmm_cases", ("cases", 0, "input", "a_shape", 0)), -1)
@example(("cann/bmm_cases", ("cases", 0, "platform", "aicNum")), 2**64)
@example(("cann/bmm_cases", ("cases", 0, "platform", "l0ASize")), 16)
@example(("asw_theory/pipeline", ("cases", 0, "inputs", "M")), 10**12)
@example(("asw_theory/mapping", ("cases", 0, "inputs", "mCnt")), 10**12)
def test_an_odd_value_is_no_defect(place: tuple[str, tuple[str | int, ...]], odd: Any) -> None:
    name, path = place
    value = copy.deepcopy(FILES[name])
    at = value
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = odd
    kind = kind_of(value)
    if kind is None:
        return
    try:
        outcomes = kind.check(value, "file", lambda: None)
    except WrongInput:  # it is the file that has a fault
        return
    for outcome in outcomes:
        assert outcome.difference is None or "defect" not in outcome.difference.why, outcome
