"""Core programs as Python emits them."""

from __future__ import annotations

import inspect

import pytest

from pantile.errors import PantileError, ProgramError
from pantile.targets.ascend.buffers import Buffer
from pantile.targets.ascend.calls import call_of_json
from pantile.targets.ascend.events import Flag
from pantile.targets.ascend.instructions import pipe_barrier, set_flag, wait_flag
from pantile.targets.ascend.record import Recorder, function

M, MTE1 = "PIPE_M", "PIPE_MTE1"
L1, L0A = Buffer("L1"), Buffer("L0A")


def here() -> int:
    """Return the line that calls this."""
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def test_what_is_emitted_is_the_instruction_stream() -> None:
    core = Recorder()
    core.set(M, MTE1, 3)
    core.wait(M, MTE1, 3)
    core.barrier(M)
    core.barrier()
    core.issue("set_padding", 0)
    assert core.instructions == [
        set_flag(M, MTE1, 3),
        wait_flag(M, MTE1, 3),
        pipe_barrier(M),
        pipe_barrier("PIPE_ALL"),
        {"op": "set_padding", "args": {"value": 0}},
    ]


def test_operations_stand_at_their_source_lines() -> None:
    core = Recorder()
    core.access(MTE1, reads=L1[0:32], writes=L0A[0:32])
    core.barrier(MTE1)
    line = here() - 2
    program = core.tables()
    assert program.tables()["op"]["line"].tolist() == [line, line + 1, line + 1]
    assert program.name == "test_record.py"


@function
def inner(core: Recorder) -> int:
    core.set(M, MTE1, 0)
    return here()


@function
def outer(core: Recorder, count: int) -> None:
    for _ in range(count):
        inner(core)
    core.wait(M, MTE1, 0)


def test_calls_are_stretches_of_the_stream_with_the_line_of_the_call() -> None:
    core = Recorder()
    outer(core, 2)
    line = here() - 1
    assert [(each.name, each.begin, each.end) for each in core.calls] == [
        ("outer", 0, 3),
        ("inner", 0, 1),
        ("inner", 1, 2),
    ]
    assert core.calls[0].line == line
    assert [call_of_json(each.to_json()) for each in core.calls] == core.calls


def test_a_call_that_raises_is_ended_all_the_same() -> None:
    @function
    def fails(core: Recorder) -> None:
        core.barrier(M)
        raise KeyError("x")

    core = Recorder()
    with pytest.raises(KeyError):
        fails(core)
    core.barrier(M)
    assert [(each.begin, each.end) for each in core.calls] == [(0, 1)]


def test_a_declared_contract_is_kept_with_the_call() -> None:
    flag = Flag(M, MTE1, 0)

    @function(needs=[flag], library=True)
    def declared(core: Recorder) -> None:
        core.wait(*flag)

    core = Recorder()
    declared(core)
    (made,) = core.calls
    assert made.from_library
    assert made.declared == ((flag,), ())
    assert call_of_json(made.to_json()) == made


def test_events_are_used_alone_or_behind_their_pair() -> None:
    core = Recorder()
    event = core.alloc(M, MTE1)
    core.set(event)
    core.wait(M, MTE1, event)
    core.release(event)
    assert core.instructions == [set_flag(M, MTE1, 0), wait_flag(M, MTE1, 0)]
    assert not core.tables().parameters["emission"]


def test_misuse_of_events_is_kept_with_the_program_each_time_it_is_made() -> None:
    core = Recorder()
    core.set(core.alloc(M, MTE1))
    for _ in range(2):
        (found,) = core.tables().parameters["emission"]
        assert "never released" in found["sentence"]


def test_included_streams_are_calls_at_one_line() -> None:
    core = Recorder()
    core.include([set_flag(M, MTE1, 0), wait_flag(M, MTE1, 0)], name="tile", library=True)
    line = here() - 1
    assert core.lines == [line, line]
    assert (core.calls[0].name, core.calls[0].begin, core.calls[0].end, core.calls[0].from_library) == (
        "tile",
        0,
        2,
        True,
    )


def test_slips_are_refused_with_their_line() -> None:
    core = Recorder(name="k.py")
    event = core.alloc(MTE1, M)
    slips = (
        (lambda: core.set("PIPE_MTE", M, 0), "expected a pipe, got 'PIPE_MTE'"),
        (lambda: core.set(M, MTE1, True), "expected an event or its id, got True"),
        (
            lambda: core.set(M, MTE1, event),
            "expected an event of PIPE_M to PIPE_MTE1, got flag 0 of PIPE_MTE1",
        ),
        (lambda: core.issue("mda"), "unknown intrinsic 'mda'"),
        (lambda: core.issue("set_padding"), r"set_padding has 1 arguments \(value\), got 0"),
        (lambda: core.access(M, unit_flag=4), "expected a unit flag of 0 to 3, got 4"),
    )
    for slip, problem in slips:
        with pytest.raises(PantileError, match=problem) as found:
            slip()
        assert str(found.value).startswith("k.py:")
    assert not core.instructions


def test_what_is_no_bytes_and_no_event_is_refused_at_its_line() -> None:
    core = Recorder()
    for spans in ("x", 3, [L1[0:32], "x"]):
        with pytest.raises(ProgramError, match=r"reads: expected bytes such as L1\[0:512\], got ") as caught:
            core.access(M, reads=spans)  # type: ignore[arg-type]
        assert caught.value.place is not None
        assert caught.value.place.line == here() - 2
    with pytest.raises(ProgramError, match="expected an event that alloc returned, got 3"):
        core.release(3)  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match=r"expected bytes such as L1\[0:512\], got L1\[5\]"):
        L1[5]
