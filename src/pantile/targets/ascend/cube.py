"""What the cube does: a product of L0A and L0B into L0C.

Source: ascend-core.md sections 1.6, 2.6 and 2.9.
"""

from __future__ import annotations

import numpy as np

from pantile.targets.ascend.elements import BLOCK_BYTES, FRACTAL_ROWS, up
from pantile.targets.ascend.layouts import Layout, nz, zn, zz
from pantile.targets.ascend.memory import Memory, Write, require_moderate, spread
from pantile.targets.ascend.moves import Args
from pantile.targets.ascend.numbers import (
    Numbers,
    bytes_of,
    numbers_of,
    product,
    require_sums,
    round_to_hf32,
    unpack_int4,
)
from pantile.targets.ascend.ranges import ELEMENT_BITS, Registers

HF32_MODE = 1 << 49
"""The bit of CTRL under which fp32 operands are rounded to HF32."""


def multiply(op: str, args: Args, registers: Registers, memory: Memory) -> list[Write]:
    """Return what ``mad`` leaves: the sum of the old result, of the bias or of nothing, and the product.

    K is the real one: what L0 holds beyond it is not looked at.
    """
    m, n, k = (int(args[name]) for name in "mnk")
    for sizes in ((m, k), (k, n), (m, n)):
        require_moderate(*sizes)
    require_sums(op, args["dst"]["elem"])
    left, right = _operands(op, args, memory)
    if args["src0"]["elem"] == "float" and registers.ctrl & HF32_MODE:
        left, right = round_to_hf32(left), round_to_hf32(right)
    element = args["dst"]["elem"]
    place = zn(m, n, FRACTAL_ROWS).offset(np.arange(m)[:, None], np.arange(n))
    index = spread(int(args["dst"]["off"]), place, 4)
    total = product(left, right)
    if args["cmatrix_source"]:
        bias = memory.read("BT", spread(int(args.get("bias_bt_addr", 0)), np.arange(n), 4))
        total = numbers_of(bias.reshape(-1), element) + total
    elif not args["cmatrix_init_val"]:
        total = numbers_of(memory.read("L0C", index).reshape(-1), element).reshape(m, n) + total
    return [Write("L0C", index, bytes_of(total, element).reshape(index.shape))]


def _operands(op: str, args: Args, memory: Memory) -> tuple[Numbers, Numbers]:
    m, k, n = (int(args[name]) for name in "mkn")
    if op.endswith("_s4"):
        # A block of 32 bytes holds 64 elements of K: of both operands, bytes hold neighbours along K.
        deep = up(k, 64) // 2
        left = _bytes(args, "src0", zz(m, deep, BLOCK_BYTES), (m, deep), memory)
        right = _bytes(args, "src1", nz(deep, n, BLOCK_BYTES), (deep, n), memory)
        return unpack_int4(left)[:, :k], unpack_int4(right.T)[:, :k].T
    element = args["src0"]["elem"]
    block = BLOCK_BYTES * 8 // ELEMENT_BITS[element]
    deep = up(k, FRACTAL_ROWS if args["k_direction_align"] else block)
    return (
        _numbers(args, "src0", zz(m, deep, block), (m, k), memory),
        _numbers(args, "src1", nz(deep, n, block), (k, n), memory),
    )


def _numbers(args: Args, name: str, layout: Layout, shape: tuple[int, int], memory: Memory) -> Numbers:
    pointer, (rows, columns) = args[name], shape
    place = layout.offset(np.arange(rows)[:, None], np.arange(columns))
    index = spread(int(pointer["off"]), place, ELEMENT_BITS[pointer["elem"]] // 8)
    return numbers_of(memory.read(pointer["buf"], index).reshape(-1), pointer["elem"]).reshape(shape)


def _bytes(
    args: Args, name: str, layout: Layout, shape: tuple[int, int], memory: Memory
) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    pointer, (rows, columns) = args[name], shape
    place = layout.offset(np.arange(rows)[:, None], np.arange(columns))
    return memory.read(pointer["buf"], int(pointer["off"]) + place)
