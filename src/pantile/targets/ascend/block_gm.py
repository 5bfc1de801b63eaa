"""What the macro GEMM copies between GM, L1 and the small tables: tiles, bias, scales.

Source: ascend-core.md section 3.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pantile.targets.ascend.block_call import K_TILE, M_TILE, N_TILE, SCALE_BYTES
from pantile.targets.ascend.elements import BLOCK_BYTES, parts, up
from pantile.targets.ascend.instructions import (
    Instruction,
    call,
    pipe_barrier,
    pointer,
    set_flag,
    wait_flag,
)

if TYPE_CHECKING:
    from pantile.targets.ascend.block_call import Block, BlockCall

LONGEST_ROW = 65536
"""Source rows of this length and more do not fit the instruction's stride: they are copied one by one."""


class _Window(NamedTuple):
    """A window of a matrix in GM: *rows* of *columns* elements, *length* apart, to columns *height* high."""

    buffer: str
    start: int
    rows: int
    columns: int
    length: int
    height: int


def load_tile(launch: BlockCall, block: Block, tile: int, half: int) -> list[Instruction]:
    """Return the copies of both operands of one K tile to one half of L1, between their flags."""
    depth = min(K_TILE, launch.k - tile * K_TILE)
    left, right = _left(launch, block, tile * K_TILE, depth), _right(launch, block, tile * K_TILE, depth)
    stream: list[Instruction] = []
    for window, address, event in zip((left, right), launch.addresses(half), (half, half + 2), strict=True):
        stream.append(wait_flag("PIPE_MTE1", "PIPE_MTE2", event))
        stream += _nd2nz(launch, window, address)
        stream.append(set_flag("PIPE_MTE2", "PIPE_MTE1", event))
    return stream


def _left(launch: BlockCall, block: Block, k: int, depth: int) -> _Window:
    row = block.row * M_TILE
    if launch.ta:
        height = up(depth, launch.element.block)
        return _Window("GM_A", row + k * launch.m, depth, block.m, launch.m, height)
    return _Window("GM_A", row * launch.k + k, block.m, depth, launch.k, block.m_padded)


def _right(launch: BlockCall, block: Block, k: int, depth: int) -> _Window:
    column = block.column * N_TILE
    if launch.tb:
        return _Window("GM_B", column * launch.k + k, block.n, depth, launch.k, block.n_padded)
    height = up(depth, launch.element.block)
    return _Window("GM_B", column + k * launch.n, depth, block.n, launch.n, height)


def _nd2nz(launch: BlockCall, window: _Window, address: int) -> list[Instruction]:
    """Copies that turn rows into columns of fractals."""
    width, elem = launch.element.bytes, launch.element.pointer
    op = f"copy_gm_to_cbuf_multi_nd2nz_b{8 * width}"

    def copy(to: int, start: int, rows: int, length: int, row_step: int) -> Instruction:
        dst, src = pointer("L1", to, elem), pointer(window.buffer, start * width, elem)
        return call(op, dst, src, 0, 1, rows, window.columns, 0, length, window.height, row_step, 0)

    if window.length < LONGEST_ROW:
        return [copy(address, window.start, window.rows, window.length, 1)]
    return [
        copy(address + row * BLOCK_BYTES, window.start + row * window.length, 1, 0, 0)
        for row in range(window.rows)
    ]


def load_bias(launch: BlockCall, block: Block) -> list[Instruction]:
    """Return what brings the block's bias to the bias table; flags 7 tell others that it is there."""
    width = launch.accumulator_bytes
    elem = launch.element.accumulator
    start = block.column * N_TILE * width
    arrived = ("PIPE_MTE2", "PIPE_MTE1", 0)
    used = ("PIPE_MTE1", "PIPE_MTE2", 7)
    blocks = parts(block.n * width, BLOCK_BYTES)
    copied = pointer("L1", 0, elem)
    return [
        pipe_barrier("PIPE_MTE2"),
        call("copy_gm_to_cbuf", copied, pointer("GM_BIAS", start, elem), 0, 1, blocks, 0, 0, "PAD_NONE"),
        set_flag(*arrived),
        wait_flag(*arrived),
        call("copy_cbuf_to_bt", 0, copied, 0, 1, parts(block.n * width, 64), 0, 0),
        set_flag(*used),
        set_flag("PIPE_MTE1", "PIPE_M", 7),
        wait_flag(*used),
    ]


def load_scales(launch: BlockCall, block: Block) -> list[Instruction]:
    """Return what brings scales to FIX. The library has no argument for them, and reads address 0 of GM."""
    elem, arrived = "uint64_t", ("PIPE_MTE2", "PIPE_FIX", 0)
    copied = pointer("L1", launch.scale_base, elem)
    blocks = parts(block.n * SCALE_BYTES, BLOCK_BYTES)
    source = pointer("GM_NULL", 0, elem)
    return [
        pipe_barrier("PIPE_MTE2"),
        wait_flag("PIPE_FIX", "PIPE_MTE2", 0),
        call("copy_gm_to_cbuf", copied, source, 0, 1, blocks, 0, 0, "PAD_NONE"),
        set_flag(*arrived),
        wait_flag(*arrived),
        call(
            "copy_cbuf_to_fbuf",
            pointer("FB", 0, elem),
            copied,
            1,
            parts(block.n * SCALE_BYTES, 128),
            0,
            0,
        ),
        set_flag("PIPE_FIX", "PIPE_MTE2", 0),
    ]


def store(launch: BlockCall, block: Block) -> Instruction:
    """Return the copy of the block from L0C to GM, as half and in row order."""
    start = block.row * M_TILE * launch.n + block.column * N_TILE
    return call(
        "copy_matrix_cc_to_gm",
        pointer("GM_C", 2 * start, "half"),
        pointer("L0C", 0, launch.element.accumulator),
        0,
        block.n,
        block.m,
        launch.n,
        block.m_padded,
        0,
        "VDEQF16" if launch.has_scales else "F322F16",
        0,
        False,
        True,
    )
