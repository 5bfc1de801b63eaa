"""Tilings: levels, nominal sizes, and the cuts that are refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pantile.errors import ManyProblems, MappingError
from pantile.tiling.tiling import Level, Tiling

SEED = Tiling(
    ("m", "n", "k"),
    (32, 32, 64),
    (Level("tile", (2, 2, 2)), Level("block", (2, 2, 4)), Level("element", (8, 8, 8))),
)
"""``[T] N32 C64 M32 - [O] N2 C2 M2 - [I] N16 C32 M16`` on an 8x8 array."""


@st.composite
def tilings(draw: st.DrawFn) -> Tiling:
    """Up to three dimensions and three levels, with uneven tails and surplus tiles."""
    axes = draw(st.integers(1, 3))
    factors = st.tuples(*[st.integers(1, 4)] * axes)
    levels = draw(st.lists(factors, min_size=1, max_size=3))
    total = []
    for axis in range(axes):
        cover = 1
        for level in levels:
            cover *= level[axis]
        total.append(draw(st.integers(1, cover)))
    named = tuple(Level(f"level{depth}", each) for depth, each in enumerate(levels))
    return Tiling(tuple("mnk"[:axes]), tuple(total), named)


def test_nominal_sizes_of_the_seed() -> None:
    """A tile is 16x16x32, a block one array step of 8x8x8, an element 1."""
    assert SEED.nominal_sizes == ((16, 16, 32), (8, 8, 8), (1, 1, 1))
    assert (SEED.axis("k"), SEED.depth("block")) == (2, 1)


def test_a_cut_beyond_the_total_keeps_its_nominal_size() -> None:
    tiling = Tiling(("m",), (50,), (Level("tile", (3,)), Level("element", (24,))))
    assert tiling.nominal_sizes == ((24,), (1,))


@given(tilings())
def test_json_reads_back(tiling: Tiling) -> None:
    assert Tiling.from_json(tiling.to_json()) == tiling


@pytest.mark.parametrize(
    ("total", "levels", "problem"),
    [
        ((4,), (Level("tile", (0,)),), "factor of m must be at least 1, got 0"),
        ((4,), (Level("tile", (2, 2)),), "level 'tile' has 2 factors for 1 dimensions"),
        ((50,), (Level("tile", (2,)), Level("e", (24,))), "factors of m cover 48 of 50 elements"),
        ((4,), (), "at least one level"),
        ((4, 4), (Level("tile", (4,)),), "2 totals for 1 dimensions"),
        ((-1,), (Level("tile", (1,)),), "total of m must not be negative, got -1"),
        ((4,), (Level("a", (2,)), Level("a", (2,))), "names must be unique, got a, a"),
    ],
)
def test_what_cannot_be_is_refused(total: tuple[int, ...], levels: tuple[Level, ...], problem: str) -> None:
    with pytest.raises(MappingError, match=problem):
        Tiling(("m",), total, levels)


def test_operands_and_moves_must_fit_the_tiling() -> None:
    levels = (Level("tile", (1, 1, 1)), Level("element", (4, 4, 4)))
    with pytest.raises(MappingError, match="'ab,bc->ac' is no sum over m, n, k"):
        Tiling(("m", "n", "k"), (4, 4, 4), levels, "ab,bc->ac")
    with pytest.raises(MappingError, match="no operand 'Z' to move; allowed here: W, X, Y"):
        Tiling(("m", "n", "k"), (4, 4, 4), levels, "mk,kn->mn", moves=(("Z", ("tile",)),))


def test_all_problems_of_a_tiling_are_told_at_once() -> None:
    with pytest.raises(ManyProblems) as caught:
        Tiling(("m", "n"), (50, 50), (Level("tile", (2, 3)), Level("element", (24, 16))))
    assert [str(problem).partition(" (")[0] for problem in caught.value.problems] == [
        "factors of m cover 48 of 50 elements",
        "factors of n cover 48 of 50 elements",
    ]
