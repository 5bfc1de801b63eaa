"""The rules of the engine, each by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pantile.program.tables import ArbiterPolicy, Edge, Kind, Overflow, ReleasedBy, Test
from pantile.simulate.bound import BoundProgram
from pantile.simulate.dynamic import DynamicExecutor
from pantile.simulate.engine_plain import run_plain
from pantile.simulate.outcome import Fault, Stuck
from pantile.simulate.running import ThreadSource
from pantile.simulate.statement import CounterSpec, ResourceSpec, Statement, Sync

Make = Callable[..., Any]


BEFORE, AFTER, ALONG = Edge.BEFORE_START, Edge.AFTER_FINISH, Edge.ALONG


def spans(bound: BoundProgram) -> list[tuple[int, int]]:
    times = run_plain(bound).times
    return list(zip(times["start"].tolist(), times["finish"].tolist(), strict=True))


def test_in_order_thread_starts_when_the_one_before_has_finished(builder: Make) -> None:
    b = builder()
    t, wire = b.thread(), b.resource(10**12, latency=3)
    b.op(t, uses=[(wire, 10)])
    b.op(t, uses=[(wire, 10)])
    assert spans(b.bound()) == [(0, 13), (13, 26)]


def test_pipelined_thread_starts_when_the_one_before_has_left_the_resource(builder: Make) -> None:
    b = builder()
    t, array = b.thread(pipelined=True), b.resource(10**12, latency=3)
    b.op(t, uses=[(array, 10)])
    b.op(t, uses=[(array, 10)])
    assert spans(b.bound()) == [(0, 13), (10, 23)]


def test_post_of_a_pipelined_thread_waits_for_all_before_and_holds_up_none(builder: Make) -> None:
    b = builder()
    t, other, flag = b.thread(pipelined=True), b.thread(), b.counter()
    b.op(t, ticks=20)
    b.op(t, ticks=5)
    post = b.op(t, [(AFTER, flag, Test.POST, 1)])
    late = b.op(t, ticks=1)
    wait = b.op(other, [(BEFORE, flag, Test.TAKE, 1)])
    found = spans(b.bound())
    assert (found[post], found[late], found[wait]) == ((20, 20), (0, 1), (20, 20))


def test_wait_of_a_pipelined_thread_holds_up_all_later_ones(builder: Make) -> None:
    b = builder()
    t, other, flag = b.thread(pipelined=True), b.thread(), b.counter()
    b.op(t, [(BEFORE, flag, Test.TAKE, 1)])
    late = b.op(t, ticks=1)
    b.op(other, [(AFTER, flag, Test.POST, 1)], ticks=9)
    assert spans(b.bound())[late] == (9, 10)


def test_a_group_of_waits_proceeds_when_all_hold_and_takes_nothing_before(builder: Make) -> None:
    """The group wants 1 of each; alone, the second thread may have the first counter meanwhile."""
    b = builder()
    both, one, post = (b.thread() for _ in range(3))
    first, second = b.counter(1), b.counter(0)
    b.op(both, [(BEFORE, first, Test.TAKE, 1, 0), (BEFORE, second, Test.TAKE, 1, 0)])
    taken = b.op(one, [(BEFORE, first, Test.TAKE, 1), (AFTER, first, Test.POST, 1)], ticks=4)
    b.op(post, [(AFTER, second, Test.POST, 1)], ticks=10)
    found = spans(b.bound())
    assert (found[0], found[taken]) == ((10, 10), (0, 4))


def test_waits_without_a_group_take_one_after_the_other(builder: Make) -> None:
    """The first thread takes the first counter at once and holds it while it waits for the second."""
    b = builder()
    both, one, post = (b.thread() for _ in range(3))
    first, second = b.counter(1), b.counter(0)
    b.op(both, [(BEFORE, first, Test.TAKE, 1), (BEFORE, second, Test.TAKE, 1), (AFTER, first, Test.POST, 1)])
    taken = b.op(one, [(BEFORE, first, Test.TAKE, 1)], ticks=4)
    b.op(post, [(AFTER, second, Test.POST, 1)], ticks=10)
    assert spans(b.bound())[taken] == (10, 14)


def test_reach_counts_posts_ever_made_and_zero_the_present_value(builder: Make) -> None:
    b = builder()
    post, take, reach, zero = (b.thread() for _ in range(4))
    c = b.counter(0)
    for _ in range(2):
        b.op(post, [(AFTER, c, Test.POST, 1)], ticks=5)
    b.op(take, [(BEFORE, c, Test.TAKE, 1)])
    b.op(take, [(BEFORE, c, Test.TAKE, 1)], ticks=1)
    reached = b.op(reach, [(BEFORE, c, Test.REACH, 2)])
    b.op(zero, ticks=7)
    empty = b.op(zero, [(BEFORE, c, Test.ZERO, 0)])
    found = spans(b.bound())
    assert (found[reached], found[empty]) == ((10, 10), (7, 7))


def test_one_bit_flags_saturate(builder: Make) -> None:
    b = builder()
    setting, waiting = b.thread(), b.thread()
    flag = b.counter(0, 1, Overflow.SATURATE)
    for _ in range(2):
        b.op(setting, [(AFTER, flag, Test.POST, 1)])
    b.op(waiting, ticks=1)
    for _ in range(2):
        b.op(waiting, [(BEFORE, flag, Test.TAKE, 1)])
    run = run_plain(b.bound())
    assert run.stuck == (Stuck(thread=1, op=4, counter=flag, value=0),)


def test_posts_along_are_spread_over_the_operation(builder: Make) -> None:
    """Four posts over ten ticks, after ceil(10 j / 4): 3, 5, 8, 10; a latency of 2 delays each."""
    b = builder()
    wire = b.resource(10**12, latency=2)
    move, count = b.thread(), b.counter()
    b.op(move, [(ALONG, count, Test.POST, 4)], [(wire, 10)])
    readers = [b.op(b.thread(), [(BEFORE, count, Test.REACH, n)]) for n in range(1, 5)]
    found = spans(b.bound())
    assert [found[each][0] for each in readers] == [5, 7, 10, 12]


def test_posts_along_a_shared_link_come_with_its_bytes(builder: Make) -> None:
    """16 bytes in quanta of 4, beside another transfer: the turns end at 4, 12, 20, 28."""
    b = builder()
    link, count = b.resource(10**12, shared=True, quantum=4), b.counter()
    b.op(b.thread(), [(ALONG, count, Test.POST, 4)], [(link, 16)])
    b.op(b.thread(), uses=[(link, 16)])
    readers = [b.op(b.thread(), [(BEFORE, count, Test.REACH, n)]) for n in range(1, 5)]
    found = spans(b.bound())
    assert [found[each][0] for each in readers] == [4, 12, 20, 28]
    assert found[:2] == [(0, 28), (0, 32)]


def test_a_transfer_takes_exclusive_links_in_route_order(builder: Make) -> None:
    """The second waits for link 1 while it holds link 0, so the third, which wants only link 0, waits too."""
    b = builder()
    near, far = b.resource(10**12), b.resource(10**12)
    b.op(b.thread(), uses=[(far, 10)])
    b.op(b.thread(), uses=[(near, 4), (far, 4)])
    b.op(b.thread(), uses=[(near, 1)])
    bound = b.bound()
    assert spans(bound) == [(0, 10), (10, 14), (14, 15)]
    times = run_plain(bound).times
    assert times["released_by"].tolist() == [ReleasedBy.PROGRAM, ReleasedBy.RESOURCE, ReleasedBy.RESOURCE]
    assert times["releaser"].tolist() == [-1, 0, 1]


def test_ties_go_by_request_time_then_thread_order(builder: Make) -> None:
    """Threads 2 and 1 ask at 3 and 5 for a link that is free at 9; threads 3 and 4 both ask at 6."""
    b = builder()
    link = b.resource(10**12)
    threads = [b.thread() for _ in range(5)]
    b.op(threads[0], uses=[(link, 9)])
    for thread, before in ((4, 6), (1, 5), (2, 3), (3, 6)):
        b.op(threads[thread], ticks=before)
        b.op(threads[thread], uses=[(link, 1)])
    found = spans(b.bound())
    assert [found[2 * place][0] for place in (3, 2, 4, 1)] == [9, 10, 11, 12]


def test_a_finish_at_an_instant_comes_before_a_start(builder: Make) -> None:
    """At 5 the slot is given back and asked for: it is free."""
    b = builder()
    slot = b.buffer(1)
    one, other = b.thread(), b.thread()
    b.op(one, [(BEFORE, slot, Test.TAKE, 1), (AFTER, slot, Test.POST, 1)], ticks=5)
    b.op(other, ticks=5)
    late = b.op(other, [(BEFORE, slot, Test.TAKE, 1)])
    assert spans(b.bound())[late] == (5, 5)


@pytest.mark.parametrize(
    ("policy", "turns"),
    [(ArbiterPolicy.FIXED, [0, 30, 10, 20]), (ArbiterPolicy.ROUND_ROBIN_STICKY, [0, 10, 20, 30])],
)
def test_arbiter_issues_one_operation_in_each_turn(
    builder: Make, policy: ArbiterPolicy, turns: list[int]
) -> None:
    """Thread 1 has the first turn, of ten ticks, since thread 0 is ready only at 4.

    Then ``fixed`` prefers thread 0 while it has something, ``sticky`` stays with thread 1.
    """
    b = builder()
    arbiter = b.arbiter(policy, 1, 10)
    first, second = b.thread(pipelined=True, arbiter=arbiter), b.thread(pipelined=True, arbiter=arbiter)
    gate = b.counter()
    for _ in range(2):
        b.op(second, ticks=1)
    b.op(first, [(BEFORE, gate, Test.TAKE, 1)], ticks=1)
    b.op(first, ticks=1)
    b.op(b.thread(), [(AFTER, gate, Test.POST, 1)], ticks=4)
    assert run_plain(b.bound()).times["issue"][:4].tolist() == turns


def test_a_deadlock_names_every_thread_and_what_it_waits_for(builder: Make) -> None:
    b = builder()
    one, other = b.counter(), b.counter()
    b.op(b.thread(), [(BEFORE, one, Test.TAKE, 1), (AFTER, other, Test.POST, 1)])
    b.op(b.thread(), [(BEFORE, other, Test.TAKE, 1), (AFTER, one, Test.POST, 1)])
    run = run_plain(b.bound())
    assert run.stuck == (Stuck(thread=0, op=0, counter=one), Stuck(thread=1, op=1, counter=other))


def test_links_taken_in_opposite_orders_get_stuck_on_each_other(builder: Make) -> None:
    b = builder()
    one, between, other = (b.resource(10**12) for _ in range(3))
    b.op(b.thread(), uses=[(between, 3)])
    b.op(b.thread(), uses=[(one, 5), (between, 5), (other, 5)])
    b.op(b.thread(), uses=[(other, 5), (one, 5)])
    run = run_plain(b.bound())
    assert run.stuck == (
        Stuck(thread=1, op=1, resource=other, holder=2),
        Stuck(thread=2, op=2, resource=one, holder=1),
    )


def test_a_counter_below_zero_is_a_fault(builder: Make) -> None:
    b = builder()
    readers = b.counter(0, 9, Overflow.ERROR)
    b.op(b.thread(), [(AFTER, readers, Test.POST, -1)])
    assert run_plain(b.bound()).fault == Fault(op=0, counter=readers, value=-1, limit=0)


def test_a_query_sees_what_was_posted_at_its_instant_and_decides_what_comes_next() -> None:
    """Thread 0 asks at 3, when thread 1 has just posted: it then takes; before, it would have worked."""
    seen = []

    def asking() -> Any:
        yield Statement(kind=Kind.MOVE, ticks=3)
        for _ in range(2):
            value = yield Statement(kind=Kind.CONTROL, query="slots")
            seen.append(value)
            if value:
                yield Statement(syncs=(Sync("slots", Test.TAKE),))
            else:
                yield Statement(kind=Kind.COMPUTE, ticks=4)

    def posting() -> Any:
        yield Statement(kind=Kind.MOVE, ticks=3, syncs=(Sync("slots", Test.POST, 1, Edge.AFTER_FINISH),))

    executor = DynamicExecutor(
        [ThreadSource(asking()), ThreadSource(posting())], lambda key: CounterSpec(), resource_spec
    )
    run = executor.run()
    assert seen == [1, 0]
    done = {number: executor.statements[number][1].kind for number in range(len(run.times))}
    assert [int(run.times["finish"][number]) for number, kind in done.items() if kind == Kind.COMPUTE] == [7]


def resource_spec(key: object) -> ResourceSpec:
    raise AssertionError(f"nothing uses {key}")
