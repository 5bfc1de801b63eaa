"""Window-and-serpentine and diagonal orders, against their published forms."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pantile.errors import MappingError
from pantile.tiling.orders import Order, check_bijection
from pantile.tiling.swizzle import Diagonal, Swizzle, Tail

counts = st.tuples(st.integers(0, 12), st.integers(0, 9))


def check(order: Order) -> None:
    check_bijection(order, order.counts)
    assert [order.position(index) for index in order] == list(range(len(order)))


@given(counts, st.integers(1, 14), st.sampled_from(["short", "merged"]))
def test_every_swizzle_is_a_bijection(counts: tuple[int, int], window: int, tail: Tail) -> None:
    check(Swizzle(("m", "n"), counts, window, tail))


@given(counts)
def test_every_diagonal_is_a_bijection(counts: tuple[int, int]) -> None:
    check(Diagonal(("m", "n"), counts))


def test_the_numbers_in_the_viewer_s_picture() -> None:
    """viewer.md 8.4: 8 x 8 blocks, window 4; 32 cores take positions 0 to 31 in the first wave."""
    order = Swizzle(("m", "n"), (8, 8), window=4)
    expected = {(0, 0): 0, (3, 7): 31, (4, 7): 32, (4, 0): 60, (7, 7): 35}
    assert {index: order.position(index) for index in expected} == expected
    assert {order.at(position): position for position in expected.values()} == expected
    assert {row for row, _ in list(order)[:32]} == {0, 1, 2, 3}


def test_a_short_tail_is_a_window_of_its_own_and_a_merged_one_is_not() -> None:
    """5 rows in windows of 2: rows 0-1, 2-3 and 4; or rows 0-1 and 2-4."""
    short = list(Swizzle(("m", "n"), (5, 2), 2))
    merged = list(Swizzle(("m", "n"), (5, 2), 2, "merged"))
    assert short == [(0, 0), (1, 0), (0, 1), (1, 1), (2, 1), (3, 1), (2, 0), (3, 0), (4, 0), (4, 1)]
    assert merged == [(0, 0), (1, 0), (0, 1), (1, 1), (2, 1), (3, 1), (4, 1), (2, 0), (3, 0), (4, 0)]


def published_merged(rows: int, columns: int, window: int) -> Iterator[tuple[int, int]]:
    """asw-theory.md section 8: the remainder rows are merged into the last window."""
    w = min(window, rows)
    main = rows // w - 1
    tail = rows - main * w
    for t in range(rows * columns):
        row = t // (columns * w)
        if row < main:
            m, n = row * w + t % w, (t // w) % columns
        else:
            row, u = main, t - main * w * columns
            m, n = main * w + u % tail, (u // tail) % columns
        yield m, columns - 1 - n if row % 2 else n


def published_short(rows: int, columns: int, window: int) -> Iterator[tuple[int, int]]:
    """ascend-core.md section 3.4, direction Zn: the last group has the rows that remain."""
    for t in range(rows * columns):
        g, y = divmod(t, window * columns)
        r = min(window, rows - window * g)
        n = y // r
        yield g * window + y % r, columns - 1 - n if g % 2 else n


@given(st.integers(1, 12), st.integers(1, 9), st.integers(1, 6))
def test_both_tails_are_the_published_ones(rows: int, columns: int, window: int) -> None:
    assert list(Swizzle(("m", "n"), (rows, columns), window, "merged")) == list(
        published_merged(rows, columns, window)
    )
    assert list(Swizzle(("m", "n"), (rows, columns), window)) == list(published_short(rows, columns, window))


def test_the_diagonal_order_of_eight_cores() -> None:
    """asw-theory.md section 8: on 4 x 4, k0 (0,0), k3 (3,3), k4 (0,1), k7 (3,0)."""
    order = Diagonal(("m", "n"), (4, 4))
    assert [order.at(position) for position in (0, 3, 4, 7)] == [(0, 0), (3, 3), (0, 1), (3, 0)]


@pytest.mark.parametrize("order", [Swizzle(("m", "n"), (3, 2), 2), Diagonal(("m", "n"), (3, 2))])
def test_positions_and_indices_outside_are_refused(order: Order) -> None:
    for position in (-1, 6):
        with pytest.raises(IndexError, match=rf"no position {position} in a \w+ of \(3, 2\)"):
            order.at(position)
    for index in ((3, 0), (0, -1), (0,)):
        with pytest.raises(IndexError, match="no index"):
            order.position(index)


def test_orders_that_cannot_be_are_refused() -> None:
    with pytest.raises(MappingError, match="a window needs at least 1 row, got 0"):
        Swizzle(("m", "n"), (4, 4), 0)
    with pytest.raises(MappingError, match="is 'short' or 'merged', got 'long'"):
        Swizzle(("m", "n"), (4, 4), 2, "long")  # type: ignore[arg-type]
    with pytest.raises(MappingError, match=r"takes 2 loops, got 3 \(a, b, c\)"):
        Diagonal(("a", "b", "c"), (1, 1, 1))
