"""Waits and barriers that order nothing: leaving them out changes no order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.check.order import happens_before
from pantile.check.redundant import check_redundant, redundant_of
from pantile.program.piece import Piece
from pantile.program.program import Program
from pantile.program.tables import Kind


def found_in(program: Program) -> list[tuple[tuple[int, ...], bool]]:
    return [(each.operations, each.barrier) for each in redundant_of(program, happens_before(program))]


def orders_of_work(program: Program) -> np.ndarray:
    work = np.flatnonzero(program.pieces[0].tables["op"]["kind"] != Kind.SYNC)
    return happens_before(program).before(work[:, None], work[None, :])


def without(program: Program, ops: tuple[int, ...]) -> Program:
    """Leave out what operations do to counters, and for every wait its post."""
    order = happens_before(program)
    posts = order.edges["src"][np.isin(order.edges["dst"], ops)]
    tables = dict(program.pieces[0].tables)
    tables["sync"] = tables["sync"][~np.isin(tables["sync"]["op"], [*ops, *posts.tolist()])]
    return replace(program, pieces=(Piece(tables),))


@st.composite
def meeting_programs(draw: st.DrawFn, literal: Any) -> Program:
    """Threads that work, hand over flags that are used once, and meet at barriers."""
    made = literal()
    threads = [made.thread(f"t{at}", pipelined=draw(st.booleans())) for at in range(draw(st.integers(2, 3)))]
    for at in range(draw(st.integers(2, 7))):
        what = draw(st.sampled_from(["work", "work", "flag", "barrier"]))
        thread = draw(st.sampled_from(threads))
        if what == "work":
            made.op(thread, "work")
        elif what == "barrier":
            made.barrier(*draw(st.sets(st.sampled_from(threads), min_size=1)))
        else:
            other = draw(st.sampled_from([each for each in threads if each != thread]))
            flag = made.flag(f"t{thread}", f"t{other}", at)
            made.set(thread, flag)
            made.wait(other, flag)
    return made.program()


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_leaving_one_out_changes_no_order_of_work(data: st.DataObject, literal: Any) -> None:
    program = data.draw(meeting_programs(literal))
    before = orders_of_work(program)
    for operations, _ in found_in(program):
        assert np.array_equal(orders_of_work(without(program, operations)), before)


def test_a_wait_for_what_a_later_wait_implies(literal: Any) -> None:
    made = literal()
    a, b = made.thread("a"), made.thread("b")
    early, late = made.flag("a", "b", 0), made.flag("a", "b", 1)
    made.op(a, "work")
    made.set(a, early)
    made.op(a, "more")
    made.set(a, late)
    first = made.wait(b, early)
    made.wait(b, late)
    made.op(b, "use")
    assert found_in(made.program()) == [((first,), False)]


def test_a_second_barrier_with_nothing_between(literal: Any) -> None:
    made = literal()
    a, b = made.thread("a"), made.thread("b")
    for thread in (a, b):
        made.op(thread, "before")
    made.barrier(a, b)
    again = made.barrier(a, b)
    for thread in (a, b):
        made.op(thread, "after")
    ((operations, barrier),) = found_in(made.program())
    assert barrier
    assert operations == tuple(again)


def test_priming_and_draining_are_not_redundant(literal: Any) -> None:
    made = literal()
    load, use = made.thread("load"), made.thread("use")
    free, full = made.flag("use", "load"), made.flag("load", "use")
    made.set(use, free)
    for _ in range(2):
        made.wait(load, free)
        made.op(load, "load")
        made.set(load, full)
        made.wait(use, full)
        made.op(use, "use")
        made.set(use, free)
    made.wait(load, free)
    assert found_in(made.program()) == []


def test_a_buffer_with_a_slot_for_every_tile_makes_nothing_wait(ping_pong: Any) -> None:
    program = ping_pong(3, 4).program()
    (finding,) = check_redundant(program, happens_before(program), cost=lambda ops: f"{len(ops)} ns").findings
    assert (finding.code, finding.severity, finding.operations) == ("PT-REDUNDANT", "note", (0, 4, 8))
    assert finding.sentence.startswith("operation 0 'acquire' of load (test.py:10) never makes anything wait")
    assert finding.evidence == "3 ns"
    assert found_in(ping_pong(3, 2).program()) == []


@pytest.mark.slow
def test_compiled_and_plain_are_the_same(ping_pong: Any) -> None:
    program = ping_pong(30, 40).program()
    order = happens_before(program, compiled=False)
    plain, fast = (redundant_of(program, order, compiled=each) for each in (False, True))
    assert plain == fast
