"""Orders given as lists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pantile.errors import MappingError
from pantile.tiling.explicit import Explicit
from pantile.tiling.orders import Nest


@given(st.permutations(list(Nest(("t", "o"), (2, 3)))))
def test_a_list_is_its_own_order(indices: list[tuple[int, ...]]) -> None:
    order = Explicit(("t", "o"), (2, 3), tuple(indices))
    assert list(order) == indices
    assert [order.at(position) for position in range(6)] == indices
    assert [order.position(index) for index in indices] == list(range(6))


def test_the_constructor_refuses_what_is_no_bijection() -> None:
    with pytest.raises(MappingError, match=r"\(0, 0\) taken again; \(0, 1\) missing"):
        Explicit(("t", "o"), (1, 2), ((0, 0), (0, 0)))


def test_only_what_exists_has_to_be_taken() -> None:
    triangle = ((0, 0), (1, 1), (1, 0))
    order = Explicit(("t", "o"), (2, 2), triangle, existing=((0, 0), (1, 0), (1, 1)))
    assert (len(order), order.position((1, 0))) == (3, 2)
    with pytest.raises(IndexError, match=r"no index \(0, 1\)"):
        order.position((0, 1))
    with pytest.raises(IndexError, match="no position 3"):
        order.at(3)
    with pytest.raises(MappingError, match=r"each of 3 indices within \(2, 2\) once: \(1, 1\) missing"):
        Explicit(("t", "o"), (2, 2), ((0, 0), (1, 0)), existing=((0, 0), (1, 0), (1, 1)))


def test_a_part_of_an_order_keeps_its_sequence() -> None:
    part = Explicit.part_of(Nest(("t", "o"), (2, 3)), lambda index: index[1] >= index[0])
    assert list(part) == [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2)]
