"""Calls as stretches of a stream."""

from __future__ import annotations

from pantile.targets.ascend.calls import Call, Declared, call_of_json, contracts_of
from pantile.targets.ascend.events import Flag
from pantile.targets.ascend.instructions import set_flag, wait_flag

BACK = ("PIPE_M", "PIPE_MTE1")
SET, WAIT = set_flag(*BACK, 0), wait_flag(*BACK, 0)


def test_a_call_survives_its_description() -> None:
    for declared in (None, Declared((Flag(*BACK, 0),), ())):
        made = Call("tile", 1, 4, 7, from_library=True, declared=declared)
        assert call_of_json(made.to_json()) == made


def test_contracts_are_listed_once_for_calls_that_have_the_same_one() -> None:
    stream = [SET, WAIT, SET, WAIT, set_flag(*BACK, 1)]
    calls = [Call("a", 0, 2, 4), Call("a", 2, 4, 5), Call("a", 4, 5, 6), Call("b", 5, 5, 7)]
    made = contracts_of(stream, calls)
    assert [(each.name, each.lines) for each in made] == [("a", (4, 5)), ("a", (6,)), ("b", (7,))]
    assert str(made[1]) == (
        "a: 1 call, line 6\n  leaves up PIPE_M to PIPE_MTE1 1\n  needs down PIPE_M to PIPE_MTE1 1"
    )
    assert str(made[2]) == "b: 1 call, line 7\n  no flags"
