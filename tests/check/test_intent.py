"""Which of two conflicting operations was meant to come first."""

from __future__ import annotations

from typing import Any

import numpy as np

from pantile.check.intent import Intent
from pantile.check.order import happens_before
from pantile.program.tables import Kind

ROW = np.zeros(1, [("space", "i8"), ("lo", "i8")])[0]


def test_a_trace_means_what_it_lists(literal: Any) -> None:
    made = literal()
    for name in "ab":
        made.op(made.thread(name), "x", writes=[("sram", 0, 8)])
    program = made.program()
    assert Intent(program, happens_before(program)).of("WAW", 0, 1, ROW) == ("WAW", 0, 1)


def test_the_copy_that_was_born_first_comes_first(ping_pong: Any) -> None:
    program = ping_pong(3, 2).program()
    names = [program.names[each] for each in program.pieces[0].tables["op"]["opcode"]]
    loads = [at for at, name in enumerate(names) if name == "load_store"]
    computes = [at for at, name in enumerate(names) if name == "compute"]
    intent = Intent(program, happens_before(program))
    assert intent.of("RAW", loads[2], computes[0], ROW) == ("WAR", computes[0], loads[2])  # of the first tile
    assert intent.of("RAW", loads[2], computes[4], ROW) == ("RAW", loads[2], computes[4])  # of its own
    assert intent.of("WAW", loads[2], loads[0], ROW) == ("WAW", loads[0], loads[2])


def test_what_no_copy_brackets_means_what_it_lists(literal: Any, ping_pong: Any) -> None:
    made = ping_pong(2, 2)
    stray = made.op(made.thread("stray"), "x", reads=[("sram", 0, 8)])
    program = made.program()
    intent = Intent(program, happens_before(program))
    assert intent.of("RAW", 2, stray, ROW) == ("RAW", 2, stray)


def test_in_a_pipelined_thread_closed_copies_do_not_count(literal: Any) -> None:
    """A read before its start_reading belongs to no copy yet, not to the last one, which is closed."""
    made = literal()
    writer, reader = made.thread("writer"), made.thread("reader", pipelined=True)
    writes = []
    for name in ("A", "B"):
        born = made.state(writer, "start_writing", name)
        writes.append(made.op(writer, "load", writes=[("sram", 0, 8)]))
        made.state(writer, "finish_writing", name)
        made.lives.append([0, 0, 8, born, -1])
    made.state(reader, "start_reading", "A")
    made.op(reader, "use", reads=[("sram", 0, 8)])
    made.state(reader, "finish_reading", "A")
    early = made.op(reader, "use", reads=[("sram", 0, 8)])
    made.state(reader, "start_reading", "B")
    program = made.program()
    intent = Intent(program, happens_before(program))
    assert intent.of("RAW", writes[1], early, ROW) == ("RAW", writes[1], early)


def test_of_registers_the_accesses_say_which_load_is_meant(literal: Any) -> None:
    """A reader is listed after both loads of a register and means the first: the second must come later."""
    made = literal()
    loader, user = made.thread("loader"), made.thread("user")
    loads = [made.op(loader, "load_store", writes=[("sram", 0, 8)]) for _ in range(2)]
    uses = [made.op(user, "compute", Kind.COMPUTE, reads=[("sram", 0, 8)]) for _ in range(2)]
    made.lives.append([0, 0, 8, loads[0], uses[1]])
    made.rows["access"] = [(*row[:-1], at % 2) for at, row in enumerate(made.rows["access"])]
    program = made.program()
    intent = Intent(program, happens_before(program))
    assert intent.of("RAW", loads[1], uses[0], ROW) == ("WAR", uses[0], loads[1])
    assert intent.of("RAW", loads[0], uses[1], ROW) == ("RAW", loads[0], uses[1])
    assert intent.of("RAW", loads[1], uses[1], ROW) == ("RAW", loads[1], uses[1])
    assert intent.of("WAW", loads[0], loads[1], ROW) == ("WAW", loads[0], loads[1])
