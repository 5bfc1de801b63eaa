"""Boxes of tiles as columns: the same as the tiles say themselves."""

from __future__ import annotations

from math import prod
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.errors import ProgramError
from pantile.language import Core, Domain, Tile, Tiling
from pantile.program.language.geometry import ALL, Geometry, geometry_of
from pantile.program.language.lower import operands_of
from pantile.program.language.recorder import Recording


def geometry(tiling: object, tiles: list[Tile]) -> Geometry:
    recording = Recording(tiling)  # type: ignore[arg-type]
    for tile in tiles:
        recording.tile(tile)
    return geometry_of(recording, operands_of(tiling, "int8"))  # type: ignore[arg-type]


def walk(tile: Tile) -> list[Tile]:
    return [tile, *(inner for child in tile.children() for inner in walk(child))]


cuts = st.one_of(
    st.integers(1, 3), st.lists(st.integers(1, 4), min_size=1, max_size=2, unique=True).map(sorted)
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.tuples(*[st.integers(5, 7)] * 3), st.tuples(cuts, cuts, cuts), st.tuples(*[st.integers(1, 2)] * 3))
def test_boxes_sizes_and_steps_are_those_of_the_tiles(total, outer, inner) -> None:  # type: ignore[no-untyped-def]
    tiling = Tiling("ti,oi->to", total=total, D=outer, T=inner, S=...)
    tiles = [tile for tile in walk(Tile(tiling)) if len(tile.path) < 3]
    made = geometry(tiling, tiles)
    for at, tile in enumerate(tiles):
        chain = [Tile(tiling, tile.path[:depth]) for depth in range(len(tile.path) + 1)]
        chain += [tile] * (3 - len(tile.path))
        assert made.lo[:, :, at].tolist() == [list(each.start) for each in chain]
        assert made.hi[:, :, at].tolist() == [list(each.stop) for each in chain]
        assert made.points[at] == tile.volume
        for number, name in enumerate("XWY"):
            assert made.sizes(number, np.array([at]), -1).tolist() == [tile.operand(name).elements]
    all_tiles = np.arange(len(tiles))
    assert made.first_step(all_tiles).tolist() == [tile.start[2] == 0 for tile in tiles]
    assert made.last_step(all_tiles).tolist() == [tile.stop[2] == total[2] for tile in tiles]
    assert len(set(made.number.tolist())) == len(tiles)


@settings(max_examples=40, deadline=None)
@given(st.tuples(*[st.integers(1, 3)] * 3))
def test_keys_tell_operand_tiles_and_places_apart(outer) -> None:  # type: ignore[no-untyped-def]
    tiling = Tiling("ti,oi->to", total=(6, 6, 6), D=outer, S=...)
    tiles = [tile for tile in walk(Tile(tiling)) if len(tile.path) == 1]
    made = geometry(tiling, tiles)
    numbers = np.arange(len(tiles))
    places = numbers % 2
    for operand, name in ((0, "X"), (1, "W"), (2, "Y"), (ALL, "")):
        keys = made.keys(operand, numbers, 1, places).tolist()
        identity = [
            (tile.operand(name).path if name else tile.path, place)
            for tile, place in zip(tiles, places.tolist(), strict=True)
        ]
        for one in range(len(tiles)):
            assert [key == keys[one] for key in keys] == [each == identity[one] for each in identity]


def test_operand_tiles_have_their_own_dimensions() -> None:
    tiling = Tiling("ti,oi->to", total=(4, 4, 8), D=(2, 2, 2), S=(2, 2, 4))
    tile = Tile(tiling, (1, 0, 1), location=Core(0, 0))
    made = geometry(tiling, [tile, tile.X, tile.Y])
    assert made.operand.tolist() == [ALL, 0, 2]
    assert made.lo[-1, [0, 2], 1].tolist() == [2, 4]
    assert made.lo[-1, [0, 1], 2].tolist() == [2, 0]
    assert made.place.tolist() == [made.place[0]] * 3


def test_numbers_count_the_whole_then_each_level_the_last_index_fastest() -> None:
    tiling = Tiling("ti,oi->to", total=(4, 4, 8), D=(2, 2, 2), T=(1, 1, 2), S=(2, 2, 2))
    tiles = [Tile(tiling), *(Tile(tiling, (0, 0, i)) for i in (0, 1)), Tile(tiling, (1, 1, 1))]
    tiles.append(tiles[-1].child((0, 0, 1)))
    assert geometry(tiling, tiles).number.tolist() == [0, 1, 2, 8, 8 + 16]


def test_points_of_a_domain() -> None:
    tiling = Tiling("ti,oi->to", total=(4, 4, 1), D=(2, 2, 1), S=(2, 2, 1), domain=Domain("t >= o"))
    tiles = [Tile(tiling, index) for index in ((0, 0, 0), (1, 0, 0), (1, 1, 0))]
    assert geometry(tiling, tiles).points.tolist() == [3, 4, 3]


def test_what_cannot_be_numbered_is_refused(kit: SimpleNamespace) -> None:
    tiling = Tiling("ti,oi->to", total=(10**6, 10**6, 10**6), D=(1, 1, 1), S=...)
    with pytest.raises(ProgramError, match=f"{prod(tiling.total)} points are too many to tell apart"):
        geometry(tiling, [Tile(tiling)])
