"""Posts that can find their counter full, against all interleavings."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.check.explore import explore
from pantile.check.limits import overflows_of
from pantile.check.order import happens_before
from pantile.check.steps import processes_of
from pantile.program.tables import Overflow

FEW = settings(max_examples=60, deadline=None)


@FEW
@given(data=st.data())
def test_finds_every_post_that_some_interleaving_loses(data: st.DataObject, small_programs: Any) -> None:
    program = data.draw(small_programs)
    order = happens_before(program)
    if order.stuck:
        return
    limited = np.flatnonzero(order.tables["counter"]["overflow"] != Overflow.NONE).tolist()
    found = set(overflows_of(order)["counter"].tolist())
    for counter in limited:
        lost = explore(processes_of(order.tables, watch=counter), 10_000).lost is not None
        assert counter in found or not lost
        takers = np.unique(order.chains.chain[order.sync.row["op"][order.sync.counter == counter]])
        if order.exact and len(takers) <= 2:
            assert lost or counter not in found


def test_a_set_before_the_last_was_taken_can_find_its_flag_up(literal: Any) -> None:
    made = literal()
    a, b, flag = made.thread("a"), made.thread("b"), made.flag("a", "b")
    made.set(a, flag)
    second = made.set(a, flag)
    made.wait(b, flag)
    made.wait(b, flag)
    assert overflows_of(happens_before(made.program())).tolist() == [(second, flag, 2, 1)]


def test_a_set_after_the_last_was_taken_cannot(literal: Any) -> None:
    made = literal()
    a, b, there, back = made.thread("a"), made.thread("b"), made.flag("a", "b"), made.flag("b", "a")
    for _ in range(2):
        made.set(a, there)
        made.wait(b, there)
        made.set(b, back)
        made.wait(a, back)
    assert len(overflows_of(happens_before(made.program()))) == 0


def test_a_release_without_an_acquire_overfills_whatever_the_timing(literal: Any) -> None:
    made = literal()
    thread, buf = made.thread("t"), made.buffer("buf", 2)
    made.acquire(thread, buf)
    made.release(thread, buf)
    extra = made.release(thread, buf)
    assert overflows_of(happens_before(made.program())).tolist() == [(extra, buf, 3, 3)]


def test_releases_of_two_threads_each_after_its_own_acquire_never_overfill(literal: Any) -> None:
    made = literal()
    buf = made.buffer("buf", 2)
    for name in "ab":
        thread = made.thread(name)
        for _ in range(2):
            made.acquire(thread, buf)
            made.release(thread, buf)
    order = happens_before(made.program())
    assert explore(processes_of(order.tables, watch=buf), 1_000).lost is None
