"""Tiles: nominal and actual sizes, containment, and exact coverage."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import prod

import islpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.errors import MappingError
from pantile.tiling.domain import Domain
from pantile.tiling.notation import tiling
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


PING_PONG = tiling(total=(32, 32, 128), D=(2, 2, 4), T=(2, 2, 2), S=(8, 8, 16))
"""The tiling of section 8."""


def test_a_tile_by_one_index_or_by_its_path() -> None:
    tile = Tile(PING_PONG, (0, 1, 2), location="core")
    assert tile == Tile(PING_PONG, ((0, 1, 2),), location="core")
    assert (tile.level, tile.box) == ("D", (range(16), range(16, 32), range(64, 96)))
    child = tile.child((1, 0, 1))
    assert child == Tile(PING_PONG, ((0, 1, 2), (1, 0, 1)), location="core")
    assert (child.level, child.box) == ("T", (range(8, 16), range(16, 24), range(80, 96)))
    assert child.parent == tile
    assert Tile(PING_PONG).parent is None
    assert str(child) == "D (0, 1, 2) T (1, 0, 1) at core"
    assert repr(Tile(PING_PONG)) == "Tile(whole space)"
    assert Tile(PING_PONG).nominal_size == (32, 32, 128)
    assert tile != (tile.path, "core")


def test_the_location_is_part_of_a_tile() -> None:
    here, there = Tile(PING_PONG, (0, 0, 0), location="a"), Tile(PING_PONG, (0, 0, 0), location="b")
    assert here != there
    assert here.at("b") == there
    assert len({here, there, here.at("b")}) == 2
    assert here.contains(there)  # the elements are the same


def test_a_size_may_be_left_out_but_must_be_right() -> None:
    """The last tile of the short tail is nominally 24 x 24 x 32, actually 2 x 22 x 6."""
    cut = SHORT_TAIL
    assert Tile(cut, (2, 1, 2), size=(24, 24, 32)) == Tile(cut, (2, 1, 2), size=(2, 22, 6))
    with pytest.raises(
        MappingError, match=r"size of .* is \(2, 22, 6\), nominally \(24, 24, 32\), got \(2, 2, 2\)"
    ):
        Tile(cut, (2, 1, 2), size=(2, 2, 2))


def test_an_element_has_no_child() -> None:
    element = Tile(PING_PONG, ((0, 0, 0),) * 3)
    assert list(element.children()) == []
    with pytest.raises(MappingError, match="is an element: there is no further level"):
        element.child((0, 0, 0))


def test_a_tile_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Tile(PING_PONG).path = ((0, 0, 0),)  # type: ignore[misc]


def test_an_irregular_cut_keeps_the_length_of_each_piece() -> None:
    """30 cut at 4 and 10 is 4, 6 and 20; blocks of 5 are clipped at each end."""
    cut = tiling("tk,ok->to", total=(30, 1, 1), D=([4, 10], 1, 1), T=(4, 1, 1), S=(5, 1, 1))
    pieces = [Tile(cut, (piece, 0, 0)) for piece in range(3)]
    assert [piece.nominal_size[0] for piece in pieces] == [4, 6, 20]
    assert [[child.size[0] for child in piece.children()] for piece in pieces] == [[4], [5, 1], [5, 5, 5, 5]]
    assert pieces[1].child((1, 0, 0)).box[0] == range(9, 10)
    assert pieces[1].child((1, 0, 0)).nominal_size[0] == 5
    with pytest.raises(MappingError, match="along t it starts at 14, its parent ends at 10"):
        pieces[1].child((2, 0, 0))


def test_tiles_across_the_border_of_a_triangle_are_masked() -> None:
    """4 x 4 in blocks of 2, t >= o: three points of each block on the diagonal, all below, none above."""
    cut = tiling("tk,ok->to", total=(4, 4, 1), domain=Domain("t >= o"), D=(2, 2, 1), S=...)
    tiles = list(Tile(cut).children())
    assert [(tile.path[0][:2], tile.volume, tile.masked) for tile in tiles] == [
        ((0, 0), 3, True),
        ((1, 0), 4, False),
        ((1, 1), 3, True),
    ]
    assert tiles[0].size == (2, 2, 1)
    with pytest.raises(MappingError, match="it has no point of the domain 't >= o'"):
        Tile(cut, (0, 1, 0))


def test_tiles_of_two_tilings_that_cross_are_an_error_of_the_tilings() -> None:
    """Section 3: any other pair than containing or disjoint is an error."""
    halves, thirds = (tiling(total=(12, 1, 1), D=(n, 1, 1), S=...) for n in (2, 3))
    first = Tile(halves, (0, 0, 0))
    assert first.contains(Tile(thirds, (0, 0, 0)))
    assert first.disjoint(Tile(thirds, (2, 0, 0)))
    with pytest.raises(MappingError, match="overlap, but neither contains the other"):
        first.contains(Tile(thirds, (1, 0, 0)))
    with pytest.raises(MappingError, match="belong to different spaces"):
        first.disjoint(Tile(PING_PONG))


@st.composite
def coupled(draw: st.DrawFn) -> Tiling:
    """Up to three dimensions, irregular cuts on two levels, and perhaps a domain."""
    total = draw(st.tuples(*[st.integers(1, 9)] * 3))
    cuts = [
        draw(
            st.one_of(st.integers(1, 3), st.lists(st.integers(1, size), max_size=2, unique=True).map(sorted))
        )
        for size in total
    ]
    middle = draw(st.tuples(*[st.integers(1, 3)] * 3))
    where = draw(st.sampled_from(["", "t >= o", "-2 <= t - o <= 1", "2*t + i <= 9, o <= i + 3"]))
    domain = Domain(where) if where else None
    try:
        return tiling(total=total, domain=domain, D=tuple(cuts), T=middle, S=...)
    except MappingError:  # the domain holds no point of so small a space
        return tiling(total=total, D=tuple(cuts), T=middle, S=...)


def existing(tile: Tile, depth: int) -> list[Tile]:
    tiles = [tile]
    for _ in range(depth):
        tiles = [child for each in tiles for child in each.children()]
    return tiles


def as_set(space: Tiling, box: tuple[range, ...]) -> islpy.Set:
    """The points of a box that the domain holds, as the integer set library reads them."""
    names = ", ".join(space.dimensions)
    terms = [
        f"{side.start} <= {name} < {side.stop}" for name, side in zip(space.dimensions, box, strict=True)
    ]
    terms += [text.replace("*", "") for text in space.domain.where] if space.domain else []
    return islpy.Set(f"{{ [{names}] : {' and '.join(terms).replace(', o', ' and o')} }}")


@settings(max_examples=60, deadline=None)
@given(coupled(), st.integers(1, 2))
def test_tiles_cover_every_space_exactly_once_as_islpy_sees_it(space: Tiling, depth: int) -> None:
    """Irregular cuts, inferred levels and coupled domains included; sets, not counts, are compared."""
    tiles = existing(Tile(space), depth)
    whole = as_set(space, tuple(map(range, space.total)))
    union = islpy.Set.empty(whole.get_space())
    for tile in tiles:
        part = as_set(space, tile.box)
        assert tile.volume == part.count_val().to_python() > 0
        assert union.is_disjoint(part)
        union = union.union(part)
    assert union.is_equal(whole)
    assert space.volume == sum(tile.volume for tile in tiles)


@settings(max_examples=40, deadline=None)
@given(coupled(), st.data())
def test_containment_is_that_of_the_boxes_as_islpy_sees_them(space: Tiling, data: st.DataObject) -> None:
    tiles = [Tile(space), *existing(Tile(space), 1), *existing(Tile(space), 2)]
    one, other = data.draw(st.sampled_from(tiles)), data.draw(st.sampled_from(tiles))
    a, b = as_set(space, one.box), as_set(space, other.box)
    assert one.disjoint(other) == bool(a.is_disjoint(b))
    if one.contains(other):
        assert b.is_subset(a)


@given(coupled())
def test_actual_sizes_never_exceed_nominal_ones(space: Tiling) -> None:
    for tile in existing(Tile(space), 2):
        assert all(size <= nominal for size, nominal in zip(tile.size, tile.nominal_size, strict=True))
        assert all(n <= most for n, most in zip(tile.nominal_size, space.nominal_sizes[1], strict=True))
