"""Laws of time: bounds are reached where one resource is used, and more of anything is never slower."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.machine import Machine
from pantile.program.tables import Edge, Kind, Mode, Test
from pantile.simulate.engine import run
from pantile.simulate.engine_plain import run_plain
from pantile.simulate.timeline import Timeline, simulate

Make = Callable[..., Any]
sizes = st.lists(st.integers(1, 300), min_size=1, max_size=6)


@given(st.booleans(), st.lists(sizes, min_size=1, max_size=4), st.sampled_from([10**12, 3 * 10**11]))
@settings(deadline=None)
def test_one_resource_and_nothing_to_wait_for_takes_its_work(
    builder: Make, shared: bool, threads: list[list[int]], rate: int
) -> None:
    b = builder()
    link = b.resource(rate, shared=shared, quantum=16)
    for amounts in threads:
        thread = b.thread()
        for amount in amounts:
            b.op(thread, uses=[(link, amount)])
    bound = b.bound()
    timeline = Timeline(bound, run(bound))
    assert timeline.total == timeline.lower_bounds["link r0"]


@given(sizes)
@settings(deadline=None)
def test_one_thread_takes_its_chain(builder: Make, ticks: list[int]) -> None:
    b = builder()
    thread = b.thread()
    for each in ticks:
        b.op(thread, ticks=each)
    bound = b.bound()
    assert (
        Timeline(bound, run(bound)).lower_bounds["chain"]
        == sum(ticks)
        == run_plain(bound).times["finish"][-1]
    )


def pipeline(build: Any, stages: int, slots: list[int], tiles: list[int]) -> Any:
    """A line of threads, each handing tiles to the next through slots: nobody has a choice."""
    b = build
    spaces = ["ddr@0", *(f"sram@{stage}" for stage in range(stages))]
    threads = [b.thread(f"stage{stage}") for stage in range(stages)]
    free = [b.buffer(count) for count in slots[:stages]]
    full = [b.counter() for _ in range(stages)]
    for stage, thread in enumerate(threads):
        for size in tiles:
            take = (Edge.BEFORE_START, free[stage], Test.TAKE, 1)
            b.op(thread, [take] + ([(Edge.BEFORE_START, full[stage - 1], Test.TAKE, 1)] if stage else []))
            b.op(
                thread,
                [(Edge.AFTER_FINISH, full[stage], Test.POST, 1)],
                kind=Kind.MOVE,
                access=[
                    (Mode.READ, spaces[stage], 0, size),
                    (Mode.WRITE, spaces[stage + 1], 0, size),
                ],
            )
            if stage:
                b.op(thread, [(Edge.AFTER_FINISH, free[stage - 1], Test.POST, 1)])
    last = b.thread("sink")
    for _ in tiles:
        b.op(last, [(Edge.BEFORE_START, full[-1], Test.TAKE, 1)])
        b.op(last, kind=Kind.COMPUTE, engine=f"compute@{stages - 1}", macs=640)
        b.op(last, [(Edge.AFTER_FINISH, free[-1], Test.POST, 1)])
    return b.program()


@given(
    st.integers(1, 3),
    st.lists(st.integers(1, 3), min_size=3, max_size=3),
    st.lists(st.integers(1, 400), min_size=1, max_size=5),
    st.integers(0, 2),
    st.sampled_from(["shared", "exclusive"]),
)
@settings(max_examples=50, deadline=None)
def test_more_slots_or_bandwidth_is_never_slower_where_nobody_has_a_choice(
    builder: Make,
    machine: Callable[..., Machine],
    stages: int,
    slots: list[int],
    tiles: list[int],
    where: int,
    policy: str,
) -> None:
    made = machine((3,), policy=policy, rate_bytes_per_second=2 * 10**10)
    before = simulate(pipeline(builder(), stages, slots, tiles), made)
    assert before.finished
    more = [count + (stage == where) for stage, count in enumerate(slots)]
    assert simulate(pipeline(builder(), stages, more, tiles), made).total <= before.total
    faster = machine((3,), policy=policy, rate_bytes_per_second=3 * 10**10)
    assert simulate(pipeline(builder(), stages, slots, tiles), faster).total <= before.total


def test_more_bandwidth_can_be_slower_where_there_is_a_choice(builder: Make) -> None:
    """An anomaly: on the faster link thread 0 asks for the engine at 8, as thread 1 does, and goes first.

    Thread 1 then has the engine from 9 to 39, not from 8 to 38, and 50 more to do.
    """

    def total(link: int) -> int:
        b = builder()
        engine, wire = b.resource(10**12), b.resource(link)
        one, other, last = b.thread(), b.thread(), b.thread()
        done = b.counter()
        b.op(one, uses=[(wire, 10)])
        b.op(one, uses=[(engine, 1)])
        b.op(one, [(Edge.AFTER_FINISH, done, Test.POST, 1)], ticks=1)
        b.op(other, ticks=8)
        b.op(other, [(Edge.AFTER_FINISH, done, Test.POST, 1)], uses=[(engine, 30)])
        b.op(other, ticks=50)
        b.op(last, [(Edge.BEFORE_START, done, Test.TAKE, 1)])
        return int(run_plain(b.bound()).times["finish"].max())

    slow, fast = total(10**12), total(5 * 10**12 // 4)
    assert (slow, fast) == (88, 89)
