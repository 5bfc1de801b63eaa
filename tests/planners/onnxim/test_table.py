"""The table that one network's layers share."""

from __future__ import annotations

from pantile.planners.onnxim.table import Entry, MappingTable
from pantile.tiling.onnxim import LoopCounts, parse_mapping

ONE = parse_mapping("[T] N8 C8 M8 - [O] N1 - [I] N8 C8 M8")
TWO = parse_mapping("[T] N8 C8 M8 - [O] N2 C2 M2 - [I] N4 C4 M4")


def test_a_key_is_its_seven_counts() -> None:
    table = MappingTable([ONE])
    assert table.lookup(LoopCounts(8, 8, 8)) == Entry(ONE, "explicit")
    assert table.lookup(LoopCounts(8, 8, 8, P=2)) is None
    assert table.lookup(LoopCounts(8, 8, 9)) is None


def test_of_two_lines_with_equal_totals_the_later_counts() -> None:
    table = MappingTable([ONE, TWO])
    assert table.lookup(ONE.total) == Entry(TWO, "explicit")
    assert table.overridden == [(ONE, TWO)]


def test_a_stored_result_is_found_and_stays() -> None:
    table = MappingTable()
    table.store(Entry(ONE, "table", "first"))
    table.store(Entry(TWO, "table", "second"))
    assert table.lookup(ONE.total) == Entry(ONE, "table", "first")
