"""Points of one time step, as an equation over ranges."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.tiling.front import Front
from pantile.tiling.index import IndexRef
from pantile.tiling.notation import tiling
from pantile.tiling.variables import Variable, Work

CUT = tiling(total=(9, 9, 9), T=(3, 3, 3), S=(3, 3, 3))


@st.composite
def fronts(draw: st.DrawFn) -> Front:
    variables = tuple(
        Variable(
            name,
            IndexRef(CUT.T, dimension),
            draw(st.integers(-3, 3)),
            count := draw(st.integers(1, 4)),
            piece := draw(st.integers(1, 3)),
            draw(st.integers(1, piece)),
            spatial=name != "it",
        )
        for name, dimension in (("row", "t"), ("col", "o"), ("it", "i"))
    )
    assert count
    whole = tuple((0, variable.count) for variable in variables)
    return Front(Work(variables, ()), draw(st.integers(-6, 12)), draw(st.integers(-2, 2)), whole)


def elements(front: Front, point: tuple[int, ...], dimensions: str) -> int:
    total = 1
    for variable, value in zip(front.work.variables, point, strict=True):
        if variable.dimension in dimensions:
            total *= variable.last_piece if value == variable.count - 1 else variable.piece
    return total


@settings(max_examples=80, deadline=None)
@given(fronts(), st.sampled_from(["", "t", "ti", "oi", "toi"]), st.data())
def test_it_counts_lists_and_weighs_what_solves_the_equation(
    front: Front, dimensions: str, data: st.DataObject
) -> None:
    fixed = data.draw(st.dictionaries(st.sampled_from(["row", "col", "it"]), st.integers(0, 4)))
    part = front.restricted(fixed.items())
    points = [
        point
        for point in product(*(range(each.count) for each in front.work.variables))
        if sum(v.coefficient * x for v, x in zip(front.work.variables, point, strict=True)) + front.constant
        == front.tau
        and all(point[part.names.index(name)] == value for name, value in fixed.items())
    ]
    assert list(part) == points
    assert len(part) == len(points)
    assert part.weigh(dimensions) == sum(elements(front, point, dimensions) for point in points)
    assert all(point in part for point in points)
    assert part.restricted([("row", 99)]).weigh(dimensions) == 0


def test_other_things_are_no_points() -> None:
    variable = Variable("row", IndexRef(CUT.T, "t"), 1, 3, 3, 3, spatial=True)
    front = Front(Work((variable,), ()), 2, 0, ((0, 3),))
    assert (2,) in front
    assert (2, 0) not in front
    assert 2 not in front


def test_a_dimension_in_space_and_time_is_weighed_by_its_smaller_pieces() -> None:
    """i = 3 * it + row with 3 elements a unit: each point stands for 1 * 3 of i, not for 9."""
    outer = Variable("it", IndexRef(CUT.T, "i"), 1, 3, 9, 9, spatial=False)
    inner = Variable("row", IndexRef(CUT.S, "i"), 1, 3, 3, 3, spatial=True)
    for variables in ((outer, inner), (inner, outer)):
        front = Front(Work(variables, (("t", 2),)), 2, 0, ((0, 3), (0, 3)))
        assert front.weigh("i") == 3 * 3
        assert front.weigh("ti") == 2 * 3 * 3
