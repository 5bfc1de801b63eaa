"""Morton order."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.tiling.morton import Morton
from pantile.tiling.orders import check_bijection


def interleaved(index: tuple[int, ...]) -> int:
    """The bits of all numbers in turn, the first number's above the others'."""
    code = 0
    for bit in reversed(range(8)):
        for number in index:
            code = code * 2 + (number >> bit & 1)
    return code


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 7), max_size=3).map(tuple))
def test_it_is_the_bijection_that_sorts_by_interleaved_bits(counts: tuple[int, ...]) -> None:
    order = Morton(tuple("abc"[: len(counts)]), counts)
    indices = list(order)
    check_bijection(indices, counts)
    assert indices == sorted(indices, key=interleaved)
    assert [order.position(index) for index in indices] == list(range(len(order)))


def test_a_square_of_four() -> None:
    order = Morton(("m", "n"), (4, 4))
    assert [order.at(position) for position in (0, 1, 2, 3, 4, 8, 15)] == [
        (0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (2, 0), (3, 3),
    ]  # fmt: skip


def test_a_large_box_is_not_enumerated() -> None:
    order = Morton(("m", "n"), (10**9, 10**6 + 1))
    assert order.position(order.at(10**14 + 7)) == 10**14 + 7


def test_outside_is_refused() -> None:
    order = Morton(("m", "n"), (2, 3))
    with pytest.raises(IndexError, match="no position 6"):
        order.at(6)
    with pytest.raises(IndexError, match="no index"):
        order.position((0, 3))
