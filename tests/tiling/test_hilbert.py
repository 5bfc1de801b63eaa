"""Hilbert order of any rectangle."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.errors import MappingError
from pantile.tiling.hilbert import Hilbert
from pantile.tiling.orders import check_bijection


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 17), st.integers(0, 17))
def test_it_is_a_bijection_whose_steps_are_neighbours(rows: int, columns: int) -> None:
    """Every step goes to a cell that touches the one before, and at most one of all steps is diagonal."""
    order = Hilbert(("m", "n"), (rows, columns))
    indices = list(order)
    check_bijection(indices, (rows, columns))
    assert [order.position(index) for index in indices] == list(range(len(order)))
    steps = [(abs(a - c), abs(b - d)) for (a, b), (c, d) in itertools.pairwise(indices)]
    assert set(steps) <= {(0, 1), (1, 0), (1, 1)}
    assert steps.count((1, 1)) <= 1


def test_a_square_of_four_is_hilbert_s() -> None:
    """Each quarter is walked whole before the next: (0,0), (1,0), (1,1) and (0,1) of the 2 x 2 quarters."""
    indices = list(Hilbert(("m", "n"), (4, 4)))
    assert [{(m // 2, n // 2) for m, n in indices[at : at + 4]} for at in (0, 4, 8, 12)] == [
        {(0, 0)}, {(1, 0)}, {(1, 1)}, {(0, 1)},
    ]  # fmt: skip
    assert indices[:4] == [(0, 0), (0, 1), (1, 1), (1, 0)]


def test_a_large_rectangle_is_not_enumerated() -> None:
    order = Hilbert(("m", "n"), (10**9, 10**10))
    assert order.position(order.at(10**18 + 7)) == 10**18 + 7


def test_outside_is_refused() -> None:
    order = Hilbert(("m", "n"), (2, 3))
    with pytest.raises(IndexError, match=r"no position 6 in a hilbert of \(2, 3\)"):
        order.at(6)
    with pytest.raises(IndexError, match="no index"):
        order.position((0, 3))
    with pytest.raises(MappingError, match="takes 2 loops, got 1"):
        Hilbert(("m",), (2,))
