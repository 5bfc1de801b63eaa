"""Executions: every index has its place or its time, and no two tiles have both in common."""

from __future__ import annotations

from itertools import product

import pytest

from pantile.tiling.execution import Execution, Map
from pantile.tiling.maps import SpatialMapping, TemporalMapping
from pantile.tiling.notation import tiling
from pantile.tiling.ranges import Range, swizzle
from pantile.tiling.streaming import StreamingEquation
from pantile.tiling.tile import Tile

CUT = tiling(total=(32, 32, 128), D=(2, 2, 4), T=(2, 2, 2), S=(8, 8, 16))
SYSTOLIC: tuple[Map, ...] = (
    SpatialMapping("S.ts->Spatial.row", "S.os->Spatial.col"),
    StreamingEquation("tau=Spatial.row+Spatial.col+T.it"),
    TemporalMapping(tile=(CUT.T.t, CUT.T.o)),
    TemporalMapping(tile="D"),
)
"""The seed's output-stationary array, with 16 elements of i in each unit."""


def test_the_seed_s_spatial_only_mapping() -> None:
    execution = Execution(CUT, TemporalMapping(tile="D"), TemporalMapping(tile="T"), SpatialMapping(tile="S"))
    assert execution.is_spatial_only
    tile = Tile(CUT, ((1, 0, 2), (0, 1, 1), (3, 4, 5)))
    assert execution.place(tile) == {"S.t": 3, "S.o": 4, "S.i": 5}
    assert execution.when(tile) == (10, 3)
    assert execution.when(tile.parent.parent) == (10,)  # type: ignore[union-attr, arg-type]


def test_a_streaming_equation_couples_time_and_space() -> None:
    execution = Execution(CUT, *SYSTOLIC, hardware={"row": 8, "col": 8})
    assert not execution.is_spatial_only
    tile = Tile(CUT, ((1, 0, 2), (0, 1, 1), (3, 4, 5)))
    assert execution.place(tile) == {"row": 3, "col": 4}
    assert execution.when(tile) == (10, 1, 3 + 4 + 1)
    assert execution.when(Tile(CUT, tile.path[:2])) == (10, 1)  # no unit yet, hence no time step
    assert execution.equation is not None
    assert execution.equation.range() == range(16)


def test_a_level_split_between_space_and_time_is_not_spatial_only() -> None:
    maps = [TemporalMapping(tile=each) for each in ("D", "T", "S.i")]
    execution = Execution(CUT, *maps, SpatialMapping("S.t->row", "S.o->col"))
    assert not execution.is_spatial_only


def test_time_runs_outer_levels_outside_and_orders_are_kept() -> None:
    """A window of one row with the second row from the far end: (1, 1) comes third."""
    cut = tiling(total=(4, 4, 2), D=(2, 2, 2), S=(2, 2, 1))
    execution = Execution(
        cut,
        TemporalMapping(tile=(swizzle(cut.D.t, cut.D.o, window=1), cut.D.i)),
        SpatialMapping("S.t->row", "S.o->col"),
    )
    order = sorted(Tile(cut).children(), key=execution.when)
    assert [tile.path[0][:2] for tile in order][::2] == [(0, 0), (0, 1), (1, 1), (1, 0)]
    assert [tile.path[0][2] for tile in order][:4] == [0, 1, 0, 1]


def test_no_two_tiles_share_place_and_time() -> None:
    """The law behind binding each index once, on ragged edges too: 5 x 3 x 4 in tiles of 2 x 2 x 2."""
    cut = tiling(total=(5, 3, 4), D=(3, 2, 2), T=(1, 1, 2), S=(2, 2, 1))
    executions = [
        Execution(
            cut,
            SpatialMapping("S.t->row", "S.o->col"),
            StreamingEquation("tau = row + col + it"),
            TemporalMapping(tile=(cut.D.o, cut.D.t)),
            TemporalMapping(tile=cut.D.i),
        ),
        Execution(cut, SpatialMapping(tile="D"), TemporalMapping(tile="T"), TemporalMapping(tile="S")),
    ]
    tiles = [
        inner for tile in Tile(cut).children() for child in tile.children() for inner in child.children()
    ]
    assert len(tiles) == 5 * 3 * 4
    for execution in executions:
        keys = {(tuple(execution.place(tile).items()), execution.when(tile)) for tile in tiles}
        assert len(keys) == len(tiles)


@pytest.mark.parametrize(
    ("maps", "hardware", "problem"),
    [
        (SYSTOLIC[:3], {}, "index D.t of 2 pieces is bound to neither space nor time"),
        (
            (*SYSTOLIC, TemporalMapping(tile="T.i")),
            {},
            "index T.i is bound 2 times: to time and to equation 'tau=Spatial.row+Spatial.col+T.it'",
        ),
        ((*SYSTOLIC, SpatialMapping("S.t->x")), {}, "index S.t is bound 2 times: to axis row and to axis x"),
        ((*SYSTOLIC, SpatialMapping("S.i->row")), {}, "axis 'row' is bound 2 times"),
        (SYSTOLIC, {"row": 4, "col": 8}, "S.t has 8 pieces, axis 'row' only 4 units"),
        (SYSTOLIC, {"rows": 8, "col": 8}, "the hardware has no axis 'row'"),
        (
            (*SYSTOLIC, StreamingEquation("tau = row")),
            {},
            "an execution has one streaming equation, got 'tau=Spatial.row+Spatial.col+T.it' and 'tau = row'",
        ),
        (
            (TemporalMapping(tile="D"), StreamingEquation("tau = it")),
            {},
            "equation 'tau = it' names no axis; bound to space: none",
        ),
    ],
)
def test_what_binds_too_little_or_too_much_is_refused(
    maps: tuple[Map, ...], hardware: dict[str, int], problem: str
) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - one problem or several
        Execution(CUT, *maps, hardware=hardware)
    assert problem in [each.problem for each in getattr(caught.value, "problems", (caught.value,))]


def test_each_level_of_a_mesh_has_axes_of_its_own() -> None:
    """The seed's mesh of chiplets: memories and chiplets are places, the levels between run in time."""
    cut = tiling(total=(64, 64, 64), DS=(2, 2, 1), DT=(2, 2, 2), C=(2, 2, 1), T=(2, 2, 2), S=...)
    execution = Execution(
        cut,
        SpatialMapping("col_d->DS.tds, row_d->DS.ods"),
        TemporalMapping(tile="DT"),
        SpatialMapping("col->C.tc, row->C.oc"),
        TemporalMapping(tile="T"),
        SpatialMapping(tile="S"),
    )
    assert execution.is_spatial_only
    tile = Tile(cut, ((1, 0, 0), (0, 1, 1), (1, 1, 0)))
    assert execution.place(tile) == {"col_d": 1, "row_d": 0, "col": 1, "row": 1}
    assert execution.when(tile) == (3,)
    assert [len(Range(cut.DS)), len(list(product(Range(cut.DS), Range(cut.C))))] == [4, 16]


def test_an_execution_is_a_value() -> None:
    one, other = (Execution(CUT, *SYSTOLIC, hardware={"row": 8, "col": 8}) for _ in range(2))
    assert one == other
    assert one != Execution(CUT, *SYSTOLIC)
