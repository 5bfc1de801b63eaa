"""Recorded calls with everything that the operator's tiling computes for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pantile.conform.cann.inputs import NotSaid, normalised_case, refused_by_all
from pantile.conform.compare import KNOWN, Difference, compare
from pantile.conform.onnxim.session import defect
from pantile.conform.result import CaseOutcome, judged
from pantile.errors import PantileError
from pantile.planners.cann.asw_basic import WORKSPACE_BYTES, asw_basic
from pantile.planners.cann.gates import BRANCHES, gate, window_length
from pantile.planners.cann.planner import normalized_json

if TYPE_CHECKING:
    from pantile.planners.cann.figures import Figures
    from pantile.planners.cann.normalise import Normalised

_REMARKS = ("id", "note", "input", "platform")
_SUCCESS = "success"


def case_outcome(case: dict[str, Any], stem: str) -> CaseOutcome:
    """Return the outcome of one recorded call."""
    name = str(case.get("id", stem))
    try:
        given, f = normalised_case(case["input"], case["platform"])
        refusal = refused_by_all(given)
        computed = {} if refusal else computed_case(given, f)
    except NotSaid as open_:
        return CaseOutcome(case=name, skipped=str(open_))
    except PantileError as error:
        refusal, computed = str(error), {}
    except Exception as error:  # a crash on one case is that case's failure, and must not hide the others
        return CaseOutcome(case=name, difference=defect(error, "input", "a plan"))
    if refusal or case.get("status", _SUCCESS) != _SUCCESS:
        return _refused(case, name, refusal)
    return judged(name, compare(case, {**dict.fromkeys(_REMARKS, KNOWN), **computed}))


def _refused(case: dict[str, Any], name: str, refusal: str) -> CaseOutcome:
    """Return the outcome where the operator, or this program, refuses a call; the words may differ."""
    expected = case.get("status", _SUCCESS)
    if bool(refusal) != (expected != _SUCCESS):
        return CaseOutcome(case=name, difference=Difference("status", expected, refusal or _SUCCESS))
    return judged(name, compare({"status": expected}, {"status": expected}))


def computed_case(given: Normalised, f: Figures) -> dict[str, Any]:
    """Return the fields of a call that is taken.

    Of branches other than ASW_BASIC only what :func:`common_fields` gives is compared.
    """
    computed = common_fields(given, f)
    if f.k == 0:
        return computed
    asw = asw_basic(f)
    run_info, words, key = asw.run_info.to_json(), asw.packed.words, asw.key.to_json()
    taken = computed["branch"] == "ASW_BASIC"
    if taken:
        computed |= {
            "tilingKey": key,
            "blockDim": f.cores,
            "branchRunInfo": run_info,
            "tilingDataInt32": words,
            "workspaceBytes": WORKSPACE_BYTES,
        }
    computed["aswBasic"] = {
        "isCapable": computed["capable"]["ASW_BASIC"],
        "runInfo": run_info,
        "baseN_afterAdjust": asw.adjusted_n,
        "tilingData": asw.packed.to_json(),
        "tilingKey": key,
        "numBlocks": f.cores,
        "aswWindowLen": window_length(f.cores),
        "search": asw.search.to_json(f),
        "forced": not taken,
    }
    return computed


def common_fields(given: Normalised, f: Figures) -> dict[str, Any]:
    """Return what is computed whatever the branch: the problem, the branch, and who would take it."""
    capable = {name: gate(f, branch) == 0 for branch, name in enumerate(BRANCHES)}
    return {
        "status": _SUCCESS,
        "errors": [],
        "normalized": normalized_json(given),
        "branch": next(name for name, takes in capable.items() if takes),
        "capable": capable,
    }
