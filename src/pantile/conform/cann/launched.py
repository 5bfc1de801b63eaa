"""What is compared of branches other than ASW_BASIC: how they are launched, as far as the rules say it.

The planner reckons more than this (``other_branches.launch``), but what it concludes from a few recorded runs
is no rule that a file may be failed by.

Source: cann-asw-basic.md sections 3, 4, 6 and 12.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pantile.planners.cann.gates import BRANCHES
from pantile.planners.cann.other_branches import Launch, launch

if TYPE_CHECKING:
    from pantile.planners.cann.figures import Figures

_STATED = {
    "BATCH_MATMUL_INPUT_K_EQUAL_ZERO": ("blockDim",),
    "BATCH_MATMUL_TO_MUL": ("blockDim",),
    "BATCH_STREAM_K": ("workspaceBytes",),
    "ITER_BATCH_BROADCAST_BASICAPI": ("tilingKey",),
    "AL1_FULL_LOAD_BASIC": ("blockDim",),
    "BL1_FULL_LOAD_BASIC": ("blockDim",),
    "BASE": ("tilingKey",),
}
_TILE = (
    *("singleCoreM", "singleCoreN", "singleCoreK", "baseM", "baseN", "baseK"),
    *("stepKa", "stepKb", "depthA1", "depthB1"),
)
_RESET = (
    *("usedCoreNum", "stepM", "stepN", "iterateOrder", "dbL0C", "mBaseTailSplitCnt", "nBaseTailSplitCnt"),
    *("tailMCnt", "tailNCnt", "mTailMain", "nTailMain"),
)
_STATED_STATE = {"BATCH_STREAM_K": (*_TILE, "tailKCnt"), "BASE": (*_RESET, *_TILE)}


def launched(f: Figures, branch: str) -> dict[str, Any]:
    """Return the fields of a case that are stated for *branch*, which is not ASW_BASIC."""
    if not f.k and branch != BRANCHES[0]:
        return {}  # the rules for tiles are about products that have a reduction
    found = launch(f, branch)
    every = _fields(found)
    fields = {name: every[name] for name in _STATED.get(branch, ())}
    if branch in _STATED_STATE and found.run_info is not None:
        state = found.run_info.to_json()
        fields["branchRunInfo"] = {name: state[name] for name in _STATED_STATE[branch]}
    return fields


def _fields(found: Launch) -> dict[str, Any]:
    return {
        "tilingKey": None if found.key is None else found.key.to_json(),
        "blockDim": found.cores,
        "workspaceBytes": found.workspace_bytes,
    }
