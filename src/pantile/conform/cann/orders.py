"""Recorded orders of blocks: which core does what when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pantile.conform.cann.cases import common_fields
from pantile.conform.cann.inputs import NotSaid, normalised_case
from pantile.conform.compare import KNOWN, Difference, compare
from pantile.conform.onnxim.session import defect
from pantile.conform.result import CaseOutcome, judged
from pantile.errors import PantileError
from pantile.planners.cann.asw_basic import asw_basic

if TYPE_CHECKING:
    from pantile.planners.cann.block_order import Block
    from pantile.planners.cann.figures import Figures
    from pantile.planners.cann.normalise import Normalised

_REMARKS = ("id", "note", "input", "platform")
_FIELDS = {
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


def order_outcome(case: dict[str, Any], columns: tuple[str, ...], stem: str) -> CaseOutcome:
    """Return the outcome of one recorded order, whose rows have these *columns*."""
    name = str(case.get("id", stem))
    try:
        given, f = normalised_case(case["input"], case["platform"])
        computed = _computed(given, f, columns)
    except NotSaid as open_:
        return CaseOutcome(case=name, skipped=str(open_))
    except PantileError as error:
        return CaseOutcome(case=name, difference=Difference("input", "a call that is taken", str(error)))
    except Exception as error:  # a crash on one case is that case's failure, and must not hide the others
        return CaseOutcome(case=name, difference=defect(error, "input", "an order"))
    return judged(name, compare(case, {**dict.fromkeys(_REMARKS, KNOWN), **computed}))


def _computed(given: Normalised, f: Figures, columns: tuple[str, ...]) -> dict[str, Any]:
    """Return the fields of an order; the high-level class, which ASW_BASIC does not run, is left out."""
    asw = asw_basic(f)
    order = asw.order
    m_count, n_count = order.counts
    return {
        "baseM": asw.base_m,
        "baseN": asw.base_n,
        "mCnt": m_count,
        "nCnt": n_count,
        "batch": f.batch_c,
        "blockDim": f.cores,
        "branch": common_fields(given, f)["branch"],
        "blocks": [_row(block, columns) for block in order],
    }


def _row(block: Block, columns: tuple[str, ...]) -> list[int]:
    fields = block._asdict()
    return [fields[_FIELDS.get(column, column)] for column in columns]
