"""Recorded calls as rows of a table; figures of ASW_BASIC are empty where another branch has the call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pantile.conform.cann.cases import common_fields
from pantile.conform.cann.inputs import normalised_case, refused_by_all
from pantile.conform.cann.launched import launched
from pantile.conform.case import case_name, outcome_of
from pantile.conform.compare import KNOWN, Difference
from pantile.conform.faults import WrongInput, wrong_input
from pantile.conform.result import CaseOutcome
from pantile.planners.cann.asw_basic import asw_basic

if TYPE_CHECKING:
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


def table_outcomes(value: dict[str, Any], stem: str) -> list[CaseOutcome]:
    """Return one outcome per row of a table.

    Raises:
        WrongInput: If the table's columns or platforms cannot be what its rows speak of.
    """
    columns, rows, meta = value["columns"], value["rows"], value.get("meta")
    platforms = meta.get("platforms") if isinstance(meta, dict) else None
    if not all(isinstance(name, str) for name in columns):
        raise wrong_input("columns", "names", columns)
    if not isinstance(rows, list):
        raise wrong_input("rows", "a list of rows", rows)
    if not isinstance(platforms, list):
        raise wrong_input("meta.platforms", "a list of platforms", platforms)
    return [_row_outcome(row, columns, platforms, f"{stem}[{at}]") for at, row in enumerate(rows)]


def _row_outcome(row: Any, columns: list[str], platforms: list[Any], place: str) -> CaseOutcome:
    """Return the outcome of one row; *place* names it where it has no name."""
    if not isinstance(row, list) or len(row) != len(columns):
        got = f"{len(row)} entries" if isinstance(row, list) else row
        wrong = wrong_input("", f"a row of {len(columns)} entries", got)
        return CaseOutcome(case=place, difference=wrong.difference)
    named = dict(zip(columns, row, strict=True))

    def compute() -> dict[str, Any]:
        return _computed_row(named, platforms)

    return outcome_of(case_name(named, place), named, compute, field="branch", wanted="a call that is taken")


def _computed_row(row: dict[str, Any], platforms: list[Any]) -> dict[str, Any]:
    at = row.get("platform_index")
    if not isinstance(at, int) or isinstance(at, bool) or not 0 <= at < len(platforms):
        raise wrong_input("platform_index", f"a position among {len(platforms)} platforms, from 0", at)
    given, f = normalised_case(row, platforms[at], at="")
    if refusal := refused_by_all(given):
        raise WrongInput(Difference("branch", row.get("branch"), refusal))
    ours: dict[str, Any] = {**dict.fromkeys(_INPUTS, KNOWN), **_computed(given, f)}
    if ours["branch"] != "ASW_BASIC":  # its columns are empty, as they must be
        ours |= {key: None for key, value in row.items() if key not in ours and value is None}
    return ours


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
    if common["branch"] == "ASW_BASIC":
        return computed | _asw_columns(f)
    stated = launched(f, common["branch"])
    if "tilingKey" in stated:
        computed["tilingKey"] = stated["tilingKey"]["value"]
    if "blockDim" in stated:
        computed["blockDim"] = stated["blockDim"]
    return computed


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
