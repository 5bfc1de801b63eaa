"""Deadlocks: where threads stand, what they wait for, and who would post it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.check.deadlock import check_deadlock, deadlock_of
from pantile.check.order import happens_before
from pantile.check.report import Finding, Report


def report_on(made: Any, budget: int = 1_000, *, one_bit: bool = False) -> Report:
    program = made.program()
    return check_deadlock(program, happens_before(program), budget, one_bit=one_bit)


def only(report: Report) -> Finding:
    (finding,) = report.findings
    return finding


@pytest.mark.parametrize("one_bit", [False, True])
@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_same_verdict_as_all_interleavings(
    data: st.DataObject, small_programs: Any, interleavings: Any, one_bit: bool
) -> None:
    program = data.draw(small_programs)
    found = deadlock_of(happens_before(program), 10_000, one_bit=one_bit)
    walked = interleavings(program, one_bit=one_bit)
    verdicts = {(True, False): "never", (True, True): "schedule-dependent", (False, True): "always"}
    assert found.verdict == verdicts[walked.completes, walked.stops]


def test_a_forgotten_release_names_both_threads_and_the_buffer(ping_pong: Any) -> None:
    finding = only(report_on(ping_pong(4, 2, release=False)))
    assert (finding.code, finding.severity, finding.grade) == ("PT-DEADLOCK", "error", "hang")
    assert finding.sentence == (
        "2 threads wait for ever, whatever the timing: "
        "operation 8 'acquire' of load (test.py:10) for a free slot of buf; "
        "operation 26 'start_reading' of multiply (test.py:20) for the copy D(2) to be written"
    )
    assert "load: a free slot of buf is up to nobody any more" in finding.evidence
    assert "is up to operation 11 'finish_writing' of load (test.py:13)" in finding.evidence
    assert finding.mend == "release every slot of buf that is acquired"


def test_with_release_it_is_proved_that_none_waits_for_ever(ping_pong: Any) -> None:
    report = report_on(ping_pong(4, 2))
    assert not report.findings
    assert report.proved == ("deadlock: no thread waits for ever",)


def test_a_cycle_is_told_thread_by_thread(literal: Any) -> None:
    made = literal()
    threads = [made.thread(name) for name in "abc"]
    flags = [made.flag(name, "x") for name in "abc"]
    heads = [made.wait(thread, flags[at - 1]) for at, thread in enumerate(threads)]
    for thread, flag in zip(threads, flags, strict=True):
        made.set(thread, flag)
    finding = only(report_on(made))
    assert finding.operations == tuple(heads)
    assert finding.evidence.endswith("cycle of waits: a → c → b → a")
    assert finding.mend == "let one of them post before it waits"


def hold_and_wait(literal: Any) -> Any:
    made = literal()
    buf = made.buffer("buf", 2)
    for name in "ab":
        thread = made.thread(name)
        for what in (made.acquire, made.acquire, made.release, made.release):
            what(thread, buf)
    return made


def test_a_stop_under_some_timings_comes_with_an_order_that_leads_there(literal: Any) -> None:
    finding = only(report_on(hold_and_wait(literal)))
    assert finding.sentence.startswith("2 threads wait for ever, under some timings")
    assert "in the order " in finding.evidence
    assert set(finding.operations) == {1, 5}


def test_beyond_the_budget_it_is_undecided(literal: Any) -> None:
    made = literal()
    buf = made.buffer("buf", 1)
    for name in "abc":
        thread = made.thread(name)
        for _ in range(4):
            made.acquire(thread, buf)
            made.release(thread, buf)
    finding = only(report_on(made, budget=10))
    assert (finding.code, finding.severity, finding.grade) == ("PT-UNDECIDED", "warning", "undecided")
    assert "more than 10 states" in finding.sentence
    proved = report_on(made, budget=1_000).proved
    assert proved == ("deadlock: no thread waits for ever in any of the 112 states with a choice",)


@pytest.mark.parametrize(("one_bit", "verdict"), [(False, "never"), (True, "schedule-dependent")])
def test_a_double_set_loses_a_token_of_one_bit_under_some_timings(
    literal: Any, one_bit: bool, verdict: str
) -> None:
    made = literal()
    a, b, flag = made.thread("a"), made.thread("b"), made.flag("a", "b")
    for _ in range(2):
        made.set(a, flag)
    for _ in range(2):
        made.wait(b, flag)
    order = happens_before(made.program())
    assert deadlock_of(order, 100, one_bit=one_bit).verdict == verdict


def test_a_lost_token_is_told_with_what_is_left(literal: Any) -> None:
    made = literal()
    a, b, flag = made.thread("a"), made.thread("b"), made.flag("a", "b")
    for _ in range(2):
        made.set(a, flag)
    waits = [made.wait(b, flag) for _ in range(2)]
    finding = only(report_on(made, one_bit=True))
    assert finding.operations == (waits[1],)
    assert finding.sentence.startswith("1 thread waits for ever with one-bit flags, under some timings")


def test_stuck_with_choices_still_tells_where(literal: Any) -> None:
    made = hold_and_wait(literal)
    made.wait(0, made.flag("nobody", "a"))
    finding = only(report_on(made))
    assert "whatever the timing" in finding.sentence
    assert finding.operations
