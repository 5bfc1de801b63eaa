"""Recorded calls as rows of a table; figures of ASW_BASIC are empty where another branch has the call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pantile.conform.cann.cases import common_fields
from pantile.conform.cann.inputs import NotSaid, normalised_case, refused_by_all
from pantile.conform.compare import KNOWN, Difference, compare
from pantile.conform.onnxim.session import defect
from pantile.conform.result import CaseOutcome, judged
from pantile.errors import PantileError
from pantile.planners.cann.asw_basic import asw_basic

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pantile.planners.cann.figures import Figures
    from pantile.planners.cann.normalise import Normalised

_INPUTS = (
    "id",
    "a_shape",
    "b_shape",
    "c_shape",
    "adj_x1",
    "adj_x2",
    "dtype",
    "c_dtype",
    "bias_shape",
    "bias_dtype",
    "enable_hf32",
    "platform_index",
)


def row_outcome(row: dict[str, Any], platform: Mapping[str, Any]) -> CaseOutcome:
    """Return the outcome of one row."""
    name = str(row.get("id", ""))
    try:
        given, f = normalised_case(row, platform)
        refusal = refused_by_all(given)
        if refusal:
            return CaseOutcome(case=name, difference=Difference("branch", row.get("branch"), refusal))
        computed = _computed(given, f)
    except NotSaid as open_:
        return CaseOutcome(case=name, skipped=str(open_))
    except PantileError as error:
        return CaseOutcome(case=name, difference=Difference("branch", row.get("branch"), str(error)))
    except Exception as error:  # a crash on one case is that case's failure, and must not hide the others
        return CaseOutcome(case=name, difference=defect(error, "input", "a plan"))
    ours: dict[str, Any] = {**dict.fromkeys(_INPUTS, KNOWN), **computed}
    if computed["branch"] != "ASW_BASIC":  # its columns are empty, as they must be
        ours |= {key: None for key, value in row.items() if key not in ours and value is None}
    return judged(name, compare(row, ours))


def _computed(given: Normalised, f: Figures) -> dict[str, Any]:
    common = common_fields(given, f)
    computed = {
        "branch": common["branch"],
        "capable_bits": "".join(str(int(takes)) for takes in common["capable"].values()),
        "m": given.m,
        "n": given.n,
        "k": given.k,
        "batchA": given.batch_a,
        "batchB": given.batch_b,
        "batchC": given.batch_c,
        "batchBias": given.batch_bias,
    }
    return computed if common["branch"] != "ASW_BASIC" else computed | _asw_columns(f)


def _asw_columns(f: Figures) -> dict[str, Any]:
    asw = asw_basic(f)
    search, packed = asw.search, asw.packed
    limits, best = search.limits, search.best
    return {
        "tilingKey": asw.key.value,
        "blockDim": f.cores,
        "baseM": asw.base_m,
        "baseN": asw.base_n,
        "baseK": asw.base_k,
        "mL1": packed.m_l1,
        "nL1": packed.n_l1,
        "kL1": packed.k_l1,
        "stepK": asw.steps,
        "l1BufferNum": packed.l1_buffer_num,
        "l0cDB": packed.l0c_db,
        "ubDB": packed.ub_db,
        "usedCoreNum": packed.used_core_num,
        "l2CacheDisable": packed.l2_cache_disable,
        "isMemoryBound": limits.memory_bound,
        "maxBaseM": limits.max_m,
        "maxBaseN": limits.max_n,
        "baseMAlignUnit": limits.unit_m,
        "baseNAlignUnit": limits.unit_n,
        "cubeBoundEdgeRaw": search.rates.edge,
        "cubeBoundEdgeFinal": best.edge,
        "cubeBoundParam": best.param,
        "balanceRate": best.rate,
        "candidateCount": search.candidates,
        "updateCount": len(search.updates),
    }
