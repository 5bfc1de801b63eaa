"""Recorded cases of synchronisation: a trace of instructions, and what a checker must say about it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pantile.conform.compare import KNOWN

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.conform.result import CaseOutcome

_REMARKS = ("id", "source", "description", "trace")


def is_case(value: Any) -> bool:
    """Whether *value* is one case: a trace and what is expected of it."""
    return isinstance(value, dict) and isinstance(value.get("trace"), list) and "expect" in value


def check_case(value: Any, stem: str, on_compile: Callable[[], None]) -> list[CaseOutcome]:
    """Return the outcome of one case; it is the file's only one."""
    from pantile.conform.case import case_name, outcome_of

    case, expected = case_name(value, stem), value["expect"]

    def verdicts() -> dict[str, Any]:
        computed = _verdicts(value["trace"], case)
        if isinstance(expected, dict):
            computed = {name: _in_the_order_of(expected.get(name), mine) for name, mine in computed.items()}
        return {**dict.fromkeys(_REMARKS, KNOWN), "expect": computed}

    return [outcome_of(case, value, verdicts, field="trace", wanted="a trace of known instructions")]


def _verdicts(trace: list[Any], case: str) -> dict[str, Any]:
    from pantile.targets.ascend.trace import program_of_trace
    from pantile.targets.ascend.verdicts import verdicts_on

    return verdicts_on(program_of_trace(trace, case, as_recorded=True))


def _in_the_order_of(expected: Any, computed: Any) -> Any:
    """Return a list's entries in the order of the file, if they are the same ones: they are a set."""
    if not isinstance(expected, list) or not isinstance(computed, list):
        return computed
    return expected if sorted(map(_text, expected)) == sorted(map(_text, computed)) else computed


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
