"""Places, grids, and what is next to what."""

from __future__ import annotations

import pytest

from pantile.errors import UsageError
from pantile.program.language.places import DDR, SRAM, Adjacent, Chiplet, Compute, Core, Memory, storage


def test_places_are_named_as_the_tables_name_memory_instances() -> None:
    names = [place.name for place in (DDR(0), SRAM(Core(0, 1)), Compute(Core(2, 3)), DDR(1, 0))]
    assert names == ["ddr@0", "sram@(0,1)", "compute@(2,3)", "ddr@(1,0)"]
    assert Memory("skew", Core(0, 0)).name == "skew@(0,0)"


def test_without_a_core_the_first_is_meant() -> None:
    assert SRAM() == SRAM(Core(0, 0))
    assert Compute() == Compute(Core())
    assert DDR() == DDR(0)


def test_equal_places_are_equal_whatever_made_them() -> None:
    assert Compute(Core(0, 1)) is Compute(Core(0, 1))
    assert {SRAM(Core(1, 1)), SRAM(SRAM(Core(1, 1)))} == {SRAM(Core(1, 1))}
    assert SRAM(Core(0, 1)) != Compute(Core(0, 1))


def test_data_at_a_core_is_in_its_sram() -> None:
    assert storage(Core(0, 1)) == SRAM(Core(0, 1))
    assert storage(DDR(0)) == DDR(0)


def test_levels_rise_toward_compute() -> None:
    core = Core(0, 0)
    levels = [place.level for place in (DDR(0), SRAM(core), Memory("skew", core), Compute(core))]
    assert levels == sorted(set(levels))


def test_memory_belongs_to_a_core() -> None:
    with pytest.raises(UsageError, match="expected a core, got ddr@0"):
        SRAM(DDR(0))
    with pytest.raises(UsageError, match="expected a core, got 3"):
        Compute(3)  # type: ignore[arg-type]


def test_a_grid_yields_its_cores_row_by_row() -> None:
    grid = Chiplet(2, 3)
    assert [core.at for core in grid] == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    assert len(grid) == 6
    assert grid[1, 2] == Core(1, 2)


@pytest.mark.parametrize("at", [(2, 0), (0, 3), (-1, 0), (0,)])
def test_a_grid_lacks_what_is_outside(at: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match=r"no chiplet .* in a grid of 2 x 3"):
        Chiplet(2, 3)[at]  # type: ignore[index]


def test_a_grid_needs_rows_and_wires_that_end_in_it() -> None:
    with pytest.raises(UsageError, match="got 0 x 3"):
        Chiplet(0, 3)
    with pytest.raises(UsageError, match=r"memory 1 is wired to \(2, 0\), outside 2 x 2"):
        Chiplet(2, 2, wires={1: [(2, 0)]})


def test_adjacent_to_a_memory_is_what_is_wired_to_it() -> None:
    grid = Chiplet(2, 2, wires={0: [(1, 0), (0, 0)], 1: [(0, 1)]})
    assert Adjacent(DDR(0), grid) == (Core(0, 0), Core(1, 0))
    assert Adjacent(DDR(1), grid) == (Core(0, 1),)
    assert Adjacent(DDR(2), grid) == ()


def test_by_default_every_chiplet_has_a_memory_of_its_own() -> None:
    grid = Chiplet(2, 3)
    assert [Adjacent(DDR(i), grid) for i in (0, 4)] == [(Core(0, 0),), (Core(1, 1),)]
    assert Adjacent(DDR(6), grid) == ()


def test_adjacent_to_a_core_are_its_neighbours() -> None:
    grid = Chiplet(3, 3)
    assert [core.at for core in Adjacent(Core(1, 1), grid)] == [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert [core.at for core in Adjacent(Core(0, 2), grid)] == [(0, 1), (1, 2)]


def test_adjacent_needs_a_grid() -> None:
    with pytest.raises(UsageError, match="what ddr@0 is next to depends on the grid"):
        Adjacent(DDR(0))


def test_hops_follow_rows_and_columns_and_leaving_the_chip_is_one() -> None:
    grid = Chiplet(3, 3)
    assert grid.hops(Core(0, 0), Core(2, 1)) == 3
    assert grid.hops(Core(0, 0), DDR(8)) == 2 + 2 + 1
    assert grid.hops(SRAM(Core(1, 1)), Compute(Core(1, 1))) == 0


def test_nearest_takes_the_fewest_hops_then_the_lowest_coordinates() -> None:
    grid = Chiplet(3, 3)
    assert grid.nearest(Core(0, 0), [Core(2, 2), Core(1, 0), Core(0, 1)]) == Core(0, 1)
