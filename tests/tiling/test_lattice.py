"""Counts in closed form equal counts by visiting, and those of an integer set library."""

from __future__ import annotations

from itertools import product

import islpy
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pantile.tiling.lattice import (
    Box,
    Inequality,
    count_points,
    count_shadow,
    count_solutions,
    floor_sum,
)

ranges = st.integers(-4, 4).flatmap(lambda first: st.tuples(st.just(first), st.integers(first, first + 6)))


@st.composite
def spaces(draw: st.DrawFn) -> tuple[tuple[Inequality, ...], Box]:
    """Up to four inequalities over a box of up to three dimensions."""
    axes = draw(st.integers(1, 3))
    factors = st.tuples(*[st.integers(-3, 3)] * axes)
    inequalities = draw(st.lists(st.tuples(factors, st.integers(-8, 8)), max_size=4))
    return tuple(inequalities), tuple(draw(st.tuples(*[ranges] * axes)))


def visited(inequalities: tuple[Inequality, ...], box: Box) -> list[tuple[int, ...]]:
    return [
        point
        for point in product(*(range(*limits) for limits in box))
        if all(
            sum(f * x for f, x in zip(factors, point, strict=True)) + constant >= 0
            for factors, constant in inequalities
        )
    ]


def integer_set(inequalities: tuple[Inequality, ...], box: Box) -> islpy.Set:
    names = [f"x{axis}" for axis in range(len(box))]
    terms = [f"{first} <= {name} < {stop}" for name, (first, stop) in zip(names, box, strict=True)]
    terms += [
        "0"
        + "".join(f"{factor:+}{name}" for factor, name in zip(factors, names, strict=True))
        + f"{constant:+} >= 0"
        for factors, constant in inequalities
    ]
    return islpy.Set(f"{{ [{', '.join(names)}] : {' and '.join(terms)} }}")


@given(st.integers(0, 30), st.integers(-20, 20), st.integers(-50, 50), st.integers(1, 12))
def test_sums_of_floors(count: int, slope: int, offset: int, divisor: int) -> None:
    assert floor_sum(count, slope, offset, divisor) == sum(
        (slope * x + offset) // divisor for x in range(count)
    )


@settings(max_examples=100, deadline=None)
@given(spaces())
@example(((((3, -2), 1), ((-2, 0), -4)), ((2, 3), (4, 6))))  # the range of x ends before it begins
@example(((((1, -1), -1), ((-1, 1), -1)), ((0, 6), (0, 6))))  # x > y > x
@example(((((1, -2), 0), ((-1, 1), 1)), ((3, 9), (0, 9))))  # the two lines cross before x = 3
def test_points_are_counted_as_visiting_counts_them(space: tuple[tuple[Inequality, ...], Box]) -> None:
    assert count_points(*space) == len(visited(*space))


@settings(max_examples=60, deadline=None)
@given(spaces())
def test_points_are_counted_as_islpy_counts_them(space: tuple[tuple[Inequality, ...], Box]) -> None:
    assert count_points(*space) == integer_set(*space).count_val().to_python()


@settings(max_examples=100, deadline=None)
@given(spaces(), st.data())
def test_shadows_are_counted_as_visiting_counts_them(
    space: tuple[tuple[Inequality, ...], Box], data: st.DataObject
) -> None:
    axes = sorted(data.draw(st.sets(st.integers(0, len(space[1]) - 1), min_size=1)))
    assert count_shadow(*space, axes) == len(
        {tuple(point[axis] for axis in axes) for point in visited(*space)}
    )


def test_a_shadow_that_elimination_cannot_find() -> None:
    """3 <= 2y <= 3x: y must be whole between two lines that both have coefficient 2 or more."""
    space = (((0, 2, 0), -3), ((3, -2, 0), 0), ((0, -3, 2), 1)), ((0, 9), (0, 9), (0, 5))
    assert count_shadow(*space, [0, 2]) == len({(x, z) for x, _, z in visited(*space)})


def test_a_triangle_of_a_billion_rows_is_counted_at_once() -> None:
    """n (n + 1) / 2 for each of 5 values of a coordinate that nothing ties to the others."""
    n = 10**9
    assert count_points((((1, -1, 0), 0),), ((0, n), (0, n), (0, 5))) == 5 * n * (n + 1) // 2


def test_a_steep_border_is_counted_exactly() -> None:
    """7 o <= 3 t below a million: the sum of floor(3 t / 7) + 1."""
    n = 10**6
    assert count_points((((3, -7), 0),), ((0, n), (0, n))) == sum(3 * t // 7 + 1 for t in range(n))


@st.composite
def equations(draw: st.DrawFn) -> tuple[list[int], list[int], int]:
    axes = draw(st.integers(0, 4))
    factors = draw(st.lists(st.integers(-4, 4), min_size=axes, max_size=axes))
    extents = draw(st.lists(st.integers(0, 6), min_size=axes, max_size=axes))
    return factors, extents, draw(st.integers(-12, 30))


@settings(max_examples=100, deadline=None)
@given(equations())
@example(([6, 10, 15], [9, 9, 9], 31))  # no two share a divisor with the third
def test_solutions_are_counted_as_visiting_counts_them(equation: tuple[list[int], list[int], int]) -> None:
    factors, extents, target = equation
    hits = [
        sum(factor * value for factor, value in zip(factors, values, strict=True)) == target
        for values in product(*map(range, extents))
    ]
    assert count_solutions(factors, extents, target) == sum(hits)


def test_a_wavefront_of_a_large_array_is_counted_at_once() -> None:
    """row + col + it = 300 on 128 x 128 with 512 steps: 128^2 less the corner where row + col > 300, none."""
    assert count_solutions((1, 1, 1), (128, 128, 512), 300) == 128 * 128
    assert count_solutions((1, 1, 1), (128, 128, 512), 100) == 101 * 102 // 2
    assert count_solutions((1, 1), (10**18, 10**18), 10**18) == 10**18 - 1
