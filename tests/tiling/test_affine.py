"""Affine texts: what they mean, and how those that mean nothing are refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pantile.errors import MappingError
from pantile.tiling.affine import Affine, parse_equation, parse_relations


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("tau = row + col + it", "row + col + it"),
        ("tau=Spatial.row+Spatial.col+T.it", "Spatial.row + Spatial.col + T.it"),
        ("tau == 2*row - (col - 3) * 4", "2*row - 4*col + 12"),
        ("x = -it", "-it"),
        ("x = row - row", "0"),
        ("x = 3 - 5", "-2"),
        ("x = - - +row", "row"),
        ("x = 2*3*row + is", "6*row + is"),  # `is` is a tile index, not a word of some language
    ],
)
def test_equations_as_people_write_them(text: str, printed: str) -> None:
    assert str(parse_equation(text)[1]) == printed


def test_the_name_of_the_time_is_the_users() -> None:
    assert parse_equation("clock = row")[0] == "clock"


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("t >= o", {"t": 4, "o": 4}, {"t": 3, "o": 4}),
        ("t > o", {"t": 5, "o": 4}, {"t": 4, "o": 4}),
        ("t <= o", {"t": 4, "o": 4}, {"t": 5, "o": 4}),
        ("t < o", {"t": 3, "o": 4}, {"t": 4, "o": 4}),
        ("t == 2*o", {"t": 8, "o": 4}, {"t": 9, "o": 4}),
        ("0 <= t - o < 8", {"t": 11, "o": 4}, {"t": 12, "o": 4}),
        ("t >= o, t - o < 8", {"t": 11, "o": 4}, {"t": 3, "o": 4}),
        ("t >= o and o >= 1", {"t": 4, "o": 1}, {"t": 4, "o": 0}),
    ],
)
def test_relations_hold_exactly_where_they_say(
    text: str, inside: dict[str, int], outside: dict[str, int]
) -> None:
    relations = parse_relations(text)
    assert all(each.at(inside) >= 0 for each in relations)
    assert not all(each.at(outside) >= 0 for each in relations)


@pytest.mark.parametrize(
    ("text", "column", "problem"),
    [
        ("t >= ", 6, "expected a name or a whole number, got the end"),
        ("t", 2, "expected one of <= >= == < >, got the end"),
        ("t = o", 3, "expected one of <= >= == < >, got '='"),
        ("t >= o o", 8, "expected the end or an operator, got 'o'"),
        ("t * o >= 1", 5, "expected a whole number beside t, which is not affine otherwise, got 'o'"),
        ("t / 2 >= 1", 3, "expected a name, a whole number or one of"),
        ("t >= 2o", 6, "expected a name, a whole number or one of"),
        ("t >= (o", 8, "expected ')', got the end"),
        ("t != o", 3, "expected a name, a whole number or one of"),
        ("t >= and", 6, "expected a name or a whole number, got 'and'"),
        ("", 1, "expected a name or a whole number, got the end"),
        ("(" * 60, 51, "expected at most 50 brackets and signs in one another"),
    ],
)
def test_a_text_that_is_no_relation_names_the_column(text: str, column: int, problem: str) -> None:
    with pytest.raises(MappingError) as caught:
        parse_relations(text)
    assert caught.value.problem.startswith(problem)
    assert caught.value.place is not None
    assert caught.value.place.column == column


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("row + col", "expected '=', got '+'"),
        ("3 = row", "expected a name, as in 'tau = row + col + it', got '3'"),
        ("tau = ", "expected a name or a whole number, got the end"),
        ("tau = row + tau", "'tau' stands on both sides of 'tau = row + tau'"),
        ("x = " + "9" * 2000, "expected at most 1000 characters of arithmetic, got 2004"),
    ],
)
def test_a_text_that_is_no_equation_is_refused(text: str, problem: str) -> None:
    with pytest.raises(MappingError) as caught:
        parse_equation(text)
    assert caught.value.problem == problem


expressions = st.builds(
    lambda pairs, constant: Affine(tuple(pairs.items()), constant),
    st.dictionaries(st.sampled_from(["row", "col", "it"]), st.integers(-9, 9).filter(bool)),
    st.integers(-99, 99),
)


@given(expressions)
def test_what_is_printed_reads_back(value: Affine) -> None:
    assert parse_equation(f"tau = {value}")[1] == value


@given(expressions, expressions, st.integers(-3, 3))
def test_sums_of_expressions_are_sums_of_values(one: Affine, other: Affine, times: int) -> None:
    point = {"row": 3, "col": -5, "it": 7}
    assert one.plus(other, times).at(point) == one.at(point) + times * other.at(point)
    renamed = one.renamed({"row": "col"})
    assert "row" not in renamed.names
    assert renamed.at(point) == one.at({**point, "row": point["col"]})
