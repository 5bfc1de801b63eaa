"""Range: what a program goes through, in which order."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.errors import MappingError
from pantile.tiling.domain import Domain
from pantile.tiling.maps import SpatialMapping
from pantile.tiling.notation import tiling
from pantile.tiling.orders import check_bijection
from pantile.tiling.ranges import Part, Range, diagonal, hilbert, listed, morton, nest, swizzle
from pantile.tiling.streaming import StreamingEquation
from pantile.tiling.tile import Tile

CUT = tiling(total=(32, 32, 128), D=(2, 2, 4), T=(2, 2, 2), S=(8, 8, 16))


def test_a_level_runs_through_its_tiles_the_last_dimension_fastest() -> None:
    order = Range(CUT.D)
    assert len(order) == 16
    assert list(order)[:5] == [(0, 0, 0), (0, 0, 1), (0, 0, 2), (0, 0, 3), (0, 1, 0)]


def test_the_first_name_is_the_outermost_loop() -> None:
    """Section 4: Range(TT, OT, IT) enumerates a level, first name outermost."""
    for names in permutations(("t", "o", "i")):
        order = Range(*(getattr(CUT.D, name) for name in names))
        assert order.at(0).names == names
        assert next(index.space.counts for index in order) == tuple(
            {"t": 2, "o": 2, "i": 4}[n] for n in names
        )
        assert order.at(1)[-1] == 1
        assert sorted(Tile(CUT, index).path for index in order) == sorted(
            Tile(CUT, index).path for index in Range(CUT.D)
        )


def test_a_set_of_names_has_the_tiling_s_order() -> None:
    assert list(Range({CUT.D.i, CUT.D.o, CUT.D.t})) == list(Range(CUT.D))


def test_plain_counts_give_plain_numbers() -> None:
    assert list(Range(3)) == [0, 1, 2]
    assert list(Range(range(2, 5))) == [2, 3, 4]
    assert list(Range(2, 2)) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert 2 in Range(3)
    assert 3 not in Range(3)
    assert (Range(range(2, 5)).at(1), Range(range(2, 5)).position(4)) == (3, 2)
    with pytest.raises(IndexError, match="no 7 in range"):
        Range(3).position(7)


def test_a_streaming_equation_gives_its_time_steps() -> None:
    """The seed's ``for tau in Range(StreamingEquation)``: 8 + 8 + 2 - 2 steps."""
    equation = StreamingEquation("tau = row + col + it", CUT, SpatialMapping("S.ts->row", "S.os->col"))
    assert list(Range(equation)) == list(Range(equation.range())) == list(range(16))


@pytest.mark.parametrize(
    ("part", "indices"),
    [
        (nest(CUT.D.o, CUT.D.t), [(0, 0), (0, 1), (1, 0), (1, 1)]),
        (swizzle(CUT.D.t, CUT.D.o, window=1), [(0, 0), (0, 1), (1, 1), (1, 0)]),
        (diagonal(CUT.D.t, CUT.D.o), [(0, 0), (1, 1), (0, 1), (1, 0)]),
        (morton(CUT.D.t, CUT.D.o), [(0, 0), (0, 1), (1, 0), (1, 1)]),
        (hilbert(CUT.D.t, CUT.D.o), [(0, 0), (1, 0), (1, 1), (0, 1)]),
        (listed((CUT.D.t, CUT.D.o), [(1, 1), (0, 0), (0, 1), (1, 0)]), [(1, 1), (0, 0), (0, 1), (1, 0)]),
    ],
)
def test_other_orders_have_the_same_interface(part: Part, indices: list[tuple[int, int]]) -> None:
    """With the reduction inside: each output tile is finished before the next, whatever their order."""
    order = Range(part, CUT.D.i)
    assert [index[:2] for index in order][::4] == indices
    assert [order.position(index) for index in order] == list(range(16))
    assert len({Tile(CUT, index) for index in order}) == 16


def test_only_tiles_that_exist_are_taken() -> None:
    """5 elements in tiles of 2: 3 of 4; the last tile has one of two children."""
    cut = tiling(total=(5, 1, 1), D=(4, 1, 1), T=(2, 1, 1), S=(1, 1, 1))
    assert list(Range(cut.D)) == [(0, 0, 0), (1, 0, 0), (2, 0, 0)]
    last = Tile(cut, (2, 0, 0))
    assert list(Range(cut.T, within=last)) == [(0, 0, 0)]
    assert len(Range(cut.T)) == 2
    with pytest.raises(MappingError, match="go through the tiles that exist: Range"):
        last.child((1, 0, 0))
    assert [child.path[1] for child in last.children()] == [(0, 0, 0)]


