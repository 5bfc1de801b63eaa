"""Statements on copies, told by what they do to counters."""

from __future__ import annotations

from typing import Any

from pantile.check.order import happens_before
from pantile.check.statements import NAMES, ROLES, role_of_counters, statements_of


def test_every_statement_is_told_once(literal: Any) -> None:
    made = literal()
    thread = made.thread("t")
    said = [
        "start_writing",
        "finish_writing",
        "update",
        "finish_writing",
        "start_reading",
        "finish_reading",
        "destroy",
    ]
    for what in said:
        made.state(thread, what, "X")
    made.release(thread, made.buffer("buf", 1))
    program = made.program()
    found = statements_of(program, happens_before(program))
    told = [NAMES[code].replace("start_writing(update)", "update") for code in found.code]
    assert (told, found.op.tolist()) == (said, list(range(7)))
    assert found.copy.tolist() == [0] * 7


def test_roles_of_counters(literal: Any) -> None:
    made = literal()
    made.buffer("buf", 1)
    made.copy("X")
    program = made.program()
    assert role_of_counters(program, program.pieces[0].tables).tolist() == [-1, *range(len(ROLES))]
