"""Spatial and temporal mappings as they are written."""

from __future__ import annotations

import pytest

from pantile.errors import MappingError
from pantile.tiling.maps import SpatialMapping, TemporalMapping, Timed
from pantile.tiling.notation import tiling
from pantile.tiling.ranges import swizzle

CUT = tiling(total=(32, 32, 128), D=(2, 2, 4), T=(2, 2, 2), S=(8, 8, 16))
MESH = tiling(total=(64, 64, 64), DS=(2, 2, 1), DT=(2, 2, 2), C=(2, 2, 2), T=(2, 2, 2), S=...)


def resolved(mapping: SpatialMapping) -> dict[str, str]:
    return {axis: str(index) for axis, index in mapping.resolve(CUT)}


@pytest.mark.parametrize(
    "mapping",
    [
        SpatialMapping("S.ts->row", "S.os->col"),
        SpatialMapping("S.t -> row, S.o -> col"),
        SpatialMapping("S.ts->Spatial.row", "S.os->Spatial.col"),
        SpatialMapping("row->S.ts", "col->os"),
    ],
)
def test_indices_are_bound_to_axes_whichever_way_they_are_written(mapping: SpatialMapping) -> None:
    assert resolved(mapping) == {"row": "S.t", "col": "S.o"}


def test_the_seed_s_mesh_names_axes_first() -> None:
    mapping = SpatialMapping("col_d->DS.tds, row_d->DS.ods")
    assert [(axis, str(index)) for axis, index in mapping.resolve(MESH)] == [
        ("col_d", "DS.t"),
        ("row_d", "DS.o"),
    ]


def test_a_level_may_be_bound_whole() -> None:
    for tile in (CUT.S, "S"):
        assert resolved(SpatialMapping(tile=tile)) == {"S.t": "S.t", "S.o": "S.o", "S.i": "S.i"}


@pytest.mark.parametrize(
    ("texts", "problem"),
    [
        (("S.ts",), "expected an index and an axis such as 'S.ts->row', got 'S.ts'"),
        (("S.ts->",), "expected an index and an axis such as 'S.ts->row', got 'S.ts->'"),
        (("S.ts->row->col",), "expected an index and an axis"),
        ((), "a spatial mapping needs an index"),
        (("S.ts->row", "S.os->row"), "axis 'row' is bound 2 times in one spatial mapping"),
        (("S.ts->row", "S.ts->col"), "index 'S.t' is bound 2 times in one spatial mapping"),
        (("S.zs->row",), "level 'S' has no index 'zs'"),
        (("row->S.zs",), "level 'S' has no index 'zs'"),
        (("Q.t->row",), "no level 'Q'"),
        (("z->row",), "'z' names no index"),
    ],
)
def test_pairs_that_bind_nothing_are_refused(texts: tuple[str, ...], problem: str) -> None:
    with pytest.raises(MappingError, match=problem):
        SpatialMapping(*texts).resolve(CUT)


@pytest.mark.parametrize(
    ("tile", "loops"),
    [
        ("D", ("t", "o", "i")),
        (CUT.D, ("t", "o", "i")),
        ((CUT.T.o, CUT.T.t), ("o", "t")),
        (("T.ot", "T.t"), ("o", "t")),
        ((swizzle(CUT.D.o, CUT.D.t, window=1), CUT.D.i), ("o", "t", "i")),
    ],
)
def test_time_runs_a_level_some_indices_or_an_order(
    tile: Timed | tuple[Timed, ...], loops: tuple[str, ...]
) -> None:
    mapping = TemporalMapping(tile=tile)
    assert tuple(index.dimension for index in mapping.indices(CUT)) == loops
    assert mapping.range(CUT).at(0).names == loops


def test_one_temporal_mapping_runs_one_level() -> None:
    with pytest.raises(MappingError, match=r"a range runs over one level, got T.t and D.o"):
        TemporalMapping(tile=("T.t", "D.o")).range(CUT)


def test_factors_alone_do_not_say_which_level_is_meant() -> None:
    with pytest.raises(
        MappingError, match=r"runs a level or indices of one, got \(2, 2, 4\); write tile=tiling.D"
    ):
        TemporalMapping(tile=(2, 2, 4)).range(CUT)  # type: ignore[arg-type]
