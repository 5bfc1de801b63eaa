"""Processes and their steps."""

from __future__ import annotations

from typing import Any

from pantile.check.steps import ADD, SEE, TAKE, Row, Step, processes_of
from pantile.program.tables import Test


def test_a_start_that_waits_and_an_end_that_posts_are_steps(literal: Any) -> None:
    made = literal()
    a, flag, done = made.thread("a"), made.flag("x", "a"), made.counter("done")
    made.op(a, "nothing")
    work = made.op(a, "work", waits=[(flag, Test.TAKE, 1)], posts=[(done, 2)])
    found = processes_of(made.program().pieces[0].tables)
    assert found.steps == [[Step(work, (Row(flag, TAKE, 1),)), Step(work, posts=(Row(done, ADD, 2),))]]
    assert found.last[flag] == {TAKE: {0: 0}}


def test_a_post_beside_a_pipelined_thread_follows_what_came_before_it(literal: Any) -> None:
    made = literal()
    cube = made.thread("M", pipelined=True)
    there, back = made.flag("M", "x"), made.flag("x", "M")
    made.wait(cube, back)
    post = made.set(cube, there)
    made.wait(cube, back)
    steps = processes_of(made.program().pieces[0].tables).steps
    assert [len(each) for each in steps] == [2, 1]
    assert steps[1] == [Step(post, posts=(Row(there, ADD, 1),), after=((0, 1),))]


def test_saturation_is_asked_for(literal: Any) -> None:
    made = literal()
    made.flag("a", "b")
    made.buffer("buf", 3)
    tables = made.program().pieces[0].tables
    assert processes_of(tables).capacity == [None, None]
    assert processes_of(tables, one_bit=True).capacity == [1, None]
    assert processes_of(tables, watch=1).capacity == [None, 3]


def test_a_look_adds_a_counter_of_its_own(literal: Any) -> None:
    made = literal()
    for name in "ab":
        made.op(made.thread(name), "x")
    found = processes_of(made.program().pieces[0].tables, looks=(0, 1))
    assert found.steps == [[Step(0, posts=(Row(0, ADD, 1),))], [Step(1, posts=(Row(0, SEE, 0),))]]
