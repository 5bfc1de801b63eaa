"""Buffers and arrays of buffers: what they wait for, post, and refuse (tile-language.md section 7)."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from pantile.errors import ProgramError, UsageError
from pantile.language import Buffer, Chiplet, Core, Program, thread
from pantile.program.tables import Overflow


def test_acquire_takes_a_slot_and_release_gives_it_back(kit: SimpleNamespace) -> None:
    buffer = Buffer(slots=3, name="ping")
    program = kit.one_thread(buffer.acquire, buffer.release)
    assert kit.opcodes(program) == ["acquire", "release"]
    assert kit.waits(program, 0) == ["before_start: take 1 free slots of ping"]
    assert kit.waits(program, 1) == ["after_finish: post 1 free slots of ping"]
    counter = program.tables()["counter"]
    assert counter[["initial", "capacity", "overflow"]].tolist() == [(3, 3, Overflow.ERROR)]


def test_increase_and_decrease_are_the_same(kit: SimpleNamespace) -> None:
    buffer = Buffer(slots=1)
    program = kit.one_thread(buffer.increase, buffer.decrease)
    assert kit.opcodes(program) == ["acquire", "release"]


def test_an_array_has_a_counter_for_each_member(kit: SimpleNamespace) -> None:
    grid = Chiplet(1, 2)
    buffers = Buffer(slots=2, array=grid, name="west")
    program = kit.one_thread(buffers[0, 1].acquire, buffers[grid[0, 0]].acquire, buffers[Core(0, 1)].release)
    assert kit.waits(program, 0) == ["before_start: take 1 free slots of west[0,1]"]
    assert kit.waits(program, 1) == ["before_start: take 1 free slots of west[0,0]"]
    assert kit.waits(program, 2) == ["after_finish: post 1 free slots of west[0,1]"]


def test_a_set_of_members_is_acquired_atomically(kit: SimpleNamespace) -> None:
    buffers = Buffer(slots=2, array=[(0,), (1,), (2,)], name="row")
    program = kit.one_thread(buffers[{(2,), (0,)}].acquire, buffers[{(0,), (2,)}].release)
    assert kit.waits(program, 0) == [
        "before_start: take 1 free slots of row[0] group 0",
        "before_start: take 1 free slots of row[2] group 0",
    ]
    assert kit.waits(program, 1) == [
        "after_finish: post 1 free slots of row[0]",
        "after_finish: post 1 free slots of row[2]",
    ]


def test_an_array_as_a_whole_means_every_member(kit: SimpleNamespace) -> None:
    buffers = Buffer(slots=1, array=Chiplet(1, 2))
    assert len(kit.waits(kit.one_thread(buffers.acquire), 0)) == 2


def test_buffers_of_one_name_are_told_apart(kit: SimpleNamespace) -> None:
    program = kit.one_thread(*(Buffer(slots=1, name="a").acquire for _ in range(2)), Buffer(slots=1).acquire)
    assert [kit.waits(program, op)[0].rpartition(" ")[2] for op in range(3)] == ["a", "a#2", "buffer2"]


@pytest.mark.parametrize("slots", [0, -1, 1.5])
def test_a_buffer_needs_slots(slots: int) -> None:
    with pytest.raises(UsageError, match=f"at least one slot, got {slots}"):
        Buffer(slots=slots)


def test_an_array_needs_members_and_lacks_others() -> None:
    with pytest.raises(UsageError, match="needs members, got none"):
        Buffer(slots=1, array=[])
    with pytest.raises(UsageError, match=r"a has no member \(0, 2\)"):
        Buffer(slots=1, array=Chiplet(1, 2), name="a")[0, 2]
    with pytest.raises(UsageError, match="at least one member of a, got none"):
        Buffer(slots=1, array=Chiplet(1, 2), name="a")[()]
    with pytest.raises(UsageError, match="b is no array"):
        Buffer(slots=1, name="b")[0, 0]
    with pytest.raises(UsageError, match="expected a core, coordinates or a set"):
        Buffer(slots=1, array=Chiplet(1, 2))[3.5]


def test_more_releases_than_acquires_are_refused_with_the_line_of_the_first_surplus(
    kit: SimpleNamespace,
) -> None:
    buffer = Buffer(slots=2, name="ping")

    @thread
    def one() -> None:
        buffer.acquire()
        buffer.release()

    @thread
    def other() -> None:
        buffer.release()  # the surplus begins here: both threads acquire once
        buffer.release()

    line = one.place.line + 7
    with pytest.raises(ProgramError, match=rf"test_buffers.py:{line}: release of ping without acquire: 1"):
        Program(kit.tiling(), one, other)


def test_a_thread_alone_cannot_release_first(kit: SimpleNamespace) -> None:
    buffer = Buffer(slots=2)
    with pytest.raises(ProgramError, match="release of buffer0 without acquire"):
        kit.one_thread(buffer.release, buffer.acquire)


def test_releases_of_another_thread_may_come_before_in_the_listing(kit: SimpleNamespace) -> None:
    buffer = Buffer(slots=1)

    @thread
    def gives() -> None:
        buffer.release()

    @thread
    def takes() -> None:
        buffer.acquire()

    assert kit.opcodes(Program(kit.tiling(), gives, takes)) == ["release", "acquire"]


@pytest.mark.parametrize("query", ["full", "empty"])
def test_a_query_in_a_static_program_names_the_dynamic_executor(kit: SimpleNamespace, query: str) -> None:
    buffer = Buffer(slots=1)

    def asks() -> None:
        getattr(buffer, query)

    with pytest.raises(ProgramError, match=rf"test_buffers.py:\d+: '{query}' of buffer .* dynamic=True"):
        kit.one_thread(asks)
