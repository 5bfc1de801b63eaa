"""Single calls from Python: the same verbs, and their execution on arrays."""

from __future__ import annotations

import numpy as np
import pytest

import pantile
from pantile.errors import CapacityError, ManyProblems, UsageError

CALL = "mma-tile:m=5,n=7,k=33,dtype=int8,ta"


def test_a_call_is_executed_on_arrays() -> None:
    random = np.random.default_rng(0)
    a, b = random.integers(-99, 99, (5, 33)), random.integers(-99, 99, (33, 7))
    assert np.array_equal(pantile.execute(CALL, a=a, B=b), a @ b)
    c, more = random.integers(-99, 99, (5, 7)), f"{CALL},init=0"
    assert np.array_equal(pantile.execute(more, a=a, b=b, c=c), c + a @ b)


def test_arrays_that_a_call_does_not_take_or_lacks() -> None:
    with pytest.raises(ManyProblems) as caught:
        pantile.execute(CALL, a=np.zeros((5, 33), int), bias=[1])
    assert [each.problem for each in caught.value.problems] == [
        "'bias' is no input of the call",
        "no array for b",
    ]
    with pytest.raises(UsageError, match=r"b is \(33, 7\), got an array of shape \(7, 33\)"):
        pantile.execute(CALL, a=np.zeros((5, 33), int), b=np.zeros((7, 33), int))
    with pytest.raises(CapacityError, match="L0C needs 262144 B of 131072 B"):
        pantile.execute("mma-tile:m=256,n=256,k=16,dtype=fp16", a=0, b=0)


def test_lower_and_check_take_a_call() -> None:
    lowered = pantile.lower(CALL, "ascend-910b", semantics="seed")
    assert lowered.text().splitlines()[0] == "set_flag(PIPE_M, PIPE_MTE1, 0)"
    assert lowered.program.operations == len(lowered.text().splitlines()) + 1  # a barrier is two operations
    checked = pantile.check(CALL, "ascend-910b")
    assert checked.ok
    assert checked.to_json()["semantics"] == "head"


def test_a_machine_says_how_many_ids_there_are(tmp_path: object) -> None:
    machine = pantile.load_machine("ascend-910b")
    document = machine.to_json()
    document["family"]["ascend"]["event_ids"] = 4
    few = pantile.Machine.from_json(document)
    text = "mma-tile:m=16,n=16,k=16,dtype=fp16,events=l1a_wait:5"
    assert pantile.check(text, machine).ok
    (finding,) = [each for each in pantile.check(text, few).findings if "PIPE_MTE2" in each.sentence]
    assert (finding.code, finding.severity) == ("PT-EVENT-ID", "error")
    assert "ids go from 0 to 3" in finding.sentence


@pytest.mark.parametrize("sizes", ["n=55,k=32,dtype=fp16,unit_flag=3", "n=64,k=32,dtype=fp16,unit_flag=2"])
def test_a_call_that_keeps_its_blocks_is_checked_on_a_machine(sizes: str) -> None:
    found = pantile.check(f"mma-tile:m=48,{sizes}", "ascend-910b")
    assert found.ok
    modes = [each["args"]["unit_flag"] for each in found.program.parameters["stream"] if each["op"] == "mad"]
    assert modes == [2]
    assert type(modes[0]) is int
