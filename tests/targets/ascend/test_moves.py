"""Moves between buffers, each against a copy element by element."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pantile.errors import OutsideModelError, ProgramError
from pantile.targets.ascend.execute import run_stream
from pantile.targets.ascend.instructions import Instruction, call, pointer
from pantile.targets.ascend.layouts import nz, zn, zz
from pantile.targets.ascend.memory import Memory, Write


def numbered(memory: Memory, buffer: str, count: int, dtype: str = "u2") -> np.ndarray[Any, Any]:
    """Fill the beginning of a buffer with 0, 1, 2, … and return them."""
    values = np.arange(count).astype(dtype)
    memory.write(Write(buffer, np.arange(values.nbytes), values.view(np.uint8)))
    return values


def held(memory: Memory, buffer: str, count: int, dtype: str = "u2") -> np.ndarray[Any, Any]:
    size = count * np.dtype(dtype).itemsize
    return memory.read(buffer, np.arange(size)).view(dtype)


def window(side: str, step_k: int, step_m: int, *, transpose: bool, elem: str = "half") -> Instruction:
    to = pointer("L0A" if side == "ca" else "L0B", 0, elem)
    rest = (0, 0, 1, 1, 1, 1, 1, 1, False, False, transpose, side == "cb", step_k)
    return call(f"img2colv2_cbuf_to_{side}", to, pointer("L1", 0, elem), step_k, step_m, *rest)


def test_a_window_of_a_higher_source_becomes_rows_of_fractals() -> None:
    memory = Memory()
    source = zn(48, 64, 16)
    stored = numbered(memory, "L1", source.elements)
    run_stream([call("set_fmatrix", 48 | 1 << 16), window("ca", 64, 32, transpose=False)], memory)
    target = zz(32, 64, 16)
    assert np.array_equal(
        target.unpack(held(memory, "L0A", target.elements), 32, 64), source.unpack(stored, 32, 64)
    )


@pytest.mark.parametrize(("elem", "dtype", "block"), [("half", "u2", 16), ("float", "u4", 8)])
def test_a_turned_window_becomes_columns_of_fractals(elem: str, dtype: str, block: int) -> None:
    memory = Memory()
    source = zn(48, 64, block)
    stored = numbered(memory, "L1", source.elements, dtype)
    run_stream([call("set_fmatrix_b", 48), window("cb", 64, 32, transpose=True, elem=elem)], memory)
    target = nz(32, 64, block)
    got = target.unpack(held(memory, "L0B", target.elements, dtype), 32, 64)
    assert np.array_equal(got, source.unpack(stored, 32, 64))


def test_a_register_holds_from_when_it_is_written() -> None:
    memory = Memory()
    stored = numbered(memory, "L1", 48 * 64)
    stream = [call("set_fmatrix", 48), window("ca", 64, 32, transpose=False), call("set_fmatrix", 64)]
    run_stream(stream, memory, order=[2, 0, 1])  # a later write changes nothing, even if it happens first
    got = zz(32, 64, 16).unpack(held(memory, "L0A", 32 * 64), 32, 64)
    assert np.array_equal(got, zn(48, 64, 16).unpack(stored, 32, 64))


def test_a_window_larger_than_one_element_is_outside() -> None:
    wide = window("ca", 64, 32, transpose=False)
    args = {**wide["args"], "w_k": 3}
    with pytest.raises(OutsideModelError, match="a convolution"):
        run_stream([call("set_fmatrix", 48), {"op": wide["op"], "args": args}], Memory())


def test_loads_of_fractals_leave_gaps_and_turn() -> None:
    memory = Memory()
    stored = numbered(memory, "L1", 4 * 256).reshape(4, 16, 16)
    dst, src = pointer("L0B", 0, "half"), pointer("L1", 0, "half")
    run_stream([call("load_cbuf_to_cb", dst, src, 0, 2, 3, 1, 0, True, "inc")], memory)
    got = held(memory, "L0B", 3 * 256).reshape(3, 16, 16)
    assert np.array_equal(got[0], stored[0].T)
    assert np.all(got[1] == 0xFFFF)
    assert np.array_equal(got[2], stored[3].T)


def test_turned_bytes_become_fractals_with_a_gap_between() -> None:
    memory = Memory()
    square = numbered(memory, "L1", 2 * 1024, "u1").reshape(2, 32, 32)
    dst, src = pointer("L0A", 0, "int8_t"), pointer("L1", 0, "int8_t")
    # Two repeats; the second fractal of each lies two further on, as K goes along a strip of two fractals.
    run_stream([call("load_cbuf_to_ca_transpose", dst, src, 0, 2, 1, 0, 0, 1)], memory)
    got = held(memory, "L0A", 4 * 512, "u1").reshape(4, 16, 32)
    assert np.array_equal(got[0], square[0].T[:16])
    assert np.array_equal(got[1], square[1].T[:16])
    assert np.array_equal(got[2], square[0].T[16:])
    assert np.array_equal(got[3], square[1].T[16:])


def test_rows_in_memory_become_fractals_and_the_last_block_is_filled_with_zeros() -> None:
    memory = Memory()
    rows = np.arange(5 * 30, dtype="u2").reshape(5, 30)
    memory.put_tensor("GM_A", rows.reshape(-1).view(np.uint8))
    dst, src = pointer("L1", 0, "half"), pointer("GM_A", 0, "half")
    run_stream([call("copy_gm_to_cbuf_multi_nd2nz_b16", dst, src, 0, 1, 5, 20, 0, 30, 16, 1, 0)], memory)
    got = zn(16, 32, 16).unpack(held(memory, "L1", 16 * 32), 16, 32)
    assert np.array_equal(got[:5, :20], rows[:, :20])
    assert np.all(got[:5, 20:] == 0)
    assert np.all(got[5:] == 0xFFFF)  # rows that were not copied keep what they held


@pytest.mark.parametrize(
    ("mode", "elem", "dtype", "exact"),
    [("F322F16", "half", np.float16, False), ("NoQuant", "float", np.float32, True)],
)
def test_sums_leave_in_rows_and_rounded(mode: str, elem: str, dtype: type, exact: bool) -> None:
    memory = Memory()
    sums = (np.random.default_rng(0).standard_normal((32, 48))).astype(np.float32)
    layout = zn(32, 48, 16)
    memory.write(Write("L0C", np.arange(32 * 48 * 4), layout.pack(sums).view(np.uint8)))
    memory.put_tensor("GM_C", np.zeros(20 * 50 * np.dtype(dtype).itemsize, np.uint8))
    dst, src = pointer("GM_C", 0, elem), pointer("L0C", 0, "float")
    run_stream([call("copy_matrix_cc_to_gm", dst, src, 0, 40, 20, 50, 32, 0, mode, 0, False, True)], memory)
    got = held(memory, "GM_C", 20 * 50, np.dtype(dtype).str).reshape(20, 50)
    assert np.array_equal(got[:, :40], sums[:20, :40].astype(dtype))
    assert np.array_equal(got[:, :40], sums[:20, :40]) is exact
    assert np.all(got[:, 40:] == 0)


def test_a_copy_out_of_another_form_is_outside() -> None:
    out = ("copy_matrix_cc_to_gm", pointer("GM_C", 0, "half"), pointer("L0C", 0, "float"), 0, 16, 16, 16, 16)
    with pytest.raises(OutsideModelError, match="as nz2nd without relu"):
        run_stream([call(*out, 0, "F322F16", 0, False, False)], Memory())
    with pytest.raises(OutsideModelError, match="REQ8 is not covered; NoQuant, F322F16, F322BF16"):
        run_stream([call(*out, 0, "REQ8", 0, False, True)], Memory())


def test_a_bias_is_widened_on_its_way() -> None:
    memory = Memory()
    bias = np.arange(32, dtype=np.float16)
    memory.write(Write("L1", np.arange(64), bias.view(np.uint8)))
    run_stream([call("copy_cbuf_to_bt", 64, pointer("L1", 0, "half"), 1, 1, 1, 0, 0)], memory)
    assert np.array_equal(memory.read("BT", 64 + np.arange(128)).view(np.float32), bias.astype(np.float32))


def test_what_reaches_beyond_a_buffer_is_told_with_both_numbers() -> None:
    dst, src = pointer("L0A", 65536 - 512, "half"), pointer("L1", 0, "half")
    load = call("load_cbuf_to_ca", dst, src, 0, 2, 1, 0, 0, False, "inc")
    with pytest.raises(ProgramError) as caught:
        run_stream([call("trap"), load], Memory(), order=[1], name="t")
    told = "t:2: load_cbuf_to_ca: 66048 B of L0A are reached, which has 65536 B [PT-PROGRAM]"
    assert str(caught.value) == told


def test_what_starts_reads_and_what_finishes_writes() -> None:
    memory = Memory()
    numbered(memory, "L1", 256)
    dst, src = pointer("L0A", 0, "half"), pointer("L1", 0, "half")
    load = call("load_cbuf_to_ca", dst, src, 0, 1, 1, 0, 0, False, "inc")
    run_stream([load], memory, order=[(0, "start")])
    assert np.all(held(memory, "L0A", 256) == 0xFFFF)
    run_stream([load], memory, order=[(0, "start"), (0, "finish")])
    assert np.array_equal(held(memory, "L0A", 256), np.arange(256))
