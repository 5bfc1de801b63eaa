"""Operand tiles: identity, bytes, and which copy serves a tile."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.errors import MappingError
from pantile.tiling.domain import Domain
from pantile.tiling.notation import tiling
from pantile.tiling.tile import Tile
from pantile.tiling.tiling import Level, Tiling
from pantile.workload.dtypes import dtype

PING_PONG = tiling(total=(32, 32, 128), D=(2, 2, 4), T=(2, 2, 2), S=(8, 8, 16))


def test_the_path_loses_the_dimensions_that_the_operand_lacks() -> None:
    tile = Tile(PING_PONG, ((0, 1, 2), (1, 0, 1)), location="core")
    assert tile.X.path == ((0, 2), (1, 1))
    assert tile.W.path == ((1, 2), (0, 1))
    assert tile.Y.path == ((0, 1), (1, 0))
    assert tile.X.box == (range(8, 16), range(80, 96))  # t, i
    assert tile.W.box == (range(16, 24), range(80, 96))  # o, i
    assert tile.Y.box == (range(8, 16), range(16, 24))  # t, o
    assert tile.Y.dimensions == ("t", "o")
    assert (tile.X.level, str(tile.X)) == ("T", "X D (0, 2) T (1, 1) at core")


def test_compute_tiles_share_operand_tiles() -> None:
    """Section 3: reuse comes from identity; 16 D tiles share 8 tiles of X, 8 of W and 4 of Y."""
    tiles = list(Tile(PING_PONG).children())
    for operand, distinct, uses in (("X", 8, 2), ("W", 8, 2), ("Y", 4, 4)):
        seen = Counter(tile.operand(operand) for tile in tiles)
        assert len(seen) == distinct
        assert set(seen.values()) == {uses}


def test_the_location_is_no_part_of_the_identity() -> None:
    here, there = Tile(PING_PONG, (0, 1, 2), location="a"), Tile(PING_PONG, (0, 0, 2), location="b")
    assert here.X == there.X
    assert hash(here.X) == hash(there.X)
    assert (here.X.location, there.X.location) == ("a", "b")
    assert here.X != here.W
    assert here.X != Tile(PING_PONG, (1, 1, 2)).X


def test_bytes_are_those_of_the_clipped_block() -> None:
    """A nominal 16 x 32 tile of X, clipped to 14 x 32 of a 30 row product; 4-bit elements share bytes."""
    tile = Tile(tiling(total=(30, 32, 128), D=(2, 2, 4), S=(16, 16, 32)), (1, 0, 0))
    assert tile.X.size == (14, 32)
    assert tile.X.bytes(dtype("bf16")) == 14 * 32 * 2
    assert tile.Y.bytes(dtype("fp32")) == 14 * 16 * 4
    odd = Tile(tiling(total=(3, 1, 3), S=...))
    assert odd.X.bytes(dtype("int4")) == 5  # 9 half bytes


def test_an_operand_that_is_held_is_served_by_the_copy_around() -> None:
    """Section 2: with X=("D", "S"), X is not moved with a T tile; W, which names nothing, is."""
    cut = tiling(total=(8, 8, 8), D=(2, 2, 2), T=(2, 2, 2), S=..., X=("D", "S"), Y="T")
    tile = Tile(cut, ((0, 1, 1), (1, 0, 1)), location="core")
    assert tile.held("X") == Tile(cut, (0, 1, 1)).X
    assert tile.held("X").location == "core"
    assert tile.held("W") == tile.W
    assert tile.child((0, 0, 0)).held("X") == tile.child((0, 0, 0)).X
    assert Tile(cut, (0, 1, 1)).held("Y") == Tile(cut).Y  # moved inside only: the whole output is held


def test_operand_tiles_nest_or_are_disjoint() -> None:
    outer, inner = Tile(PING_PONG, (0, 1, 2)), Tile(PING_PONG, ((0, 0, 2), (1, 0, 0)))
    assert outer.X.contains(inner.X)
    assert not outer.X.disjoint(inner.X)
    assert outer.Y.disjoint(inner.Y)
    with pytest.raises(MappingError, match="are not of one operand of one tiling"):
        outer.X.contains(inner.W)


def test_the_work_of_an_output_tile_counts_its_whole_reduction() -> None:
    """16 x 16 outputs over 128 reduction steps; an input tile of 16 x 32 serves 32 outputs each."""
    tile = Tile(PING_PONG, (0, 0, 0))
    assert tile.Y.work == 16 * 16 * 128
    assert tile.X.work == 16 * 32 * 32


def test_a_masked_block_is_moved_whole_but_not_used_whole() -> None:
    """Rows 0 and 1 of a triangle t >= o use 3 of 4 outputs; the block is 2 x 2."""
    cut = tiling(total=(4, 4, 3), domain=Domain("t >= o"), D=(2, 2, 1), S=...)
    tile = Tile(cut, (0, 0, 0))
    assert (tile.Y.elements, tile.Y.used_elements, tile.Y.work) == (4, 3, 9)
    assert (tile.X.elements, tile.X.used_elements) == (6, 6)
    assert tile.Y.bytes(dtype("int8")) == 4


def test_a_tiling_without_a_sum_has_no_operands() -> None:
    tile = Tile(Tiling(("m",), (4,), (Level("tile", (4,)),)))
    with pytest.raises(MappingError, match=r"no operand 'X'; give the tiling its sum"):
        tile.operand("X")
    with pytest.raises(MappingError, match="no operand 'Z'; allowed here: W, X, Y"):
        Tile(PING_PONG).operand("Z")
    with pytest.raises(AttributeError, match="a tile has no 'Z'"):
        _ = Tile(PING_PONG).Z


spaces = st.builds(
    lambda total, factors, where: (total, factors, where),
    st.tuples(*[st.integers(1, 6)] * 3),
    st.tuples(*[st.integers(1, 3)] * 3),
    st.sampled_from(["", "t >= o", "t + i >= o", "2*t >= i, o <= i"]),
)


@settings(max_examples=60, deadline=None)
@given(spaces)
def test_used_elements_and_work_are_those_of_the_points(
    space: tuple[tuple[int, int, int], tuple[int, int, int], str],
) -> None:
    total, factors, where = space
    domain = Domain(where) if where else Domain()
    try:
        cut = tiling(total=total, domain=domain, D=factors, S=...)
    except MappingError:
        return
    points = [
        point
        for point in product(*map(range, total))
        if domain.contains(dict(zip("toi", point, strict=True)))
    ]
    for tile in Tile(cut).children():
        for name, axes in cut.operand_axes.items():
            operand = tile.operand(name)
            hits = [
                tuple(point[axis] for axis in axes)
                for point in points
                if all(point[axis] in side for axis, side in zip(axes, operand.box, strict=True))
            ]
            assert operand.work == len(hits)
            assert operand.used_elements == len(set(hits))
