"""Races as findings: what, where, in which order, and how to mend it."""

from __future__ import annotations

from typing import Any

import numpy as np

from pantile.check.order import Order, happens_before
from pantile.check.races import Race, check_races, races_of
from pantile.check.report import Finding, Report


def report_on(made: Any, budget: int = 1_000, **options: Any) -> Report:
    program = made.program(**options.pop("parameters", {}))
    return check_races(program, happens_before(program), budget=budget, **options)


def only(report: Report) -> Finding:
    (finding,) = report.findings
    return finding


def unsynchronised(literal: Any) -> Any:
    made = literal()
    load, use = made.thread("load"), made.thread("use")
    made.op(load, "load", line=3, writes=[("sram", 0, 64)])
    made.op(use, "use", line=7, reads=[("sram", 32, 64)])
    return made


def test_names_operations_lines_bytes_order_and_mend(literal: Any) -> None:
    finding = only(report_on(unsynchronised(literal)))
    assert (finding.code, finding.severity, finding.operations) == ("PT-RACE", "error", (0, 1))
    assert finding.sentence == (
        "RAW on sram [32, 64): operation 0 'load' of load (test.py:3) writes what "
        "operation 1 'use' of use (test.py:7) reads, and nothing orders them"
    )
    assert finding.evidence == (
        "a legal order: operation 1 'use' of use (test.py:7) runs before load does anything, "
        "and operation 0 'load' of load (test.py:3) later"
    )
    assert finding.mend == "let use wait, before 1, for something that load posts after 0"


def test_a_flag_between_them_proves_the_order(literal: Any) -> None:
    made = literal()
    load, use, flag = made.thread("load"), made.thread("use"), made.flag("load", "use")
    made.op(load, "load", writes=[("sram", 0, 64)])
    made.set(load, flag)
    made.wait(use, flag)
    made.op(use, "use", reads=[("sram", 32, 64)])
    assert report_on(made).proved == ("races: 2 accesses, all conflicting ones ordered",)


def test_reuse_of_a_slot_that_was_not_waited_for_is_war_although_the_load_is_listed_first(
    ping_pong: Any,
) -> None:
    made = ping_pong(3, 2)
    program = made.program()
    sync = program.pieces[0].tables["sync"]
    acquires = [row for row in range(len(sync)) if program.names[sync["shown_as"][row]] == "acquire"]
    free = made.counter("free slots", "spare", 3)
    made.rows["sync"][acquires[2]] = (*made.rows["sync"][acquires[2]][:2], free, 1, 1, 0, 0)
    found = only(report_on(made))
    assert found.sentence.startswith(
        "WAR on sram [0, 32): operation 13 'compute' of multiply (test.py:21) reads"
    )
    assert found.sentence.endswith("and nothing orders them, and 1 more pairs of these lines")
    assert found.operations == (13, 10)


def test_conflicts_of_the_same_lines_are_told_once(literal: Any) -> None:
    made = literal()
    load, use = made.thread("load"), made.thread("use")
    for at in range(4):
        made.op(load, "load", line=3, writes=[("sram", 64 * at, 64)])
    for at in range(4):
        made.op(use, "use", line=7, reads=[("sram", 64 * at, 64)])
    assert only(report_on(made)).sentence.endswith("and nothing orders them, and 3 more pairs of these lines")


def test_a_pipelined_thread_needs_a_barrier(literal: Any) -> None:
    made = literal()
    vector = made.thread("PIPE_V", pipelined=True)
    made.op(vector, "fill", writes=[("UB", 0, 256)])
    made.op(vector, "add", reads=[("UB", 0, 256)])
    finding = only(report_on(made))
    assert finding.sentence.startswith("RAW on UB [0, 256)")
    assert finding.mend == "put a barrier of PIPE_V between them"


def locked(literal: Any) -> Any:
    """Two threads that write the same bytes, one at a time, in either order."""
    made = literal()
    buf = made.buffer("buf", 1)
    for name in "ab":
        thread = made.thread(name)
        made.acquire(thread, buf)
        made.op(thread, "write", writes=[("sram", 0, 8)])
        made.release(thread, buf)
    return made


def test_what_a_choice_leaves_open_is_searched_for(literal: Any) -> None:
    finding = only(report_on(locked(literal)))
    assert finding.sentence.startswith("WAW on sram [0, 8)")


def test_beyond_the_budget_it_is_undecided(literal: Any) -> None:
    finding = only(report_on(locked(literal), budget=-1))
    assert (finding.code, finding.severity, finding.grade) == ("PT-UNDECIDED", "warning", "undecided")


def test_an_order_that_only_all_interleavings_show_is_no_race(literal: Any) -> None:
    made = literal()
    a, b, c = (made.thread(name) for name in "abc")
    hint, ready = made.flag("a", "b"), made.flag("ab", "c")
    made.op(a, "write", writes=[("sram", 0, 8)])
    made.set(a, hint)
    made.set(a, ready)
    made.wait(b, hint)
    made.set(b, ready)
    made.wait(c, ready)  # either set lets it pass, and both come after the write
    made.op(c, "read", reads=[("sram", 0, 8)])
    report = report_on(made)
    assert not report.findings
    walked = "1 of them only by walking through all interleavings"
    assert report.proved == (f"races: 2 accesses, all conflicting ones ordered; {walked}",)


def test_a_judge_grades_what_the_witness_does(literal: Any) -> None:
    seen: list[list[int]] = []

    def judge(race: Race, order: Order) -> Any:
        assert order.before(np.array([0]), np.array([1])).tolist() == [False]
        seen.append(race.witness.tolist())
        return "unordered, equal bytes on this data", "warning", "the bytes are equal"

    report = report_on(unsynchronised(literal), judge=judge)
    assert seen == [[1, 0]]
    finding = only(report)
    assert (finding.grade, finding.severity) == ("unordered, equal bytes on this data", "warning")
    assert finding.evidence.endswith("; the bytes are equal")
    assert report.ok


def test_races_carry_their_witness(literal: Any) -> None:
    program = unsynchronised(literal).program()
    (race,) = races_of(program, happens_before(program)).races
    assert (race.kind, race.first, race.second, race.lo, race.hi) == ("RAW", 0, 1, 32, 64)
    assert race.witness.tolist() == [1, 0]
    assert (race.pairs.tolist(), race.count) == ([[0, 1]], 1)
