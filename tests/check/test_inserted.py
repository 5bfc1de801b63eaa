"""Order that barriers insert, told from the algorithm's own."""

from __future__ import annotations

from typing import Any

from pantile.check.inserted import check_inserted
from pantile.check.order import happens_before
from pantile.check.report import Report


def told(made: Any) -> Report:
    program = made.program()
    return check_inserted(program, happens_before(program))


def two_threads(literal: Any, *, flag: bool, barriers: int) -> Any:
    """One thread writes what the other reads, three times, behind a flag, barriers, or nothing."""
    made = literal()
    a, b = made.thread("a"), made.thread("b")
    for at in range(3):
        made.op(a, "load", writes=[("sram", 8 * at, 8)])
    if flag:
        up = made.flag("a", "b")
        made.set(a, up)
        made.wait(b, up)
    for _ in range(barriers):
        made.barrier(a, b)
    for at in range(3):
        made.op(b, "use", reads=[("sram", 8 * at, 8)])
    return made


def test_a_program_without_barriers_says_nothing(literal: Any) -> None:
    assert told(two_threads(literal, flag=True, barriers=0)) == Report()


def test_what_only_a_barrier_keeps_apart_is_counted(literal: Any) -> None:
    assert told(two_threads(literal, flag=False, barriers=1)).proved == (
        "inserted order: 1 barrier alone keeps apart 3 conflicting pairs of accesses; "
        "the algorithm's own waits order the rest",
    )


def test_what_a_flag_orders_needs_no_barrier(literal: Any) -> None:
    assert told(two_threads(literal, flag=True, barriers=2)).proved == (
        "inserted order: without 2 barriers, the same accesses would be kept apart",
    )
