"""Witnesses are legal, and have the two operations in the wrong order."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.check.order import happens_before
from pantile.check.witness import late_order, search_witness, witness_order
from pantile.program.program import Program
from pantile.program.tables import Completes, Kind, Test

FEW = settings(max_examples=60, deadline=None)


def is_legal(program: Program, sequence: np.ndarray) -> bool:
    """Whether operations can be carried out one after the other: none waits, threads keep their order."""
    tables = program.pieces[0].tables
    ops, sync = tables["op"], tables["sync"]
    value = {number: [start, 0] for number, start in enumerate(tables["counter"]["initial"].tolist())}
    place = {op: at for at, op in enumerate(sequence.tolist())}
    assert sorted(place) == list(range(len(ops)))
    for op in sequence.tolist():
        for _, _, counter, test, amount, *_ in sync[sync["op"] == op].tolist():
            now, ever = value[counter]
            if {1: now < amount, 2: ever < amount, 3: now != 0, 0: False}[test]:
                return False
        for _, _, counter, test, amount, *_ in sync[sync["op"] == op].tolist():
            if test == Test.TAKE:
                value[counter][0] -= amount
            elif test == Test.POST:
                value[counter][0] += amount
                value[counter][1] += max(amount, 0)
    waits = set(sync["op"][sync["test"] != Test.POST].tolist())
    for a in range(len(ops)):
        for b in range(a + 1, len(ops)):
            if ops["thread"][a] != ops["thread"][b] or place[a] < place[b]:
                continue
            pipelined = tables["thread"]["completes"][ops["thread"][a]] == Completes.PIPELINED
            posts = ops["kind"][b] == Kind.SYNC and b not in waits
            holds = ops["kind"][a] == Kind.SYNC and a in waits
            if not pipelined or posts or holds:
                return False
    return True


@FEW
@given(data=st.data())
def test_legal_and_in_the_wrong_order_where_no_interleaving_forbids_it(
    data: st.DataObject, small_programs: Any, interleavings: Any
) -> None:
    program = data.draw(small_programs)
    count = len(program.pieces[0].tables["op"])
    first, second = data.draw(st.integers(0, count - 1)), data.draw(st.integers(0, count - 1))
    if first == second:
        return
    found, certain, _ = search_witness(program, first, second, budget=5_000)
    walked = interleavings(program)
    if found is None:
        assert certain
        assert not (walked.overlaps[first, second] and not walked.stops)
        return
    assert walked.overlaps[first, second]
    assert is_legal(program, found)
    assert found.tolist().index(second) < found.tolist().index(first)


def test_a_load_that_does_not_wait_overtakes_the_reader(ping_pong: Any) -> None:
    program = ping_pong(3, 2, release=True).program()
    ops = [program.names[each] for each in program.pieces[0].tables["op"]["opcode"]]
    loads = [at for at, name in enumerate(ops) if name == "load_store"]
    computes = [at for at, name in enumerate(ops) if name == "compute"]
    assert witness_order(program, computes[1], loads[2]) is None  # the release orders them
    found = witness_order(program, computes[0], loads[1])
    assert found is not None
    assert is_legal(program, found)
    assert found.tolist().index(loads[1]) < found.tolist().index(computes[0])


def test_is_searched_for_where_something_is_open_and_the_budget_may_not_do(literal: Any) -> None:
    made = literal()
    buf = made.buffer("buf", 1)
    works = []
    for name in ("a", "b"):
        thread = made.thread(name)
        made.acquire(thread, buf)
        works.append(made.op(thread, "work", writes=[("sram", 0, 8)]))
        made.release(thread, buf)
    program = made.program()
    for first, second in (works, works[::-1]):
        found = witness_order(program, first, second)
        assert found is not None
        assert is_legal(program, found)
    assert search_witness(program, *works, budget=-1)[:2] == (None, False)


def test_given_the_order_it_is_not_computed_again(ping_pong: Any) -> None:
    program = ping_pong(2, 2).program()
    order = happens_before(program)
    found = witness_order(program, 9, 2, order=order)
    assert found is not None
    assert found.tolist().index(2) < found.tolist().index(9)


def test_the_latest_order_is_legal_and_lets_everything_else_come_first(ping_pong: Any) -> None:
    program = ping_pong(3, 2, release=True).program()
    order = happens_before(program)
    ops = [program.names[each] for each in program.pieces[0].tables["op"]["opcode"]]
    loads = [at for at, name in enumerate(ops) if name == "load_store"]
    computes = [at for at, name in enumerate(ops) if name == "compute"]
    assert late_order(order, computes[1], loads[2]) is None  # the release orders them
    found = late_order(order, computes[0], loads[1])
    assert found is not None
    assert is_legal(program, found)
    behind = found.tolist()[found.tolist().index(computes[0]) + 1 :]
    assert all(order.before(np.array([computes[0]]), np.array([op]))[0] for op in behind)
