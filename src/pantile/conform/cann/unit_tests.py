"""Figures that the operator's own unit tests expect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pantile.conform.cann.cases import common_fields
from pantile.conform.cann.inputs import normalised_case
from pantile.conform.cann.launched import launched
from pantile.conform.case import case_name, outcome_of
from pantile.conform.compare import KNOWN
from pantile.conform.faults import wrong_input
from pantile.conform.result import CaseOutcome
from pantile.planners.cann.asw_basic import asw_basic

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pantile.planners.cann.figures import Figures
    from pantile.planners.cann.normalise import Normalised

_INPUTS = (
    "id",
    "a",
    "b",
    "c",
    "bias_shape",
    "a_stride",
    "b_stride",
    "a_storage_shape",
    "b_storage_shape",
    "adj_x1",
    "adj_x2",
    "dtype",
    "enable_hf32",
    "harness_matches",
    "layout",
    "tiling_data_note",
)
_WORDS = "expected_tiling_data_int32"
_ROW_STRIDE = 21


def unit_test_outcomes(value: dict[str, Any], stem: str) -> list[CaseOutcome]:
    """Return one outcome per unit test of a file.

    Raises:
        WrongInput: If the file does not say on which platform they run.
    """
    meta = value.get("meta")
    platform = meta.get("platform") if isinstance(meta, dict) else None
    if not isinstance(platform, dict):
        raise wrong_input("meta.platform", "a platform", platform)
    return [_outcome(case, platform, f"{stem}[{at}]") for at, case in enumerate(value["cases"])]


def _outcome(case: Any, platform: Mapping[str, Any], place: str) -> CaseOutcome:
    """Return the outcome of one unit test; *place* names it where it has no name."""
    if not isinstance(case, dict):
        return CaseOutcome(case=place, difference=wrong_input("", "an object", case).difference)
    call = {**case, **{f"{letter}_shape": case[letter] for letter in "abc" if letter in case}}

    def compute() -> dict[str, Any]:
        given, f = normalised_case(call, platform, at="")
        return {**dict.fromkeys(_INPUTS, KNOWN), **_computed(given, f, case)}

    return outcome_of(case_name(case, place), case, compute, field="a", wanted="a call that is taken")


def _computed(given: Normalised, f: Figures, case: Mapping[str, Any]) -> dict[str, Any]:
    branch = common_fields(given, f)["branch"]
    computed: dict[str, Any] = {"harness_branch": branch}
    if branch == "ASW_BASIC":
        asw = asw_basic(f)
        computed |= {
            "expected_block_dim": f.cores,
            "expected_tiling_key": asw.key.value,
            _WORDS: _as_listed(asw.packed.words, case.get(_WORDS)),
        }
        return computed
    stated = launched(f, branch)
    if "tilingKey" in stated:
        computed["expected_tiling_key"] = stated["tilingKey"]["value"]
    if "blockDim" in stated:
        computed["expected_block_dim"] = stated["blockDim"]
    return computed


def _as_listed(words: list[int], listed: Any) -> list[Any]:
    """Return our words as a unit test lists them.

    Some lists are from before there was a rowStride. A null is no word: one was put into the list of 25
    words of a test that has its rowStride.
    """
    ours: list[Any] = list(words)
    if not isinstance(listed, list):
        return ours
    if len([word for word in listed if word is not None]) == len(words) - 1:
        del ours[_ROW_STRIDE]
    for at, word in enumerate(listed):
        if word is None:
            ours.insert(at, None)
    return ours
