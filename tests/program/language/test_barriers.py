"""Barriers: two operations per thread, matched by turn (tile-language.md section 7)."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from pantile.errors import ProgramError, UsageError
from pantile.language import Buffer, Program, Thread, barrier, thread


def coming(times: int, name: str, *others: str, threads: dict[str, Thread]) -> Thread:
    def body() -> None:
        for _ in range(times):
            barrier(*(threads[other] for other in others))

    threads[name] = Thread(body, name)
    return threads[name]


def test_a_barrier_is_an_arrival_and_a_departure_of_every_thread(kit: SimpleNamespace) -> None:
    threads: dict[str, Thread] = {}
    for name in "abc":
        coming(2, name, threads=threads)
    program = Program(kit.tiling(), *threads.values())
    assert kit.opcodes(program, 1) == ["barrier arrive", "barrier leave"] * 2
    for thread_number in range(3):
        first = 4 * thread_number
        for turn in range(2):
            name = f"barrier of a, b, c, number {turn + 1}"
            assert kit.waits(program, first + 2 * turn) == [f"after_finish: post 1 {name}"]
            assert kit.waits(program, first + 2 * turn + 1) == [f"before_start: reach 3 {name}"]
    kit.order_of(program)


def test_only_the_threads_named_take_part(kit: SimpleNamespace) -> None:
    threads: dict[str, Thread] = {}
    coming(1, "a", "a", "b", threads=threads)
    coming(1, "b", "b", "a", threads=threads)
    buffer = Buffer(slots=1)
    threads["c"] = thread(name="c")(buffer.acquire)
    program = Program(kit.tiling(), *threads.values())
    assert kit.waits(program, 1) == ["before_start: reach 2 barrier of a, b, number 1"]
    assert len(program.tables()["counter"]) == 2


def test_barriers_of_other_participants_are_counted_apart(kit: SimpleNamespace) -> None:
    threads: dict[str, Thread] = {}

    def body(*sets: str) -> None:
        for names in sets:
            barrier(*(threads[each] for each in names))

    threads["a"] = Thread(lambda: body("ab", "abc"), "a")
    threads["b"] = Thread(lambda: body("ab", "abc"), "b")
    threads["c"] = Thread(lambda: body("abc"), "c")
    program = Program(kit.tiling(), *threads.values())
    assert len(program.tables()["counter"]) == 2
    kit.order_of(program)


def test_a_thread_that_comes_once_too_often_waits_for_ever(kit: SimpleNamespace) -> None:
    threads: dict[str, Thread] = {}
    coming(2, "a", threads=threads)
    coming(1, "b", threads=threads)
    program = Program(kit.tiling(), *threads.values())
    with pytest.raises(AssertionError, match=r"stuck: \{0: \[3\]"):
        kit.order_of(program)


def test_who_comes_must_be_named(kit: SimpleNamespace) -> None:
    threads: dict[str, Thread] = {}
    coming(1, "b", threads=threads)
    coming(1, "a", "b", threads=threads)
    with pytest.raises(ProgramError, match=r"\.py:\d+: thread a comes to a barrier of b; name the calling"):
        Program(kit.tiling(), threads["a"], threads["b"])


def test_who_is_named_must_be_in_the_program(kit: SimpleNamespace) -> None:
    threads: dict[str, Thread] = {}
    coming(1, "b", threads=threads)
    coming(1, "a", "a", "b", threads=threads)
    with pytest.raises(ProgramError, match="the barrier waits for b, not a thread of this program"):
        Program(kit.tiling(), threads["a"])


def test_what_is_no_thread_is_refused(kit: SimpleNamespace) -> None:
    with pytest.raises(UsageError, match="expected threads, got 'load'; mark the function @thread"):
        kit.one_thread(lambda: barrier("load"))  # type: ignore[arg-type]
