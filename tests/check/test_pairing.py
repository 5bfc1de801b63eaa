"""Posts and waits that do not come out even, ids, scopes and barriers."""

from __future__ import annotations

from typing import Any

from pantile.check.order import happens_before
from pantile.check.pairing import check_pairing, source_conflicts, surplus_of
from pantile.check.report import Report


def report_on(made: Any, **options: Any) -> Report:
    program = made.program(**options.pop("parameters", {}))
    return check_pairing(program, happens_before(program), **options)


def codes(report: Report) -> list[str]:
    return [finding.code for finding in report.findings]


def exchange(literal: Any, sets: int, waits: int) -> Any:
    made = literal()
    a, b, there, back = made.thread("a"), made.thread("b"), made.flag("a", "b"), made.flag("b", "a")
    for at in range(max(sets, waits)):
        if at < sets:
            made.set(a, there)
        if at < waits:
            made.wait(b, there)
        if at < min(sets, waits):
            made.set(b, back)
            made.wait(a, back)
    return made


def test_even_pairs_are_proved(literal: Any) -> None:
    report = report_on(exchange(literal, 2, 2))
    assert not report.findings
    assert report.proved == ("pairing: 2 flags, every set taken once and before the next",)


def test_the_last_waits_and_sets_are_left_over(literal: Any) -> None:
    order = happens_before(exchange(literal, 1, 2).program())
    assert surplus_of(order) == ([4], [])
    order = happens_before(exchange(literal, 2, 1).program())
    assert surplus_of(order) == ([], [4])


def test_a_missing_set_hangs_and_a_missing_wait_leaks(literal: Any) -> None:
    (wait,) = report_on(exchange(literal, 1, 2)).findings
    assert (wait.code, wait.severity, wait.grade, wait.operations) == ("PT-UNPAIRED", "error", "hang", (4,))
    (left,) = report_on(exchange(literal, 2, 1)).findings
    assert (left.code, left.severity, left.grade, left.operations) == ("PT-LEAK", "warning", "leak", (4,))
    assert "flag 0 of a to b" in left.sentence


def test_slots_never_given_back_leak(literal: Any) -> None:
    made = literal()
    thread, buf = made.thread("t"), made.buffer("buf", 2)
    for _ in range(2):
        last = made.acquire(thread, buf)
    (finding,) = report_on(made).findings
    assert (finding.code, finding.operations) == ("PT-LEAK", (last,))
    assert finding.sentence == "2 of 2 acquired are never released: free slots of buf"


def test_a_double_set_names_the_set_before_and_its_wait(literal: Any) -> None:
    made = literal()
    a, b, flag = made.thread("a"), made.thread("b"), made.flag("a", "b")
    sets = [made.set(a, flag) for _ in range(2)]
    waits = [made.wait(b, flag) for _ in range(2)]
    (finding,) = report_on(made).findings
    assert (finding.code, finding.severity) == ("PT-DOUBLE-SET", "error")
    assert finding.operations == (sets[0], waits[0], sets[1])
    assert finding.evidence.startswith("set by operation 0")


def test_double_sets_of_one_flag_are_told_once(literal: Any) -> None:
    made = literal()
    a, b, flag = made.thread("a"), made.thread("b"), made.flag("a", "b")
    sets = [made.set(a, flag) for _ in range(4)]
    waits = [made.wait(b, flag) for _ in range(4)]
    (finding,) = report_on(made).findings
    assert finding.operations == (sets[0], waits[0], *sets[1:])
    assert finding.sentence.endswith("still up; so can 2 later sets of it")


def test_ids_beyond_the_range_are_refused(literal: Any) -> None:
    made = literal()
    a, b, flag = made.thread("a"), made.thread("b"), made.flag("a", "b", key=8)
    made.set(a, flag)
    made.wait(b, flag)
    assert codes(report_on(made)) == []
    (finding,) = report_on(made, parameters={"event_ids": 8}).findings
    assert (finding.code, finding.operations) == ("PT-EVENT-ID", (0, 1))
    assert "ids go from 0 to 7" in finding.sentence
    assert codes(report_on(made, event_ids=9)) == []


def test_one_id_pending_towards_two_destinations_is_a_matter_of_the_strict_scope(literal: Any) -> None:
    made = literal()
    a, b, c = (made.thread(name) for name in "abc")
    to_b, to_c = made.flag("a", "b"), made.flag("a", "c")
    made.set(a, to_b)
    second = made.set(a, to_c)
    made.wait(b, to_b)
    made.wait(c, to_c)
    made.set(a, to_c)
    made.wait(c, to_c)
    assert source_conflicts(made.program().pieces[0].tables) == [(second, to_b)]
    assert "PT-SCOPE" not in codes(report_on(made))
    assert codes(report_on(made, strict_scope=True)).count("PT-SCOPE") == 1


def test_a_barrier_that_a_thread_never_comes_to(literal: Any) -> None:
    made = literal()
    a, b = made.thread("a"), made.thread("b")
    made.barrier(a, b, comes=(a,))
    finding = next(each for each in report_on(made).findings if each.code == "PT-BARRIER")
    assert finding.severity == "error"
    assert "2 threads must come to barrier of number 0, 1 do" in finding.sentence


def test_a_thread_without_barriers(literal: Any) -> None:
    made = literal()
    scalar = made.thread("PIPE_S")
    made.sync(scalar, "pipe_barrier")
    (finding,) = report_on(made, parameters={"no_barrier": ["PIPE_S"]}).findings
    assert (finding.code, finding.operations) == ("PT-BARRIER", (0,))
