"""Recorded cases of the ASW_Basic theory, in four layouts that share one schema."""

from __future__ import annotations

from typing import Any

from pantile.conform.asw.layouts import figures_of_full_load, figures_of_mapping, figures_of_x_min
from pantile.conform.asw.pipeline import figures_of_pipeline
from pantile.conform.case import outcome_of
from pantile.conform.compare import KNOWN
from pantile.conform.faults import wrong_input
from pantile.conform.result import CaseOutcome
from pantile.planners.asw.pipeline import SEMANTICS

RELATIVE = 1e-6
"""How far a recorded float may be off, as a part of itself, where the case does not say."""

_REMARKS = ("case_id", "inputs", "note", "tolerance")


def check_cases(value: Any, stem: str) -> list[CaseOutcome]:
    """Return the outcome of every case of a file."""
    return [_check(case, f"{stem}[{at}]") for at, case in enumerate(value["cases"])]


def _check(case: Any, place: str) -> CaseOutcome:
    if not isinstance(case, dict):
        return CaseOutcome(case=place, difference=wrong_input("", "an object", case).difference)
    named = case.get("case_id")
    name = named if isinstance(named, str) and named else place
    inputs, expected = case.get("inputs"), case.get("expected")
    if not isinstance(expected, dict):
        return CaseOutcome(case=name, skipped="nothing is expected of it")

    def compute() -> dict[str, Any]:
        return {**dict.fromkeys(_REMARKS, KNOWN), "expected": _figures(inputs, expected)}

    relative = _tolerance(case)
    return outcome_of(name, case, compute, field="inputs", wanted="a product", relative=relative)


def _tolerance(case: dict[str, Any]) -> float:
    stated = case.get("tolerance")
    relative = stated.get("rel") if isinstance(stated, dict) else None
    if isinstance(relative, bool) or not isinstance(relative, int | float):
        return RELATIVE
    return float(relative)


def _figures(inputs: Any, expected: dict[str, Any]) -> dict[str, Any]:
    """Return the figures of the layout that is expected; none of one that is not known."""
    if "order_swizzle" in expected:
        return figures_of_mapping(inputs, expected)
    if "theory" in expected:
        return figures_of_full_load(inputs)
    if "corrected_l2" in expected or "corrected_gm" in expected:
        return figures_of_x_min(inputs)
    return {name: figures_of_pipeline(inputs, name) for name in SEMANTICS if name in expected}
