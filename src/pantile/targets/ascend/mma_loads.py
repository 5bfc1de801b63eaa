"""How ``mma_tile`` brings one part of an operand from L1 to L0.

Source: ascend-core.md sections 2.7 and 2.8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.targets.ascend.elements import FRACTAL_BYTES, FRACTAL_ROWS, parts, up
from pantile.targets.ascend.instructions import Instruction, call, pointer

if TYPE_CHECKING:
    from pantile.targets.ascend.mma_call import MmaCall
    from pantile.targets.ascend.mma_split import Split

_TURNED_INT4 = 64
"""Elements that a turning load of int4 takes and delivers at once, each way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of K, as a load sees it.

    Attributes:
        index: Its number.
        k_part: K of every part but the last.
        k_ceil: Its padded K.
        k_actual: Its K.
        l0: Byte address of its half of L0.
    """

    index: int
    k_part: int
    k_ceil: int
    k_actual: int
    l0: int

    @property
    def start(self) -> int:
        """K where it begins."""
        return self.index * self.k_part


def load_left(mma: MmaCall, split: Split, part: Part) -> list[Instruction]:
    """Return the loads of one part of the left operand."""
    if mma.element.bytes == 1:
        return _turn_left_bytes(mma, split, part) if mma.ta else _copy_left_bytes(mma, split, part)
    element, rows = mma.element, up(split.sum_rows, FRACTAL_ROWS)
    start = mma.a.address(element.bytes)
    if not mma.ta:
        source = start + part.start * split.a_rows * element.bytes
        return _window("ca", mma, split.a_rows, source, part.l0, up(part.k_actual, element.block), rows)
    source = start + part.start * mma.a.sizes[3] * element.bytes
    depth, columns = up(part.k_actual, FRACTAL_ROWS), up(split.sum_rows, element.block)
    return _window("ca", mma, split.a_depth, source, part.l0, columns, depth)


def load_right(mma: MmaCall, split: Split, part: Part) -> list[Instruction]:
    """Return the loads of one part of the right operand.

    Of int4 and transposed there are none: the library left that for later, so that the cube reads what was
    there before.
    """
    element = mma.element
    if element.is_int4:
        return [] if mma.tb else _turn_right_int4(mma, split, part)
    if mma.tb:
        return _copy_right(mma, split, part)
    if element.bytes == 1:
        return _turn_right_bytes(mma, split, part)
    source = mma.b.address(element.bytes) + part.start * mma.b.sizes[3] * element.bytes
    depth, columns = up(part.k_actual, FRACTAL_ROWS), up(mma.n, element.block)
    return _window("cb", mma, split.b_depth, source, part.l0, columns, depth)


def _window(
    side: str, mma: MmaCall, height: int, source: int, l0: int, step_k: int, step_m: int
) -> list[Instruction]:
    """Return a copy of a window of a source *height* rows high; the right operand is always turned."""
    is_left = side == "ca"
    elem = "half" if mma.element.bytes == 2 else mma.element.pointer  # bf16 is passed as half
    dst = pointer("L0A" if is_left else "L0B", l0, elem)
    src = pointer("L1", source, elem)
    turned = mma.ta if is_left else True
    window = (0, 0, 1, 1, 1, 1, 1, 1, False, False)
    return [
        call("set_fmatrix" if is_left else "set_fmatrix_b", height | 1 << 16),
        call(f"img2colv2_cbuf_to_{side}", dst, src, step_k, step_m, *window, turned, not is_left, step_k),
    ]


def _load(op: str, elem: str, l0: int, source: int, repeat: int, src_stride: int, gap: int) -> Instruction:
    dst = pointer("L0A" if "_ca" in op else "L0B", l0, elem)
    return call(op, dst, pointer("L1", source, elem), 0, repeat, src_stride, gap, 0, False, "inc")


def _turn(op: str, l0: int, source: int, elem: str, dst_stride: int, frac_stride: int) -> Instruction:
    dst = pointer("L0A" if "_ca" in op else "L0B", l0, "int8_t")
    return call(op, dst, pointer("L1", source, elem), 0, 1, 1, dst_stride, 0, frac_stride)


def _copy_left_bytes(mma: MmaCall, split: Split, part: Part) -> list[Instruction]:
    """A strip of 16 rows at a time, whose blocks lie a column of fractals apart."""
    op = "load_cbuf_to_ca_s4" if mma.element.is_int4 else "load_cbuf_to_ca"
    source = mma.a.address(1) + part.start * split.a_rows
    repeat, stride = part.k_ceil // mma.a.strides[2], mma.a.strides[0] // FRACTAL_BYTES
    return [
        _load(
            op,
            mma.element.pointer,
            part.l0 + strip * part.k_ceil * mma.a.sizes[2],
            source + strip * mma.a.strides[1],
            repeat,
            stride,
            0,
        )
        for strip in range(mma.a.sizes[1])
    ]


def _turn_left_bytes(mma: MmaCall, split: Split, part: Part) -> list[Instruction]:
    """Squares of 32 x 32 bytes, each of which becomes two fractals in neighbouring rows of fractals."""
    depth = parts(part.k_actual, 32)
    source = mma.a.address(1) + part.start * mma.a.sizes[3]
    return [
        _turn(
            "load_cbuf_to_ca_transpose",
            part.l0 + column * depth * 1024 + row * FRACTAL_BYTES,
            source + row * 1024 + column * split.a_depth * 32,
            "int8_t",
            1,
            depth - 1,
        )
        for row in range(depth)
        for column in range(parts(split.sum_rows, 32))
    ]


def _copy_right(mma: MmaCall, split: Split, part: Part) -> list[Instruction]:
    """All at once where no row is padding; else row by row or column by column, whichever are fewer."""
    element = mma.element
    fractal = FRACTAL_ROWS * element.block
    source = mma.b.address(element.bytes) + part.start * split.b_rows * element.bytes
    width, depth = up(mma.n, FRACTAL_ROWS) // FRACTAL_ROWS, part.k_ceil // element.block
    op, elem = "load_cbuf_to_cb", element.pointer
    if width * FRACTAL_ROWS >= split.b_rows:
        return [_load(op, elem, part.l0, source, part.k_ceil * split.b_rows // fractal, 1, 0)]
    if depth <= width:
        step = mma.b.sizes[1] * FRACTAL_BYTES
        return [
            _load(op, elem, part.l0 + width * FRACTAL_BYTES * at, source + step * at, width, 1, 0)
            for at in range(depth)
        ]
    stride = mma.b.sizes[1]
    return [
        _load(
            op,
            elem,
            part.l0 + FRACTAL_BYTES * at,
            source + FRACTAL_BYTES * at,
            depth,
            stride,
            width - 1,
        )
        for at in range(width)
    ]


def _turn_right_bytes(mma: MmaCall, split: Split, part: Part) -> list[Instruction]:
    width = up(mma.n, 32) // 32
    source = mma.b.address(1) + part.start * mma.b.sizes[3]
    return [
        _turn(
            "load_cbuf_to_cb_transpose",
            part.l0 + row * width * 1024 + column * 1024,
            source + row * 1024 + column * split.b_depth * 32,
            "int8_t",
            1,
            0,
        )
        for row in range(parts(part.k_actual, 32))
        for column in range(width)
    ]


def _turn_right_int4(mma: MmaCall, split: Split, part: Part) -> list[Instruction]:
    """Squares of 64 x 64 elements become four fractals; those of padding are overwritten by the next row."""
    width = parts(mma.n, 32)
    spare = width * 32 - mma.n
    cut = spare // 8 * FRACTAL_BYTES  # a fractal has 16 elements of N, which are 8 bytes
    source = mma.b.address(1) + part.start * mma.b.sizes[3]
    return [
        _turn(
            "load_cbuf_to_cb_transpose_s4",
            part.l0 + row * (width * 2048 - cut) + column * 2048,
            source + row * 2048 + column * split.b_depth * 32,
            "void",
            3,
            0,
        )
        for row in range(parts(part.k_actual, _TURNED_INT4))
        for column in range(width)
    ]
