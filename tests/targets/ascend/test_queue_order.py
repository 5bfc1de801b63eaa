"""What waits that a caller appends change in what was issued before: nothing.

All waits of a flag stand in the queue of its destination and all its sets in that of its source, in program
order. So appended waits take only sets that nobody took, whatever the timing. Appended sets can still come
too early.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pantile.check.limits import overflows_of
from pantile.check.order import Order, happens_before
from pantile.targets.ascend.instructions import Instruction, set_flag, wait_flag
from pantile.targets.ascend.trace import program_of_trace

PIPES = ("PIPE_M", "PIPE_MTE1", "PIPE_FIX")


def access(pipe: str) -> Instruction:
    return {"op": "access", "args": {"pipe": pipe, "label": "x", "reads": [], "writes": []}}


flags = st.tuples(st.sampled_from(PIPES), st.sampled_from(PIPES), st.integers(0, 1))
steps = st.one_of(
    st.builds(lambda pipe: access(pipe), st.sampled_from(PIPES)),
    st.builds(lambda flag: set_flag(*flag), flags),
    st.builds(lambda flag: wait_flag(*flag), flags),
)


def order_of(stream: list[Instruction]) -> Order:
    return happens_before(program_of_trace(stream, "t"))


def ordered(order: Order, count: int) -> np.ndarray[Any, Any]:
    """Which of the first *count* operations comes before which."""
    first, second = np.divmod(np.arange(count * count), count)
    return order.before(first, second)


def pairings(order: Order, count: int) -> set[tuple[int, int]]:
    """Sets and the waits that take them, among the first *count* operations."""
    edges = zip(order.edges["src"].tolist(), order.edges["dst"].tolist(), strict=True)
    return {(src, dst) for src, dst in edges if src < count and dst < count}


@given(st.lists(steps, max_size=10), st.lists(flags, max_size=4))
def test_appended_waits_change_neither_pairings_nor_order(call: list[Instruction], waits: list[Any]) -> None:
    """Of what runs: a wait that was stuck stays stuck, for sets are no more."""
    every = [access(pipe) for pipe in PIPES]  # so that both programs have the same threads
    before = order_of([*every, *call])
    after = order_of([*every, *call, *(wait_flag(*flag) for flag in waits)])
    count = len(before.topo)
    assert np.array_equal(before.reached, after.reached[:count])
    assert pairings(before, count) == pairings(after, count)
    if not before.stuck and not after.stuck:
        assert np.array_equal(ordered(before, count), ordered(after, count))


def test_an_appended_set_can_come_before_the_flag_was_taken() -> None:
    """M raises the flag for the call and, running ahead of MTE1, once more for whatever comes next."""
    call = [set_flag("PIPE_M", "PIPE_MTE1", 0), wait_flag("PIPE_M", "PIPE_MTE1", 0)]
    assert not len(overflows_of(order_of(call)))
    assert len(overflows_of(order_of([*call, set_flag("PIPE_M", "PIPE_MTE1", 0)])))


def test_a_leftover_lets_the_first_wait_of_the_next_call_pass_too_early() -> None:
    """The wait takes the set that was left, and is not ordered behind the one that was meant."""
    left, meant, wait = (
        set_flag("PIPE_M", "PIPE_MTE1", 0),
        set_flag("PIPE_M", "PIPE_MTE1", 0),
        wait_flag("PIPE_M", "PIPE_MTE1", 0),
    )
    order = order_of([left, access("PIPE_M"), meant, wait, access("PIPE_MTE1")])
    assert bool(order.before(np.array([0]), np.array([4]))[0])
    assert not bool(order.before(np.array([1]), np.array([4]))[0])
