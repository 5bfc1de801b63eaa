"""Cuts: their notation, their tilings, the memory they take."""

from __future__ import annotations

import pytest

from pantile.errors import MappingError
from pantile.planners.mesh.cut import Cut, parse_cut
from pantile.planners.mesh.product import product_of
from pantile.workload.matmul import Matmul


def test_notation_round_trip() -> None:
    cut = Cut((2, 3), (1, 4, 6, 5), 2)
    assert str(cut) == "[grid] 2x3 [pieces] b1 m4 n6 k5 [slots] 2"
    assert parse_cut(str(cut)) == parse_cut("[grid]2 x 3[pieces]b1  m4 n6 k5   [slots]2 ") == cut
    assert cut.rounds == (2, 2)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "expected a mapping such as '[grid] 2x2 [pieces] b1 m2 n2 k4 [slots] 2', got ''"),
        ("[grid] 2 [pieces] b1 m2 n2 k4 [slots] 2", "expected a mapping such as"),
        ("[T] N32 C64 M32 - [O] N1 C1 M1 - [I] N1 C1 M1", "expected a mapping such as"),
        ("[grid] 2x2 [pieces] b1 m0 n2 k4 [slots] 2", "every count must be at least 1"),
    ],
)
def test_what_is_no_mapping(text: str, problem: str) -> None:
    with pytest.raises(MappingError) as caught:
        parse_cut(text)
    assert caught.value.problem.startswith(problem)


def test_bytes_are_those_of_the_longest_pieces() -> None:
    product = product_of(Matmul(m=5, n=6, k=7), 4)
    cut = Cut((2, 2), (1, 2, 2, 2), 3)
    assert cut.shard_sizes(product) == (3, 3, 4)
    assert cut.bytes_needed(product, 1) == 3 * 4 * (3 * 4 + 4 * 3) + 4 * 9
    assert cut.bytes_needed(product, 2) == 6 * 4 * (3 * 4 + 4 * 3) + 4 * 9


def test_pieces_that_do_not_divide_differ_by_one_element_at_most() -> None:
    tiling = Cut((2, 2), (1, 2, 4, 3), 2).tiling(product_of(Matmul(m=5, n=7, k=9), 4))
    assert tiling.dimensions == ("b", "m", "n", "k")
    shard, element = tiling.levels
    assert (shard.factors, element.factors) == ((1, 2, 4, 3), (1, 3, 2, 3))
    assert [shard.bounds_of(axis) for axis in range(4)] == [(), (0, 2, 5), (0, 1, 3, 5, 7), ()]
