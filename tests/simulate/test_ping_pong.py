"""Ping-pong with 1, 2 and 3 slots: the timelines equal their closed forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pantile.simulate.engine import run
from pantile.simulate.engine_plain import run_plain
from pantile.simulate.timeline import Timeline

Build = Callable[..., Any]

times = st.lists(st.integers(0, 20), min_size=1, max_size=4)


def recurrence(n: int, slots: int, loads: Sequence[int], computes: Sequence[int]) -> int:
    """A load waits for the load before it and for its slot, a compute for its load and the one before."""
    loaded, computed = [0] * n, [0] * n
    for i in range(n):
        free = computed[i - slots] if i >= slots else 0
        loaded[i] = max(loaded[i - 1] if i else 0, free) + loads[i % len(loads)]
        computed[i] = max(computed[i - 1] if i else 0, loaded[i]) + computes[i % len(computes)]
    return computed[-1]


def total(build: Build, n: int, slots: int, loads: Sequence[int], computes: Sequence[int]) -> int:
    return int(run_plain(build(n, slots, loads, computes).bound()).times["finish"].max())


def test_one_slot_serialises_load_and_compute(ping_pong: Build) -> None:
    assert total(ping_pong, 5, 1, [10], [7]) == 5 * (10 + 7)


@pytest.mark.parametrize("slots", [2, 3])
@pytest.mark.parametrize(("load", "compute"), [(10, 7), (7, 10), (10, 10)])
def test_two_slots_overlap_and_a_third_gains_nothing_without_jitter(
    ping_pong: Build, slots: int, load: int, compute: int
) -> None:
    assert total(ping_pong, 5, slots, [load], [compute]) == load + 4 * max(load, compute) + compute


def test_a_third_slot_gains_what_jitter_allows(ping_pong: Build) -> None:
    """Loads of 4, 4, 10, 10 and computes of 10, 10, 4, 4: by hand with two slots and with three.

    Two slots: loads end at 4, 8, 24, 34; computes at 14, 24, 28, 38, but load 2 waits for compute 0 at 14.
    Three slots: load 2 follows at 8 and ends at 18, load 3 waits for compute 0 at 14 and the link at 18.
    """
    two = run_plain(ping_pong(4, 2, [4, 4, 10, 10], [10, 10, 4, 4]).bound()).times["finish"]
    three = run_plain(ping_pong(4, 3, [4, 4, 10, 10], [10, 10, 4, 4]).bound()).times["finish"]
    loads, computes = slice(2, 16, 4), slice(17, 36, 5)
    assert (two[loads].tolist(), two[computes].tolist()) == ([4, 8, 24, 34], [14, 24, 28, 38])
    assert (three[loads].tolist(), three[computes].tolist()) == ([4, 8, 18, 28], [14, 24, 28, 32])


@given(st.integers(1, 8), st.integers(1, 4), times, times)
def test_equals_the_recurrence_and_never_slows_down_with_a_slot_more(
    ping_pong: Build, n: int, slots: int, loads: list[int], computes: list[int]
) -> None:
    found = total(ping_pong, n, slots, loads, computes)
    assert found == recurrence(n, slots, loads, computes)
    assert total(ping_pong, n, slots + 1, loads, computes) <= found


def test_forgotten_release_leaves_both_threads_stuck(ping_pong: Build) -> None:
    build = ping_pong(3, 2, [5], [5])
    released = [op[0] for op in build.rows["op"] if build.names[op[5]] == "release"]
    build.rows["sync"] = [row for row in build.rows["sync"] if row[0] not in released]
    bound = build.bound()
    timeline = Timeline(bound, run(bound))
    assert not timeline.finished
    assert str(timeline).splitlines()[-2:] == [
        "thread load stands at operation 8 (acquire): waits for take 1 of counter 0, which is 0",
        "thread multiply stands at operation 22 (start_reading): waits for reach 1 of counter 9, which is 0",
    ]


def test_release_without_acquire_is_a_fault_not_a_wait(ping_pong: Build) -> None:
    build = ping_pong(2, 2, [5], [5])
    build.rows["sync"] = [row for row in build.rows["sync"] if row[6] != build.name("acquire")]
    bound = build.bound()
    timeline = Timeline(bound, run(bound))
    assert timeline.stuck == ()
    assert str(timeline).splitlines()[-1] == (
        "operation 12 (release) takes counter 0 to 3, above its capacity of 2"
    )
    assert np.all(timeline.times["finish"][13:] == -1)
