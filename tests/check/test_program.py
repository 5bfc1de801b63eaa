"""All checks of a program together; and mutants of a correct one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pantile.check.order import happens_before
from pantile.check.program import check_program
from pantile.check.report import Report
from pantile.program.piece import Piece
from pantile.program.program import Program
from pantile.program.tables import SYNC, Test


def codes(report: Report) -> set[str]:
    return {finding.code for finding in report.findings if finding.severity != "note"}


def test_ping_pong_is_proved_right(ping_pong: Any) -> None:
    report = check_program(ping_pong(4, 2).program())
    assert report.ok
    assert not report.findings
    assert [sentence.partition(":")[0] for sentence in report.proved] == [
        "deadlock",
        "states",
        "races",
        "capacity",
    ]


def test_a_program_that_always_stops_is_not_looked_at_for_races(ping_pong: Any) -> None:
    report = check_program(ping_pong(4, 2, release=False).program())
    assert codes(report) == {"PT-DEADLOCK"}
    assert not any(sentence.startswith("races") for sentence in report.proved)


def test_a_double_set_is_followed_up_with_one_bit_flags(literal: Any) -> None:
    made = literal()
    a, b, flag = made.thread("a"), made.thread("b"), made.flag("a", "b")
    for _ in range(2):
        made.set(a, flag)
    for _ in range(2):
        made.wait(b, flag)
    report = check_program(made.program())
    assert codes(report) == {"PT-DOUBLE-SET", "PT-DEADLOCK"}
    assert "deadlock with counting flags: no thread waits for ever" in report.proved
    assert "deadlock: no thread waits for ever" not in report.proved


def test_the_report_is_the_object_that_is_printed(ping_pong: Any) -> None:
    report = check_program(ping_pong(2, 2).program())
    assert set(report.to_json()) == {"ok", "findings", "proved"}
    assert str(report).endswith("\nok")


def test_checking_changes_nothing(ping_pong: Any) -> None:
    program = ping_pong(3, 2).program()
    before = {name: rows.copy() for name, rows in program.pieces[0].tables.items()}
    assert check_program(program).to_json() == check_program(program).to_json()
    assert all(np.array_equal(rows, before[name]) for name, rows in program.pieces[0].tables.items())


def flags_ping_pong(literal: Any, tiles: int = 3) -> Any:
    """Ping-pong of two slots with flags: a load waits until its slot was used, a use until it was loaded."""
    made = literal()
    load, use = made.thread("MTE2"), made.thread("V", pipelined=True)
    free = [made.flag("V", "MTE2", slot) for slot in range(2)]
    full = [made.flag("MTE2", "V", slot) for slot in range(2)]
    for slot in range(2):
        made.set(use, free[slot])
    for tile in range(tiles):
        slot = tile % 2
        made.wait(load, free[slot])
        made.op(load, "load", writes=[("UB", 64 * slot, 64)])
        made.set(load, full[slot])
        made.wait(use, full[slot])
        made.op(use, "use", reads=[("UB", 64 * slot, 64)])
        made.set(use, free[slot])
    for tile in range(tiles, tiles + 2):
        made.wait(load, free[tile % 2])
    return made


def with_sync(program: Program, rows: np.ndarray) -> Program:
    tables = dict(program.pieces[0].tables)
    tables["sync"] = rows
    return replace(program, pieces=(Piece(tables),))


def mutants(program: Program) -> Iterator[tuple[str, Program]]:
    """Drop, re-number and swap every row of synchronisation."""
    sync, counters = program.pieces[0].tables["sync"], program.pieces[0].tables["counter"]
    thread = program.pieces[0].tables["op"]["thread"]
    for at in range(len(sync)):
        what = "post" if sync["test"][at] == Test.POST else "wait"
        yield f"drop {what}", with_sync(program, np.delete(sync, at))
        alike = np.flatnonzero(
            (counters["src"] == counters["src"][sync["counter"][at]])
            & (np.arange(len(counters)) != sync["counter"][at])
        )
        if len(alike):
            other = sync.copy()
            other["counter"][at] = alike[0]
            yield f"re-number {what}", with_sync(program, other)
        later = np.flatnonzero((sync["op"] > sync["op"][at]) & (thread[sync["op"]] == thread[sync["op"][at]]))
        if len(later):
            ops = sync["op"].copy()
            near = ops[later[0]]
            swapped = sync.copy()
            swapped["op"] = np.where(ops == ops[at], near, np.where(ops == near, ops[at], ops))
            yield f"swap {what}", with_sync(program, np.sort(swapped, order="op", kind="stable"))


def keeps_order(program: Program, walked: Any) -> bool:
    """Whether all conflicting work keeps, in every interleaving walked, the order of the correct program."""
    access, ops = program.pieces[0].tables["access"], program.pieces[0].tables["op"]
    right = happens_before(program)
    for a, b in ((a, b) for a in range(len(ops)) for b in range(len(ops)) if a != b):
        ranges = [access[access["op"] == op] for op in (a, b)]
        meets = any(
            one["space"] == two["space"]
            and one["lo"] < two["lo"] + two["length"]
            and two["lo"] < one["lo"] + one["length"]
            and (one["mode"] or two["mode"])
            for one in ranges[0]
            for two in ranges[1]
        )
        if meets and right.before(np.array([a]), np.array([b]))[0] and walked.overlaps[a, b]:
            return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("which", ["copies", "flags"])
def test_every_mutant_is_reported_for_what_it_is_or_harmless(
    which: str, ping_pong: Any, literal: Any, interleavings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    made = ping_pong(3, 2, parts=1) if which == "copies" else flags_ping_pong(literal)
    program = made.program()
    assert check_program(program).ok
    table: Counter[tuple[str, str]] = Counter()
    for what, mutant in mutants(program):
        told = codes(check_program(mutant, budget=20_000))
        walked, bits = interleavings(mutant), interleavings(mutant, one_bit=True)
        assert "PT-UNDECIDED" not in told, what
        assert ("PT-DEADLOCK" in told) == (walked.stops or bits.stops), what
        if not walked.stops:  # what never runs is not looked at
            assert ("PT-RACE" in told) == (not keeps_order(program, walked)), what
        table[what, ", ".join(sorted(told)) or "harmless"] += 1
    rows = [f"| {what} | {count} | {told_as} |" for (what, told_as), count in sorted(table.items())]
    with capsys.disabled():
        print(f"\nmutants of ping-pong with {which}:", *rows, sep="\n")
    page = (Path(__file__).parents[2] / "docs" / "checker.md").read_text(encoding="utf-8")
    (shown,) = re.findall(rf"<!-- mutants of ping-pong with {which} -->\n\n(.*?)\n\n", page, re.DOTALL)
    assert rows == shown.splitlines()[2:]


def test_a_mutant_of_no_row_is_the_program(ping_pong: Any) -> None:
    program = ping_pong(2, 2).program()
    assert with_sync(program, program.pieces[0].tables["sync"].astype(SYNC)) == program
