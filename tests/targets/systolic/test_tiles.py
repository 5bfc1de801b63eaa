"""Tiles in the order of creation, their regions and displacements."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.program.program import Program
from pantile.targets.systolic.config import SystolicConfig
from pantile.targets.systolic.tiles import tiles_of
from pantile.tiling.onnxim import LoopCounts
from pantile.workload.matmul import Matmul
from pantile.workload.network import network_of

Lowered = Callable[..., Program]
ConfigOf = Callable[..., SystolicConfig]


def test_the_core_counter_advances_over_empty_tiles(lowered: Lowered, config_of: ConfigOf) -> None:
    # Q5: two of three M tiles hold columns; the third is dropped, and its region is counted all the same.
    program = lowered("[T] N16 C16 M16 - [O] N2 C1 M3 - [I] N8 C16 M8", config_of())
    tiles = tiles_of(program)
    assert tiles["region"].tolist() == [0, 1, 3, 4]
    assert [tuple(index) for index in tiles["index"][:, 1:3].tolist()] == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_displacement_counts_from_the_first_tile_of_a_kind(lowered: Lowered, config_of: ConfigOf) -> None:
    # N 50 in tiles of 16: three whole ones of one kind, and one of 2 rows of its own kind.
    program = lowered("[T] N50 C8 M8 - [O] N4 C1 M1 - [I] N16 C8 M8", config_of())
    tiles = tiles_of(program)
    assert tiles["step"][:, 1].tolist() == [0, 16, 32, 0]
    assert len(set(tiles["piece"][:3].tolist())) == 1
    assert tiles["piece"][3] != tiles["piece"][0]


def test_no_tiles(lowered: Lowered, config_of: ConfigOf) -> None:
    assert len(tiles_of(lowered("[T] N8 C8 M8 - [O] N0 C1 M1 - [I] N8 C8 M8", config_of()))) == 0


@settings(deadline=None, max_examples=40)
@given(data=st.data(), batch=st.integers(1, 3))
def test_one_row_per_instance_of_every_piece(
    lowered_counts: Lowered,
    config_of: ConfigOf,
    product_cuts: st.SearchStrategy[tuple[LoopCounts, LoopCounts, LoopCounts]],
    data: st.DataObject,
    batch: int,
) -> None:
    counts = data.draw(product_cuts)
    total, shape = counts[0], (batch,) if batch > 1 else ()
    product = Matmul(m=total.N, k=total.C, n=total.M, a_batch=shape, b_batch=shape)
    program = lowered_counts(network_of(product), counts, config_of(core_height=4, core_width=4), batch=batch)
    tiles = tiles_of(program)
    found = [(int(tile["piece"]), tuple(tile["index"][:4].tolist())) for tile in tiles]
    expected = [(place, index) for place, piece in enumerate(program.pieces) for index in piece.indices()]
    assert sorted(found) == sorted(expected)
    assert found == sorted(found, key=lambda each: each[1])
    for tile in tiles:
        piece = program.pieces[tile["piece"]]
        first = piece.tables["box"]
        moved = piece.instance(tuple(tile["index"][:4].tolist()))["box"]
        assert np.array_equal(moved["lo"], first["lo"] + tile["step"] * (first["length"] > 0))
        assert tile["accumulates"] == (tile["index"][3] > 0)
