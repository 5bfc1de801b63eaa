"""What findings call things."""

from __future__ import annotations

from typing import Any

from pantile.check.naming import Naming


def test_operations_carry_thread_file_and_line(literal: Any) -> None:
    made = literal()
    made.op(made.thread("load"), "load_store", line=12)
    naming = Naming(made.program(files="/home/x/ping.py"))
    assert naming.op(0) == "operation 0 'load_store' of load (ping.py:12)"
    assert (naming.opcode(0), naming.thread(0), naming.place(0)) == ("load_store", "load", "ping.py:12")


def test_files_by_thread_and_missing_lines(literal: Any) -> None:
    made = literal()
    for name in ("a", "b"):
        made.op(made.thread(name), "x", line=3)
    made.op(0, "x")
    naming = Naming(made.program(files=["a.py", "b.py"]))
    assert [naming.place(op) for op in range(3)] == ["a.py:3", "b.py:3", ""]
    assert naming.op(2) == "operation 2 'x' of a"
    assert Naming(made.program(files="")).place(0) == "line 3"


def test_counters_by_what_they_stand_for(literal: Any) -> None:
    made = literal()
    flag, buf, plain = made.flag("M", "FIX", 3), made.buffer("buf", 2), made.counter("events", key=5)
    unborn, busy, ready, readers = made.copy("D(0)")
    naming = Naming(made.program())
    assert naming.counter(flag) == naming.wanted(flag) == "flag 3 of M to FIX"
    assert (naming.counter(buf), naming.wanted(buf)) == ("free slots of buf", "a free slot of buf")
    assert naming.counter(plain) == "events 5"
    assert naming.wanted(unborn) == "the copy D(0) to be destroyed"
    assert naming.wanted(busy) == naming.wanted(ready) == "the copy D(0) to be written"
    assert naming.wanted(readers) == "the readers of the copy D(0)"


def test_lines_stand_for_all_their_operations(literal: Any) -> None:
    made = literal()
    thread = made.thread("t")
    ops = [made.op(thread, "x", line=line) for line in (4, 5, 4, 4, 0, 0)]
    assert Naming(made.program()).lines(ops) == [
        (0, "; so do 2 more of that line"),
        (1, ""),
        (4, ""),
        (5, ""),
    ]


def test_memories_by_name(literal: Any) -> None:
    made = literal()
    made.space("sram@(0,1)")
    naming = Naming(made.program())
    assert (naming.space(0), naming.space(7)) == ("sram@(0,1)", "memory 7")
