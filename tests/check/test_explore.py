"""The exploration finds the ends that walking through everything finds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.check.explore import explore
from pantile.check.steps import processes_of
from pantile.program.tables import Test

FEW = settings(max_examples=40, deadline=None)


@pytest.mark.parametrize("one_bit", [False, True])
@FEW
@given(data=st.data())
def test_same_ends_as_all_interleavings(
    data: st.DataObject, small_programs: Any, interleavings: Any, one_bit: bool
) -> None:
    program = data.draw(small_programs)
    walked = interleavings(program, one_bit=one_bit)
    found = explore(processes_of(program.pieces[0].tables, one_bit=one_bit), 10_000)
    assert (found.complete is not None, found.dead is not None) == (walked.completes, walked.stops)


@FEW
@given(data=st.data())
def test_looks_find_every_order_of_two_operations(
    data: st.DataObject, small_programs: Any, interleavings: Any
) -> None:
    program = data.draw(small_programs)
    walked = interleavings(program)
    count = len(walked.ops)
    first, second = data.draw(st.integers(0, count - 1)), data.draw(st.integers(0, count - 1))
    if first == second:
        return
    processes = processes_of(program.pieces[0].tables, looks=(first, second))
    found = explore(processes, 10_000, until_seen=True)
    early = found.seen is not None or found.seen_dead is not None
    assert early == bool(walked.overlaps[first, second])


def two_takers(literal: Any, *, returns: bool) -> Any:
    """Two threads that take two slots each, one after the other, of a buffer of two."""
    made = literal()
    buf = made.buffer("buf", 2)
    for name in ("a", "b"):
        thread = made.thread(name)
        made.acquire(thread, buf)
        made.acquire(thread, buf)
        for _ in range(2 * returns):
            made.release(thread, buf)
    return processes_of(made.program().pieces[0].tables)


def test_hold_and_wait_stops_under_some_timings_only(literal: Any) -> None:
    found = explore(two_takers(literal, returns=True), 100)
    assert found.complete is not None
    assert found.dead is not None
    assert found.dead.at == (1, 1)
    assert found.dead.value == (0,)


def test_a_dead_end_is_reached_by_its_path(literal: Any) -> None:
    found = explore(two_takers(literal, returns=False), 100)
    assert found.complete is None
    assert found.dead is not None
    assert sorted(found.dead.path) in ([0, 1], [0, 2], [2, 3])


def test_a_program_without_choices_needs_no_states(ping_pong: Any) -> None:
    found = explore(processes_of(ping_pong(5, 2).program().pieces[0].tables), 0)
    assert found.complete is not None
    assert found.dead is None
    assert found.states == 0


def test_stops_at_the_budget_and_says_so(literal: Any) -> None:
    made = literal()
    buf = made.buffer("buf", 1)
    for name in "abcd":
        thread = made.thread(name)
        for _ in range(3):
            made.acquire(thread, buf)
            made.release(thread, buf)
    processes = processes_of(made.program().pieces[0].tables)
    short, whole = explore(processes, 5), explore(processes, 10_000)
    assert not short.finished
    assert whole.finished
    assert whole.dead is None
    assert whole.states == 4**4 - 4 * 3 - 1  # positions where two threads or more have turns left


def test_a_lost_post_is_found(literal: Any) -> None:
    made = literal()
    a, b, flag = made.thread("a"), made.thread("b"), made.flag("a", "b")
    made.set(a, flag)
    made.set(a, flag)
    made.wait(b, flag)
    tables = made.program().pieces[0].tables
    assert explore(processes_of(tables, watch=flag), 100).lost is not None
    assert explore(processes_of(tables), 100).lost is None


def test_a_wait_for_zero_that_others_disturb_is_tried_both_ways(literal: Any) -> None:
    made = literal()
    a, b, busy = made.thread("a"), made.thread("b"), made.counter("busy")
    made.sync(a, "zero", waits=[(busy, Test.ZERO, 0)])
    made.sync(b, "raise", posts=[(busy, 1)])
    found = explore(processes_of(made.program().pieces[0].tables), 100)
    assert found.complete is not None
    assert found.dead is not None
