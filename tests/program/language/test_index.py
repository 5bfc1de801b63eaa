"""Numbering operand tiles, and distinct numbers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pantile.language import Tile, Tiling
from pantile.program.language.geometry import geometry_of
from pantile.program.language.index import dense, tile_index
from pantile.program.language.lower import operands_of
from pantile.program.language.recorder import Recording


@given(st.lists(st.integers(0, 2**40)) | st.lists(st.integers(0, 20)))
def test_dense_is_numpys_unique(keys: list[int]) -> None:
    array = np.array(keys, np.int64)
    distinct, back = np.unique(array, return_inverse=True)
    got = dense(array)
    assert got[0].tolist() == distinct.tolist()
    assert got[1].tolist() == back.tolist()


def test_tiles_are_numbered_by_first_mention_and_found_from_inside() -> None:
    tiling = Tiling("ti,oi->to", total=(4, 4, 8), D=(2, 2, 2), T=(2, 1, 1), S=(1, 2, 4))
    recording = Recording(tiling)
    outer = [Tile(tiling, index) for index in ((1, 0, 0), (0, 0, 0), (0, 1, 0))]
    tiles = [*outer, outer[1].child((1, 0, 0)), Tile(tiling)]
    for tile in tiles:
        recording.tile(tile)
    geometry = geometry_of(recording, operands_of(tiling, "int8"))
    x, depth = np.zeros(4, np.int64), np.array([1, 1, 1, 2])
    index = tile_index(geometry, x, np.arange(4), depth, np.zeros(4, np.int64))
    assert index.ids.tolist() == [0, 1, 1, 2]  # the second and the third share their X
    assert index.rows.tolist() == [0, 1, 3]
    here = np.zeros(5, np.int64)
    assert index.nearest(0, np.arange(5), here).tolist() == [0, 1, 1, 2, -1]
    assert index.outermost(0, np.arange(5), here).tolist() == [0, 1, 1, 1, -1]
    assert index.nearest(0, np.arange(5), here + 1).tolist() == [-1] * 5
    assert index.nearest(1, np.arange(5), here).tolist() == [-1] * 5
    assert len(index) == 3
