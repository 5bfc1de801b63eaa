"""Callers and callees that do not agree about flags."""

from __future__ import annotations

from collections.abc import Sequence

from pantile.check.report import Finding
from pantile.targets.ascend.calls import Call, Declared
from pantile.targets.ascend.composition import check_calls
from pantile.targets.ascend.elements import ELEMENTS
from pantile.targets.ascend.events import Flag
from pantile.targets.ascend.instructions import Instruction, set_flag, wait_flag
from pantile.targets.ascend.mma_call import Events
from pantile.targets.ascend.mma_default import default_call
from pantile.targets.ascend.mma_tile import Revision, mma_tile

BACK = ("PIPE_M", "PIPE_MTE1")
SET, WAIT = set_flag(*BACK, 0), wait_flag(*BACK, 0)
FLAG = Flag(*BACK, 0)


def check(stream: Sequence[Instruction], *calls: Call) -> list[Finding]:
    """Instruction i is operation 10 i, at line i of k.py."""
    places = [f"k.py:{at}" for at in range(len(stream))]
    return check_calls(stream, calls, range(0, 10 * len(stream), 10), places)


def around(
    before: Sequence[Instruction], body: Sequence[Instruction], after: Sequence[Instruction] = ()
) -> tuple[list[Instruction], Call]:
    end = len(before) + len(body)
    return [*before, *body, *after], Call("tile", len(before), end, 99, from_library=True)


def mma(revision: Revision, m: int, n: int, k: int, **events: int) -> tuple[Instruction, ...]:
    return mma_tile(default_call(ELEMENTS["half"], m, n, k, events=Events(**events)), revision).instructions


def test_a_caller_that_raises_what_a_callee_takes_is_fine() -> None:
    assert not check(*around([SET], [WAIT, SET], [WAIT]))


def test_a_need_that_the_caller_did_not_raise_is_told_at_the_wait() -> None:
    (found,) = check(*around([], [WAIT]))
    assert (found.code, found.severity, found.grade) == ("PT-UNPAIRED", "error", "hang")
    assert found.operations == (0,)
    assert found.sentence == (
        "tile needs flag 0 of PIPE_M to PIPE_MTE1 up, and its caller has not raised it: k.py:0"
    )


def test_the_second_of_two_needs_is_told_where_one_is_met() -> None:
    (found,) = check(*around([SET], [WAIT, WAIT]))
    assert found.operations == (20,)
    assert "up 2 times" in found.sentence


def test_a_callee_that_sets_what_is_up_is_told_with_both_sets() -> None:
    (found,) = check(*around([SET], [SET, WAIT], [WAIT]))
    assert (found.code, found.severity) == ("PT-DOUBLE-SET", "error")
    assert found.operations == (10, 0)


def test_a_flag_that_an_earlier_call_left_is_told_where_the_next_one_sets_it() -> None:
    stream = [SET, SET, WAIT]
    (found,) = check(stream, Call("first", 0, 1, 5), Call("second", 1, 3, 6))
    assert found.code == "PT-DOUBLE-SET"
    assert found.sentence.startswith("second sets flag 0")
    assert found.evidence == "set before at k.py:0; called at line 6"


def test_calls_within_calls_are_checked_where_they_begin() -> None:
    stream = [SET, WAIT, SET, WAIT]
    assert not check(stream, Call("outer", 0, 4, 1), Call("inner", 1, 3, 2))
    (found,) = check([WAIT, SET], Call("outer", 0, 2, 1, declared=Declared((FLAG,), (FLAG,))))
    assert found.code == "PT-UNPAIRED"


def declared(body: Sequence[Instruction], needs: int, leaves: int) -> list[Finding]:
    before = [SET] if needs or body[0] == WAIT else []
    stream, call = around(before, body)
    said = Declared((FLAG,) * needs, (FLAG,) * leaves)
    return check(stream, Call("tile", call.begin, call.end, 99, declared=said), Call("tile", 0, 0, 1))


def test_contracts_that_are_kept_say_nothing() -> None:
    assert not declared([WAIT, SET], 1, 1)
    assert not declared([SET, WAIT], 0, 0)


def test_a_callee_that_returns_with_a_flag_that_its_contract_does_not_name_leaks() -> None:
    (found,) = declared([WAIT, SET], 1, 0)
    assert (found.code, found.severity, found.grade) == ("PT-LEAK", "error", "leak")
    assert found.operations == (20,)
    assert "returns with flag 0 of PIPE_M to PIPE_MTE1 up, which its contract does not name" in found.sentence


def test_a_callee_that_takes_a_flag_that_its_contract_does_not_name_is_unpaired() -> None:
    (found,) = declared([WAIT, SET], 0, 1)
    assert (found.code, found.operations) == ("PT-UNPAIRED", (10,))
    assert "takes flag 0 of PIPE_M to PIPE_MTE1, which its contract does not name" in found.sentence


def test_promises_that_are_not_kept_are_told() -> None:
    assert [each.code for each in declared([SET, WAIT], 0, 1)] == ["PT-UNPAIRED"]
    codes = [each.code for each in declared([SET, WAIT], 1, 0)]
    assert codes == ["PT-DOUBLE-SET", "PT-LEAK"]


def test_one_contract_broken_by_many_calls_alike_is_told_once() -> None:
    stream, said = [SET, WAIT] * 3, Declared((), (FLAG,))
    calls = [Call("tile", at, at + 2, 5, declared=said) for at in (0, 2, 4)]
    assert len(check(stream, *calls)) == 1


def test_ids_of_the_library_are_told_once_where_a_caller_uses_them_beside_it() -> None:
    seven = Flag(*BACK, 7)
    mine = [set_flag(*seven), wait_flag(*seven)]
    found = check([*mine, *mine, SET, WAIT], Call("lib", 4, 6, 9, from_library=True))
    assert [each.code for each in found] == ["PT-EVENT-ID"]
    assert (found[0].severity, found[0].operations) == ("warning", (0,))
    assert not check([*mine, SET, WAIT], Call("lib", 0, 2, 9, from_library=True))
    assert not check([*mine, SET, WAIT], Call("mine", 0, 2, 9))


def test_a_single_buffered_tile_of_head_does_not_use_the_ids_that_it_is_given() -> None:
    """Spec 4.3.1: the caller raises 2 and 3, head waits for 0 and 1; seed is fine."""
    before = [set_flag(*BACK, event) for event in (2, 3)]
    after = [wait_flag(*BACK, event) for event in (2, 3)]
    found = check(*around(before, mma("head", 16, 1040, 32, back0=2, back1=3), after))
    assert [each.code for each in found] == ["PT-UNPAIRED"] * 2
    assert [each.sentence.split(":")[0] for each in found] == [
        f"tile needs flag {event} of PIPE_M to PIPE_MTE1 up, and its caller has not raised it"
        for event in (0, 1)
    ]
    assert "the caller has 2, 3 of that pair up" in found[0].evidence
    assert not check(*around(before, mma("seed", 16, 1040, 32, back0=2, back1=3), after))


def test_one_event_passed_and_one_not_primes_an_id_twice_in_both_revisions() -> None:
    """Spec 4.3.3: event0 absent makes the callee raise 0, which is the other event that it is given."""
    for revision in ("head", "seed"):
        found = check(*around([SET], mma(revision, 128, 256, 128, back1=0), [WAIT]))
        assert [each.code for each in found] == ["PT-DOUBLE-SET"]
