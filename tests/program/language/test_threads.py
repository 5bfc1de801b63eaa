"""Threads: ordinary functions, run once, and what is none (tile-language.md section 8)."""

from __future__ import annotations

import gc
from types import SimpleNamespace

import pytest

from pantile.errors import ProgramError, UsageError
from pantile.language import DDR, SRAM, Buffer, Core, Program, Tile, load_store, thread
from pantile.program.tables import Completes


def test_operations_stand_thread_by_thread_in_order_of_declaration(kit: SimpleNamespace) -> None:
    buffer = Buffer(slots=1)

    @thread
    def second() -> None:
        buffer.release()

    @thread
    def first() -> None:
        buffer.acquire()
        buffer.acquire()

    program = Program(kit.tiling(), first, second)
    ops = program.tables()["op"]
    assert kit.opcodes(program) == ["acquire", "acquire", "release"]
    assert ops["thread"].tolist() == [0, 0, 1]
    assert ops["id"].tolist() == ops["listing_index"].tolist() == [0, 1, 2]
    threads = program.tables()["thread"]
    assert [program.text(name) for name in threads["name"]] == ["first", "second"]
    assert set(threads["completes"]) == {Completes.IN_ORDER}


def test_every_operation_has_the_line_that_called_it(kit: SimpleNamespace) -> None:
    buffer = Buffer(slots=4)

    @thread
    def load() -> None:
        for _ in range(2):
            buffer.acquire()
        buffer.release()

    program = Program(kit.tiling(), load)
    line = load.place.line
    assert program.tables()["op"]["line"].tolist() == [line + 3, line + 3, line + 4]
    assert program.parameters["files"] == __file__


def test_a_statement_in_another_file_has_the_line_of_its_thread(kit: SimpleNamespace) -> None:
    names = {"buffer": Buffer(slots=1)}
    exec(compile("def take():\n\n\n    buffer.acquire()", "elsewhere.py", "exec"), names)
    take = names["take"]

    @thread
    def load() -> None:
        take()

    program = Program(kit.tiling(), load)
    assert program.tables()["op"]["line"].tolist() == [load.place.line + 2]


def test_threads_of_several_files_name_each(kit: SimpleNamespace) -> None:
    names = {"buffer": Buffer(slots=1), "thread": thread}
    exec(compile("@thread\ndef give():\n    buffer.release()", "elsewhere.py", "exec"), names)
    buffer = names["buffer"]

    @thread
    def take() -> None:
        buffer.acquire()

    program = Program(kit.tiling(), take, names["give"])
    assert program.parameters["files"] == [__file__, "elsewhere.py"]
    assert program.tables()["op"]["line"].tolist() == [take.place.line + 2, 3]


def test_a_name_and_a_core_can_be_given(kit: SimpleNamespace) -> None:
    buffer = Buffer(slots=1)

    @thread(name="load of (1, 0)", core=Core(1, 0))
    def load() -> None:
        buffer.acquire()

    program = Program(kit.tiling(), load)
    (row,) = program.tables()["thread"]
    assert program.text(row["name"]) == "load of (1, 0)"
    assert program.parameters["cores"][row["core"]] == [1, 0]


def test_threads_of_one_name_are_told_apart(kit: SimpleNamespace) -> None:
    buffer = Buffer(slots=3)
    copies = []
    for _ in range(3):

        @thread
        def load() -> None:
            buffer.acquire()

        copies.append(load)
    program = Program(kit.tiling(), *copies)
    assert [program.text(name) for name in program.tables()["thread"]["name"]] == ["load", "load#2", "load#3"]


def test_a_threads_core_is_the_only_unit_that_it_touches(kit: SimpleNamespace) -> None:
    tiling = kit.tiling()

    def moving(*cores: Core) -> Program:
        @thread
        def load() -> None:
            for core in cores:
                load_store(src=DDR(0), dst=SRAM(core), tile=Tile(tiling))

        return Program(tiling, load)

    one, two = moving(Core(0, 1)), moving(Core(0, 1), Core(1, 1))
    assert one.parameters["cores"][one.tables()["thread"]["core"][0]] == [0, 1]
    assert two.tables()["thread"]["core"].tolist() == [-1]


def test_a_thread_called_by_another_is_part_of_it(kit: SimpleNamespace) -> None:
    buffer = Buffer(slots=1)

    @thread
    def inner() -> None:
        buffer.acquire()

    @thread
    def outer() -> None:
        inner()
        buffer.release()

    assert kit.opcodes(Program(kit.tiling(), outer)) == ["acquire", "release"]


def test_a_generator_is_refused_where_it_stands() -> None:
    def load():  # type: ignore[no-untyped-def]
        yield

    line = load.__code__.co_firstlineno
    with pytest.raises(ProgramError, match=rf"test_threads.py:{line}: thread load is a generator"):
        thread(load)

    async def wait() -> None: ...

    with pytest.raises(ProgramError, match="thread wait is a generator"):
        thread(wait)


def test_a_function_that_returns_a_generator_is_refused(kit: SimpleNamespace) -> None:
    @thread
    def load() -> object:
        return (None for _ in range(2))

    with pytest.raises(ProgramError, match="thread load returned a generator, which nobody runs"):
        Program(kit.tiling(), load)


def test_arguments_need_defaults(kit: SimpleNamespace) -> None:
    buffer = Buffer(slots=1)

    @thread
    def load(times: int = 1) -> None:
        for _ in range(times):
            buffer.acquire()

    assert len(kit.opcodes(Program(kit.tiling(), load))) == 1
    with pytest.raises(ProgramError, match=r"thread <lambda> takes arguments \(core, tile\)"):
        thread(lambda core, tile: None)  # type: ignore[misc, arg-type]


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(ProgramError, match="expected a function, got 3"):
        thread(3)  # type: ignore[call-overload]


def test_a_program_needs_threads_each_once(kit: SimpleNamespace) -> None:
    tiling = kit.tiling()

    @thread
    def load() -> None: ...

    with pytest.raises(ProgramError, match="needs at least one thread"):
        Program(tiling)
    with pytest.raises(ProgramError, match="thread load is handed in twice"):
        Program(tiling, load, load)
    with pytest.raises(ProgramError, match="expected a thread, got <function"):
        Program(tiling, lambda: None)  # type: ignore[arg-type]


def test_a_thread_may_do_nothing(kit: SimpleNamespace) -> None:
    @thread
    def idle() -> None: ...

    program = Program(kit.tiling(), idle)
    assert program.operations == 0
    assert len(program.tables()["thread"]) == 1


def test_a_statement_outside_of_a_thread_has_a_place() -> None:
    with pytest.raises(UsageError, match=r"test_threads.py:\d+: a statement outside of a thread"):
        Buffer(slots=1).acquire()


def test_an_error_in_a_thread_leaves_no_thread_behind(kit: SimpleNamespace) -> None:
    @thread
    def load() -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        Program(kit.tiling(), load)
    with pytest.raises(UsageError, match="outside of a thread"):
        Buffer(slots=1).acquire()


def test_pythons_own_collection_of_garbage_goes_on_afterwards(kit: SimpleNamespace) -> None:
    seen = []

    @thread
    def load() -> None:
        seen.append(gc.isenabled())
        raise KeyError

    with pytest.raises(KeyError):
        Program(kit.tiling(), load)
    assert seen == [False]
    assert gc.isenabled()
    gc.disable()
    try:
        kit.one_thread(Buffer(slots=1).acquire)
        assert not gc.isenabled()
    finally:
        gc.enable()
