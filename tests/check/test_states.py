"""Misuse of copies and buffers."""

from __future__ import annotations

from typing import Any

from pantile.check.order import happens_before
from pantile.check.report import Finding, Report
from pantile.check.states import check_states


def report_on(made: Any, **parameters: Any) -> Report:
    program = made.program(**parameters)
    return check_states(program, happens_before(program))


def only(made: Any) -> Finding:
    (finding,) = report_on(made).findings
    assert finding.code == "PT-STATE"
    return finding


def write(made: Any, thread: int, copy: str) -> None:
    made.state(thread, "start_writing", copy)
    made.state(thread, "finish_writing", copy)


def read(made: Any, thread: int, copy: str) -> list[int]:
    return [made.state(thread, what, copy) for what in ("start_reading", "finish_reading")]


def test_ping_pong_is_proved(ping_pong: Any) -> None:
    report = report_on(ping_pong(3, 2))
    assert report.proved == ("states: 15 statements on copies, each in a state that allows it",)
    assert not report.findings


def test_a_copy_that_nobody_writes_is_unborn(literal: Any) -> None:
    made = literal()
    reader = made.thread("reader")
    start, _ = read(made, reader, "X")
    finding = only(made)
    assert (finding.operations, finding.grade) == ((start,), "hang")
    assert "uses an unborn copy: X is never written" in finding.sentence


def test_a_generation_too_many_is_unborn(literal: Any) -> None:
    made = literal()
    thread = made.thread("t")
    write(made, thread, "X")
    made.state(thread, "destroy", "X")
    start, _ = read(made, thread, "X")
    finding = only(made)
    assert finding.operations == (start,)
    assert "X is written 1 times, and generation 2 of it is wanted" in finding.sentence


def test_a_finish_without_a_start_is_an_error_and_names_who_started(literal: Any) -> None:
    made = literal()
    writer, other = made.thread("writer"), made.thread("other")
    start = made.state(writer, "start_writing", "X")
    finish = made.state(other, "finish_writing", "X")
    error, warning = sorted(report_on(made).findings, key=lambda each: each.severity)
    assert (error.severity, error.operations) == ("error", (finish, start))
    assert "another thread starts it: operation 0 'start_writing' of writer" in error.sentence
    assert (warning.severity, warning.operations) == ("warning", (start,))


def test_a_finish_too_many_of_one_thread(literal: Any) -> None:
    made = literal()
    thread = made.thread("t")
    write(made, thread, "X")
    _, finish = read(made, thread, "X")
    again = made.state(thread, "finish_reading", "X")
    assert again != finish
    assert only(made).operations == (again,)


def test_a_start_that_is_never_finished_is_a_leak(literal: Any) -> None:
    made = literal()
    thread = made.thread("t")
    write(made, thread, "X")
    start = made.state(thread, "start_reading", "X")
    finding = only(made)
    assert (finding.severity, finding.grade, finding.operations) == ("warning", "leak", (start,))


def late(literal: Any, *, again: bool) -> tuple[Any, int, int]:
    made = literal()
    owner, reader = made.thread("owner"), made.thread("reader")
    write(made, owner, "X")
    destroy = made.state(owner, "destroy", "X")
    if again:
        write(made, owner, "X")
    start, _ = read(made, reader, "X")
    return made, start, destroy


def test_a_late_reader_may_wait_for_ever(literal: Any) -> None:
    made, start, destroy = late(literal, again=False)
    finding = only(made)
    assert (finding.operations, finding.grade) == ((start, destroy), "hang")
    assert finding.sentence.startswith(f"late reader: operation {start} 'start_reading' of reader")
    in_time, too_late = finding.evidence.split("; ")
    assert in_time.endswith("the reader is in time")
    assert too_late.endswith("it waits for ever: nothing writes the copy again")


def test_a_late_reader_may_read_the_next_generation(literal: Any) -> None:
    made, start, destroy = late(literal, again=True)
    finding = only(made)
    assert (finding.operations, finding.grade) == ((start, destroy), "timing-dependent")
    assert (
        "it reads the next generation, written from operation 3 'start_writing' of owner" in finding.evidence
    )


def test_a_reader_that_the_destroy_waits_for_is_not_late(literal: Any) -> None:
    made = literal()
    owner, reader, flag = made.thread("owner"), made.thread("reader"), made.flag("reader", "owner")
    write(made, owner, "X")
    read(made, reader, "X")
    made.set(reader, flag)
    made.wait(owner, flag)
    made.state(owner, "destroy", "X")
    assert not report_on(made).findings


def test_a_reader_that_an_update_may_overtake(literal: Any) -> None:
    made = literal()
    owner, reader = made.thread("owner"), made.thread("reader")
    write(made, owner, "X")
    update = made.state(owner, "update", "X")
    made.state(owner, "finish_writing", "X")
    start, _ = read(made, reader, "X")
    finding = only(made)
    assert finding.operations == (start, update)
    assert "by which the copy is updated" in finding.sentence


def test_release_without_acquire_whatever_the_timing_and_under_some(literal: Any) -> None:
    made = literal()
    a, buf = made.thread("a"), made.buffer("buf", 1)
    extra = made.release(a, buf)
    finding = only(made)
    assert finding.operations == (extra,)
    assert finding.sentence.endswith("releases more than was acquired: free slots of buf comes to 2 of 1")
    made = literal()
    a, b, buf = made.thread("a"), made.thread("b"), made.buffer("buf", 1)
    made.acquire(a, buf)
    early = made.release(b, buf)
    finding = only(made)
    assert (finding.operations, finding.grade) == ((early,), "timing-dependent")
    assert "under some timings" in finding.sentence


def test_misuses_of_one_line_are_told_once(literal: Any) -> None:
    made = literal()
    reader = made.thread("reader")
    for copy in "XYZ":
        made.state(reader, "start_reading", copy, line=7)
        made.state(reader, "finish_reading", copy, line=8)
    finding = only(made)
    assert finding.sentence.endswith("; so do 2 more of that line")


def test_misuses_found_at_recording_are_told_as_they_were(literal: Any) -> None:
    made = literal()
    made.op(made.thread("t"), "compute")
    fault = {
        "op": 0,
        "sentence": "compute of a tile that nothing loads",
        "mend": "load it",
        "place": "a.py:3",
    }
    (finding,) = report_on(made, faults=[fault]).findings
    assert (finding.code, finding.severity, finding.operations) == ("PT-STATE", "error", (0,))
    assert finding.sentence == "compute of a tile that nothing loads (a.py:3)"
