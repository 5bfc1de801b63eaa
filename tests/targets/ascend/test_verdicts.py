"""Verdicts in the terms of the recorded cases."""

from __future__ import annotations

from typing import Any

from pantile.targets.ascend.trace import program_of_trace
from pantile.targets.ascend.verdicts import verdicts_on


def access(pipe: str, **ranges: tuple[int, int]) -> Any:
    both = {key: [{"buf": "UB", "lo": lo, "hi": hi}] for key, (lo, hi) in ranges.items()}
    return {"op": "access", "args": {"pipe": pipe, "label": "", "reads": [], "writes": []} | both}


def flag(op: str, src: str, dst: str, event: int = 0) -> Any:
    return {"op": op, "args": {"src_pipe": src, "dst_pipe": dst, "event_id": event}}


def verdicts(*trace: Any, budget: int = 1_000) -> dict[str, Any]:
    return verdicts_on(program_of_trace(list(trace)), budget)


def test_a_clean_handshake() -> None:
    found = verdicts(
        access("PIPE_MTE2", writes=(0, 64)),
        flag("set_flag", "PIPE_MTE2", "PIPE_V"),
        flag("wait_flag", "PIPE_MTE2", "PIPE_V"),
        access("PIPE_V", reads=(0, 64)),
    )
    assert found == {
        "races": [],
        "double_set": [],
        "unmatched_wait": [],
        "unmatched_set": [],
        "deadlock_counter": False,
        "stuck_ops": [],
        "deadlock_bit": "never",
        "flags_left_set": [],
        "source_scope_conflicts": [],
        "id_out_of_range": [],
        "same_pipe": [],
    }


def test_in_these_terms_a_set_orders_its_queue() -> None:
    fill, add = access("PIPE_V", writes=(0, 64)), access("PIPE_V", reads=(0, 64))
    bare = verdicts(fill, add)
    with_set = verdicts(fill, flag("set_flag", "PIPE_V", "PIPE_MTE3"), add)
    assert bare["same_pipe"] == [[0, 1]]
    assert with_set["same_pipe"] == []
    assert with_set["unmatched_set"] == [1]
    assert with_set["flags_left_set"] == [
        {"src_pipe": "PIPE_V", "dst_pipe": "PIPE_MTE3", "event_id": 0, "count": 1}
    ]


def test_a_stuck_scalar_unit_issues_nothing_more() -> None:
    found = verdicts(
        flag("wait_flag", "PIPE_MTE2", "PIPE_S"),
        access("PIPE_V", writes=(0, 64)),
        flag("set_flag", "PIPE_V", "PIPE_MTE3"),
    )
    assert (found["deadlock_counter"], found["stuck_ops"], found["deadlock_bit"]) == (True, [0], "always")
    assert found["flags_left_set"] == []
    assert found["races"] is None


def test_beyond_the_budget_the_one_bit_answer_is_undecided() -> None:
    trace = []
    for event in range(3):
        trace += [flag("set_flag", "PIPE_MTE2", "PIPE_V", event)] * 2
        trace += [flag("wait_flag", "PIPE_MTE2", "PIPE_V", event)] * 2
    assert verdicts(*trace)["deadlock_bit"] == "schedule-dependent"
    assert verdicts(*trace, budget=-1)["deadlock_bit"] == "undecided"
