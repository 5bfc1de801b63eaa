"""How much work instructions are."""

from __future__ import annotations

import pytest

from pantile.targets.ascend.instructions import call, pointer
from pantile.targets.ascend.ranges import Range
from pantile.targets.ascend.work import CYCLES, UNSAID, Work, access_work, way, work_of


def of(op: str, *values: object, hf32: bool = False) -> Work:
    return work_of(op, call(op, *values)["args"], hf32=hf32)


def mad(element: str, m: int, k: int, n: int, op: str = "mad", hf32: bool = False) -> Work:
    ends = (pointer("L0C", 0, "float"), pointer("L0A", 0, element), pointer("L0B", 0, element))
    return of(op, *ends, m, k, n, 0, False, False, True, hf32=hf32)


@pytest.mark.parametrize(
    ("element", "op", "expected"),
    [
        ("half", "mad", Work("cube 2-byte", 8 * 4 * 8)),  # 128 x 128 x 64: 16 of K a step
        ("int8_t", "mad", Work("cube int8", 8 * 4 * 4)),  # 32 of K
        ("float", "mad", Work("cube fp32", 8 * 4 * 16)),  # 8 of K
        ("int8_t", "mad_s4", Work("cube int4", 8 * 4 * 2)),  # 64 of K
    ],
)
def test_a_product_counts_steps_of_32_bytes_of_k(element: str, op: str, expected: Work) -> None:
    assert mad(element, 128, 128, 64, op) == expected


def test_a_product_is_padded_to_whole_steps() -> None:
    assert mad("half", 1, 1, 17) == Work("cube 2-byte", 1 * 1 * 2)


def test_hf32_is_no_fp32() -> None:
    assert mad("float", 16, 8, 16, hf32=True) == Work("cube HF32", 1)


def test_loads_count_the_fractals_that_they_move_and_not_the_hull() -> None:
    ends = (pointer("L0A", 0, "half"), pointer("L1", 0, "half"))
    assert of("load_cbuf_to_ca", *ends, 0, 5, 7, 3, 0, False, "inc") == Work("L1>L0A", 5 * 512)
    turned = (pointer("L0B", 0, "int8_t"), pointer("L1", 0, "int8_t"))
    assert of("load_cbuf_to_cb_transpose", *turned, 0, 3, 1, 1, 0, 0) == Work("L1>L0B", 3 * 1024)
    assert of("load_cbuf_to_cb_transpose_s4", *turned, 0, 3, 1, 3, 0, 0) == Work("L1>L0B", 3 * 2048)


def test_a_window_is_what_arrives() -> None:
    ends = (pointer("L0A", 0, "float"), pointer("L1", 0, "float"))
    rest = (0, 0, 1, 1, 1, 1, 1, 1, False, False, False, False, 24)
    assert of("img2colv2_cbuf_to_ca", *ends, 24, 32, *rest) == Work("L1>L0A", 24 * 32 * 4)


def test_copies_in_and_out_and_to_the_bias_table() -> None:
    to = (pointer("L1", 0, "half"), pointer("GM_A", 0, "half"))
    assert of("copy_gm_to_cbuf_multi_nd2nz_b16", *to, 0, 1, 100, 60, 0, 60, 112, 1, 0) == Work("GM>L1", 12000)
    assert of("copy_gm_to_cbuf", *to, 0, 2, 3, 0, 0, "PAD_NONE") == Work("GM>L1", 6 * 32)
    out = (pointer("GM_C", 0, "half"), pointer("L0C", 0, "float"))
    assert of("copy_matrix_cc_to_gm", *out, 0, 60, 100, 60, 112, 0, "F322F16", 0, False, True) == Work(
        "L0C>GM", 12000
    )
    assert of("copy_cbuf_to_bt", 0, pointer("L1", 0, "float"), 0, 1, 4, 0, 0) == Work("L1>BT", 256)


def test_an_access_states_its_cycles_or_moves_from_one_buffer_to_one() -> None:
    read, write = Range("L1", 0, 64, False), Range("L0A", 0, 32, True)
    assert access_work("PIPE_MTE1", [read, write], None) == Work("L1>L0A", 32)
    assert access_work("PIPE_MTE1", [read, write], 7) == Work(CYCLES, 7)
    assert access_work("PIPE_M", [read, write], None) == Work(UNSAID, 0)
    assert access_work("PIPE_MTE1", [read, read._replace(buffer="UB"), write], None) == Work(UNSAID, 0)


def test_tensors_lie_in_global_memory() -> None:
    assert way("GM_BIAS", "L1") == "GM>L1"
