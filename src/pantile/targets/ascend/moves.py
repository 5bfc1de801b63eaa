"""What the moves of a core do to bytes: copies between buffers that change the layout on the way.

Every function takes an instruction's arguments and returns what it leaves, reading the memory as it is.

Source: ascend-core.md sections 1.6, 2.7, 2.8 and 3.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pantile.errors import OutsideModelError
from pantile.targets.ascend.elements import BLOCK_BYTES, FRACTAL_BYTES, FRACTAL_ROWS, up
from pantile.targets.ascend.layouts import Ints, nz, zn, zz
from pantile.targets.ascend.memory import Memory, Write, require_moderate, spread
from pantile.targets.ascend.numbers import bytes_of, numbers_of, pack_int4, require_sums, unpack_int4
from pantile.targets.ascend.ranges import ELEMENT_BITS, Registers, UnsetRegister

Args = Mapping[str, Any]
Effect = Callable[[str, Args, Registers, Memory], list[Write]]

_UNSCALED = {"NoQuant": None, "F322F16": "half", "F322BF16": "bfloat16_t"}
_SCALED = "VDEQF16"


def copy_window(op: str, args: Args, registers: Registers, memory: Memory) -> list[Write]:
    """``img2colv2``: a window of a zN source, as high as a register says, becomes zZ, or turned zZ or nZ."""
    left = op.endswith("ca")
    height = registers.fmatrix if left else registers.fmatrix_b
    if height is None:
        raise UnsetRegister("set_fmatrix" if left else "set_fmatrix_b")
    _require_plain_window(op, args)
    width = ELEMENT_BITS[args["dst"]["elem"]] // 8
    block, rows, columns = BLOCK_BYTES // width, int(args["step_m"]), int(args["step_k"])
    require_moderate(rows, columns)
    row, column = np.arange(rows)[:, None], np.arange(columns)
    source = zn(height, up(columns, block), block).offset(row, column)
    if not args["transpose"]:
        if not left:
            raise OutsideModelError(f"{op} without transpose is not covered")
        target = zz(rows, columns, block).offset(row, column)
    elif left:
        target = zz(columns, rows, block).offset(column, row)
    else:
        target = nz(rows, columns, block).offset(row, column)
    return [_copied(args, memory, source, target, width)]


def _require_plain_window(op: str, args: Args) -> None:
    """Only windows of one element, as products use them, are covered."""
    ones = ("stride_w", "stride_h", "w_k", "h_k", "dilation_w", "dilation_h")
    zeros = ("pos_k", "pos_m", "filter_w", "filter_h")
    if any(args[name] != 1 for name in ones) or any(args[name] for name in zeros):
        raise OutsideModelError(f"{op} with a window other than 1 x 1 is a convolution, which is not covered")


def _copied(args: Args, memory: Memory, source: Ints, target: Ints, width: int) -> Write:
    src, dst = args["src"], args["dst"]
    data = memory.read(src["buf"], spread(int(src["off"]), source, width))
    return Write(dst["buf"], spread(int(dst["off"]), target, width), data)


def load_fractals(op: str, args: Args, registers: Registers, memory: Memory) -> list[Write]:
    """``load_cbuf_to_c*``: fractals at a stride, each turned if asked for."""
    del registers
    if "_transpose" in op:
        return _turn_fractals(op, args, memory)
    require_moderate(int(args["repeat"]), FRACTAL_BYTES)
    repeat = np.arange(int(args["repeat"]))
    inner = np.arange(FRACTAL_BYTES)
    source = repeat[:, None] * (int(args["src_stride"]) * FRACTAL_BYTES) + inner
    target = repeat[:, None] * ((1 + int(args["dst_gap"])) * FRACTAL_BYTES) + inner
    data = memory.read(args["src"]["buf"], int(args["src"]["off"]) + source)
    if args["transpose"]:
        if ELEMENT_BITS[args["src"]["elem"]] != 16:
            raise OutsideModelError(f"{op} turns elements of 2 bytes only, got {args['src']['elem']}")
        data = data.reshape(-1, FRACTAL_ROWS, FRACTAL_ROWS, 2).swapaxes(1, 2).reshape(data.shape)
    return [Write(args["dst"]["buf"], int(args["dst"]["off"]) + target, data)]


def _turn_fractals(op: str, args: Args, memory: Memory) -> list[Write]:
    """A square of stacked fractals (2 of bytes, 4 of half bytes) is turned and cut into as many fractals."""
    stacked = 4 if op.endswith("_s4") else 2
    square = stacked * FRACTAL_BYTES
    require_moderate(int(args["repeat"]), square)
    repeat = np.arange(int(args["repeat"]))[:, None]
    source = repeat * (int(args["src_stride"]) * square) + np.arange(square)
    rows = memory.read(args["src"]["buf"], int(args["src"]["off"]) + source)
    rows = rows.reshape(-1, stacked * FRACTAL_ROWS, BLOCK_BYTES)
    turned = pack_int4(unpack_int4(rows).swapaxes(1, 2)) if stacked == 4 else rows.swapaxes(1, 2)
    piece = np.arange(stacked) * ((int(args["dst_frac_stride"]) + 1) * FRACTAL_BYTES)
    # CANN document LoadDataWithTranspose, dstGap: what is called a stride is a gap behind the first fractal.
    target = repeat * ((1 + int(args["dst_stride"])) * FRACTAL_BYTES) + piece
    index = target[:, :, None] + np.arange(FRACTAL_BYTES)
    return [Write(args["dst"]["buf"], int(args["dst"]["off"]) + index, turned.reshape(index.shape))]


def copy_bias(op: str, args: Args, registers: Registers, memory: Memory) -> list[Write]:
    """``copy_cbuf_to_bt``: bursts of 64 bytes; numbers of two bytes are widened to float if asked for."""
    del op, registers
    data = memory.read(args["src"]["buf"], int(args["src"]["off"]) + _bursts(args, "src_gap", 64))
    if args["conv_control"]:
        data = bytes_of(numbers_of(data.reshape(-1), args["src"]["elem"]), "float")
    flat = np.asarray(data).reshape(-1)
    return [Write("BT", int(args["dst_bt_addr"]) + np.arange(flat.size), flat)]


def _bursts(args: Args, gap: str, unit: int) -> Ints:
    """Return the offsets of *n_burst* runs of *len_burst* units, *gap* units apart."""
    length = int(args["len_burst"])
    require_moderate(int(args["n_burst"]), length, unit)
    starts = np.arange(int(args["n_burst"])) * (length + int(args[gap])) * unit
    return starts[:, None] + np.arange(length * unit)


def copy_bursts(op: str, args: Args, registers: Registers, memory: Memory) -> list[Write]:
    """``copy_gm_to_cbuf`` and ``copy_cbuf_to_fbuf``: runs of blocks of 32 and 128 bytes."""
    if "nd2nz" in op:
        return _rows_to_fractals(args, memory)
    del registers
    unit = 128 if op.endswith("fbuf") else BLOCK_BYTES
    src, dst = args["src"], args["dst"]
    data = memory.read(src["buf"], int(src["off"]) + _bursts(args, "src_gap", unit))
    return [Write(dst["buf"], int(dst["off"]) + _bursts(args, "dst_gap", unit), data)]


def _rows_to_fractals(args: Args, memory: Memory) -> list[Write]:
    """``nd2nz``: rows in GM become zN; the last block of a row is filled up with zeros."""
    if int(args["nd_num"]) != 1:
        raise OutsideModelError(f"nd2nz of {args['nd_num']} matrices at once is not covered, only of one")
    width = ELEMENT_BITS[args["dst"]["elem"]] // 8
    block, rows, columns = BLOCK_BYTES // width, int(args["n_value"]), int(args["d_value"])
    require_moderate(rows, up(columns, block))
    row, column = np.arange(rows)[:, None], np.arange(up(columns, block))
    source = spread(int(args["src"]["off"]), row * int(args["src_d_value"]) + column[:columns], width)
    data = np.zeros((rows, len(column), width), np.uint8)
    data[:, :columns] = memory.read(args["src"]["buf"], source)
    blocks = column // block * int(args["dst_nz_c0_stride"]) + row * int(args["dst_nz_n_stride"])
    target = spread(int(args["dst"]["off"]), blocks * block + column % block, width)
    return [Write(args["dst"]["buf"], target, data)]


def copy_out(op: str, args: Args, registers: Registers, memory: Memory) -> list[Write]:
    """``copy_matrix_cc_to_gm``: zN of the sum becomes rows in GM, or is added to them, scaled and rounded."""
    if not args["nz2nd_en"] or args["channel_split"] or args["relu_pre"]:
        raise OutsideModelError(f"{op} is covered as nz2nd without relu and channel split only")
    require_sums(op, args["src"]["elem"])
    rows, columns = int(args["m_size"]), int(args["n_size"])
    require_moderate(rows, columns)
    row, column = np.arange(rows)[:, None], np.arange(columns)
    source = (column // FRACTAL_ROWS * int(args["src_stride"]) + row) * FRACTAL_ROWS + column % FRACTAL_ROWS
    read = memory.read(args["src"]["buf"], spread(int(args["src"]["off"]), source, 4))
    numbers = numbers_of(read.reshape(-1), args["src"]["elem"]).reshape(rows, columns)
    element, numbers = _quantised(op, args["quant_pre"], args["src"]["elem"], numbers, columns, memory)
    width = ELEMENT_BITS[element] // 8
    target = spread(int(args["dst"]["off"]), row * int(args["dst_stride"]) + column, width)
    if registers.adds:
        there = memory.read(args["dst"]["buf"], target)
        numbers = numbers_of(there.reshape(-1), element).reshape(rows, columns) + numbers
    return [Write(args["dst"]["buf"], target, bytes_of(numbers, element).reshape(target.shape))]


def _quantised(
    op: str, mode: object, element: str, numbers: np.ndarray, columns: int, memory: Memory
) -> tuple[str, np.ndarray]:
    """Return the type in which results leave, and the results; a scale is the low word of its FB entry."""
    if mode == _SCALED:
        words = memory.read("FB", np.arange(columns)[:, None] * 8 + np.arange(4))
        scales = numbers_of(words.reshape(-1), "float")
        return "half", numbers.astype(np.float32) * scales
    if mode not in _UNSCALED:
        raise OutsideModelError(f"{op} with {mode} is not covered; {', '.join((*_UNSCALED, _SCALED))} are")
    return _UNSCALED[str(mode)] or element, numbers
