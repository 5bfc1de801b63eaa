"""Tiles: nominal and actual sizes, containment, and exact coverage."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pantile.errors import MappingError
from pantile.tiling.tile import Tile
from pantile.tiling.tiling import Level, Tiling

SHORT_TAIL = Tiling(
    ("m", "n", "k"),
    (50, 46, 70),
    (Level("tile", (3, 2, 3)), Level("block", (3, 3, 4)), Level("element", (8, 8, 8))),
)
"""Seed 5.6: ``[T] N50 C70 M46 - [O] N3 C3 M2 - [I] N24 C32 M24`` on an 8x8 array."""


def children(tile: Tile) -> list[Tile]:
    """Every child that exists."""
    factors = tile.tiling.levels[len(tile.path)].factors
    found = []
    for index in product(*map(range, factors)):
        try:
            found.append(tile.child(index))
        except MappingError:
            continue
    return found


def test_the_last_tile_of_the_short_tail() -> None:
    """Seed 5.6: N starts at 48 with 2 left, M at 24 with 22, C at 64 with 6; 264 MACs."""
    tile = Tile(SHORT_TAIL, ((2, 1, 2),))
    assert tile.start == (48, 24, 64)
    assert tile.nominal_size == (24, 24, 32)
    assert tile.size == (2, 22, 6)
    assert tile.box == (range(48, 50), range(24, 46), range(64, 70))
    assert tile.volume == 264


def test_the_short_tails_blocks_are_96_96_and_72_macs() -> None:
    blocks = children(Tile(SHORT_TAIL, ((2, 1, 2),)))
    assert [(block.size, block.volume) for block in blocks] == [
        ((2, 8, 6), 96),
        ((2, 8, 6), 96),
        ((2, 6, 6), 72),
    ]


def test_the_corner_tile_of_bert_has_384_blocks_and_a_full_one_800() -> None:
    """Seed 5.5: ``[T] N512 C512 M1024 - [O] N13 C2 M26 - [I] N40 C256 M40``; 3*4*32 against 5*5*32."""
    levels = (Level("tile", (13, 26, 2)), Level("block", (5, 5, 32)), Level("element", (8, 8, 8)))
    bert = Tiling(("m", "n", "k"), (512, 1024, 512), levels)
    corner, full = Tile(bert, ((12, 25, 1),)), Tile(bert, ((0, 0, 0),))
    assert corner.size == (32, 24, 256)
    assert (len(children(corner)), len(children(full))) == (384, 800)


@st.composite
def tilings(draw: st.DrawFn) -> Tiling:
    axes = draw(st.integers(1, 2))
    levels = draw(st.lists(st.tuples(*[st.integers(1, 4)] * axes), min_size=1, max_size=3))
    covers = [prod(level[axis] for level in levels) for axis in range(axes)]
    total = tuple(draw(st.integers(1, cover)) for cover in covers)
    named = tuple(Level(f"level{depth}", each) for depth, each in enumerate(levels))
    return Tiling(tuple("mn"[:axes]), total, named)


@given(tilings())
def test_children_cover_their_parent_exactly_once(tiling: Tiling) -> None:
    tiles = [Tile(tiling)]
    for _ in tiling.levels:
        for tile in tiles:
            points = Counter(point for child in children(tile) for point in product(*child.box))
            assert points == Counter(product(*tile.box))
            assert tile.volume == sum(child.volume for child in children(tile))
        tiles = [child for tile in tiles for child in children(tile)]
    assert {tile.volume for tile in tiles} == {1}


@given(tilings(), st.data())
def test_two_tiles_nest_or_share_nothing(tiling: Tiling, data: st.DataObject) -> None:
    tiles = [Tile(tiling), *children(Tile(tiling))]
    tiles += [child for tile in tiles[1:3] if len(tiling.levels) > 1 for child in children(tile)]
    one, other = data.draw(st.sampled_from(tiles)), data.draw(st.sampled_from(tiles))
    shared = set(product(*one.box)) & set(product(*other.box))
    assert one.disjoint(other) == (not shared)
    assert one.contains(other) == (other.path[: len(one.path)] == one.path)
    if one.contains(other):
        assert shared == set(product(*other.box))


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        (((3, 0, 0),), "level 'tile' has no tile"),
        (((0, -1, 0),), "level 'tile' has no tile"),
        (((0, 0),), "level 'tile' has no tile"),
        (((0, 0, 0),) * 4, "a path of 4 indices in 3 levels"),
        (((2, 0, 0), (1, 0, 0)), "starts at"),  # row 56 of 50
    ],
)
def test_tiles_that_do_not_exist_are_refused(path: tuple[tuple[int, ...], ...], problem: str) -> None:
    with pytest.raises(MappingError, match=problem):
        Tile(SHORT_TAIL, path)
