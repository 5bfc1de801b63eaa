"""From traces to programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pantile.check.order import happens_before
from pantile.check.program import check_program
from pantile.errors import ManyProblems
from pantile.program.tables import Completes, Edge, Kind, Mode, Overflow, Test
from pantile.targets.ascend.instructions import call, pointer
from pantile.targets.ascend.trace import program_of_trace

Trace = list[dict[str, Any]]


def access(pipe: str, *writes: tuple[str, int, int], reads: tuple[tuple[str, int, int], ...] = ()) -> Any:
    ranges = [[{"buf": buf, "lo": lo, "hi": hi} for buf, lo, hi in each] for each in (reads, writes)]
    args = {"pipe": f"PIPE_{pipe}", "label": "x", "reads": ranges[0], "writes": ranges[1]}
    return {"op": "access", "args": args}


def flag(op: str, src: str, dst: str, event: int = 0) -> Any:
    return {"op": op, "args": {"src_pipe": f"PIPE_{src}", "dst_pipe": f"PIPE_{dst}", "event_id": event}}


def barrier(pipe: str) -> Any:
    return {"op": "pipe_barrier", "args": {"pipe": f"PIPE_{pipe}"}}


def tables_of(trace: Trace) -> dict[str, np.ndarray]:
    return program_of_trace(trace).pieces[0].tables


def test_pipes_are_threads_in_their_order_of_declaration() -> None:
    program = program_of_trace([access("MTE2"), access("V"), access("M"), access("MTE1")])
    threads = program.pieces[0].tables["thread"]
    assert [program.names[each] for each in threads["name"]] == ["PIPE_V", "PIPE_M", "PIPE_MTE1", "PIPE_MTE2"]
    assert threads["completes"].tolist() == [Completes.PIPELINED] * 2 + [Completes.IN_ORDER] * 2


def test_lines_are_places_in_the_trace() -> None:
    trace = [access("MTE2"), flag("set_flag", "MTE2", "V"), barrier("ALL"), flag("wait_flag", "MTE2", "V")]
    assert tables_of(trace)["op"]["line"].tolist() == [1, 2, 3, 3, 3, 3, 4]


def test_flags_are_one_bit_counters_by_source_destination_and_id() -> None:
    tables = tables_of(
        [
            flag("set_flag", "MTE2", "V", 3),
            flag("wait_flag", "MTE2", "V", 3),
            flag("set_flag", "MTE2", "M", 3),
        ]
    )
    counters, sync = tables["counter"], tables["sync"]
    assert counters["key"].tolist() == [3, 3]
    assert counters[["initial", "capacity", "overflow"]].tolist() == [(0, 1, Overflow.SATURATE)] * 2
    assert sync[["op", "edge", "counter", "test", "amount"]].tolist() == [
        (0, Edge.AFTER_FINISH, 0, Test.POST, 1),
        (1, Edge.BEFORE_START, 0, Test.TAKE, 1),
        (2, Edge.AFTER_FINISH, 1, Test.POST, 1),
    ]


def test_accesses_carry_their_ranges() -> None:
    program = program_of_trace([access("MTE2", ("UB", 32, 96), reads=(("GM", 0, 64),))])
    rows = program.pieces[0].tables["access"]
    spaces = [program.parameters["spaces"][each] for each in rows["space"]]
    assert list(
        zip(spaces, rows["mode"].tolist(), rows["lo"].tolist(), rows["length"].tolist(), strict=True)
    ) == [
        ("GM", Mode.READ, 0, 64),
        ("UB", Mode.WRITE, 32, 64),
    ]


def test_a_barrier_of_all_pipes_orders_every_pipe() -> None:
    trace = [access("MTE2"), access("V"), barrier("ALL"), access("MTE2"), access("V")]
    order = happens_before(program_of_trace(trace))
    assert order.before(np.array([0, 0, 1, 1]), np.array([6, 7, 6, 7])).all()


def test_a_barrier_of_one_pipe_orders_that_pipe_alone() -> None:
    order = happens_before(program_of_trace([access("V"), access("MTE2"), barrier("V"), access("V")]))
    assert order.before(np.array([0, 1]), np.array([4, 4])).tolist() == [True, False]


def test_a_wait_of_the_scalar_unit_holds_what_is_issued_later() -> None:
    trace = [
        access("MTE2", ("UB", 0, 64)),
        flag("set_flag", "MTE2", "S"),
        access("MTE3"),
        flag("wait_flag", "MTE2", "S"),
        access("V", reads=(("UB", 0, 64),)),
        access("MTE3"),
    ]
    program = program_of_trace(trace)
    lines = program.pieces[0].tables["op"]["line"].tolist()
    first, early, late, last = lines.index(1), lines.index(3), lines.index(5), lines.index(6)
    order = happens_before(program)
    before = order.before(np.array([first] * 3), np.array([late, last, early]))
    assert before.tolist() == [True, True, False]


def test_a_barrier_of_the_scalar_unit_orders_nothing() -> None:
    tables = tables_of([access("V"), barrier("S"), access("V")])
    assert len(tables["sync"]) == 0


def test_instructions_take_registers_as_they_are_when_issued() -> None:
    def load(height: int) -> Trace:
        move = {
            "dst": {"buf": "L0A", "off": 0, "elem": "half"},
            "src": {"buf": "L1", "off": 0, "elem": "half"},
            "step_k": 32,
            "step_m": 16,
        }
        return [
            {"op": "set_fmatrix", "args": {"value": 65536 + height}},
            {"op": "img2colv2_cbuf_to_ca", "args": move},
        ]

    tables = tables_of([*load(64), *load(16)])
    reads = tables["access"][tables["access"]["mode"] == Mode.READ]
    assert reads["length"].tolist() == [64 * 32 + 512, 16 * 32 + 512]
    assert tables["op"]["kind"].tolist() == [Kind.CONTROL, Kind.MOVE] * 2


def test_macs_and_bytes_are_counted() -> None:
    pointer = {"off": 0, "elem": "half"}
    args = {
        "dst": {"buf": "L0C", "off": 0, "elem": "float"},
        "src0": {"buf": "L0A", **pointer},
        "src1": {"buf": "L0B", **pointer},
        "m": 32,
        "k": 20,
        "n": 48,
        "cmatrix_source": False,
        "cmatrix_init_val": True,
    }
    program = program_of_trace([{"op": "mad", "args": args}, access("MTE2", ("UB", 0, 8))])
    assert program.macs == 32 * 20 * 48
    assert program.parameters["accumulating"] == []  # six fractals are too few


def test_every_wrong_instruction_is_named_with_its_place() -> None:
    wrong: list[Any] = [
        {"op": "vadd", "args": {}},
        flag("set_flag", "X", "V"),
        {"op": "mad", "args": {"m": 1}},
        {"args": {}},
        17,
        flag("wait_flag", "ALL", "V"),
        {"op": "access", "args": {"pipe": "PIPE_V", "reads": 3, "writes": []}},
    ]
    with pytest.raises(ManyProblems) as raised:
        program_of_trace(wrong, "case")
    assert str(raised.value).splitlines() == [
        "case:1: expected an instruction of a cube core, got 'vadd' [PT-PROGRAM]",
        "case:2: expected a pipe of a cube core, got 'PIPE_X' [PT-PROGRAM]",
        "case:3: mad lacks 'k', or does not know it [PT-PROGRAM]",
        "case:4: expected an instruction of a cube core, got None [PT-PROGRAM]",
        "case:5: expected an instruction, got 17 [PT-PROGRAM]",
        "case:6: wait_flag has an argument of another type: 'PIPE_ALL' is no pipe [PT-PROGRAM]",
        "case:7: access: reads is no list of byte ranges but 3 [PT-PROGRAM]",
    ]


def test_a_trace_of_nothing_is_a_program() -> None:
    assert program_of_trace([]).operations == 0


def mad(unit_flag: int, *, long: bool = False) -> dict[str, Any]:
    """Return a product into the same block of L0C."""
    operands = (pointer("L0C", 0, "float"), pointer("L0A", 0, "half"), pointer("L0B", 0, "half"))
    return dict(call("mad", *operands, 64 if long else 16, 16, 64, unit_flag, False, False, True))


def copy_out(mode: int) -> dict[str, Any]:
    dst, src = pointer("GM_C", 0, "half"), pointer("L0C", 0, "float")
    return dict(call("copy_matrix_cc_to_gm", dst, src, 0, 64, 16, 64, 16, mode, "F322F16", 0, False, True))


def codes(trace: list[dict[str, Any]]) -> list[str]:
    report = check_program(program_of_trace(trace, "t", unit_flags=True))
    return [each.code for each in report.findings if each.severity == "error"]


def test_a_unit_flag_orders_products_and_copies_of_one_block() -> None:
    turns = [mad(2), call("pipe_barrier", "PIPE_M"), mad(3), copy_out(3)]
    assert codes([*turns, *turns]) == []
    assert "PT-RACE" in codes([mad(0), copy_out(0)])


@pytest.mark.parametrize(
    "trace",
    [
        [mad(0), copy_out(3)],  # M never hands the block over
        [mad(2), copy_out(3)],
        [mad(3), copy_out(0), mad(2)],  # FIX never hands it back
        [mad(3), copy_out(2), mad(3)],
    ],
)
def test_one_side_alone_waits_for_ever(trace: list[dict[str, Any]]) -> None:
    assert "PT-DEADLOCK" in codes(trace)


def test_without_unit_flags_nothing_waits() -> None:
    program = program_of_trace([mad(0), copy_out(3)], "t")
    assert not len(program.tables()["counter"])


def test_lines_and_stream_are_kept() -> None:
    trace = [mad(0), call("pipe_barrier", "PIPE_M"), mad(0)]
    program = program_of_trace(trace, "t", lines=[3, 7, 8])
    assert program.parameters["stream"] == trace
    assert sorted(set(program.tables()["op"]["line"].tolist())) == [3, 7, 8]
