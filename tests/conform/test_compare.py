"""Exact comparison of nested JSON values."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pantile.conform.compare import KNOWN, Difference, Whole, compare, same

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3)
values = st.recursive(
    scalars,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=2), below, max_size=3),
)


@given(values)
def test_a_value_equals_itself_read_again(value: Any) -> None:
    found = compare(value, json.loads(json.dumps(value)))
    assert found.difference is None
    assert found.unchecked == ()


@pytest.mark.parametrize(
    ("expected", "computed", "field"),
    [
        ({"a": {"b": [0, 1]}}, {"a": {"b": [0, 2]}}, "a.b[1]"),
        ({"a": [{"b": 1}, {"b": 2}]}, {"a": [{"b": 1}, {"b": 3}]}, "a[1].b"),
        ({"a": 1, "b": 2}, {"b": 3, "a": 4}, "a"),  # the first in the file's order
        ({"a": None}, {"a": 0}, "a"),
        ({"a": 0}, {"a": None}, "a"),
        ({"a": 1}, {"a": True}, "a"),
        ({"a": False}, {"a": 0}, "a"),
        ({"a": "1"}, {"a": 1}, "a"),
        ({"a": 2**53 + 1}, {"a": 2**53}, "a"),
        ({"a": {"b": 1}}, {"a": 1}, "a"),
        ({"a": [1]}, {"a": {"0": 1}}, "a"),
        ({"a": [1]}, {"a": None}, "a"),
        ({"a": 1}, {"a": [1]}, "a"),
        (float("nan"), float("nan"), ""),
    ],
)
def test_the_first_difference_is_named(expected: Any, computed: Any, field: str) -> None:
    found = compare(expected, computed).difference
    assert found is not None
    assert found.field == field


def test_lists_of_different_lengths_differ_as_a_whole() -> None:
    assert compare({"a": [1, 2]}, {"a": [1]}).difference == Difference("a", "2 entries", "1 entries")
    assert compare({"a": []}, {"a": [1]}).difference == Difference("a", "0 entries", "1 entries")


def test_a_number_equals_one_of_another_type() -> None:
    assert same(12, 12.0)
    assert not same(12, 12.5)


def test_what_was_not_computed_is_named_once() -> None:
    """Three rows of a field are one field; values computed beyond the file are of no account."""
    rows = [{"x": 1, "y": {"z": at}} for at in range(3)]
    found = compare({"rows": rows, "odd": {}}, {"rows": [{"x": 1}] * 3, "more": 5})
    assert found.unchecked == ("rows[].y", "odd")
    assert found.difference is None
    assert found.compared == 3  # x in every row


def test_unchecked_fields_are_named_behind_a_difference_too() -> None:
    found = compare({"a": 1, "b": 2}, {"a": 5})
    assert found.difference == Difference("a", 1, 5)
    assert found.unchecked == ("b",)


def test_known_values_are_neither_compared_nor_unchecked() -> None:
    found = compare({"a": [1, 2], "b": "text"}, {"a": [KNOWN, 2], "b": KNOWN})
    assert (found.compared, found.difference, found.unchecked) == (1, None, ())


def test_an_empty_list_is_a_figure() -> None:
    assert compare({"a": []}, {"a": []}).compared == 1
    assert compare({"a": [{}]}, {"a": [{}]}).compared == 0


def test_within_a_whole_names_count_both_ways() -> None:
    computed = {"a": Whole([{"x": 1, "y": KNOWN}]), "b": 1}
    assert compare({"a": [{"x": 1, "y": 5}]}, computed) == compare({"a": [{"x": 1, "y": 6}]}, computed)
    more = compare({"a": [{"x": 1, "y": 5, "z": 7}], "c": 2}, computed)
    assert more.difference == Difference("a[0].z", 7, None, "nothing of this name was computed")
    assert more.unchecked == ("c",)
    less = compare({"a": [{"x": 1}]}, computed)
    assert less.difference is not None
    assert less.difference.field == "a[0].y"


def test_a_computed_object_is_told_as_such() -> None:
    assert compare({"a": None}, {"a": {"b": KNOWN}}).difference == Difference("a", None, "an object")
    assert compare({"a": 1}, {"a": [KNOWN]}).difference == Difference("a", 1, "a list of 1")
