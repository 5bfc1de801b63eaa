"""Byte ranges of instructions, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from pantile.targets.ascend.ranges import Range, Registers, UnsetRegister, ranges_of, sum_of


def at(buf: str, off: int, elem: str = "half") -> dict[str, Any]:
    return {"buf": buf, "off": off, "elem": elem}


def touched(op: str, registers: Registers | None = None, **args: Any) -> list[Range]:
    return ranges_of(op, args, registers or Registers())


def test_img2col_copies_a_window_of_a_source_as_high_as_the_register_says() -> None:
    # 16 columns of 2 B are one block of 32 B: 8 blocks, 144 rows apart, the last of 64 rows.
    found = touched(
        "img2colv2_cbuf_to_ca",
        Registers(fmatrix=144),
        dst=at("L0A", 512),
        src=at("L1", 64),
        step_k=128,
        step_m=64,
    )
    assert found == [
        Range("L0A", 512, 512 + 128 * 64 * 2, True),
        Range("L1", 64, 64 + 7 * 144 * 32 + 64 * 32, False),
    ]


def test_img2col_takes_the_register_of_its_operand() -> None:
    registers = Registers()
    registers.write("set_fmatrix", {"value": 1 << 16 | 64})
    registers.write("set_fmatrix_b", {"value": 1 << 16 | 32})
    registers.write("set_ctrl", {"value": 5})
    args = {"dst": at("L0B", 0), "src": at("L1", 0), "step_k": 32, "step_m": 16}
    assert ranges_of("img2colv2_cbuf_to_ca", args, registers)[1].hi == 64 * 32 + 16 * 32
    assert ranges_of("img2colv2_cbuf_to_cb", args, registers)[1].hi == 32 * 32 + 16 * 32


def test_img2col_before_its_register_is_refused() -> None:
    with pytest.raises(UnsetRegister, match="set_fmatrix_b"):
        touched("img2colv2_cbuf_to_cb", dst=at("L0B", 0), src=at("L1", 0), step_k=16, step_m=16)


def test_load_repeats_fractals_with_a_gap_at_the_destination() -> None:
    args = {"dst": at("L0A", 0), "src": at("L1", 1024), "repeat": 3, "src_stride": 4, "dst_gap": 1}
    assert touched("load_cbuf_to_ca", **args) == [
        Range("L0A", 0, (2 * 2 + 1) * 512, True),
        Range("L1", 1024, 1024 + (2 * 4 + 1) * 512, False),
    ]
    assert touched("load_cbuf_to_ca", **{**args, "repeat": 0}) == []


@pytest.mark.parametrize(
    ("op", "together"), [("load_cbuf_to_cb_transpose", 2), ("load_cbuf_to_cb_transpose_s4", 4)]
)
def test_transposed_loads_turn_several_fractals_at_once(op: str, together: int) -> None:
    args = {"dst": at("L0B", 0), "src": at("L1", 0), "repeat": 2, "src_stride": 3, "dst_stride": 5}
    found = touched(op, **args, dst_frac_stride=7)
    assert found == [
        Range("L0B", 0, (1 + 5 + (together - 1) * 8 + 1) * 512, True),
        Range("L1", 0, 512 * together * 4, False),
    ]


def mad(**changes: Any) -> dict[str, Any]:
    args = {
        "dst": at("L0C", 0, "float"),
        "src0": at("L0A", 0),
        "src1": at("L0B", 32768),
        "m": 20,
        "k": 30,
        "n": 40,
        "cmatrix_source": False,
        "cmatrix_init_val": True,
    }
    return args | changes


def test_mad_rounds_up_to_fractals_and_reads_what_it_adds_to() -> None:
    a, b, c = 32 * 32 * 2, 32 * 48 * 2, 32 * 48 * 4
    reads = [Range("L0A", 0, a, False), Range("L0B", 32768, 32768 + b, False)]
    write = Range("L0C", 0, c, True)
    assert touched("mad", **mad()) == [*reads, write]
    assert touched("mad", **mad(cmatrix_init_val=False)) == [*reads, Range("L0C", 0, c, False), write]
    biased = mad(cmatrix_source=True, cmatrix_init_val=False, bias_bt_addr=64)
    assert touched("mad", **biased) == [*reads, Range("BT", 64, 64 + 4 * 40, False), write]


def test_mad_of_four_bits_packs_two_to_a_byte() -> None:
    found = touched("mad_s4", **mad(src0=at("L0A", 0, "void"), m=32, k=128, n=64))
    assert found[0] == Range("L0A", 0, 32 * 128 // 2, False)
    assert found[1].hi - found[1].lo == 128 // 2 * 64


def test_a_mad_of_ten_fractals_lets_the_next_one_see_its_results() -> None:
    def named(m: int, n: int, off: int = 0) -> object:
        return sum_of(mad(m=m, n=n, dst=at("L0C", off, "float")))

    assert named(64, 64) is not None
    assert named(16, 160) is not None
    assert named(16, 159) is None
    assert named(48, 55) is not None  # (48 / 16) * 55 / 16 = 10, from left to right
    assert named(160, 16) == named(160, 15 + 1) != named(160, 16, 1024)
    assert named(160, 32) != named(320, 16)


def test_copies() -> None:
    to_bias = {"dst_bt_addr": 128, "src": at("L1", 4096, "float"), "len_burst": 4}
    assert touched("copy_cbuf_to_bt", **to_bias) == [
        Range("BT", 128, 384, True),
        Range("L1", 4096, 4352, False),
    ]
    nd2nz = {"n_value": 100, "d_value": 70, "src_d_value": 80, "dst_nz_c0_stride": 112}
    found = touched("copy_gm_to_cbuf_multi_nd2nz_b16", dst=at("L1", 0), src=at("GM_A", 0), **nd2nz)
    assert found[0] == Range("L1", 0, 4 * 112 * 32 + 100 * 32, True)  # 70 * 2 B are five blocks
    assert found[1] == Range("GM_A", 0, (99 * 80 + 70) * 2, False)
    burst = {"n_burst": 2, "len_burst": 4, "src_gap": 0, "dst_gap": 1}
    assert touched("copy_gm_to_cbuf", dst=at("L1", 0), src=at("GM_S", 0), **burst)[0].hi == (5 + 4) * 32
    assert touched("copy_cbuf_to_fbuf", dst=at("FB", 0), src=at("L1", 0), len_burst=8)[0].hi == 1024


def test_the_fixpipe_reads_the_accumulator_and_its_scale() -> None:
    args = {
        "src": at("L0C", 0, "float"),
        "dst": at("GM_C", 8),
        "n_size": 50,
        "m_size": 100,
        "src_stride": 112,
        "dst_stride": 70,
        "nz2nd_en": True,
    }
    found = touched("copy_matrix_cc_to_gm", **args, quant_pre="F322F16")
    assert found == [Range("L0C", 0, 64 * 112 * 4, False), Range("GM_C", 8, 8 + (99 * 70 + 50) * 2, True)]
    assert Range("FB", 0, 1, False) in touched("copy_matrix_cc_to_gm", **args, quant_pre="VDEQF16")


def test_recorded_cases_take_the_gap_of_turning_loads_for_a_stride() -> None:
    turn = {"dst": at("L0B", 0, "int8_t"), "src": at("L1", 0, "int8_t"), "repeat": 3, "src_stride": 2}
    turn |= {"dst_stride": 4, "dst_frac_stride": 1}

    def written(op: str, *, as_recorded: bool) -> Range:
        return ranges_of(op, turn, Registers(), as_recorded=as_recorded)[0]

    assert written("load_cbuf_to_cb_transpose", as_recorded=True).hi == (2 * 4 + 2 + 1) * 512
    assert written("load_cbuf_to_cb_transpose", as_recorded=False).hi == (2 * 5 + 2 + 1) * 512
    assert written("load_cbuf_to_cb_transpose_s4", as_recorded=True).hi == (2 * 4 + 3 * 2 + 1) * 512
    bias = {"dst_bt_addr": 64, "src": at("L1", 0, "float"), "n_burst": 2, "len_burst": 3}
    assert ranges_of("copy_cbuf_to_bt", bias, Registers(), as_recorded=True)[0] == Range("BT", 64, 256, True)
