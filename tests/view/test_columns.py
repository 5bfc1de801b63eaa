"""Columns travel exactly; tables refuse what the page could not read."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pantile.view.columns import BINDINGS, LARGEST, Schema, Spec, encode, table

THREE = Schema(name="three", specs=tuple(Spec(name=name, unit="") for name in "abc"))


def decode(described: list[dict[str, Any]], text: str) -> dict[str, dict[str, list[int]]]:
    """The reading side, value by value: the same steps as decode.js."""
    raw = zlib.decompress(base64.b64decode(text), wbits=-15)
    at, tables = 0, {}
    for each in described:
        rows, columns = each["rows"], {}
        for column in each["columns"]:
            value, values = 0, []
            for row in range(rows):
                zigzag = sum(raw[at + plane * rows + row] << 8 * plane for plane in range(column["width"]))
                value += (zigzag >> 1) ^ -(zigzag & 1)
                values.append(value)
            columns[column["name"]] = values
            at += rows * column["width"]
        tables[each["name"]] = columns
    assert at == len(raw)
    return tables


values = st.integers(-LARGEST, LARGEST)


@given(st.lists(st.tuples(values, values, st.just(7)), max_size=20))
@example([])
@example([(LARGEST, -LARGEST, 7), (-LARGEST, LARGEST, 7)])  # the widest difference: 8 bytes
@example([(127, 128, 7), (0, 0, 7)])  # one byte holds differences from -128 to 127
def test_what_goes_in_comes_out(rows: list[tuple[int, int, int]]) -> None:
    columns = {name: [row[at] for row in rows] for at, name in enumerate("abc")}
    assert decode(*encode([table(THREE, **columns)])) == {"three": columns}


def test_width_is_that_of_the_largest_difference() -> None:
    described, _ = encode([table(THREE, a=[0, 0], b=[5, -123], c=[1000, 1128])])
    assert [column["width"] for column in described[0]["columns"]] == [0, 1, 2]


def test_a_repeating_program_costs_little() -> None:
    rows = np.arange(10_000)
    _, text = encode([table(THREE, a=rows, b=rows % 16 * 8, c=rows * 8)])
    assert len(text) < 1000  # 240 000 bytes raw


def test_same_values_same_text() -> None:
    assert encode([table(THREE, a=[1], b=[2], c=[3])]) == encode([table(THREE, a=[1], b=[2], c=[3])])


def test_beyond_what_a_browser_counts_exactly_is_refused() -> None:
    with pytest.raises(AssertionError, match="2\\^53"):
        encode([table(THREE, a=[LARGEST + 1], b=[0], c=[0])])


def test_tables_are_read_only_copies() -> None:
    mine = np.array([0, 1])
    made = table(BINDINGS, tile=mine, memory=mine, slot=mine)
    mine[0] = 9
    assert made["tile"].tolist() == [0, 1]
    with pytest.raises(ValueError, match="read-only"):
        made["tile"][0] = 1


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"tile": [0], "memory": [0]}, "'slot' is required"),
        ({"tile": [0], "memory": [0], "slot": [0], "slots": [0]}, "unknown columns \\['slots'\\]"),
        ({"tile": [0], "memory": [0, 1], "slot": [0]}, "lengths \\[1, 2\\]"),
    ],
)
def test_a_table_that_does_not_fit_its_schema_is_our_fault(columns: dict[str, list[int]], says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        table(BINDINGS, **columns)
