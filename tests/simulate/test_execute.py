"""Functional execution: equal to NumPy in every order that is allowed, wrong in one that is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.errors import OutsideModelError, ProgramError, UsageError
from pantile.language import (
    DDR,
    SRAM,
    Buffer,
    Compute,
    Core,
    Program,
    Range,
    Tile,
    Tiling,
    compute,
    destroy,
    finish_reading,
    finish_writing,
    load_store,
    start_reading,
    start_writing,
    thread,
)
from pantile.machine import Machine
from pantile.program.program import Operand
from pantile.program.tables import Kind, Mode
from pantile.simulate.elements import accumulator, decode, encode
from pantile.simulate.engine_plain import run_plain
from pantile.simulate.execute import FINISH, START, execute, order_of
from pantile.simulate.timeline import simulate

Make = Callable[..., Any]


def ping_pong(
    total: tuple[int, int, int] = (12, 10, 20),
    cut: tuple[int, int, int] = (2, 2, 3),
    slots: int = 2,
    dtype: Any = "fp32",
    with_wait: bool = True,
) -> Program:
    """The ping-pong of the tile language; *with_wait* is whether the loader acquires its slot."""
    tiling = Tiling("ti,oi->to", total=total, D=cut, T=(2, 2, 2), S=...)
    core, ddr = Core(0, 1), DDR(0)
    sram, buf = SRAM(core), Buffer(slots=slots)

    @thread
    def load() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=core)
            buf.acquire()
            start_writing(tile)
            load_store(src=ddr, dst=sram, tile=tile)
            finish_writing(tile)

    @thread
    def multiply() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=core)
            start_reading(tile)
            for t in Range(tiling.T, within=tile):
                child = tile.child(t)
                load_store(src=sram, dst=Compute(core), tile=child)
                compute(child)
            finish_reading(tile)
            if d.last("i"):
                load_store(src=sram, dst=ddr, tile=tile.Y)
            destroy(tile)
            buf.release()

    program = Program(tiling, load, multiply, dtype=dtype)
    return program if with_wait else without_acquire(program)


def without_acquire(program: Program) -> Program:
    """The same program, whose loader takes slots without asking."""
    data = program.to_json()
    rows = data["pieces"][0]["tables"]["sync"]["rows"]
    shown = data["names"].index("acquire")
    data["pieces"][0]["tables"]["sync"]["rows"] = [row for row in rows if row[6] != shown]
    data["pieces"][0]["tables"]["counter"]["rows"][0][6] = 2  # no overflow: releases have no acquires
    return Program.from_json(data)


def operands(program: Program, seed: int = 0, high: int = 4) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        operand.name: rng.integers(-high, high, operand.dims).astype(np.int64)
        for operand in program.operands
        if operand.name != "Y"
    }


def test_ping_pong_equals_numpy() -> None:
    program = ping_pong()
    arrays = operands(program)
    found = execute(program, arrays)
    assert list(found) == ["Y"]
    assert found["Y"].dtype == np.float32
    assert np.array_equal(found["Y"], arrays["X"] @ arrays["W"].T)


def test_names_in_any_case() -> None:
    program = ping_pong()
    arrays = operands(program)
    assert np.array_equal(
        execute(program, {"x": arrays["X"], "w": arrays["W"]})["Y"], execute(program, arrays)["Y"]
    )


@given(
    st.tuples(*(st.integers(1, 13) for _ in range(3))),
    st.tuples(*(st.integers(1, 3) for _ in range(3))),
    st.integers(1, 3),
    st.integers(1, 10**12),
)
@settings(max_examples=25, deadline=None)
def test_equals_numpy_for_ragged_cuts_under_any_timing(
    machine: Callable[..., Machine],
    total: tuple[int, int, int],
    cut: tuple[int, int, int],
    slots: int,
    rate: int,
) -> None:
    program = ping_pong(total, cut, slots)
    arrays = operands(program, seed=slots)
    run = simulate(program, machine(rate_bytes_per_second=rate))
    assert np.array_equal(execute(program, arrays, run)["Y"], arrays["X"] @ arrays["W"].T)


def test_a_slot_overwritten_too_early_gives_a_wrong_value(machine: Callable[..., Machine]) -> None:
    """Without the acquire the loader runs ahead on a machine with fast links, and the slots are reused."""
    right, wrong = ping_pong(), ping_pong(with_wait=False)
    arrays = operands(right)
    expected = arrays["X"] @ arrays["W"].T
    fast = machine(rate_bytes_per_second=10**13)
    assert np.array_equal(execute(right, arrays, simulate(right, fast))["Y"], expected)
    assert not np.array_equal(execute(wrong, arrays, simulate(wrong, fast))["Y"], expected)


def test_a_witness_order_shows_what_a_lucky_timing_hides() -> None:
    """In the order of the listing every load comes before every use."""
    wrong = ping_pong(with_wait=False)
    arrays = operands(wrong)
    assert not np.array_equal(
        execute(wrong, arrays, list(range(wrong.operations)))["Y"], arrays["X"] @ arrays["W"].T
    )


def test_an_operation_reads_when_it_starts_and_writes_when_it_finishes(builder: Make) -> None:
    """A move of x to y that starts before x is overwritten carries the old bytes, whenever it finishes."""
    b = accesses(builder)
    copied_first = [(0, START), (0, FINISH), (1, START), (2, START), (2, FINISH), (1, FINISH), 3]
    assert run_of(b, copied_first).tolist() == [1, 1]
    overwritten_first = [(0, START), (0, FINISH), (2, START), (2, FINISH), (1, START), (1, FINISH), 3]
    assert run_of(b, overwritten_first).tolist() == [2, 2]


def accesses(builder: Make) -> Any:
    """Two elements each: 0 loads a, 1 copies it on, 2 loads b over it, 3 adds the copy to a zeroed output."""
    b = builder()
    t = b.thread()
    for name, base in (("A", 0), ("B", 8), ("Y", 16)):
        b.operands.append(operand(name, base))
    b.parameters["output"] = "Y"
    b.parameters["lives"] = [[1, 0, 8, 0, -1], [2, 0, 16, 0, -1]]
    b.space("ddr@0"), b.space("sram@0"), b.space("compute@0")
    read, write = Mode.READ, Mode.WRITE
    b.op(t, kind=Kind.MOVE, access=[(read, "ddr@0", 0, 8, 1, 0, 0), (write, "sram@0", 0, 8, 1, 0, 0)])
    b.op(t, kind=Kind.MOVE, access=[(read, "sram@0", 0, 8, 1, 0, 0), (write, "compute@0", 0, 8, 1, 0, 0)])
    b.op(t, kind=Kind.MOVE, access=[(read, "ddr@0", 8, 8, 1, 0, 1), (write, "sram@0", 0, 8, 1, 0, 1)])
    b.op(
        t,
        kind=Kind.COMPUTE,
        access=[(read, "compute@0", 0, 8, 1, 0, 0), (write, "ddr@0", 16, 8, 1, 0, 2)],
        box=[(0, 2)],
    )
    return b


def operand(name: str, base: int, dtype: str = "fp32") -> Any:
    return Operand(
        name=name,
        tensor=name,
        base=base,
        dims=(2,),
        element_bytes=4,
        rule="row-major",
        strides=(1,),
        parameters={"dtype": dtype},
    )


def run_of(b: Any, order: Any) -> np.ndarray:
    arrays = {"A": np.array([1, 1]), "B": np.array([2, 2])}
    result: np.ndarray = execute(b.program(axes=("m",), extents=(2,)), arrays, order)["Y"]
    return result


def test_what_nobody_wrote_is_not_a_number(builder: Make) -> None:
    assert np.isnan(run_of(accesses(builder), [0])).all()
    assert np.isnan(run_of(accesses(builder), [3])).all()  # an unborn copy


def test_order_of_a_run_puts_finishes_before_starts(builder: Make) -> None:
    b = builder()
    one, other = b.thread(), b.thread()
    b.op(one, ticks=5)
    b.op(one, ticks=2)
    b.op(other, ticks=5)
    b.op(other)
    bound = b.bound()
    happened = order_of(run_plain(bound).times)
    assert happened == [
        (0, "start"), (2, "start"), (0, "finish"), (2, "finish"), (1, "start"), (3, "whole"), (1, "finish"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("dtype", "result"),
    [
        ({"X": "int8", "W": "int8", "Y": "int32"}, np.int32),
        ("fp16", np.float16),
        ("fp64", np.float64),
        ("bf16", np.float32),
        ({"X": "bf16", "W": "bf16", "Y": "fp32"}, np.float32),
    ],
)
def test_element_types(dtype: Any, result: Any) -> None:
    program = ping_pong(dtype=dtype)
    arrays = operands(program, high=4)
    found = execute(program, arrays)["Y"]
    assert found.dtype == result
    assert np.array_equal(found, arrays["X"] @ arrays["W"].T)


def test_int8_products_accumulate_in_32_bits() -> None:
    program = ping_pong(dtype={"X": "int8", "W": "int8", "Y": "int32"})
    arrays = {name: np.full_like(array, -128) for name, array in operands(program).items()}
    assert (execute(program, arrays)["Y"] == 128 * 128 * 20).all()


@given(st.floats(width=32, allow_nan=False, allow_infinity=False).filter(lambda value: abs(value) < 1e38))
def test_bfloat16_rounds_to_the_nearest_and_ties_to_even(value: float) -> None:
    found = float(decode(encode(np.array([value], np.float32), "bf16"), "bf16")[0])
    upper = int(np.float32(value).view(np.uint32)) >> 16
    near, far = (float(np.uint32(bits << 16).view(np.float32)) for bits in (upper, upper + 1))
    below, above = abs(value - near), abs(far - value)
    even = near if upper % 2 == 0 else far
    assert found == (even if below == above else near if below < above else far)


@pytest.mark.parametrize(
    ("name", "wide"),
    [("fp16", "float32"), ("bf16", "float32"), ("fp64", "float64"), ("uint8", "int32"), ("int64", "int64")],
)
def test_accumulators(name: str, wide: str) -> None:
    assert str(accumulator(name)) == wide


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"X": None}, "no array for X; give arrays for X, W"),
        ({"Z": np.zeros(3)}, "'z' is no input of the program; its inputs: X, W"),
        ({"Y": np.zeros(3)}, "'y' is no input of the program"),
        ({"X": np.zeros((20, 12))}, r"X is \(12, 20\), got an array of shape \(20, 12\)"),
        ({"X": np.array(["a"])}, "X holds fp32, got an array of <U1"),
    ],
)
def test_wrong_arrays_are_refused(change: dict[str, Any], problem: str) -> None:
    program = ping_pong()
    arrays = {**operands(program), **change}
    with pytest.raises(UsageError, match=problem):
        execute(program, {name: array for name, array in arrays.items() if array is not None})


def test_integers_must_be_whole_and_fit() -> None:
    program = ping_pong(dtype="int8")
    arrays = operands(program)
    with pytest.raises(UsageError, match="X holds int8, got values from 0 to 300"):
        execute(program, {**arrays, "X": np.full((12, 20), 300) * (np.arange(20) > 0)})
    with pytest.raises(UsageError, match="X holds int8, got an array of float64"):
        execute(program, {**arrays, "X": np.zeros((12, 20))})


def test_elements_that_numpy_lacks_are_outside_the_model() -> None:
    with pytest.raises(OutsideModelError, match="elements of dtype fp8 are not computed with"):
        execute(ping_pong(dtype="fp8"), operands(ping_pong()))


def test_a_program_that_gets_stuck_has_no_values() -> None:
    program = ping_pong()
    data = program.to_json()
    rows = data["pieces"][0]["tables"]["sync"]["rows"]
    shown = data["names"].index("release")
    data["pieces"][0]["tables"]["sync"]["rows"] = [row for row in rows if row[6] != shown]
    with pytest.raises(
        ProgramError, match=r"thread load stands at operation 8 \(acquire at .*test_execute\.py"
    ):
        execute(Program.from_json(data), operands(program))


def test_an_order_that_finishes_what_it_has_not_started_is_refused() -> None:
    program = ping_pong()
    with pytest.raises(UsageError, match="finishes operation 2 before it starts"):
        execute(program, operands(program), [(2, FINISH)])
