"""Grids."""

from __future__ import annotations

import pytest

from pantile.machine.checks import ConstantError
from pantile.machine.grid import MOST_CORES, Grid


@pytest.mark.parametrize(
    ("table", "grid", "cores", "written"),
    [
        ({"cores": 4}, Grid((4,)), 4, {"cores": 4}),
        ({"shape": [4]}, Grid((4,)), 4, {"cores": 4}),
        ({"shape": [2, 3]}, Grid((2, 3)), 6, {"shape": [2, 3]}),
        ({"cores": MOST_CORES}, Grid((65_536,)), 65_536, {"cores": 65_536}),
    ],
)
def test_cores_and_shape(
    table: dict[str, object], grid: Grid, cores: int, written: dict[str, object]
) -> None:
    assert Grid.from_table(table) == grid
    assert grid.cores == cores
    assert grid.to_json() == written
    assert Grid.from_table(written) == grid


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "grid.cores: expected either cores or shape, got neither"),
        ({"cores": 1, "shape": [1]}, "grid.shape: expected either cores or shape, got both"),
        ({"cores": 0}, "grid.cores: expected a whole number from 1, got 0"),
        ({"shape": [2, 0]}, "grid.shape: expected a whole number from 1, got 0"),
        ({"shape": []}, "grid.shape: expected at least one extent, got none"),
        ({"shape": 4}, "grid.shape: expected a list of whole numbers, got 4"),
        ({"cores": 65_537}, "grid.cores: expected at most 65536 cores, got 65537"),
        ({"shape": [2**31, 2**31]}, "grid.shape: expected at most 65536 cores, got 4611686018427387904"),
        ({"core": 1}, "grid.core: nothing reads this key; did you mean 'cores'?"),
    ],
)
def test_what_no_grid_can_be(table: dict[str, object], message: str) -> None:
    with pytest.raises(ConstantError) as caught:
        Grid.from_table(table)
    assert message in str(caught.value)


def test_one_core_by_default() -> None:
    assert Grid().cores == 1
