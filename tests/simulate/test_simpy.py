"""SimPy as an independent oracle: the same small programs as processes, containers and resources."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import numpy as np
import simpy
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.program.tables import Edge, Test
from pantile.simulate.engine_plain import run_plain

Make = Callable[..., Any]

Plan = list[list[tuple[str, int, int]]]
"""By thread: what is done, to which counter or resource, and for how long."""


def plan_of(seed: int) -> Plan:
    """A random plan, whose threads never want the same thing at one instant.

    Durations are random and long, and what a thread does once it was let go takes time.
    """
    rng = np.random.default_rng(seed)
    plan: Plan = []
    for _ in range(rng.integers(1, 5)):
        words = rng.choice(["take", "post", "use", "run"], size=rng.integers(1, 12), p=[0.2, 0.3, 0.3, 0.2])
        plan.append([(str(word), int(rng.integers(3)), int(rng.integers(1, 10**9))) for word in words])
    return plan


def by_simpy(plan: Plan, initial: list[int]) -> list[list[int]]:
    """When each step of each thread ended; steps that did not are left out."""
    env = simpy.Environment()
    counters = [simpy.Container(env, init=value) for value in initial]
    resources = [simpy.Resource(env) for _ in initial]
    ends: list[list[int]] = [[] for _ in plan]

    def thread(number: int) -> Generator[simpy.Event, None, None]:
        for word, which, ticks in plan[number]:
            if word == "take":
                yield counters[which].get(1)
                yield env.timeout(ticks)
            elif word == "post":
                yield env.timeout(ticks)
                yield counters[which].put(1)
            elif word == "use":
                with resources[which].request() as request:
                    yield request
                    yield env.timeout(ticks)
            else:
                yield env.timeout(ticks)
            ends[number].append(int(env.now))

    for number in range(len(plan)):
        env.process(thread(number))
    env.run()
    return ends


def by_engine(b: Any, plan: Plan, initial: list[int]) -> list[list[int]]:
    counters = [b.counter(value) for value in initial]
    resources = [b.resource(10**12) for _ in initial]
    for steps in plan:
        thread = b.thread()
        for word, which, ticks in steps:
            if word == "take":
                b.op(thread, [(Edge.BEFORE_START, counters[which], Test.TAKE, 1)], ticks=ticks)
            elif word == "post":
                b.op(thread, [(Edge.AFTER_FINISH, counters[which], Test.POST, 1)], ticks=ticks)
            elif word == "use":
                b.op(thread, uses=[(resources[which], ticks)])
            else:
                b.op(thread, ticks=ticks)
    bound = b.bound()
    times = run_plain(bound).times
    finishes = [times["finish"][bound.tables["op"]["thread"] == each].tolist() for each in range(len(plan))]
    return [[time for time in each if time >= 0] for each in finishes]


@given(st.integers(0, 10**6), st.lists(st.integers(0, 2), min_size=3, max_size=3))
@settings(max_examples=120, deadline=None)
def test_simpy_gives_the_same_times(builder: Make, seed: int, initial: list[int]) -> None:
    plan = plan_of(seed)
    assert by_engine(builder(), plan, initial) == by_simpy(plan, initial)
