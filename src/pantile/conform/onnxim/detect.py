"""Which files ONNXim's are, and how each is checked.

What checks them is imported when the first such file is found, for it takes its time to load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.conform.result import CaseOutcome


def is_run(value: Any) -> bool:
    """Whether *value* is one recorded run: a configuration and layers."""
    return isinstance(value, dict) and isinstance(value.get("config"), dict) and "layers" in value


def is_mapping_table(value: Any) -> bool:
    """Whether *value* is a table of what the automatic mappers find."""
    return isinstance(value, dict) and "hw_columns" in value and ("gemm" in value or "conv" in value)


def is_failures(value: Any) -> bool:
    """Whether *value* is a list of inputs on which ONNXim fails."""
    cases = value.get("cases") if isinstance(value, dict) else None
    return isinstance(cases, list) and bool(cases) and all(map(_is_failure, cases))


def _is_failure(case: Any) -> bool:
    return isinstance(case, dict) and isinstance(case.get("config"), dict) and "layers" not in case


def check_run(value: Any, stem: str, on_compile: Callable[[], None]) -> list[CaseOutcome]:
    """Return the outcome of one recorded run; it is the file's only case."""
    from pantile.conform.onnxim.recorded_run import run_outcome

    return [run_outcome(value, stem, on_compile)]


def check_mapping_table(value: Any, stem: str, on_compile: Callable[[], None]) -> list[CaseOutcome]:
    """Return one outcome per row of a table of mappings."""
    from pantile.conform.onnxim.mapping_table import mapping_outcomes

    return mapping_outcomes(value)


def check_failures(value: Any, stem: str, on_compile: Callable[[], None]) -> list[CaseOutcome]:
    """Return one outcome per input that ONNXim does not come through."""
    from pantile.conform.onnxim.failures import failure_outcomes

    return failure_outcomes(value, on_compile)
