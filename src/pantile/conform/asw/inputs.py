"""What a recorded case is about."""

from __future__ import annotations

from typing import Any

from pantile.planners.asw.chip import Chip, with_symbols
from pantile.planners.asw.problem import Problem


def problem_of_case(inputs: dict[str, Any]) -> Problem:
    """Return the product that a case is about."""
    return Problem(
        batch=inputs["B"],
        m=inputs["M"],
        n=inputs["N"],
        k=inputs["K"],
        element_bytes=inputs["dtype"],
        out_bytes=inputs.get("outB", inputs["dtype"]),
        a_batch=inputs.get("batchA", 0),
        transpose_a=inputs.get("transA", False),
        transpose_b=inputs.get("transB", False),
    )


def chip_of_case(inputs: dict[str, Any]) -> Chip:
    """Return the chip that a case is about."""
    return with_symbols(Chip(), inputs.get("chip_overrides") or {})
