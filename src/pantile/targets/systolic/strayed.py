"""Tiles of a run that added to another output's accumulator half.

Source: onnxim-model.md section 5, quirk Q28: a tile that continues a reduction takes the half of the tile
that is resident when it is issued. Where a younger tile has finished before an older one, that is the half
of another output, and what the tile computes is lost there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pantile.targets.systolic.stream import TILE_ACCUMULATES, TILE_LAYER, TILE_REGION, Stream

if TYPE_CHECKING:
    from pantile.targets.systolic.result import SystolicResult


def strayed_tiles(stream: Stream, result: SystolicResult) -> npt.NDArray[np.bool_]:
    """Return, for every tile in creation order, whether it used another half than the stage before it."""
    tiles, halves = stream.tiles, result.tiles["accumulator_half"]
    strayed = np.zeros(len(tiles), np.bool_)
    # The stages of an output are created one after the other.
    continues = tiles[1:, TILE_ACCUMULATES] > 0
    for column in (TILE_LAYER, TILE_REGION):
        continues &= tiles[1:, column] == tiles[:-1, column]
    strayed[1:] = continues & (halves[1:] != halves[:-1])
    return strayed
