"""Inputs that broke other tools, as programs (docs/bug-inputs.md): races, reuse of slots, overlap."""

from __future__ import annotations

from typing import Any

import pytest

from pantile.check.program import check_program
from pantile.check.report import Report
from pantile.program.tables import Kind


def races(report: Report) -> list[str]:
    return [finding.sentence.split(":")[0] for finding in report.findings if finding.code == "PT-RACE"]


@pytest.mark.parametrize(("pitch", "found"), [(64 * 64, []), (24 * 64, ["WAW on L0C [1536, 6144)"])])
def test_a19_windows_of_one_accumulator_need_its_stride(literal: Any, pitch: int, found: list[str]) -> None:
    made = literal()
    # Columns of 16 elements are blocks of 64 B a row, 64 rows high; windows of 24 and 40 rows.
    for name, lo, rows in (("a", 0, 24), ("b", 24 * 64, 40)):
        made.op(made.thread(name), "mad", Kind.COMPUTE, writes=[("L0C", lo, rows * 64, 4, pitch)])
    # With the stride of the smaller window, its columns run into those of the other.
    assert races(check_program(made.program())) == found


def shared_operand(literal: Any, *, back: bool) -> Any:
    """A loader fills one buffer for two groups of readers, round after round."""
    made = literal()
    load, readers = made.thread("load"), [made.thread("group 0"), made.thread("group 1")]
    full = [made.flag("load", f"group {at}") for at in range(2)]
    empty = [made.flag(f"group {at}", "load") for at in range(2)]
    for turn in range(3):
        if back and turn:
            for flag in empty:
                made.wait(load, flag)
        made.op(load, "load", line=5, writes=[("shared", 0, 128)])
        for at, reader in enumerate(readers):
            made.set(load, full[at])
            made.wait(reader, full[at])
            made.op(reader, "use", line=9, reads=[("shared", 64 * at, 64)])
            if turn < 2:
                made.set(reader, empty[at])
    if not back:
        for flag in empty:
            for _ in range(2):
                made.wait(load, flag)
    return made


def test_a33_without_the_way_back_the_next_load_overtakes_both_groups(literal: Any) -> None:
    assert races(check_program(shared_operand(literal, back=False).program())) == [
        "WAR on shared [0, 64)",
        "WAR on shared [64, 128)",
    ]
    assert races(check_program(shared_operand(literal, back=True).program())) == []


@pytest.mark.parametrize(("tiles", "found"), [(4, 0), (5, 1)])
def test_a43_more_tiles_than_slots_need_a_release(literal: Any, tiles: int, found: int) -> None:
    made = literal()
    produce, consume, ready = made.thread("first"), made.thread("second"), made.counter("ready")
    for tile in range(tiles):
        made.op(produce, "store", line=3, writes=[("L1", 32 * (tile % 4), 32)], posts=[(ready, 1)])
    for tile in range(tiles):
        made.sync(consume, "reach", waits=[(ready, 2, tile + 1)])
        made.op(consume, "use", line=8, reads=[("L1", 32 * (tile % 4), 32)])
    assert len(races(check_program(made.program()))) == found
