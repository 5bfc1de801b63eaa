"""Which mutants a stream has."""

from __future__ import annotations

from collections import Counter

from pantile.targets.ascend.instructions import Instruction, pipe_barrier, set_flag, wait_flag
from pantile.targets.ascend.mutants import mutants_of

BACK = ("PIPE_M", "PIPE_MTE1")


def access(pipe: str) -> Instruction:
    return {"op": "access", "args": {"pipe": pipe, "label": "x", "reads": [], "writes": []}}


STREAM = [
    access("PIPE_M"),
    set_flag(*BACK, 0),
    access("PIPE_MTE1"),
    wait_flag(*BACK, 0),
    access("PIPE_M"),
    pipe_barrier("PIPE_ALL"),
]


def test_every_flag_is_dropped_alone_and_with_its_wait_moved_both_ways_and_re_numbered() -> None:
    found = list(mutants_of(STREAM))
    assert Counter(each.change for each in found) == {
        "dropped": 2,
        "pair dropped": 1,
        "moved earlier": 2,
        "moved later": 2,
        "re-numbered": 2,
    }
    assert all(len(each.stream) == len(STREAM) for each in found if "dropped" not in each.change)


def test_a_flag_moves_past_its_neighbour_in_its_own_queue() -> None:
    moved = {(each.change, each.at): each.places for each in mutants_of(STREAM) if "moved" in each.change}
    assert moved["moved earlier", 1] == (1, 0, 2, 3, 4, 5)
    assert moved["moved later", 1] == (0, 2, 3, 4, 1, 5)  # behind the next of M
    assert moved["moved earlier", 3] == (0, 1, 3, 2, 4, 5)
    assert moved["moved later", 3] == (0, 1, 2, 4, 5, 3)  # a barrier of all is in every queue


def test_the_ends_of_a_queue_have_one_neighbour() -> None:
    found = [each.change for each in mutants_of([set_flag(*BACK, 0), wait_flag(*BACK, 0)])]
    assert found == ["dropped", "pair dropped", "re-numbered", "dropped", "re-numbered"]


def test_ids_are_those_that_the_pair_uses_and_one_that_it_does_not() -> None:
    stream = [set_flag(*BACK, 0), set_flag(*BACK, 2), set_flag("PIPE_M", "PIPE_FIX", 1)]
    ids = [
        (each.at, each.stream[each.at]["args"]["event_id"])
        for each in mutants_of(stream)
        if each.change == "re-numbered"
    ]
    assert ids == [(0, 2), (0, 1), (1, 0), (1, 1), (2, 0)]
    full = [set_flag(*BACK, each) for each in range(4)]
    assert all(
        each.stream[each.at]["args"]["event_id"] < 4
        for each in mutants_of(full, event_ids=4)
        if each.change == "re-numbered"
    )


def test_the_kth_set_goes_with_the_kth_wait() -> None:
    stream = [
        set_flag(*BACK, 0),
        wait_flag(*BACK, 0),
        set_flag(*BACK, 0),
        wait_flag(*BACK, 0),
        set_flag(*BACK, 0),
    ]
    pairs = [each.places for each in mutants_of(stream) if each.change == "pair dropped"]
    assert pairs == [(2, 3, 4), (0, 1, 4)]
