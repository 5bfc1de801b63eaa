"""Recorded calls with everything that the operator's tiling computes for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pantile.conform.cann.inputs import normalised_case, refused_by_all
from pantile.conform.cann.launched import launched
from pantile.conform.case import case_name, outcome_of
from pantile.conform.compare import KNOWN, Difference
from pantile.conform.faults import WrongInput, wrong_input
from pantile.conform.result import CaseOutcome
from pantile.errors import OutsideModelError, PantileError
from pantile.planners.cann.asw_basic import WORKSPACE_BYTES, asw_basic
from pantile.planners.cann.gates import BRANCHES, gate, window_length
from pantile.planners.cann.planner import normalized_json

if TYPE_CHECKING:
    from pantile.planners.cann.figures import Figures
    from pantile.planners.cann.normalise import Normalised

_REMARKS = ("id", "note", "input", "platform")
_SUCCESS = "success"


def case_outcome(case: Any, place: str) -> CaseOutcome:
    """Return the outcome of one recorded call; *place* names it where it has no name."""
    if not isinstance(case, dict):
        return CaseOutcome(case=place, difference=wrong_input("", "an object", case).difference)
    name = case_name(case, place)

    def compute() -> dict[str, Any]:
        return {**dict.fromkeys(_REMARKS, KNOWN), **_computed(case)}

    return outcome_of(name, case, compute, field="input", wanted="a call")


def _computed(case: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a call, taken or refused as the file has it.

    Raises:
        WrongInput: If an input cannot be one, or if the call is refused here and not there, or the other way.
        OutsideModelError: If it is not said whole.
    """
    expected = case.get("status", _SUCCESS)
    try:
        given, f = normalised_case(case.get("input"), case.get("platform"))
        refusal = refused_by_all(given)
    except OutsideModelError:
        raise
    except PantileError as error:
        refusal = " ".join(str(error).splitlines())
    if bool(refusal) != (expected != _SUCCESS):
        raise WrongInput(Difference("status", expected, refusal or _SUCCESS))
    if refusal:  # the words may differ
        return {"status": expected, "errors": KNOWN}
    return computed_case(given, f)


def computed_case(given: Normalised, f: Figures) -> dict[str, Any]:
    """Return the fields of a call that is taken.

    Of branches other than ASW_BASIC nothing is compared but what :func:`common_fields` and
    :func:`launched` give.
    """
    computed = common_fields(given, f)
    taken = computed["branch"] == "ASW_BASIC"
    if not taken:
        computed |= launched(f, computed["branch"])
    if f.k == 0:
        return computed
    asw = asw_basic(f)
    run_info, words, key = asw.run_info.to_json(), asw.packed.words, asw.key.to_json()
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
