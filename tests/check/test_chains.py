"""Chains: what threads order by themselves."""

from __future__ import annotations

from typing import Any

from pantile.check.chains import NEVER, chains_of, literal_tables, only_posts


def test_a_thread_in_order_is_one_chain(literal: Any) -> None:
    made = literal()
    a, b = made.thread("a"), made.thread("b")
    for thread in (a, b, a):
        made.op(thread, "x")
    chains = chains_of(made.program().pieces[0].tables)
    assert (chains.count, chains.chain.tolist(), chains.position.tolist()) == (2, [0, 1, 0], [0, 0, 1])
    assert (chains.start.tolist(), chains.finish.tolist()) == ([1, 1, 3], [2, 2, 4])
    assert (chains.first.tolist(), chains.order.tolist()) == ([0, 2, 3], [0, 2, 1])


def pipelined(literal: Any) -> Any:
    made = literal()
    vector, flag = made.thread("V", pipelined=True), made.flag("V", "M")
    made.op(vector, "work")
    made.set(vector, flag)
    made.wait(vector, made.flag("M", "V"))
    made.op(vector, "more")
    made.set(vector, flag)
    made.op(vector, "last")
    return made.program().pieces[0].tables


def test_posts_of_a_pipelined_thread_stand_beside_it_and_mark_the_ends_before_them(literal: Any) -> None:
    tables = pipelined(literal)
    assert only_posts(tables).tolist() == [False, True, False, False, True, False]
    chains = chains_of(tables)
    assert chains.chain.tolist() == [0, 1, 0, 0, 1, 0]
    assert chains.main_before.tolist() == [-1, 0, -1, -1, 3, -1]
    assert chains.finish_chain.tolist() == [1, 1, 0, 1, 1, 0]
    assert chains.finish.tolist() == [1, 2, 4, 3, 4, NEVER]  # a wait ends in its own chain
    assert chains.thread_of_chain.tolist() == [0, 0]


def test_posts_that_hold_up_stand_in_the_thread(literal: Any) -> None:
    chains = chains_of(pipelined(literal), posts_hold_up=True)
    assert chains.count == 1
    assert chains.finish.tolist() == [3, 4, 6, 9, 10, NEVER]


def test_tables_of_a_literal_program_are_its_own(ping_pong: Any) -> None:
    program = ping_pong(2, 2).program()
    assert literal_tables(program) is program.pieces[0].tables


def test_tables_of_pieces_that_repeat_are_unrolled(lowered: Any) -> None:
    program = lowered("[T] N32 C32 M32 - [O] N1 C1 M1 - [I] N32 C32 M32")
    assert len(literal_tables(program)["op"]) == sum(
        len(piece.tables["op"]) * piece.count for piece in program.pieces
    )
