"""Recorded macro GEMMs: the stream of one core, and tables of the order of blocks."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pantile.conform.compare import KNOWN
from pantile.errors import OutsideModelError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.conform.result import CaseOutcome

_REMARKS = ("id", "note", "commit", "input")
_SWIZZLE_INPUTS = ("m", "k", "n", "m_tile", "n_tile", "block_num")


def is_case(value: Any) -> bool:
    """Whether *value* is one core's launch with its stream."""
    if not isinstance(value, dict) or not isinstance(value.get("input"), dict):
        return False
    return isinstance(value.get("trace"), list) and "block_idx" in value["input"]


def is_swizzle_table(value: Any) -> bool:
    """Whether *value* is a list of products, each with the order of its blocks."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(row, dict) and "block_num" in row and "blocks" in row for row in value)
    )


def check_case(value: Any, stem: str, on_compile: Callable[[], None]) -> list[CaseOutcome]:
    """Return the outcome of one launch; it is the file's only one."""
    from pantile.conform.case import case_name, outcome_of

    def stream() -> dict[str, Any]:
        return {**dict.fromkeys(_REMARKS, KNOWN), "trace": _stream(value["input"])}

    return [outcome_of(case_name(value, stem), value, stream, field="input", wanted="a launch of one core")]


def check_swizzle_table(value: Any, stem: str, on_compile: Callable[[], None]) -> list[CaseOutcome]:
    """Return one outcome per row."""
    from pantile.conform.case import outcome_of

    outcomes = []
    for at, row in enumerate(value):
        name = f"{stem}[{at}] {'x'.join(str(row.get(key)) for key in 'mkn')}"
        outcomes.append(outcome_of(name, row, partial(_row, row), field="m", wanted="a product"))
    return outcomes


def _stream(recorded: dict[str, Any]) -> list[Any]:
    from pantile.targets.ascend.block_call import K_TILE, M_TILE, N_TILE, BlockCall
    from pantile.targets.ascend.block_gemm import gemm_block
    from pantile.targets.ascend.elements import ELEMENTS

    tile = tuple(recorded[key] for key in ("m_tile", "k_tile", "n_tile"))
    if tile != (M_TILE, K_TILE, N_TILE):
        raise OutsideModelError(
            f"the library has one tile, {M_TILE} x {K_TILE} x {N_TILE}; the case has {tile}"
        )
    launch = BlockCall(
        element=ELEMENTS[recorded["dtype"]],
        m=recorded["m"],
        n=recorded["n"],
        k=recorded["k"],
        ta=bool(recorded["TA"]),
        tb=bool(recorded["TB"]),
        has_bias=bool(recorded["bias"]),
        block_idx=recorded["block_idx"],
        block_num=recorded["block_num"],
    )
    return list(gemm_block(launch))


def _row(row: dict[str, Any]) -> dict[str, Any]:
    from pantile.targets.ascend.block_swizzle import block_order

    m, k, n, m_tile, n_tile, cores = (int(row[key]) for key in _SWIZZLE_INPUTS)
    order = block_order(m, n, k, m_tile=m_tile, n_tile=n_tile, block_num=cores)
    blocks = []
    for task in range(order.blocks):
        at_m, at_n = order.block(task)
        blocks.append([at_m, at_n, min(m_tile, m - at_m * m_tile), min(n_tile, n - at_n * n_tile)])
    return {
        **dict.fromkeys(_SWIZZLE_INPUTS, KNOWN),
        "count": order.count,
        "direct": int(order.by_columns),
        "m_loops": order.m_loops,
        "n_loops": order.n_loops,
        "blocks": blocks,
    }
