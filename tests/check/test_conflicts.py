"""Conflicts, against all pairs of accesses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.check.conflicts import CONFLICT, KINDS, conflicts_of, meeting
from pantile.check.order import Order, happens_before
from pantile.check.overlap import SPAN
from pantile.program.tables import Kind

FEW = settings(max_examples=30, deadline=None)

ranges = st.tuples(
    st.sampled_from(["A", "B"]), st.integers(0, 6), st.integers(0, 3), st.integers(1, 3), st.integers(1, 5)
)


@st.composite
def accessing_programs(draw: st.DrawFn, literal: Any) -> Any:
    """Threads that touch two small memories and now and then meet."""
    made = literal()
    threads = [made.thread(f"t{at}", pipelined=draw(st.booleans())) for at in range(draw(st.integers(1, 3)))]
    flags = [made.flag("a", "b", at) for at in range(2)]
    some = st.lists(ranges, max_size=2)
    for _ in range(draw(st.integers(2, 9))):
        thread = draw(st.sampled_from(threads))
        what = draw(st.sampled_from(["touch", "touch", "touch", "set", "wait"]))
        if what == "touch":
            made.op(thread, "x", reads=draw(some), writes=draw(some), updates=draw(some))
        else:
            getattr(made, what)(thread, draw(st.sampled_from(flags)))
    return made.program()


def by_hand(order: Order, spaces: list[str]) -> set[tuple[str, str, int, int]]:
    """Every unordered pair that touches a common byte: kind, memory, operations."""
    touched: list[tuple[int, str, int, set[int]]] = []
    for op, mode, space, lo, length, rows, pitch, *_ in order.tables["access"].tolist():
        cells = {lo + row * pitch + byte for row in range(rows) for byte in range(length)}
        touched.append((op, spaces[space], mode, cells))
    found = set()
    for a, space, mode, cells in touched:
        for b, other, also, theirs in touched:
            apart = order.before(np.array([a, b]), np.array([b, a])).any()
            if a >= b or space != other or not cells & theirs or apart:
                continue
            reads, writes = (mode != 1, also != 1), (mode != 0, also != 0)
            for kind, hit in zip(
                KINDS,
                (writes[0] and reads[1], reads[0] and writes[1], writes[0] and writes[1]),
                strict=True,
            ):
                if hit:
                    found.add((kind, space, a, b))
    return found


@FEW
@given(data=st.data())
def test_same_as_all_pairs(data: st.DataObject, literal: Any) -> None:
    program = data.draw(accessing_programs(literal))
    order, spaces = happens_before(program), program.parameters["spaces"]
    rows = conflicts_of(order)
    found = {
        (KINDS[row["kind"]], spaces[row["space"]], int(row["first"]), int(row["second"])) for row in rows
    }
    assert found == by_hand(order, spaces)
    thread = order.chains.thread
    assert (rows["same_thread"] == (thread[rows["first"]] == thread[rows["second"]])).all()


def slots(literal: Any, pairs: int) -> Any:
    """A writer and a reader that never meet, on one range."""
    made = literal()
    writer, reader = made.thread("w"), made.thread("r")
    for _ in range(pairs):
        made.op(writer, "write", writes=[("sram", 0, 64)])
    for _ in range(pairs):
        made.op(reader, "read", reads=[("sram", 32, 64)])
    return made.program()


def test_names_the_common_range_and_both_operations(literal: Any) -> None:
    (row,) = conflicts_of(happens_before(slots(literal, 1)))
    assert row.tolist() == (0, 0, 32, 64, 0, 1, False)
    assert row.dtype == CONFLICT


def test_lists_every_pair(literal: Any) -> None:
    rows = conflicts_of(happens_before(slots(literal, 3)))
    assert rows[["first", "second"]].tolist() == [(a, b) for a in range(3) for b in range(3, 6)]


def test_private_memories_and_forwarded_results_do_not_conflict(literal: Any) -> None:
    made = literal()
    cube = made.thread("M", pipelined=True)
    for _ in range(3):
        made.op(cube, "mad", Kind.COMPUTE, updates=[("L0C", 0, 64)])
    order = happens_before(made.program())
    assert {tuple(each) for each in conflicts_of(order)[["first", "second"]].tolist()} == {
        (0, 1),
        (0, 2),
        (1, 2),
    }
    assert len(conflicts_of(order, private=[0])) == 0
    assert set(conflicts_of(order, forwarding=[0])["first"].tolist()) == {1}
    made.op(cube, "move", reads=[("L0C", 0, 64)])  # what is no compute does not see results under way
    rows = conflicts_of(happens_before(made.program()), forwarding=[0, 1, 2])
    assert rows[["first", "second"]].tolist() == [(0, 3), (1, 3), (2, 3)]


def test_a_thread_in_order_never_conflicts_with_itself(literal: Any) -> None:
    made = literal()
    thread = made.thread("t")
    for _ in range(3):
        made.op(thread, "x", updates=[("A", 0, 8)])
    assert len(conflicts_of(happens_before(made.program()))) == 0


def test_meeting_pairs_each_written_set_with_itself_and_others() -> None:
    sets = np.array([(0, 0, 8, 1, 0), (0, 4, 8, 1, 0), (0, 8, 8, 1, 0), (1, 0, 8, 1, 0)], SPAN)
    pairs = meeting(sets, np.array([True, False, False, True]))
    assert sorted(map(tuple, pairs.tolist())) == [(0, 0), (0, 1), (3, 3)]


@pytest.mark.slow
def test_compiled_and_plain_are_the_same(ping_pong: Any, literal: Any) -> None:
    for program in (ping_pong(20, 2).program(), slots(literal, 30)):
        order = happens_before(program, compiled=False)
        assert np.array_equal(conflicts_of(order, compiled=False), conflicts_of(order, compiled=True))
