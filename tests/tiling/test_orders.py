"""Orders are bijections between index tuples and positions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pantile.errors import MappingError
from pantile.tiling.orders import Nest, Nested, check_bijection

nests = st.lists(st.integers(0, 5), min_size=0, max_size=4).map(
    lambda counts: Nest(tuple("abcd"[: len(counts)]), tuple(counts))
)


def test_the_seeds_creation_order() -> None:
    """Seed 4.4: N, M, C of the eight tiles in the order in which they are made."""
    nest = Nest(("N", "M", "C"), (2, 2, 2))
    assert list(nest) == [
        (0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), (1, 0, 0), (1, 0, 1), (1, 1, 0), (1, 1, 1),
    ]  # fmt: skip
    assert nest.strides == (4, 2, 1)
    assert nest.position((1, 0, 1)) == 5


@given(nests)
def test_position_and_index_are_inverse(nest: Nest) -> None:
    indices = list(nest)
    assert len(indices) == len(nest) == nest.size
    assert [nest.at(position) for position in range(len(nest))] == indices
    assert [nest.position(index) for index in indices] == list(range(len(nest)))


def test_a_count_of_zero_makes_it_empty() -> None:
    nest = Nest(("a", "b"), (2, 0))
    assert list(nest) == []
    with pytest.raises(IndexError, match="no position 0"):
        nest.at(0)
    with pytest.raises(IndexError, match="no index"):
        nest.position((0, 0))


def test_no_loops_is_one_point() -> None:
    assert list(Nest((), ())) == [()]
    assert Nest((), ()).at(0) == ()


@pytest.mark.parametrize("position", [-1, 6, 7])
def test_positions_outside_are_refused(position: int) -> None:
    with pytest.raises(IndexError, match=f"no position {position} in a nest of \\(2, 3\\)"):
        Nest(("a", "b"), (2, 3)).at(position)


@pytest.mark.parametrize("index", [(2, 0), (0, -1), (0,), (0, 0, 0)])
def test_indices_outside_are_refused(index: tuple[int, ...]) -> None:
    with pytest.raises(IndexError, match="no index"):
        Nest(("a", "b"), (2, 3)).position(index)


def test_sizes_beyond_the_machine_word() -> None:
    nest = Nest(("a", "b", "c"), (2**31, 2**31, 2**31))
    assert nest.size == 2**93
    assert nest.at(2**93 - 1) == (2**31 - 1,) * 3


def test_a_nest_that_cannot_exist_is_refused() -> None:
    with pytest.raises(MappingError, match="1 counts for 2 loops"):
        Nest(("a", "b"), (2,))
    with pytest.raises(MappingError, match="loop b cannot run -1 times"):
        Nest(("a", "b"), (2, -1))


def test_orders_in_one_another() -> None:
    """Two loops of which the outer is a nest of its own: 6 positions of 3 each."""
    order = Nested.of((Nest(("o", "t"), (2, 3)), Nest(("i",), (3,))))
    assert (order.loops, order.counts, len(order)) == (("o", "t", "i"), (2, 3, 3), 18)
    assert order.at(10) == (1, 0, 1)
    assert order.position((1, 0, 1)) == 10
    assert list(order) == [order.at(position) for position in range(18)]


def test_one_order_is_no_nest_and_a_loop_runs_once() -> None:
    order = Nest(("t",), (2,))
    assert Nested.of((order,)) is order
    with pytest.raises(MappingError, match="each loop may run once in a nest, got t, i, t"):
        Nested.of((order, Nest(("i",), (2,)), order))


@given(st.permutations([(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]))
def test_every_permutation_is_a_bijection(indices: list[tuple[int, int]]) -> None:
    check_bijection(indices, (3, 2))


@pytest.mark.parametrize(
    ("indices", "problem"),
    [
        ([(0, 0), (0, 1), (1, 0)], "(1, 1) missing"),
        ([(0, 0), (0, 1), (1, 0), (1, 1), (0, 1)], "(0, 1) taken again"),
        ([(0, 0), (0, 1), (1, 0), (1, 2)], "(1, 2) not among them; (1, 1) missing"),
        ([], "(0, 0), (0, 1), (1, 0), … missing"),
    ],
)
def test_what_is_no_bijection_says_which_index_is_at_fault(
    indices: list[tuple[int, int]], problem: str
) -> None:
    with pytest.raises(MappingError) as caught:
        check_bijection(indices, (2, 2))
    assert caught.value.problem == f"an order must take each of 4 indices within (2, 2) once: {problem}"
