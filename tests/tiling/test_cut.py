"""Cuts: factors that follow, cut points, and everything that is refused with its figures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pantile.errors import ManyProblems, MappingError
from pantile.tiling.cut import Level, problems_of, read_levels


def test_a_level_that_is_left_out_is_inferred() -> None:
    """Section 2: N levels have N-1 degrees of freedom; 128 / (4 * 16) = 2."""
    assert read_levels("toi", (32, 32, 128), {"D": (2, 2, 4), "T": ..., "S": (8, 8, 16)})[1] == Level(
        "T", (2, 2, 2)
    )


@pytest.mark.parametrize(
    ("left_out", "factors"),
    [("D", (2, 1, 2)), ("T", (4, 1, 2)), ("S", (7, 7, 9))],  # e.g. 50 elements in 2 * 4 pieces: 7
)
def test_the_inferred_factor_is_rounded_up(left_out: str, factors: tuple[int, ...]) -> None:
    given_levels = {"D": (2, 1, 2), "T": (4, 1, 2), "S": (8, 7, 9)}
    levels = read_levels("toi", (50, 7, 33), {**given_levels, left_out: ...})
    assert {level.name: level.factors for level in levels}[left_out] == factors


def test_one_factor_may_be_left_out_in_each_dimension() -> None:
    """32 = 2 * 2 * 8 and 30 <= 3 * 2 * 5, each dimension by itself."""
    levels = read_levels("to", (32, 30), {"D": (2, ...), "T": (..., 2), "S": (8, 5)})
    assert [level.factors for level in levels] == [(2, 3), (2, 2), (8, 5)]


def test_of_an_empty_total_the_inferred_factor_is_one() -> None:
    assert read_levels("t", (0,), {"D": (4,), "S": ...})[1].factors == (1,)


def test_dimensions_by_name_and_those_that_a_level_does_not_cut() -> None:
    assert read_levels("toi", (4, 6, 8), {"D": {"i": 2, "t": 4}, "S": ...})[0].factors == (4, 1, 2)


def test_cut_points_with_and_without_both_ends() -> None:
    """10 and 25 cut 32 into 10, 15 and 7; the innermost level must hold the longest, 15."""
    for points in ([10, 25], [0, 10, 25], [10, 25, 32], (0, 10, 25, 32)):
        outer, inner = read_levels("t", (32,), {"D": (points,), "S": ...})
        assert outer == Level("D", (3,), ((0, 10, 25, 32),))
        assert inner == Level("S", (15,))


def test_cut_points_inside_a_level_count_from_the_tile_that_they_cut() -> None:
    """2 tiles of 30 are 15 each, cut into 4, 6 and 5; two such pieces of 3 hold the longest."""
    levels = read_levels("t", (30,), {"D": (2,), "T": ([4, 10],), "P": (2,), "S": ...})
    assert levels[1] == Level("T", (3,), ((0, 4, 10, 15),))
    assert levels[3].factors == (3,)


def test_cut_points_inside_cut_points() -> None:
    """20 at 12: the longer piece, 12, is cut at 5 again; the innermost holds 7."""
    levels = read_levels("t", (20,), {"D": ([12],), "T": ([5],), "S": ...})
    assert [level.bounds for level in levels] == [((0, 12, 20),), ((0, 5, 12),), ()]
    assert levels[2].factors == (7,)


def test_no_cut_point_is_one_piece() -> None:
    assert read_levels("t", (20,), {"D": ([],), "S": ...})[0] == Level("D", (1,), ((0, 20),))


@pytest.mark.parametrize(
    ("levels", "problem"),
    [
        ({"D": (0, 2), "S": (8, 8)}, "level 'D': factor of t must be at least 1, got 0"),
        ({"D": (4, -2), "S": (8, 8)}, "level 'D': factor of o must be at least 1, got -2"),
        (
            {"D": (2, 2, 2), "S": (8, 8)},
            "level 'D' needs one factor for each dimension (t, o), got 3 of them",
        ),
        ({"D": 4, "S": (8, 8)}, "level 'D' needs one factor for each dimension (t, o), got 4"),
        ({"D": "ab", "S": (8, 8)}, "level 'D' needs one factor for each dimension (t, o), got 'ab'"),
        (
            {"D": (2.5, 2), "S": (8, 8)},
            "level 'D': factor of t must be a whole number, a list of cut points or ..., got 2.5",
        ),
        (
            {"D": (True, 2), "S": (8, 8)},
            "level 'D': factor of t must be a whole number, a list of cut points or ..., got True",
        ),
        ({"D": {"t": 4, "z": 2}, "S": ...}, "level 'D' cuts 'z', which is no dimension"),
        (
            {"D": ..., "T": ..., "S": (8, 8)},
            "levels 'D' and 'T' both leave out the factor of t; of 32 elements only one can be inferred",
        ),
        ({"D": ([9, 4], 4), "S": (32, 8)}, "level 'D': cut points of t must rise from 0, got [9, 4]"),
        ({"D": ([-1, 4], 4), "S": (32, 8)}, "level 'D': cut points of t must rise from 0, got [-1, 4]"),
        (
            {"D": ([10, 40], 4), "S": (32, 8)},
            "level 'D': cut point 40 of t lies beyond the 32 elements of the tile that it cuts",
        ),
        (
            {"D": (2, 4), "T": ([20], 1), "S": (32, 8)},
            "level 'T': cut point 20 of t lies beyond the 16 elements of the tile that it cuts",
        ),
        ({"D": (2, 4), "S": ([8], 8)}, "level 'S' counts elements of t; it has no cut points, got [8]"),
        (
            {"D": (..., 4), "T": ([8], 1), "S": (32, 8)},
            "level 'D' leaves out the factor of t, which the cut points on level 'T' inside it need",
        ),
    ],
)
def test_levels_that_cannot_be_name_level_dimension_and_figures(
    levels: dict[str, object], problem: str
) -> None:
    with pytest.raises((MappingError, ManyProblems)) as caught:
        read_levels("to", (32, 32), levels)
    first = caught.value.problems[0] if isinstance(caught.value, ManyProblems) else caught.value
    assert first.problem == problem  # type: ignore[attr-defined]


def test_every_problem_is_reported_at_once() -> None:
    with pytest.raises(ManyProblems) as caught:
        read_levels("to", (32, 32), {"D": (0, -1), "S": (8, "x")})
    assert len(caught.value.problems) == 3


@pytest.mark.parametrize(
    ("total", "levels", "problem"),
    [
        (
            32,
            (Level("D", (2,)), Level("T", (2,)), Level("S", (6,))),
            "factors of t cover 24 of 32 elements (D 2 × T 2 × S 6)",
        ),
        (
            32,
            (Level("D", (2,), ((0, 10, 32),)), Level("S", (15,))),
            "factors of t cover 15 of 22 elements of the longest piece of level 'D' (S 15)",
        ),
        (
            32,
            (Level("D", (2,)), Level("T", (2,), ((0, 4, 15),)), Level("S", (11,))),
            "factors of t cover 30 of 32 elements (D 2 × T up to 15)",
        ),
        (
            32,
            (Level("D", (2,), ((0, 10, 10, 32),)), Level("S", (32,))),
            "level 'D': bounds of 2 pieces of t must be 3 numbers that rise from 0, got (0, 10, 10, 32)",
        ),
    ],
)
def test_levels_that_leave_elements_out(total: int, levels: tuple[Level, ...], problem: str) -> None:
    assert [each.problem for each in problems_of("t", (total,), levels)] == [problem]  # type: ignore[attr-defined]


@given(st.integers(1, 60), st.lists(st.integers(1, 5), min_size=1, max_size=3), st.data())
def test_an_inferred_factor_is_the_least_that_covers(
    total: int, factors: list[int], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(factors)))
    cuts: list[object] = [*factors[:at], ..., *factors[at:]]
    levels = read_levels("t", (total,), {f"L{depth}": (cut,) for depth, cut in enumerate(cuts)})
    others = 1
    for factor in factors:
        others *= factor
    inferred = levels[at].factors[0]
    assert others * inferred >= total > others * (inferred - 1)
    assert problems_of("t", (total,), levels) == []


def test_whole_numbers_of_other_kinds_are_taken_as_such() -> None:
    """Factors and cut points often come out of NumPy."""
    plain = read_levels("to", (8, 9), {"D": (2, [4, 7]), "S": (4, 4)})
    found = read_levels("to", (8, 9), {"D": (np.int64(2), [np.int32(4), np.int64(7)]), "S": (4, 4)})
    assert found == plain
    assert all(type(each) is int for level in found for each in level.factors)
