"""Recorded macro GEMMs: the stream of one core, and tables of the order of blocks."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pantile.conform.compare import KNOWN, Whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.conform.result import CaseOutcome

_REMARKS = ("id", "note", "commit")


def is_case(value: Any) -> bool:
    """Whether *value* is one core's launch with its stream; a trace with an ``expect`` is another kind."""
    return isinstance(value, dict) and "input" in value and "trace" in value and "expect" not in value


def is_swizzle_table(value: Any) -> bool:
    """Whether *value* is a list of products with the order of their blocks; a wrong row hides no other."""
    return isinstance(value, list) and any(
        isinstance(row, dict) and "block_num" in row and "blocks" in row for row in value
    )


def check_case(value: Any, stem: str, on_compile: Callable[[], None]) -> list[CaseOutcome]:
    """Return the outcome of one launch; it is the file's only one."""
    from pantile.conform.case import case_name, outcome_of

    def stream() -> dict[str, Any]:
        from pantile.conform.ascend_inputs import launch_of_case, require_traces
        from pantile.targets.ascend.block_gemm import gemm_block

        launch, read = launch_of_case(value["input"])
        require_traces({"": value})
        trace = Whole(list(gemm_block(launch)))
        return {**dict.fromkeys(_REMARKS, KNOWN), "input": read, "trace": trace}

    return [outcome_of(case_name(value, stem), value, stream, field="input", wanted="a launch of one core")]


def check_swizzle_table(value: Any, stem: str, on_compile: Callable[[], None]) -> list[CaseOutcome]:
    """Return one outcome per row."""
    from pantile.conform.case import outcome_of

    outcomes = []
    for at, row in enumerate(value):
        name = f"{stem}[{at}]"
        if isinstance(row, dict):
            name += f" {'x'.join(str(row.get(key)) for key in 'mkn')}"
        outcomes.append(outcome_of(name, row, partial(_row, row), field="m", wanted="a product"))
    return outcomes


def _row(row: Any) -> dict[str, Any]:
    from pantile.conform.ascend_inputs import product_of_row
    from pantile.targets.ascend.block_swizzle import block_order

    given, read = product_of_row(row)
    m_tile, n_tile = given.m_tile, given.n_tile
    order = block_order(given.m, given.n, given.k, m_tile=m_tile, n_tile=n_tile, block_num=given.block_num)
    blocks = []
    for task in range(order.blocks):
        at_m, at_n = order.block(task)
        sizes = (min(m_tile, given.m - at_m * m_tile), min(n_tile, given.n - at_n * n_tile))
        blocks.append([at_m, at_n, *sizes])
    return {
        **read,
        "count": order.count,
        "direct": int(order.by_columns),
        "m_loops": order.m_loops,
        "n_loops": order.n_loops,
        "blocks": blocks,
    }
