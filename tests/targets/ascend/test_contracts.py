"""Contracts read off a stream."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from pantile.targets.ascend.contracts import contract_of
from pantile.targets.ascend.elements import ELEMENTS
from pantile.targets.ascend.events import Flag
from pantile.targets.ascend.instructions import Instruction, pipe_barrier, set_flag, wait_flag
from pantile.targets.ascend.mma_call import Events
from pantile.targets.ascend.mma_default import default_call
from pantile.targets.ascend.mma_tile import Revision, mma_tile

BACK = ("PIPE_M", "PIPE_MTE1")


def flags(*ids: int) -> tuple[tuple[Flag, int], ...]:
    return tuple((Flag(*BACK, each), 1) for each in ids)


def tile(m: int, n: int, k: int, revision: Revision, **events: int) -> tuple[Instruction, ...]:
    return mma_tile(default_call(ELEMENTS["half"], m, n, k, events=Events(**events)), revision).instructions


def test_a_wait_without_a_set_before_it_is_a_need_and_a_set_without_a_wait_is_left() -> None:
    found = contract_of([wait_flag(*BACK, 0), pipe_barrier("PIPE_M"), set_flag(*BACK, 1)])
    assert (found.needs, found.leaves, found.lowered) == (flags(0), flags(1), (Flag(*BACK, 1),))


def test_a_flag_that_is_set_first_must_be_down() -> None:
    found = contract_of([set_flag(*BACK, 0), wait_flag(*BACK, 0)])
    assert (found.needs, found.leaves, found.lowered) == ((), (), (Flag(*BACK, 0),))


def test_order_and_not_count_decides_what_is_needed() -> None:
    found = contract_of([wait_flag(*BACK, 0), set_flag(*BACK, 0)])
    assert found.needs == found.leaves == flags(0)
    assert not found.lowered


def test_a_contract_prints_one_line_for_a_pair() -> None:
    found = contract_of([wait_flag(*BACK, 1), wait_flag(*BACK, 0), wait_flag(*BACK, 0)])
    assert str(found) == "needs up PIPE_M to PIPE_MTE1 0 x2, 1"
    assert str(contract_of([])) == "no flags"


def test_mma_tile_without_events_is_self_contained() -> None:
    for revision in ("head", "seed"):
        found = contract_of(tile(128, 128, 512, revision))
        assert (found.needs, found.leaves) == ((), ())


def test_mma_tile_hands_on_the_events_that_it_is_given() -> None:
    """Two parts, so that both halves are used; each is freed before and left free."""
    for revision in ("head", "seed"):
        found = contract_of(tile(128, 256, 128, revision, back0=2, back1=3))
        assert found.needs == flags(2, 3)
        assert found.leaves == flags(2, 3)


def test_a_single_buffered_tile_ignores_ids_in_head_and_an_event_in_seed() -> None:
    """Spec 4.2 and 4.3: head always means 0 and 1, seed never waits for the second one."""
    head = contract_of(tile(16, 1040, 32, "head", back0=2, back1=3))
    seed = contract_of(tile(16, 1040, 32, "seed", back0=2, back1=3))
    assert (head.needs, head.leaves) == (flags(0, 1), flags(0, 1))
    assert (seed.needs, seed.leaves) == (flags(2), flags(2))


flag_ops = st.lists(st.tuples(st.booleans(), st.integers(0, 2)), max_size=12)


@given(flag_ops, flag_ops)
def test_contracts_compose(first: list[tuple[bool, int]], second: list[tuple[bool, int]]) -> None:
    """What two sequences together need and leave follows from what each does."""

    def stream(ops: list[tuple[bool, int]]) -> list[Instruction]:
        return [(set_flag if raises else wait_flag)(*BACK, each) for raises, each in ops]

    a, b = contract_of(stream(first)), contract_of(stream(second))
    both = contract_of([*stream(first), *stream(second)])
    left, needed = Counter(dict(a.leaves)), Counter(dict(b.needs))
    assert Counter(dict(both.needs)) == Counter(dict(a.needs)) + (needed - left)
    assert Counter(dict(both.leaves)) == Counter(dict(b.leaves)) + (left - needed)


@given(flag_ops)
def test_needs_are_the_least_that_lets_a_sequence_run(ops: list[tuple[bool, int]]) -> None:
    """Walked with exactly its needs up, no wait finds its flag down, and with one less some wait does."""
    stream = [(set_flag if raises else wait_flag)(*BACK, each) for raises, each in ops]
    found = contract_of(stream)

    def runs(up: Counter[int]) -> bool:
        for raises, each in ops:
            if not raises and not up[each]:
                return False
            up[each] += 1 if raises else -1
        return True

    needs = Counter({flag.id: count for flag, count in found.needs})
    assert runs(needs.copy())
    assert all(not runs(needs - Counter([each])) for each in needs)
