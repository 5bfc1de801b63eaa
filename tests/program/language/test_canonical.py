"""A legal order of synchronisation: threads take turns."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pantile.program.language.canonical import canonical_order
from pantile.program.tables import COUNTER, SYNC, Edge, Test


def tables(initial: list[int], rows: list[tuple[int, int, Test, int]]) -> tuple[np.ndarray, np.ndarray]:
    counter = np.zeros(len(initial), COUNTER)
    counter["id"], counter["initial"] = np.arange(len(initial)), initial
    sync = np.array(
        [(op, Edge.BEFORE_START, number, test, amount, -1, -1) for op, number, test, amount in rows], SYNC
    )
    return sync, counter


def test_threads_take_turns_and_wait() -> None:
    # thread 0: ops 0 and 1 take a slot each; thread 1: op 2 does too, op 3 gives two back
    rows = [(0, 0, Test.TAKE, 1), (1, 0, Test.TAKE, 1), (2, 0, Test.TAKE, 1), (3, 0, Test.POST, 2)]
    sync, counter = tables([2], rows)
    assert canonical_order(np.array([0, 2, 4]), sync, counter).tolist() == [0, 2, 3, 1]


def test_reach_counts_posts_and_zero_looks_at_the_value() -> None:
    rows = [(0, 0, Test.REACH, 2), (0, 0, Test.ZERO, 0), (1, 0, Test.POST, 2), (2, 0, Test.POST, -2)]
    sync, counter = tables([0], rows)
    assert canonical_order(np.array([0, 1, 3]), sync, counter).tolist() == [1, 2, 0]


def test_what_waits_for_ever_follows_at_the_end() -> None:
    rows = [(0, 0, Test.TAKE, 1), (1, 0, Test.TAKE, 1), (2, 1, Test.TAKE, 1)]
    sync, counter = tables([0, 1], rows)
    assert canonical_order(np.array([0, 2, 3]), sync, counter).tolist() == [2, 0, 1]


@given(st.integers(1, 3), st.lists(st.integers(0, 1), min_size=1, max_size=30))
def test_no_operation_comes_before_what_it_waits_for(slots: int, kinds: list[int]) -> None:
    takes, gives = kinds.count(0), kinds.count(1)
    rows = [(op, 0, Test.TAKE, 1) for op in range(takes)]
    rows += [(takes + op, 0, Test.POST, 1) for op in range(gives)]
    sync, counter = tables([slots], rows)
    order = canonical_order(np.array([0, takes, takes + gives]), sync, counter).tolist()
    assert sorted(order) == list(range(takes + gives))
    free = slots
    for op in order:
        free += 1 if op >= takes else -1
        assert free >= 0 or takes > slots + gives
