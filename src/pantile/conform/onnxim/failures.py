"""Inputs that ONNXim does not come through: each must be refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pantile.conform.case_inputs import read_inputs
from pantile.conform.compare import KNOWN, Comparison, Difference, compare
from pantile.conform.faults import WrongInput, defect
from pantile.conform.onnxim.inputs import FailureInput, RunInputs
from pantile.conform.onnxim.scope import outside_config
from pantile.conform.onnxim.session import plan_run
from pantile.conform.result import CaseOutcome, judged
from pantile.errors import ManyProblems, PantileError
from pantile.targets.systolic.simulate import simulate

if TYPE_CHECKING:
    from collections.abc import Callable

_READ = ("id", "name", "config", "gemm", "mapping", "input_shape", "transA", "transB", "note", "notes")
_OUTCOME = "outcome"
_SURROUNDINGS = ("source", "note", "cases")


def failure_outcomes(value: dict[str, Any], on_compile: Callable[[], None]) -> list[CaseOutcome]:
    """Return one outcome per case, and one more for the file where it has keys of its own."""
    around = compare(value, dict.fromkeys(_SURROUNDINGS, KNOWN)).unchecked
    whole = [CaseOutcome(case="", unchecked=around)] if around else []
    return [*whole, *(_outcome(case, at, on_compile) for at, case in enumerate(value["cases"]))]


def _outcome(case: dict[str, Any], at: int, on_compile: Callable[[], None]) -> CaseOutcome:
    name = _name(case, at)
    if "gemm" not in case:
        return CaseOutcome(case=name, skipped="it is no matrix product: the model has no such layer yet")
    if reason := outside_config(case["config"]):
        return CaseOutcome(case=name, skipped=reason)
    field = f"cases[{at}]"
    known = {key: KNOWN for key in case if key in _READ or key.startswith(_OUTCOME)}
    unchecked = compare(case, known, field).unchecked
    expected = next((f"refused: {text}" for key, text in case.items() if key.startswith(_OUTCOME)), "refused")
    try:
        inputs = read_inputs(case, FailureInput).as_run()
        difference = _refusal(inputs, field, expected, on_compile)
    except WrongInput as error:
        below = error.difference
        difference = Difference(f"{field}.{below.field}", below.expected, below.got, below.why)
    except Exception as error:  # a crash is what must not happen here, and must not hide the other cases
        difference = defect(error, field, expected)
    return judged(name, Comparison(compared=1, difference=difference, unchecked=unchecked))


def _refusal(
    inputs: RunInputs, field: str, expected: str, on_compile: Callable[[], None]
) -> Difference | None:
    """Return nothing if the case is refused with one line per problem, else what came instead."""
    try:
        session = plan_run(inputs)
        _, result = simulate(session.execution(), session.config, on_compile=on_compile)
    except PantileError as error:
        problems = error.problems if isinstance(error, ManyProblems) else (error,)
        if all(len(str(problem).splitlines()) == 1 for problem in problems):
            return None
        return Difference(field, expected, str(error), "the refusal must be one line per problem")
    return Difference(field, expected, f"a run of {result.core_ticks} cycles")


def _name(case: dict[str, Any], at: int) -> str:
    parts = [str(case[key]) for key in ("id", "name") if isinstance(case.get(key), str | int)]
    return " ".join(parts) or f"cases[{at}]"
