"""Figures that the operator's own unit tests expect."""

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


def unit_test_outcome(case: dict[str, Any], platform: Mapping[str, Any]) -> CaseOutcome:
    """Return the outcome of one unit test."""
    name = str(case.get("id", ""))
    shapes = {f"{letter}_shape": case[letter] for letter in "abc"}
    try:
        given, f = normalised_case({**case, **shapes}, platform)
        computed = _computed(given, f, case)
    except NotSaid as open_:
        return CaseOutcome(case=name, skipped=str(open_))
    except PantileError as error:
        return CaseOutcome(case=name, difference=Difference("input", "a call that is taken", str(error)))
    except Exception as error:  # a crash on one case is that case's failure, and must not hide the others
        return CaseOutcome(case=name, difference=defect(error, "input", "a plan"))
    return judged(name, compare(case, {**dict.fromkeys(_INPUTS, KNOWN), **computed}))


def _computed(given: Normalised, f: Figures, case: Mapping[str, Any]) -> dict[str, Any]:
    branch = common_fields(given, f)["branch"]
    computed: dict[str, Any] = {"harness_branch": branch}
    if branch == "ASW_BASIC":
        asw = asw_basic(f)
        computed |= {
            "expected_block_dim": f.cores,
            "expected_tiling_key": asw.key.value,
            _WORDS: _as_listed(asw.packed.words, case.get(_WORDS) or []),
        }
    return computed


def _as_listed(words: list[int], listed: list[Any]) -> list[Any]:
    """Return our words as a unit test lists them.

    Some lists are from before there was a rowStride. A null is no word: one was put into the list of 25
    words of a test that has its rowStride.
    """
    ours: list[Any] = list(words)
    if len([word for word in listed if word is not None]) == len(words) - 1:
        del ours[_ROW_STRIDE]
    for at, word in enumerate(listed):
        if word is None:
            ours.insert(at, None)
    return ours
