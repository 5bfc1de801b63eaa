"""Lower bounds of a run's cycles, from the work its program holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.targets.systolic.stream import (
    COMPUTE_START,
    COMPUTE_STOP,
    KIND_OPS,
    RUN_COUNT,
    RUN_DEPTH,
    RUN_PRELOAD,
    RUN_ROWS,
    RUN_STEP,
    RUN_WIDTH,
    TILE_KIND,
    Stream,
)

if TYPE_CHECKING:
    from pantile.targets.systolic.config import SystolicConfig
    from pantile.targets.systolic.result import SystolicResult

_LEAST_ROWS = 4  # onnxim-model.md section 7: a compute occupies the array for at least this long


def lower_bounds(stream: Stream, config: SystolicConfig, result: SystolicResult, macs: int) -> dict[str, int]:
    """Return cycles that no run of *stream* with this placement can stay below, by what binds.

    Args:
        stream: What ran.
        config: The machine.
        result: Which core ran which tile, and which channel served how many requests.
        macs: Useful multiply-accumulates of the run.

    Raises:
        AssertionError: If the run did stay below one, which would be a defect.
    """
    cores = range(config.cores)
    block = _largest_block(stream)
    elements = sum(max(h * w, block) for h, w in zip(config.heights, config.widths, strict=True))
    computing = stream.tiles[:, TILE_KIND] >= 0
    kinds, ran = stream.tiles[computing, TILE_KIND], result.tiles["core"][computing]
    issued = np.bincount(ran, stream.kinds[kinds, KIND_OPS], config.cores) if len(kinds) else np.zeros(1)
    array = max(int(_occupancy(stream, config.heights[core])[kinds[ran == core]].sum()) for core in cores)
    moved = np.bincount(
        ran, (result.tiles["read_requests"] + result.tiles["write_requests"])[computing], config.cores
    )
    # Reads that nobody waits for may be under way at the end: a bias of a tile that never stores (Q7).
    responses = result.cores["read_responses"].sum() + result.cores["write_responses"].sum()
    unanswered = int(result.requests_per_channel.sum() - responses)
    served = int(result.requests_per_channel.max(initial=0)) - unanswered
    period = config.core_ps
    bounds = {
        "macs": -(-macs // elements),
        "array": array,
        "issue": int(issued.max()),
        "ports": int(max(moved)) // config.ports * config.noc_ps // period,
        "dram": max(0, served) * config.dram_ps // period,
    }
    for name, bound in bounds.items():
        assert bound <= result.core_ticks, (name, bound, result.core_ticks)
    return bounds


def _largest_block(stream: Stream) -> int:
    """Most products per row of any compute: more than a smaller array has elements (Q10, Q19)."""
    runs = stream.computes
    return int((runs[:, RUN_WIDTH] * np.minimum(runs[:, RUN_STEP], runs[:, RUN_DEPTH])).max(initial=0))


def _occupancy(stream: Stream, height: int) -> np.ndarray:
    """Cycles that the computes of one tile of every kind keep the array from starting others."""
    runs = stream.computes
    rows = np.maximum(runs[:, RUN_ROWS], _LEAST_ROWS)
    # A preload starts at least H cycles after its predecessor; a plain compute needs at least four.
    apart = np.where(runs[:, RUN_PRELOAD] > 0, max(height, _LEAST_ROWS), _LEAST_ROWS)
    totals = [np.concatenate([[0], np.cumsum(runs[:, RUN_COUNT] * each)]) for each in (rows, apart)]
    spans = [total[stream.kinds[:, COMPUTE_STOP]] - total[stream.kinds[:, COMPUTE_START]] for total in totals]
    occupied: np.ndarray = np.maximum(*spans)
    return occupied
