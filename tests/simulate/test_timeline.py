"""Timelines: classes that sum to the total, the critical chain, lower bounds, text and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.machine import Machine
from pantile.program.tables import Edge, Kind, Mode, ReleasedBy, Test
from pantile.simulate.bind import bind
from pantile.simulate.bound import unit_time
from pantile.simulate.classes import TERMS
from pantile.simulate.engine import run
from pantile.simulate.timeline import Timeline, simulate

Make = Callable[..., Any]
BEFORE, AFTER = Edge.BEFORE_START, Edge.AFTER_FINISH
READ, WRITE, UPDATE = Mode


def timed(build: Any) -> Timeline:
    bound = build.bound()
    return Timeline(bound, run(bound))


def load_compute_store(b: Any) -> Any:
    """One thread: 64 B in at 1 B/ps, 128 MACs on an 8 x 8 array (2 ns, 14 ns of skew), 32 B out."""
    t = b.thread("core")
    b.op(t, kind=Kind.MOVE, nbytes=64, access=[(READ, "ddr@0", 0, 64), (WRITE, "sram@0", 0, 64)])
    b.op(
        t,
        kind=Kind.COMPUTE,
        macs=128,
        engine="compute@0",
        access=[(READ, "sram@0", 0, 64), (WRITE, "sram@0", 64, 32)],
    )
    b.op(t, kind=Kind.MOVE, nbytes=32, access=[(READ, "sram@0", 64, 32), (WRITE, "ddr@0", 64, 32)])
    return b


def test_every_tick_of_an_engine_has_a_class(builder: Make, machine: Callable[..., Machine]) -> None:
    timeline = simulate(load_compute_store(builder()).program(), machine())
    assert timeline.total == 64 + 2_000 + 14_000 + 32
    spent = {term: ticks for term, ticks in timeline.terms.items() if ticks}
    assert spent == {"compute": 2_000, "drain": 14_000, "wait-load": 64, "wait-store": 32}
    assert list(timeline.terms) == list(TERMS)
    assert timeline.unit_terms == {"compute@0": timeline.terms}
    assert timeline.bound_by == "drain"


def test_utilisation_and_busy_time(builder: Make, machine: Callable[..., Machine]) -> None:
    timeline = simulate(load_compute_store(builder()).program(), machine((1,)))
    assert timeline.resource_busy == {"ddr>sram": 64, "sram>ddr": 32, "compute@0": 2_000}
    assert timeline.thread_busy == {"core": timeline.total}
    assert timeline.utilisation == {
        "busy": 2_000 / 16_096,
        "mac": pytest.approx(128 / (64 * 16.096)),
    }
    assert (timeline.cycles, timeline.seconds) == (17, pytest.approx(16.096e-9))


def test_an_engine_waits_for_what_its_next_thread_waits_for(builder: Make) -> None:
    """The computing thread waits 5 for a slot and 3 for a flag, and idles at the end for 4."""
    b = builder()
    core, other = b.thread("core"), b.thread("other")
    slot, flag = b.counter(), b.counter()
    b.op(core, [(BEFORE, slot, Test.TAKE, 1, -1, "acquire")])
    b.op(core, [(BEFORE, flag, Test.TAKE, 1, -1, "wait_flag")])
    b.op(core, ticks=10, kind=Kind.COMPUTE)
    b.op(other, [(AFTER, slot, Test.POST, 1)], ticks=5)
    b.op(other, [(AFTER, flag, Test.POST, 1)], ticks=3)
    b.op(other, ticks=14)
    timeline = timed(b)
    spent = {term: ticks for term, ticks in timeline.terms.items() if ticks}
    assert spent == {"compute": 10, "wait-slot": 5, "wait-flag": 3, "idle": 4}


def test_without_any_compute_threads_stand_for_engines(builder: Make) -> None:
    b = builder()
    first, second = b.thread("first"), b.thread("second")
    b.op(first, ticks=10)
    b.op(second, ticks=4)
    timeline = timed(b)
    assert timeline.terms["wait-load"] == 10
    assert {name: sum(terms.values()) for name, terms in timeline.unit_terms.items()} == {
        "first": 10,
        "second": 10,
    }


def test_the_critical_chain_goes_back_from_the_last_finish(ping_pong: Make) -> None:
    """Loads of 10 and computes of 7 with two slots: the loads decide, then the last compute."""
    timeline = timed(ping_pong(4, 2, [10], [7]))
    ops = timeline.bound.tables["op"]
    timed_ones = timeline.chain[ops["kind"][timeline.chain] != Kind.SYNC]
    assert timed_ones.tolist() == [2, 6, 10, 14, 32]
    starts, finishes = timeline.times["start"][timeline.chain], timeline.times["finish"][timeline.chain]
    assert np.array_equal(starts[1:], finishes[:-1])
    assert (starts[0], finishes[-1]) == (0, timeline.total)


def test_rows_say_what_released_each_operation_and_as_what_the_wait_counts(ping_pong: Make) -> None:
    timeline = timed(ping_pong(3, 1, [5], [2]))
    acquire = timeline.rows[4]
    assert (acquire["ready"], acquire["start"]) == (7, 7)
    assert (acquire["released_by"], TERMS[acquire["class"]]) == (ReleasedBy.COUNTER, "wait-slot")
    release = acquire["releaser"]
    assert timeline.bound.program.text(timeline.bound.tables["op"]["opcode"][release]) == "release"


def test_bounds_of_resources_threads_and_the_chain(ping_pong: Make) -> None:
    timeline = timed(ping_pong(4, 2, [10], [7]))
    assert timeline.lower_bounds == {"thread load": 40, "thread multiply": 28, "chain": timeline.total}


def test_a_barrier_is_part_of_the_chain(builder: Make) -> None:
    """Two threads meet after 5 and 9 ticks, then one works for 3: 12 whatever the timing."""
    b = builder()
    first, second, meet = b.thread("first"), b.thread("second"), b.counter()
    for thread, before in ((first, 5), (second, 9)):
        b.op(thread, ticks=before)
        b.op(thread, [(AFTER, meet, Test.POST, 1)])
        b.op(thread, [(BEFORE, meet, Test.REACH, 2)])
    b.op(first, ticks=3)
    assert timed(b).lower_bounds["chain"] == 12


def test_a_shared_link_bounds_by_its_work(builder: Make) -> None:
    b = builder()
    link = b.resource(10**12, shared=True, quantum=8)
    for size in (20, 50):
        b.op(b.thread(), uses=[(link, size)])
    timeline = timed(b)
    assert (timeline.total, timeline.lower_bounds["link r0"]) == (70, 70)


def test_the_text_shows_threads_over_time(ping_pong: Make) -> None:
    timeline = timed(ping_pong(2, 1, [4], [4]))
    assert timeline.show(16) == "\n".join(
        [
            "16 ticks, 18 operations",
            "terms: compute 8, wait-load 8",
            "load     |<<<<....<<<<    |",
            "multiply |....####....####|",
            "# compute   < load   > store   : other   . waits",
        ]
    )
    assert timeline._repr_html_().startswith("<pre>16 ticks")


def test_json_holds_what_the_verb_prints(builder: Make, machine: Callable[..., Machine]) -> None:
    timeline = simulate(load_compute_store(builder()).program(), machine())
    found = json.loads(json.dumps(timeline.to_json(operations=True)))
    assert (found["total_ticks"], found["total_cycles"]) == (16_096, 17)
    assert sum(found["terms"].values()) == found["total_ticks"]
    assert [each["op"] for each in found["critical_chain"]] == [0, 1, 2]
    assert found["operations"][1]["start"] == 64
    assert found["stopped"] == []


def test_an_empty_program_takes_no_time(builder: Make) -> None:
    b = builder()
    b.thread("idle")
    timeline = Timeline(unit_time(b.program()), run(unit_time(b.program())))
    assert (timeline.total, timeline.finished, timeline.terms, timeline.bound_by) == (0, True, {}, "")
    assert timeline.chain.tolist() == []
    assert json.dumps(timeline.to_json())


def test_what_did_not_happen_counts_for_nothing(builder: Make) -> None:
    b = builder()
    t = b.thread("core")
    b.op(t, ticks=6, kind=Kind.COMPUTE)
    b.op(t, [(BEFORE, b.counter(), Test.TAKE, 1)])
    b.op(t, ticks=6, kind=Kind.COMPUTE)
    timeline = timed(b)
    assert (timeline.total, timeline.terms["compute"], timeline.lower_bounds["chain"]) == (6, 6, 6)


@st.composite
def core_programs(draw: st.DrawFn, make: Make) -> Any:
    """Cores that load, compute and store through slots, some on one engine; all of them end."""
    b = make()
    for core in range(draw(st.integers(1, 3))):
        load, work = b.thread(f"load{core}", pipelined=draw(st.booleans())), b.thread(f"work{core}")
        slot, full = b.buffer(draw(st.integers(1, 3))), b.counter()
        place = f"sram@{draw(st.sampled_from([core, 0]))}"
        for _ in range(draw(st.integers(0, 4))):
            size = draw(st.integers(0, 200))
            b.op(load, [(BEFORE, slot, Test.TAKE, 1, -1, "acquire")])
            b.op(
                load,
                [(AFTER, full, Test.POST, 1)],
                kind=Kind.MOVE,
                access=[(READ, "ddr@0", 0, size), (WRITE, place, 0, size)],
            )
            b.op(work, [(BEFORE, full, Test.TAKE, 1, -1, "start_reading")])
            b.op(
                work,
                kind=Kind.COMPUTE,
                macs=draw(st.integers(0, 500)),
                engine=place.replace("sram", "compute"),
                access=[(READ, place, 0, size), (UPDATE, place, 999, 8)],
            )
            b.op(work, [(AFTER, slot, Test.POST, 1)])
        if draw(st.booleans()):
            b.op(work, kind=Kind.MOVE, access=[(READ, place, 999, 8), (WRITE, "ddr@0", 999, 8)])
    return b.program()


@given(st.data(), st.sampled_from(["shared", "exclusive"]), st.sampled_from([0, 3]))
@settings(max_examples=60, deadline=None)
def test_classes_sum_to_the_total_and_no_bound_is_above_it(
    builder: Make, machine: Callable[..., Machine], data: st.DataObject, policy: str, latency: int
) -> None:
    made = machine((3,), policy=policy, latency_cycles=latency, rate_bytes_per_second=3 * 10**11)
    bound = bind(data.draw(core_programs(builder)), made)
    timeline = Timeline(bound, run(bound))
    assert timeline.finished
    for terms in timeline.unit_terms.values():
        assert sum(terms.values()) == timeline.total
        assert min(terms.values()) >= 0
    assert max(timeline.lower_bounds.values(), default=0) <= timeline.total


def test_a_chain_ends_at_an_operation_that_released_before_it_started(builder: Make) -> None:
    """Operation 0 takes one counter, which releases 1, and waits for another, which 1 posts: no circle."""
    b = builder()
    first, second = b.counter(1), b.counter()
    b.op(b.thread(), [(BEFORE, first, Test.TAKE, 1), (BEFORE, second, Test.TAKE, 1)])
    b.op(b.thread(), [(BEFORE, first, Test.ZERO, 0), (AFTER, second, Test.POST, 1)], ticks=4)
    assert timed(b).chain.tolist() == [1, 0]
