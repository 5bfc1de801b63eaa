"""The columns that every notation fills (design, section 3)."""

from __future__ import annotations

import pytest

from pantile.program.tables import MAX_AXES, TABLES, TIMELINE, empty_tables

# Columns that the design names, table by table; ours may have more.
DESIGN = {
    "thread": "id name core completes arbiter task",
    "arbiter": "id policy issues_per_tick",
    "task": "id tile queue resident_limit",
    "slot": "task memory rule",
    "op": "id thread engine listing_index kind opcode tile bytes macs duration_model line",
    "use": "op resource position amount",
    "access": "op mode space lo length rows pitch operand location generation",
    "sync": "op edge counter test amount group shown_as",
    "counter": "id src dst key initial capacity overflow",
    "resource": "id kind policy rate latency quantum state_model",
}


@pytest.mark.parametrize("name", DESIGN)
def test_every_column_of_the_design_is_there(name: str) -> None:
    assert set(DESIGN[name].split()) <= set(TABLES[name].names or ())


def test_timeline_columns() -> None:
    assert TIMELINE.names == (
        "op",
        "ready",
        "issue",
        "start",
        "finish",
        "released_by",
        "releaser",
        "class",
    )


def test_boxes_have_room_for_a_convolution() -> None:
    assert len("nqpmsrc") == MAX_AXES
    assert TABLES["box"]["lo"].shape == TABLES["box"]["length"].shape == (MAX_AXES,)


def test_empty_tables_are_new_each_time() -> None:
    first, second = empty_tables(), empty_tables()
    assert first.keys() == TABLES.keys()
    assert all(len(rows) == 0 for rows in first.values())
    assert first["op"] is not second["op"]
