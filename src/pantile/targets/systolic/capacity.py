"""How full the memories of a systolic NPU get.

Source: onnxim-model.md section 8: space is given out in whole requests, and an output block of the
accumulator counts one request per row, whatever its true size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.check.capacity import Usage
from pantile.program.tables import Kind, Mode
from pantile.targets.systolic.counting import TileRequests, count_requests
from pantile.targets.systolic.rows import SCRATCHPAD
from pantile.targets.systolic.tiles import tiles_of

if TYPE_CHECKING:
    from pantile.program.program import Program
    from pantile.targets.systolic.config import SystolicConfig

ACCUMULATOR_ELEMENT_BYTES = 4  # ONNXim: FP32 sums whatever the precision


def memory_usages(
    program: Program, config: SystolicConfig, counts: TileRequests | None = None
) -> tuple[Usage, Usage]:
    """Return the fullest that a scratchpad half and an accumulator half get, in both countings.

    Args:
        program: What runs.
        config: The machine; of halves that differ between cores the smallest counts, as any tile may
            run on any core.
        counts: Requests of the program's tiles, where the caller has them.
    """
    counts = counts or count_requests(program, config)
    physical = [_physical_bytes(program, piece.tables) for piece in program.pieces]
    usages = []
    for memory, granules, sizes, at in (
        ("scratchpad", counts.scratchpad, config.scratchpad_bytes, 0),
        ("accumulator", counts.accumulator, config.accumulator_bytes, 1),
    ):
        fullest = max(range(len(physical)), key=lambda place: physical[place][at], default=0)
        counted, capacity = int(granules.max(initial=0)) * config.request_bytes, min(sizes) // 2
        culprit = int(tiles_of(program)["piece"][granules.argmax()]) if counted > capacity else fullest
        usages.append(
            Usage(
                memory=memory,
                counted_bytes=counted,
                physical_bytes=physical[fullest][at] if physical else 0,
                capacity_bytes=capacity,
                operation=int(program.pieces[culprit].tables["op"]["id"][0]) if physical else 0,
            )
        )
    return usages[0], usages[1]


def _physical_bytes(program: Program, tables: dict[str, np.ndarray]) -> tuple[int, int]:
    """Bytes of elements that one tile holds in a scratchpad half and in an accumulator half."""
    access = tables["access"]
    loaded = (access["mode"] == Mode.WRITE) & (access["space"] == SCRATCHPAD)
    kept = [axis for axis, name in enumerate(program.axes) if name not in program.reductions]
    boxes = tables["box"][tables["op"]["kind"] == Kind.COMPUTE]
    blocks = np.unique(np.hstack([boxes["lo"][:, kept], boxes["length"][:, kept]]), axis=0)
    outputs = int(blocks[:, len(kept) :].prod(axis=1).sum()) if len(blocks) else 0
    return int(access["length"][loaded].sum()), outputs * ACCUMULATOR_ELEMENT_BYTES
