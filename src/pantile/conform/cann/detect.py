"""Which files CANN's are, and how each is checked.

What checks them is imported when the first such file is found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pantile.conform.result import CaseOutcome

if TYPE_CHECKING:
    from collections.abc import Callable

_OTHER_OPERATOR = (
    "MatMulV3 is another operator: its balance rule and its split tails are not those of BatchMatMulV3"
)


def is_cases(value: Any) -> bool:
    """Whether *value* holds calls of the operator with everything its tiling computes."""
    return _all_cases_have(value, "input", "platform", "capable")


def is_block_orders(value: Any) -> bool:
    """Whether *value* holds orders of blocks."""
    return _all_cases_have(value, "input", "platform", "blocks")


def is_random_table(value: Any) -> bool:
    """Whether *value* is a table of calls."""
    return isinstance(value, dict) and "rows" in value and "capable_bits" in (value.get("columns") or ())


def is_unit_tests(value: Any) -> bool:
    """Whether *value* holds figures of the operator's unit tests."""
    return _all_cases_have(value, "a", "b", "c", "expected_tiling_key")


def is_other_unit_tests(value: Any) -> bool:
    """Whether *value* holds figures of the unit tests of MatMulV3, a sibling that is not modelled."""
    return _all_cases_have(value, "x1_shape", "x2_shape", "expected_tiling_key")


def _all_cases_have(value: Any, *keys: str) -> bool:
    cases = value.get("cases") if isinstance(value, dict) else None
    if not isinstance(cases, list) or not cases:
        return False
    return all(isinstance(case, dict) and all(key in case for key in keys) for case in cases)


def check_cases(value: Any, stem: str, on_compile: Callable[[], None]) -> list[CaseOutcome]:
    """Return one outcome per recorded call."""
    from pantile.conform.cann.cases import case_outcome

    return [case_outcome(case, stem) for case in value["cases"]]


def check_block_orders(value: Any, stem: str, on_compile: Callable[[], None]) -> list[CaseOutcome]:
    """Return one outcome per recorded order."""
    from pantile.conform.cann.orders import order_outcome

    columns = tuple(value["meta"]["columns"])
    return [order_outcome(case, columns, stem) for case in value["cases"]]


def check_random_table(value: Any, stem: str, on_compile: Callable[[], None]) -> list[CaseOutcome]:
    """Return one outcome per row."""
    from pantile.conform.cann.random_table import row_outcome

    columns, platforms = value["columns"], value["meta"]["platforms"]
    rows = (dict(zip(columns, row, strict=True)) for row in value["rows"])
    return [row_outcome(row, platforms[row["platform_index"]]) for row in rows]


def check_unit_tests(value: Any, stem: str, on_compile: Callable[[], None]) -> list[CaseOutcome]:
    """Return one outcome per unit test."""
    from pantile.conform.cann.unit_tests import unit_test_outcome

    return [unit_test_outcome(case, value["meta"]["platform"]) for case in value["cases"]]


def skip_unit_tests(value: Any, stem: str, on_compile: Callable[[], None]) -> list[CaseOutcome]:
    """Return one outcome per unit test of the sibling: skipped, with the reason."""
    return [CaseOutcome(case=str(case.get("id", "")), skipped=_OTHER_OPERATOR) for case in value["cases"]]
