"""Why each recorded instruction issued when it did.

Source: onnxim-model.md section 7, step 8: an instruction leaves its tile when the one before it has left,
its entries are valid and the pipeline has room, and it is the tile's turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.program.tables import TIMELINE, ReleasedBy
from pantile.targets.systolic.result import TERMS
from pantile.targets.systolic.stream import (
    COMPUTE_START,
    COMPUTE_STOP,
    KIND_OPS,
    LOAD_START,
    LOAD_STOP,
    MOVE_ENTRY,
    MOVE_SPACE,
    RUN_COUNT,
    RUN_DEST,
    RUN_FIRST,
    RUN_SECOND,
    STORE_START,
    STORE_STOP,
    TILE_KIND,
    TILE_LAYER,
    TILE_OP,
    TILE_REGION,
    Stream,
)

if TYPE_CHECKING:
    from pantile.targets.systolic.config import SystolicConfig
    from pantile.targets.systolic.result import SystolicResult

Moment = tuple[int, int]
"""A cycle, and the instruction that decides it; -1 where none does."""

_CLASS = {
    ReleasedBy.PROGRAM: TERMS.index("issue"),
    ReleasedBy.COUNTER: TERMS.index("wait-load"),
    ReleasedBy.SLOT: TERMS.index("wait-slot"),
    ReleasedBy.ARBITER: TERMS.index("issue"),
    ReleasedBy.RESOURCE: TERMS.index("compute"),
}


def timeline_of(stream: Stream, config: SystolicConfig, result: SystolicResult) -> np.ndarray:
    """Return rows of ``TIMELINE`` for the recorded instructions of a run, in core cycles.

    ``ready`` is the first cycle in which nothing but other tiles' turns kept the instruction back;
    ``released_by`` says what was the last to hold it until then, and ``releaser`` which instruction that
    was. Instructions before the recorded window are not looked at: what they released counts as program
    order.
    """
    times, first = result.operations, result.first_operation
    rows = np.zeros(len(times), TIMELINE)
    rows["op"] = np.arange(len(times)) + first
    for column in ("issue", "start", "finish"):
        rows[column] = times[column]
    room = _pipeline_room(stream, config, result)
    contributions: dict[tuple[int, int, int], Moment] = {}
    stop = first + len(times)
    for position, tile in enumerate(stream.tiles):
        if tile[TILE_KIND] < 0 or tile[TILE_OP] >= stop:
            continue
        if tile[TILE_OP] + stream.kinds[tile[TILE_KIND], KIND_OPS] > first:
            _tile_rows(stream, result, position, rows, room, contributions)
    return rows


def _tile_rows(
    stream: Stream,
    result: SystolicResult,
    position: int,
    rows: np.ndarray,
    room: dict[int, Moment],
    contributions: dict[tuple[int, int, int], Moment],
) -> None:
    tile = stream.tiles[position]
    kind = stream.kinds[tile[TILE_KIND]]
    times, first = result.operations, result.first_operation
    layer, region = int(tile[TILE_LAYER]), int(tile[TILE_REGION])
    number = int(tile[TILE_OP])
    before: Moment = (int(result.tiles["issue_cycle"][position]), -1)
    loaded: dict[int, Moment] = {}
    slot = True

    def settle(candidates: list[tuple[Moment, ReleasedBy]]) -> int:
        """Fill the next instruction's row; return its place, -1 outside the window."""
        nonlocal before, slot, number
        at = number - first
        number += 1
        if not 0 <= at < len(rows):
            slot = False
            return -1
        (event, releaser), cause = max(
            [(before, ReleasedBy.SLOT if slot else ReleasedBy.PROGRAM), *candidates],
            key=lambda each: each[0][0],
        )
        cycle = event + 1  # what happens in one cycle is seen when the next instruction is chosen
        if int(times["issue"][at]) > cycle:
            cause, releaser = ReleasedBy.ARBITER, -1
        rows["ready"][at], rows["released_by"][at] = cycle, cause
        rows["releaser"][at], rows["class"][at] = releaser, _CLASS[cause]
        before, slot = (int(times["issue"][at]), number - 1), False
        return at

    for move in stream.loads[kind[LOAD_START] : kind[LOAD_STOP]]:
        at = settle([])
        if at >= 0 and not move[MOVE_SPACE]:
            loaded[int(move[MOVE_ENTRY])] = (int(times["finish"][at]), number - 1)
        elif at >= 0:
            contributions[layer, region, int(move[MOVE_ENTRY])] = (int(times["finish"][at]), number - 1)
    for run in stream.computes[kind[COMPUTE_START] : kind[COMPUTE_STOP]]:
        for _ in range(run[RUN_COUNT]):
            waits = [loaded[int(run[each])] for each in (RUN_FIRST, RUN_SECOND) if int(run[each]) in loaded]
            candidates = [(moment, ReleasedBy.COUNTER) for moment in waits]
            if number in room:
                candidates.append((room[number], ReleasedBy.RESOURCE))
            at = settle(candidates)
            if at >= 0:
                key = (layer, region, int(run[RUN_DEST]))
                moment = (int(times["finish"][at]), number - 1)
                contributions[key] = max(contributions.get(key, moment), moment)
    for move in stream.stores[kind[STORE_START] : kind[STORE_STOP]]:
        key = (layer, region, int(move[MOVE_ENTRY]))
        settle([(contributions[key], ReleasedBy.COUNTER)] if key in contributions else [])


def _pipeline_room(stream: Stream, config: SystolicConfig, result: SystolicResult) -> dict[int, Moment]:
    """When the pipeline had room for each recorded compute, and which compute left it then.

    At most H instructions are in flight, so the H-th before it must have retired.
    """
    times, first = result.operations, result.first_operation
    room: dict[int, Moment] = {}
    owner = np.searchsorted(stream.tiles[:, TILE_OP], np.arange(len(times)) + first, side="right") - 1
    cores = result.tiles["core"][owner] if len(times) else np.zeros(0, np.int64)
    is_compute = _compute_mask(stream, first, len(times))
    for core in range(config.cores):
        mine = np.flatnonzero((cores == core) & is_compute)
        mine = mine[np.argsort(times["enter"][mine], kind="stable")]
        height = config.heights[core]
        for late, early in zip(mine[height:], mine[:-height], strict=False):
            room[int(late) + first] = (int(times["finish"][early]), int(early) + first)
    return room


def _compute_mask(stream: Stream, first: int, count: int) -> np.ndarray:
    """Which of the recorded instructions are computes."""
    mask = np.zeros(count, bool)
    for tile in stream.tiles:
        if tile[TILE_KIND] < 0:
            continue
        kind = stream.kinds[tile[TILE_KIND]]
        start = int(tile[TILE_OP] + kind[LOAD_STOP] - kind[LOAD_START]) - first
        stop = int(tile[TILE_OP] + kind[KIND_OPS] - (kind[STORE_STOP] - kind[STORE_START])) - first
        mask[max(0, start) : max(0, stop)] = True
    return mask
