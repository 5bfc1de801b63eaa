"""Happens-before: forced pairings by hand, and against all interleavings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.check.order import Order, happens_before
from pantile.program.tables import Kind, Test

FEW = settings(max_examples=50, deadline=None)


def ordered(order: Order, *pairs: tuple[int, int]) -> list[bool]:
    first, second = np.array(pairs).T
    return order.before(first, second).tolist()


def all_pairs(order: Order) -> np.ndarray:
    ops = np.arange(len(order.topo))
    before = order.before(ops[:, None], ops[None, :])
    np.fill_diagonal(before, False)
    return before


@FEW
@given(data=st.data())
def test_claims_what_holds_in_every_interleaving_and_all_of_it(
    data: st.DataObject, small_programs: Any, interleavings: Any
) -> None:
    program = data.draw(small_programs)
    order, walked = happens_before(program), interleavings(program)
    before = all_pairs(order)
    assert not (before & walked.overlaps).any()  # sound, whatever is left open
    if order.stuck:
        assert not walked.completes
    elif order.exact:
        assert not walked.stops
        np.fill_diagonal(walked.overlaps, True)
        assert (before | walked.overlaps).all()  # complete, where nothing is


@FEW
@given(data=st.data())
def test_the_order_of_the_pass_respects_what_it_found(data: st.DataObject, small_programs: Any) -> None:
    order = happens_before(data.draw(small_programs))
    place = np.empty(len(order.topo), int)
    place[order.topo] = np.arange(len(order.topo))
    first, second = np.nonzero(all_pairs(order) & ~order.blocked[None, :])
    assert (place[first] < place[second]).all()


def test_kth_take_follows_the_post_that_its_number_needs(literal: Any) -> None:
    made = literal()
    producer, consumer, flag = made.thread("producer"), made.thread("consumer"), made.flag("p", "c")
    for _ in range(2):
        made.op(producer, "load")
        made.set(producer, flag)
    for _ in range(2):
        made.wait(consumer, flag)
        made.op(consumer, "use")
    order = happens_before(made.program())  # 0 load 1 set 2 load 3 set | 4 wait 5 use 6 wait 7 use
    assert ordered(order, (0, 5), (2, 5), (2, 7), (5, 2)) == [True, False, True, False]
    assert order.edges[["src", "dst"]].tolist() == [(1, 4), (3, 6)]


def test_initial_tokens_need_no_post(literal: Any) -> None:
    made = literal()
    load, multiply, buf = made.thread("load"), made.thread("multiply"), made.buffer("buf", 2)
    acquires = [made.acquire(load, buf) for _ in range(3)]
    releases = [made.release(multiply, buf) for _ in range(3)]
    order = happens_before(made.program())
    assert order.edges[["src", "dst"]].tolist() == [(releases[0], acquires[2])]


def test_ping_pong_orders_every_reuse_of_a_slot_and_nothing_more(ping_pong: Any) -> None:
    program = ping_pong(3, 2).program()
    ops = program.pieces[0].tables["op"]
    names = [program.names[each] for each in ops["opcode"]]
    loads = [at for at, name in enumerate(names) if name == "load_store"]
    computes = [at for at, name in enumerate(names) if name == "compute"]
    order = happens_before(program)
    assert ordered(order, (loads[0], computes[0]), (computes[1], loads[2]), (computes[2], loads[2])) == [
        True,
        True,
        False,
    ]
    assert ordered(order, (loads[1], computes[0]), (computes[1], loads[1])) == [False, False]
    assert order.exact
    assert not order.stuck


@pytest.mark.parametrize("pipelined", [False, True])
def test_a_barrier_orders_all_its_threads(literal: Any, pipelined: bool) -> None:
    made = literal()
    threads = [made.thread(f"t{at}", pipelined=pipelined) for at in range(3)]
    first = [made.op(each, "before") for each in threads]
    made.barrier(*threads)
    then = [made.op(each, "after") for each in threads]
    order = happens_before(made.program())
    assert order.before(np.array(first)[:, None], np.array(then)[None, :]).all()
    assert not order.before(np.array(first)[:, None], np.array(first)[None, :]).any()


def test_a_pipelined_thread_orders_starts_alone(literal: Any) -> None:
    made = literal()
    vector = made.thread("V", pipelined=True)
    flag = made.flag("V", "M")
    first, post, second = made.op(vector, "a"), made.set(vector, flag), made.op(vector, "b")
    program = made.program()
    order = happens_before(program)
    assert order.started_before(np.array([first]), np.array([second])).all()
    assert ordered(order, (first, second), (first, post), (post, second)) == [False, True, False]
    held = happens_before(program, posts_hold_up=True)
    assert ordered(held, (first, second), (first, post), (post, second)) == [True, True, True]


def test_a_reader_that_starts_before_a_destroy_ends_before_it(literal: Any) -> None:
    made = literal()
    writer, reader, owner = (made.thread(name) for name in ("writer", "reader", "owner"))
    flag = made.flag("reader", "owner")
    made.state(writer, "start_writing", "X")
    made.state(writer, "finish_writing", "X")
    made.state(reader, "start_reading", "X")
    made.set(reader, flag)
    use = made.op(reader, "use")
    made.state(reader, "finish_reading", "X")
    made.wait(owner, flag)
    destroy = made.state(owner, "destroy", "X")
    order = happens_before(made.program())
    assert order.before(np.array([use]), np.array([destroy])).all()
    assert order.exact


def test_posts_of_several_threads_are_forced_only_as_far_as_the_others_do_not_suffice(literal: Any) -> None:
    made = literal()
    a, b, taker, buf = made.thread("a"), made.thread("b"), made.thread("taker"), made.buffer("buf", 1)
    works = [made.op(thread, "work") for thread in (a, b)]
    for thread in (a, b):
        made.release(thread, buf)
    takes = [made.acquire(taker, buf) for _ in range(3)]
    order = happens_before(made.program())
    pairs = order.before(np.array(works)[:, None], np.array(takes)[None, :])
    assert pairs.tolist() == [[False, False, True], [False, False, True]]
    assert not order.exact  # the second take passes after either release


def test_takes_of_several_threads_without_enough_for_all_leave_a_choice_open(literal: Any) -> None:
    def contended(slots: int) -> Order:
        made = literal()
        buf = made.buffer("buf", slots)
        for name in ("a", "b"):
            thread = made.thread(name)
            made.acquire(thread, buf)
            made.release(thread, buf)
        return happens_before(made.program())

    assert not contended(1).exact
    assert contended(2).exact


def test_waits_for_one_another_block_and_say_where(literal: Any) -> None:
    made = literal()
    a, b = made.thread("a"), made.thread("b")
    forth, back = made.flag("a", "b"), made.flag("b", "a")
    work = made.op(a, "work")
    heads = [made.wait(a, back), made.wait(b, forth)]
    made.set(a, forth)
    made.set(b, back)
    order = happens_before(made.program())
    assert order.stuck
    assert sorted(order.heads.tolist()) == heads
    assert order.reached.nonzero()[0].tolist() == [work]


def test_a_wait_for_more_than_is_ever_given_is_surplus(literal: Any) -> None:
    made = literal()
    a, b, flag = made.thread("a"), made.thread("b"), made.flag("a", "b")
    made.set(a, flag)
    made.wait(b, flag)
    second = made.wait(b, flag)
    rest = made.op(b, "rest")
    order = happens_before(made.program())
    assert order.surplus.tolist() == [False, True]
    assert order.heads.tolist() == [second]
    assert not order.reached[[second, rest]].any()


def test_an_empty_program_has_an_order(literal: Any) -> None:
    order = happens_before(literal().program())
    assert order.exact
    assert not order.stuck


@pytest.mark.slow
def test_compiled_and_plain_are_the_same(ping_pong: Any) -> None:
    program = ping_pong(40, 3).program()
    compiled: list[str] = []
    plain = happens_before(program, compiled=False)
    fast = happens_before(program, compiled=True, on_compile=lambda: compiled.append("once"))
    for name in ("row_of", "clock", "topo", "blocked", "surplus", "edges", "open_waits", "disturbing"):
        assert np.array_equal(getattr(plain, name), getattr(fast, name)), name
    assert len(compiled) <= 1


def test_many_threads_that_meet_in_turn_stay_exact(literal: Any) -> None:
    made = literal()
    threads = [made.thread(f"t{at}") for at in range(6)]
    flags = [made.flag(f"t{at}", f"t{(at + 1) % 6}") for at in range(6)]
    works: list[int] = []
    for turn in range(4):
        for at, thread in enumerate(threads):
            if turn or at:
                made.wait(thread, flags[at - 1])
            works.append(made.op(thread, "work"))
            made.set(thread, flags[at])
    order = happens_before(made.program())
    assert order.before(np.array(works[:-1]), np.array(works[1:])).all()
    assert order.exact


def test_kinds_of_operations_do_not_matter_for_threads_in_order(literal: Any) -> None:
    made = literal()
    thread = made.thread("t")
    ops = [made.op(thread, "x", kind) for kind in (Kind.MOVE, Kind.COMPUTE, Kind.CONTROL)]
    ops.append(made.sync(thread, "y", waits=[(made.counter("c", initial=1), Test.TAKE, 1)]))
    assert all_pairs(happens_before(made.program())).sum() == len(ops) * (len(ops) - 1) / 2
