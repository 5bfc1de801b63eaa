"""Odd values at every place of a recorded input fail its case, and say so; none is taken for another."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pantile.conform import gemm_core, mma_tile, sync_cases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GOLDEN = Path(__file__).parents[1] / "golden"
ODD = (None, "x", "1", 1.5, True, [], {}, [7], -2, 1 << 70)
CHECKS: dict[str, Callable[..., Any]] = {
    "mma_tile/uf3_ntail": mma_tile.check_case,
    "mma_tile/half_bias_half": mma_tile.check_case,
    "mma_tile/int4_nn_k64": mma_tile.check_case,
    "gemm_core/int8_ta": gemm_core.check_case,
    "gemm_core/half_bias_2blocks": gemm_core.check_case,
}


def read(name: str) -> Any:
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place within a value, the whole included."""
    yield path
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield from places(value[key], (*path, key))


def changed(value: Any, path: tuple[Any, ...], odd: Any) -> Any:
    made = copy.deepcopy(value)
    *above, last = path
    inner = made
    for key in above:
        inner = inner[key]
    inner[last] = odd
    return made


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def is_of_another_kind(odd: Any, right: Any) -> bool:
    """Whether nothing like *odd* could stand in place of *right*."""
    return type(odd) is not type(right) or isinstance(odd, list | dict)


@pytest.mark.parametrize("name", CHECKS)
def test_no_odd_value_is_taken_for_an_input(name: str) -> None:
    case = read(name)
    tried = 0
    for path in places(case["input"]):
        for odd in ODD:
            if not is_of_another_kind(odd, at(case["input"], path)) or path == ("bias",):
                continue
            (outcome,) = CHECKS[name](changed(case, ("input", *path), odd), "stem", lambda: None)
            assert outcome.status == "failed", (path, odd)
            assert "defect" not in outcome.difference.why, (path, odd, outcome.difference)
            assert outcome.difference.field.startswith("input"), (path, odd, outcome.difference)
            tried += 1
    assert tried > 50


@pytest.mark.slow
@pytest.mark.parametrize("name", CHECKS)
def test_no_odd_number_breaks_anything(name: str) -> None:
    """Whatever whole number stands for another: the case fails, is skipped, or the stream is the same."""
    case = read(name)
    for path in places(case["input"]):
        if type(at(case["input"], path)) is not int:
            continue
        for number in (-1, 0, 1, 15, 17, 65535, 65536, 1 << 31, 1 << 33, 1 << 70):
            (outcome,) = CHECKS[name](changed(case, ("input", *path), number), "stem", lambda: None)
            assert outcome.difference is None or "defect" not in outcome.difference.why, (path, number)


def test_no_odd_value_breaks_a_row_of_a_table() -> None:
    rows = read("gemm_core/swizzle")[:2]
    for path in places(rows[0]):
        for odd in ODD:
            outcomes = gemm_core.check_swizzle_table(changed(rows, (0, *path), odd), "stem", lambda: None)
            difference = outcomes[0].difference
            assert outcomes[1].status == "passed"
            assert difference is None or "defect" not in difference.why, (path, odd)
            if is_of_another_kind(odd, at(rows[0], path)):
                assert outcomes[0].status == "failed", (path, odd)


SYNC = ("x_id_9", "bias_two_tiles_head", "r05_branch_merge")


@pytest.mark.parametrize("name", SYNC)
def test_no_odd_value_is_taken_for_an_argument(name: str) -> None:
    case = read(f"sync_cases/{name}")
    seen: set[str] = set()
    for number, each in enumerate(case["trace"]):
        if each["op"] in seen:
            continue
        seen.add(each["op"])
        for path in places(each):
            for odd in ODD:
                right = at(each, path)
                if not is_of_another_kind(odd, right) or _may_be(path, right, odd):
                    continue
                changed_case = changed(case, ("trace", number, *path), odd)
                (outcome,) = sync_cases.check_case(changed_case, "stem", lambda: None)
                difference = outcome.difference
                assert difference is not None, (each["op"], path, odd)
                assert "defect" not in difference.why, (each["op"], path, odd, difference)


def _may_be(path: tuple[Any, ...], right: Any, odd: Any) -> bool:
    """No label, and an access that touches nothing; an address mode may be a number."""
    return (
        (path[-1:] == ("label",) and odd is None)
        or (path[-1:] in (("reads",), ("writes",)) and odd == [])
        or (path[-1:] == ("addr_mode",) and isinstance(odd, int))
        or (path[-1:] == ("args",) and odd == {} and not right)
    )
