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


_OUTCOMES = ("capable", "status", "branch", "aswBasic")
"""Fields of which a recorded call has at least one."""


def is_cases(value: Any) -> bool:
    """Whether *value* holds calls of the operator with everything its tiling computes."""
    calls = [case for case in _cases_with(value, "input", "platform") if "blocks" not in case]
    return any(key in case for case in calls for key in _OUTCOMES) and not is_block_orders(value)


def is_block_orders(value: Any) -> bool:
    """Whether *value* holds orders of blocks."""
    return bool(_cases_with(value, "input", "platform", "blocks"))


def is_random_table(value: Any) -> bool:
    """Whether *value* is a table of calls."""
    columns = value.get("columns") if isinstance(value, dict) else None
    return isinstance(columns, list) and "rows" in value and "capable_bits" in columns


def is_unit_tests(value: Any) -> bool:
    """Whether *value* holds figures of the operator's unit tests."""
    return bool(_cases_with(value, "a", "b", "c", "expected_tiling_key"))


def is_other_unit_tests(value: Any) -> bool:
    """Whether *value* holds figures of the unit tests of MatMulV3, a sibling that is not modelled."""
    return bool(_cases_with(value, "x1_shape", "x2_shape", "expected_tiling_key"))


def _cases_with(value: Any, *keys: str) -> list[dict[str, Any]]:
    """Return the cases that have all *keys*: one tells what a file is; the others may have faults."""
    cases = value.get("cases") if isinstance(value, dict) else None
    if not isinstance(cases, list):
        return []
    return [case for case in cases if isinstance(case, dict) and all(key in case for key in keys)]


def check_cases(value: Any, stem: str, on_compile: Callable[[], None]) -> list[CaseOutcome]:
    """Return one outcome per recorded call."""
    from pantile.conform.cann.cases import case_outcome

    return [case_outcome(case, f"{stem}[{at}]") for at, case in enumerate(value["cases"])]


def check_block_orders(value: Any, stem: str, on_compile: Callable[[], None]) -> list[CaseOutcome]:
    """Return one outcome per recorded order."""
    from pantile.conform.cann.orders import order_outcomes

    return order_outcomes(value, stem)


def check_random_table(value: Any, stem: str, on_compile: Callable[[], None]) -> list[CaseOutcome]:
    """Return one outcome per row."""
    from pantile.conform.cann.random_table import table_outcomes

    return table_outcomes(value, stem)


def check_unit_tests(value: Any, stem: str, on_compile: Callable[[], None]) -> list[CaseOutcome]:
    """Return one outcome per unit test."""
    from pantile.conform.cann.unit_tests import unit_test_outcomes

    return unit_test_outcomes(value, stem)


def skip_unit_tests(value: Any, stem: str, on_compile: Callable[[], None]) -> list[CaseOutcome]:
    """Return one outcome per unit test of the sibling: skipped, with the reason."""
    return [
        CaseOutcome(case=_name(case) or f"{stem}[{at}]", skipped=_OTHER_OPERATOR)
        for at, case in enumerate(value["cases"])
    ]


def _name(case: Any) -> str:
    return str(case.get("id", "")) if isinstance(case, dict) else ""
