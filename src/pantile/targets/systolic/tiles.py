"""The tiles of a program in the order in which they are created, and the cores they go to.

Source: onnxim-model.md section 4 (a core counter advances with every output region; a tile without
operations is dropped, and the counter is not rolled back, quirk Q5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pantile.program.tables import MAX_AXES

if TYPE_CHECKING:
    from pantile.program.program import Program

TILE = np.dtype(
    [
        ("piece", "i4"),
        ("region", "i8"),
        ("accumulates", "u1"),
        ("index", "i8", MAX_AXES),
        ("step", "i8", MAX_AXES),
    ]
)
"""One row per tile that exists: its piece, the output region it belongs to (counted with empty ones),
whether it is not the first reduction stage, its loop indices, and how many elements its coordinates
lie beyond those of the piece's first instance, by axis."""


def tiles_of(program: Program) -> npt.NDArray[np.void]:
    """Return rows of :data:`TILE` for every tile of *program*, in creation order."""
    counts = tuple(count for _, count in program.loops)
    pieces = _pieces_at(program, counts)
    if not len(pieces):
        return np.zeros(0, TILE)
    indices = np.stack(np.unravel_index(np.arange(len(pieces)), counts), axis=-1)
    reduces = [name in program.reductions for name, _ in program.loops]
    later: npt.NDArray[np.bool_] = np.any(indices[:, reduces] > 0, axis=1)
    kept = pieces >= 0
    rows = np.zeros(int(kept.sum()), TILE)
    rows["piece"] = pieces[kept]
    rows["region"] = (np.cumsum(~later) - 1)[kept]
    rows["accumulates"] = later[kept]
    rows["index"][:, : len(counts)] = indices[kept]
    for place, piece in enumerate(program.pieces):
        mine = rows["piece"] == place
        steps = rows["index"][mine, : len(counts)] - [loop.first for loop in piece.loops]
        rows["step"][mine, : len(program.axes)] = steps @ np.array([loop.offset for loop in piece.loops])
    return rows


def _pieces_at(program: Program, counts: tuple[int, ...]) -> npt.NDArray[np.int32]:
    """Position of the piece of every index of the nest, the last loop fastest; -1 where no tile is."""
    pieces = np.full(counts, -1, np.int32)
    for place, piece in enumerate(program.pieces):
        pieces[tuple(slice(loop.first, loop.first + loop.count) for loop in piece.loops)] = place
    return pieces.ravel()