def test_an_empty_total_has_no_tiles() -> None:
    assert list(Range(tiling(total=(4, 4, 0), D=(2, 2, 1), S=...).D)) == []


def test_a_triangle_leaves_out_the_tiles_above_it() -> None:
    cut = tiling(total=(8, 8, 2), domain=Domain("t >= o"), D=(4, 4, 1), T=(2, 2, 1), S=...)
    order = Range(swizzle(cut.D.t, cut.D.o, window=2), cut.D.i)
    assert [index[:2] for index in order] == [
        (0, 0), (1, 0), (1, 1), (3, 3), (2, 2), (3, 2), (2, 1), (3, 1), (2, 0), (3, 0),
    ]  # fmt: skip
    assert [order.position(index) for index in order] == list(range(10))
    assert (0, 1, 0) not in order
    diagonal_tile = Tile(cut, (1, 1, 0))
    assert list(Range(cut.T, within=diagonal_tile)) == [(0, 0, 0), (1, 0, 0), (1, 1, 0)]
    assert list(Range(cut.D.o)) == [(0,), (1,), (2,), (3,)]  # each has some row
    assert list(Range(cut.T.o, within=diagonal_tile)) == [(0,), (1,)]


def test_a_list_must_hold_every_tile_that_exists_once() -> None:
    cut = tiling(total=(4, 4, 1), domain=Domain("t >= o"), D=(2, 2, 1), S=...)
    given_order = [(1, 1, 0), (0, 0, 0), (1, 0, 0)]
    assert list(Range(listed(cut.D, given_order))) == given_order
    with pytest.raises(MappingError, match=r"\(0, 1, 0\) not among them"):
        Range(listed(cut.D, [*given_order, (0, 1, 0)]))
    with pytest.raises(MappingError, match=r"\(1, 0, 0\) missing"):
        Range(listed(cut.D, given_order[:2]))


@settings(max_examples=40, deadline=None)
@given(st.tuples(*[st.integers(1, 9)] * 3), st.tuples(*[st.integers(1, 4)] * 3), st.data())
def test_every_range_is_a_bijection_of_the_tiles_that_exist(
    total: tuple[int, int, int], factors: tuple[int, int, int], data: st.DataObject
) -> None:
    where = data.draw(st.sampled_from(["", "t >= o", "t + o >= i"]))
    cut = tiling(total=total, D=factors, S=..., domain=Domain(where) if where else None)
    level = cut.D
    t, o, i = level.indices
    parts = data.draw(
        st.sampled_from(
            [
                (level,),
                (i, o, t),
                (swizzle(o, t, window=2), i),
                (i, hilbert(t, o)),
                (diagonal(t, i), o),
                (morton(t, o, i),),
            ]
        )
    )
    order = Range(*parts)  # type: ignore[arg-type]
    names = order.space.names
    tiles = [Tile(cut, index).path[0] for index in order]
    check_bijection(tiles, cut.pieces(0, total), [tile.path[0] for tile in Tile(cut).children()])
    assert [order.position(index) for index in order] == list(range(len(order)))
    assert all(order.at(at).names == names for at in range(len(order)))


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ((), "a range needs a level, indices of one, or counts; got nothing"),
        ((CUT.D.t, CUT.T.o), "a range runs over one level, got D.t and T.o"),
        ((CUT.D.t, CUT.D), "each loop may run once in a nest, got t, t, o, i"),
        ((CUT.D.t, 4), "a range runs over a level, indices of one, or counts, got 4"),
        (({CUT.D.t, 3},), "a range runs over a level, indices of one, or counts, got {"),
        (("D",), "a range runs over a level, indices of one, or counts, got 'D'"),
        (((2, 2, 4),), "a range runs over a level, indices of one, or counts, got .2, 2, 4."),
    ],
)
def test_what_is_no_range_is_refused(parts: tuple[object, ...], problem: str) -> None:
    with pytest.raises(MappingError, match=problem):
        Range(*parts)  # type: ignore[arg-type]


def test_what_is_no_index_has_no_order() -> None:
    with pytest.raises(MappingError, match=r"expected a level or an index such as tiling.T.o, got 't'"):
        nest("t")  # type: ignore[arg-type]


def test_membership() -> None:
    assert (1, 1, 3) in Range(CUT.D)
    assert (1, 1, 4) not in Range(CUT.D)
    assert 7 not in Range(CUT.D)


def test_a_tile_of_another_level_has_no_such_children() -> None:
    with pytest.raises(MappingError, match=r"level 'S' cuts tiles of level 'T', not D \(0, 0, 0\)"):
        Range(CUT.S, within=Tile(CUT, (0, 0, 0)))
