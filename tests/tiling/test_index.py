"""Indices by name."""

from __future__ import annotations

import copy
import pickle

import pytest

from pantile.errors import MappingError
from pantile.tiling.domain import Domain
from pantile.tiling.index import IndexSpace, LevelIndex, arranged, find_index
from pantile.tiling.notation import tiling
from pantile.tiling.ranges import Range
from pantile.tiling.tile import Tile

CUT = tiling(total=(32, 32, 128), D=(2, 2, 4), T=(2, 2, 2), S=(8, 8, 16))


def test_an_index_equals_the_tuple_of_its_numbers() -> None:
    index = Range(CUT.D).at(5)
    assert index == (0, 1, 1)
    assert hash(index) == hash((0, 1, 1))
    t, o, i = index
    assert (t, o, i) == (0, 1, 1)
    assert pickle.loads(pickle.dumps(index)).names == ("t", "o", "i")


def test_first_and_last_along_a_dimension() -> None:
    """Section 8 stores the output ``if d.last("i")``: once for each of the 4 output tiles."""
    order = list(Range(CUT.D))
    assert [d for d in order if d.last("i")] == [(0, 0, 3), (0, 1, 3), (1, 0, 3), (1, 1, 3)]
    assert [d for d in order if d.first("i")] == [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0)]
    with pytest.raises(MappingError, match="has no dimension 'z'"):
        order[0].last("z")


def test_the_last_step_is_the_last_tile_that_exists() -> None:
    """4 factors of 2 on 5 elements are 3 tiles: index 2 is the last."""
    cut = tiling(total=(1, 1, 5), D=(1, 1, 4), S=(1, 1, 2))
    assert [d.last("i") for d in Range(cut.D)] == [False, False, True]


def test_the_last_step_of_a_triangle_differs_from_output_to_output() -> None:
    """i <= t on 3 x 3 blocks: output block t sees reduction blocks 0 to t."""
    cut = tiling(total=(6, 2, 6), domain=Domain("i <= t"), D=(3, 1, 3), S=...)
    assert [d for d in Range(cut.D) if d.last("i")] == [(0, 0, 0), (1, 0, 1), (2, 0, 2)]
    assert [d for d in Range(cut.D) if d.first("t")] == [(0, 0, 0), (1, 0, 1), (2, 0, 2)]


def test_names_are_dimensions_or_dimension_and_level() -> None:
    assert str(CUT.S.ts) == str(CUT.S.t) == "S.t"
    assert CUT.S.ts == find_index(CUT, "S.ts") == find_index(CUT, "ts") == find_index(CUT, "S.t")
    assert find_index(CUT, "it") == CUT.T.i
    assert CUT.T.i.count == 2
    assert CUT.T.factors == (2, 2, 2)
    assert [str(index) for index in CUT.D.indices] == ["D.t", "D.o", "D.i"]


def test_names_of_the_seed_s_mesh() -> None:
    cut = tiling(total=(64, 64, 64), DS=(2, 2, 1), DT=(2, 2, 2), C=(2, 2, 2), T=(2, 2, 2), S=...)
    assert find_index(cut, "DS.tds") == cut.DS.t
    assert find_index(cut, "C.oc") == cut.C.o
    assert find_index(cut, "idt") == cut.DT.i


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("z", "'z' names no index"),
        ("Q.t", "no level 'Q'"),
        ("S.z", "level 'S' has no index 'z'"),
        ("S.td", "level 'S' has no index 'td'"),
    ],
)
def test_names_that_are_none(text: str, problem: str) -> None:
    with pytest.raises(MappingError, match=problem):
        find_index(CUT, text)


def test_a_short_name_of_two_indices_is_refused() -> None:
    cut = tiling("ab,bc->ac", total=(4, 4, 4), t=..., T=(1, 1, 1))
    with pytest.raises(MappingError, match=r"'at' names t.a and T.a; write one of t.a, t.c, t.b, T.a"):
        find_index(cut, "at")


def test_a_level_has_no_other_attributes() -> None:
    with pytest.raises(AttributeError, match="level 'S' has no index 'z'"):
        _ = CUT.S.z
    assert pickle.loads(pickle.dumps(CUT.S.t)) == copy.deepcopy(CUT.S.t) == CUT.S.t


def test_an_index_finds_its_dimensions_whatever_the_loop_order() -> None:
    tile = Tile(CUT, Range(CUT.D.i, CUT.D.t, CUT.D.o).at(7))  # i = 1, t = 1, o = 1
    assert tile.path == ((1, 1, 1),)
    assert Tile(CUT, Range(CUT.D.i, CUT.D.t, CUT.D.o).at(4)).path == ((0, 0, 1),)
    assert tile.child(Range(CUT.T.o, CUT.T.i, CUT.T.t).at(4)).path[1] == (0, 1, 0)


def test_indices_of_two_loops_make_one() -> None:
    seen = {Tile(CUT, outer | inner).path for outer in Range(CUT.D.o, CUT.D.t) for inner in Range(CUT.D.i)}
    assert len(seen) == 16
    outer, inner = Range(CUT.D.o, CUT.D.t).at(1), Range(CUT.D.i).at(3)
    assert Tile(CUT, outer | inner).path == ((1, 0, 3),)
    with pytest.raises(MappingError, match=r"index .0, 1. over o, t lacks i; join it"):
        Tile(CUT, outer)
    with pytest.raises(MappingError, match="do not make one"):
        _ = outer | Range(CUT.T.i).at(0)
    with pytest.raises(MappingError, match="do not make one"):
        _ = outer | Range(CUT.D.t).at(0)


def test_nameless_numbers_stand_in_the_tiling_s_order() -> None:
    assert arranged((1, 2), ("a", "b")) == (1, 2)
    assert arranged(LevelIndex((1, 2), IndexSpace((), (3, 3))), ("a", "b")) == (1, 2)
