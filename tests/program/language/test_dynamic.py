"""Dynamic programs: the same statements, queries answered on demand (tile-language.md section 8)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from pantile.errors import ProgramError
from pantile.language import (
    DDR,
    SRAM,
    Buffer,
    Chiplet,
    Compute,
    Core,
    Program,
    Range,
    Tile,
    compute,
    destroy,
    finish_reading,
    finish_writing,
    load_store,
    start_reading,
    start_writing,
    thread,
)
from pantile.program.language.plain import Step
from pantile.program.tables import Edge, Kind, Test
from pantile.simulate.queries import simulate_dynamic


def carry_out(program: Program) -> tuple[list[tuple[int, Step]], Program]:
    """Run a dynamic program, threads taking turns, and return the order and what was recorded."""
    with program.start() as run:
        count = len(run.recording.logs)
        value: dict[Any, int] = {}
        posted: dict[Any, int] = {}
        sources: list[Iterator[Step]] = [run.steps(number) for number in range(count)]
        heads: list[Step | None] = [next(source, None) for source in sources]
        order: list[tuple[int, Step]] = []

        def look(key: Any) -> int:
            return value.setdefault(key, run.counter(key).initial)

        def holds(step: Step) -> bool:
            return all(
                {
                    Test.POST: True,
                    Test.TAKE: look(s.counter) >= s.amount,
                    Test.REACH: posted.get(s.counter, 0) >= s.amount,
                    Test.ZERO: look(s.counter) == 0,
                }[s.test]
                for s in step.syncs
            )

        moved = True
        while moved:
            moved = False
            for number, source in enumerate(sources):
                step = heads[number]
                if step is None or not holds(step):
                    continue
                moved = True
                if step.query is not None:
                    heads[number] = advance(source, look(step.query))
                    continue
                for s in step.syncs:
                    change = {Test.POST: s.amount, Test.TAKE: -s.amount}.get(s.test, 0)
                    value[s.counter] = look(s.counter) + change
                    posted[s.counter] = posted.get(s.counter, 0) + max(0, change)
                order.append((number, step))
                heads[number] = next(source, None)
        assert heads == [None] * count
        return order, run.program()


def advance(source: Any, answer: int) -> Step | None:
    try:
        return source.send(answer)  # type: ignore[no-any-return]
    except StopIteration:
        return None


def polling(kit: SimpleNamespace, slots: int) -> tuple[Program, list[str]]:
    """A loader that does something else while its buffer is full."""
    tiling, buffer = kit.tiling(), Buffer(slots=slots)
    core = Core(0, 0)
    sram = SRAM(core)
    log: list[str] = []

    @thread
    def load() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=core)
            while buffer.full:
                log.append("full")
                load_store(src=DDR(0), dst=Compute(core), tile=tile)  # something to do meanwhile
            log.append("free")
            buffer.acquire()
            start_writing(tile)
            load_store(src=DDR(0), dst=sram, tile=tile)
            finish_writing(tile)

    @thread
    def use() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=core)
            start_reading(tile)
            compute(tile)
            finish_reading(tile)
            load_store(src=sram, dst=DDR(0), tile=tile)
            destroy(tile)
            buffer.release()

    return Program(tiling, load, use, dtype="int32", dynamic=True), log


def test_the_answers_decide_what_a_thread_does(kit: SimpleNamespace) -> None:
    full = []
    for slots in (1, 8):
        program, log = polling(kit, slots)
        carry_out(program)
        full.append(log.count("full"))
        assert log.count("free") == 8
    assert full[0] > 0
    assert full[1] == 0


def test_a_run_is_the_same_every_time(kit: SimpleNamespace) -> None:
    runs = [carry_out(polling(kit, 2)[0]) for _ in range(2)]
    assert [(number, step.opcode, step.line) for number, step in runs[0][0]] == [
        (number, step.opcode, step.line) for number, step in runs[1][0]
    ]
    assert runs[0][1].pieces == runs[1][1].pieces


def test_a_run_is_recorded_as_a_static_program_of_equal_value(kit: SimpleNamespace) -> None:
    order, program = carry_out(polling(kit, 8)[0])
    assert program.operations == len(order)
    got, expected = kit.execute(program)
    assert (got == expected).all()


def test_a_dynamic_program_has_no_tables_before_it_ran(kit: SimpleNamespace) -> None:
    program, _ = polling(kit, 1)
    assert program.dynamic
    assert program.operations == 0
    for ask in (program.tables, program.to_json, program.to_text):
        with pytest.raises(
            ProgramError, match=r"test_dynamic.* is dynamic: what it does is known when it has run"
        ):
            ask()
    assert "dynamic" in repr(program)


def test_a_static_program_cannot_be_started(kit: SimpleNamespace) -> None:
    with pytest.raises(ProgramError, match="is static"):
        kit.one_thread(Buffer(slots=1).acquire).start()


def test_full_and_empty_of_an_array_look_at_every_member(kit: SimpleNamespace) -> None:
    buffers = Buffer(slots=2, array=Chiplet(1, 2))
    answers = []

    @thread
    def ask() -> None:
        both = buffers[{(0, 0), (0, 1)}]
        answers.append((both.full, both.empty))

    def asked(free: dict[tuple[int, int], int]) -> tuple[bool, bool]:
        with Program(kit.tiling(), ask, dynamic=True).start() as run:
            steps = run.steps(0)
            step: Step | None = next(steps)
            while step is not None:
                assert step.query is not None
                assert step.syncs == ()
                assert run.counter(step.query).capacity == 2
                step = advance(steps, free[step.query[2]])  # type: ignore[index]
        return answers[-1]

    assert asked({(0, 0): 2, (0, 1): 2}) == (False, True)
    assert asked({(0, 0): 2, (0, 1): 1}) == (False, False)
    assert asked({(0, 0): 0, (0, 1): 2}) == (True, False)


def test_threads_that_wait_for_an_answer_end_with_the_run(kit: SimpleNamespace) -> None:
    before = threading.active_count()
    buffer = Buffer(slots=1)
    cleaned = []

    @thread
    def ask() -> None:
        try:
            assert buffer.full
        finally:
            cleaned.append("up")

    run = Program(kit.tiling(), ask, dynamic=True).start()
    assert next(run.steps(0)).query is not None
    assert threading.active_count() == before + 1
    run.close()
    run.close()
    assert threading.active_count() == before
    assert cleaned == ["up"]


def test_an_unanswered_query_is_an_error(kit: SimpleNamespace) -> None:
    buffer = Buffer(slots=1)
    with Program(kit.tiling(), thread(lambda: buffer.full and None), dynamic=True).start() as run:
        steps = run.steps(0)
        next(steps)
        with pytest.raises(ProgramError, match="not answered"):
            next(steps)


def test_an_error_of_a_thread_comes_out_where_it_is_resumed(kit: SimpleNamespace) -> None:
    buffer = Buffer(slots=1)

    @thread
    def fails_later() -> None:
        if not buffer.full:
            raise KeyError("mine")

    @thread
    def fails_at_once() -> None:
        raise KeyError("at once")

    with Program(kit.tiling(), fails_later, dynamic=True).start() as run:
        steps = run.steps(0)
        next(steps)
        with pytest.raises(ProgramError, match=r"test_dynamic.py:\d+: raised KeyError: 'mine'"):
            steps.send(1)
    before = threading.active_count()
    with pytest.raises(ProgramError, match="raised KeyError: 'at once'"):
        Program(kit.tiling(), thread(lambda: buffer.full and None), fails_at_once, dynamic=True).start()
    assert threading.active_count() == before


@pytest.mark.parametrize("gives_back", [True, False])
def test_a_thread_that_polls_lets_the_others_go_on(kit: SimpleNamespace, gives_back: bool) -> None:
    buffer = Buffer(slots=1)

    @thread
    def polls() -> None:
        for _ in range(2):
            while buffer.full:
                pass
            buffer.acquire()

    @thread
    def gives() -> None:
        if gives_back:
            buffer.release()

    program = Program(kit.tiling(), polls, gives, dynamic=True)
    if gives_back:
        assert simulate_dynamic(program.source).finished
    else:
        with pytest.raises(ProgramError, match=r"test_dynamic.py:\d+: asks without end"):
            simulate_dynamic(program.source)


def test_misuse_is_refused_when_its_turn_comes(kit: SimpleNamespace) -> None:
    tile = Tile(kit.tiling(), (0, 0, 0), location=Core(0, 0))

    @thread
    def wrong() -> None:
        start_writing(tile)
        finish_reading(tile)

    with Program(kit.tiling(), wrong, dynamic=True).start() as run:
        steps = run.steps(0)
        assert next(steps).opcode == "start_writing"
        with pytest.raises(
            ProgramError, match=r"test_dynamic.py:\d+: finish_reading of .* without a start_reading"
        ):
            next(steps)


def test_a_step_says_what_an_executor_needs(kit: SimpleNamespace) -> None:
    tile = Tile(kit.tiling(), (0, 0, 0), location=Core(0, 1))

    @thread
    def run_it() -> None:
        load_store(src=DDR(0), dst=SRAM(Core(0, 1)), tile=tile)
        compute(tile)

    with Program(kit.tiling(), run_it, dynamic=True).start() as run:
        move, product = run.steps(0)
    assert (move.kind, move.opcode, move.bytes, move.line) == (
        Kind.MOVE,
        "load_store",
        64,
        run_it.place.line + 2,
    )
    assert [(each.operand, each.src, each.dst, each.bytes) for each in move.moves] == [
        ("X", "ddr@0", "sram@(0,1)", 32),
        ("W", "ddr@0", "sram@(0,1)", 32),
    ]
    assert (product.kind, product.macs, product.engine, product.syncs) == (
        Kind.COMPUTE,
        16,
        "compute@(0,1)",
        (),
    )


def test_buffers_and_barriers_step_by_step(kit: SimpleNamespace) -> None:
    from pantile.language import barrier

    buffers = Buffer(slots=1, array=[(0,), (1,)])

    @thread
    def one() -> None:
        buffers.acquire()
        barrier()
        buffers[(0,)].release()

    with Program(kit.tiling(), one, dynamic=True).start() as run:
        acquire, arrive, leave, release = run.steps(0)
        assert [(s.test, s.group) for s in acquire.syncs] == [(Test.TAKE, 0)] * 2
        assert [(s.test, s.edge) for s in arrive.syncs] == [(Test.POST, Edge.AFTER_FINISH)]
        assert [(s.test, s.amount) for s in leave.syncs] == [(Test.REACH, 1)]
        assert [(s.test, s.group) for s in release.syncs] == [(Test.POST, -1)]
        assert run.counter(arrive.syncs[0].counter).initial == 0
