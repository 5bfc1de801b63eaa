"""Recorded orders of blocks: which core does what when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pantile.conform.cann.cases import common_fields
from pantile.conform.cann.inputs import normalised_case
from pantile.conform.case import case_name, outcome_of
from pantile.conform.compare import KNOWN, Difference
from pantile.conform.faults import WrongInput, wrong_input
from pantile.conform.result import CaseOutcome
from pantile.planners.cann.asw_basic import asw_basic

if TYPE_CHECKING:
    from pantile.planners.cann.block_order import Block
    from pantile.planners.cann.figures import Figures
    from pantile.planners.cann.normalise import Normalised

_REMARKS = ("id", "note", "input", "platform")
_FIELDS = {
    "round": "round",
    "core": "core",
    "batch": "batch",
    "mIdx": "m_index",
    "nIdx": "n_index",
    "singleM": "single_m",
    "singleN": "single_n",
    "mOffset": "m_offset",
    "nOffset": "n_offset",
    "kOffset": "k_offset",
    "singleK": "single_k",
    "offsetA": "offset_a",
    "offsetB": "offset_b",
    "offsetC": "offset_c",
    "offsetBias": "offset_bias",
}


def order_outcomes(value: dict[str, Any], stem: str) -> list[CaseOutcome]:
    """Return one outcome per recorded order of a file.

    Raises:
        WrongInput: If the file does not say what stands in its rows.
    """
    meta = value.get("meta")
    columns = meta.get("columns") if isinstance(meta, dict) else None
    if not isinstance(columns, list):
        raise wrong_input("meta.columns", "the names of what rows hold", columns)
    unknown = [name for name in columns if not isinstance(name, str) or name not in _FIELDS]
    if unknown:
        raise wrong_input("meta.columns", f"names among {', '.join(_FIELDS)}", unknown[0])
    return [_outcome(case, columns, f"{stem}[{at}]") for at, case in enumerate(value["cases"])]


def _outcome(case: Any, columns: list[str], place: str) -> CaseOutcome:
    """Return the outcome of one recorded order, whose rows have these *columns*."""
    if not isinstance(case, dict):
        return CaseOutcome(case=place, difference=wrong_input("", "an object", case).difference)

    def compute() -> dict[str, Any]:
        given, f = normalised_case(case.get("input"), case.get("platform"))
        return {**dict.fromkeys(_REMARKS, KNOWN), **_computed(given, f, columns, case.get("blocks"))}

    return outcome_of(case_name(case, place), case, compute, field="input", wanted="a call that is taken")


def _computed(given: Normalised, f: Figures, columns: list[str], listed: Any) -> dict[str, Any]:
    """Return the fields of an order; the high-level class, which ASW_BASIC does not run, is left out.

    Raises:
        WrongInput: If there are not as many blocks as are *listed*; they are not counted out one by one.
    """
    asw = asw_basic(f)
    order = asw.order
    m_count, n_count = order.counts
    units = order.tiles * len(order.pieces)
    if isinstance(listed, list) and len(listed) != units:
        raise WrongInput(Difference("blocks", f"{len(listed)} entries", f"{units} entries"))
    return {
        "baseM": asw.base_m,
        "baseN": asw.base_n,
        "mCnt": m_count,
        "nCnt": n_count,
        "batch": f.batch_c,
        "blockDim": f.cores,
        "branch": common_fields(given, f)["branch"],
        "blocks": [_row(block, columns) for block in order] if isinstance(listed, list) else None,
    }


def _row(block: Block, columns: list[str]) -> list[int]:
    fields = block._asdict()
    return [fields[_FIELDS[column]] for column in columns]
