"""Names of spaces, and the cores that coordinates mean."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pantile.machine import Machine
from pantile.simulate.spaces import Space, core_index, parse_space


@given(st.sampled_from(["ddr", "sram", "GM"]), st.lists(st.integers(0, 99), max_size=3).map(tuple))
def test_names_read_back(kind: str, at: tuple[int, ...]) -> None:
    assert parse_space(Space(kind, at).name) == Space(kind, at)


@pytest.mark.parametrize(
    ("shape", "at", "core"),
    [
        ((2, 3), (1, 2), 5),
        ((2, 3), (5,), 5),
        ((2, 3), (6,), None),
        ((2, 3), (0, 3), None),
        ((2, 3), (), 0),
        ((4,), (0, 3), 3),  # the tile language says (0, 0) where no core is named
        ((4,), (1, 3), None),
    ],
)
def test_coordinates_count_cores_row_by_row(
    machine: Callable[..., Machine], shape: tuple[int, ...], at: tuple[int, ...], core: int | None
) -> None:
    assert core_index(at, machine(shape)) == core
