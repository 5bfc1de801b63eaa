"""How the macro GEMM brings one part of an L1 tile to L0: two-dimensional loads, fractal by fractal.

Source: ascend-core.md section 3.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.targets.ascend.elements import FRACTAL_BYTES, FRACTAL_ROWS
from pantile.targets.ascend.instructions import Instruction, call, pointer

if TYPE_CHECKING:
    from pantile.targets.ascend.block_call import Block, BlockCall


@dataclass(frozen=True, slots=True, kw_only=True)
class TilePart:
    """One part of an L1 tile.

    Attributes:
        start: K where it begins in the tile.
        depth: Its K, padded to blocks.
        tile_depth: K of the whole tile, padded to blocks.
        l1: Byte addresses of the tile: left operand, right operand.
        l0: Byte address of its half of L0.
    """

    start: int
    depth: int
    tile_depth: int
    l1: tuple[int, int]
    l0: int


def load_left_part(launch: BlockCall, block: Block, part: TilePart) -> list[Instruction]:
    """Return the loads of the left operand."""
    element, rows = launch.element, block.m_padded
    deep = part.depth // element.block
    if not launch.ta:
        source = part.l1[0] + part.start * rows * element.bytes
        return [
            _load(
                "ca", launch, part, strip * deep, source + strip * FRACTAL_BYTES, deep, rows // FRACTAL_ROWS
            )
            for strip in range(rows // FRACTAL_ROWS)
        ]
    source = part.l1[0] + part.start * element.block * element.bytes
    column = part.tile_depth // FRACTAL_ROWS * FRACTAL_BYTES
    strips = range(rows // element.block)
    if element.bytes == 1:
        pairs = part.depth // 32
        return [
            _turn("ca", part, strip * pairs * 2, source + strip * column, pairs, 1, 0, pairs - 1)
            for strip in strips
        ]
    deep = part.depth // FRACTAL_ROWS
    return [
        _load("ca", launch, part, strip * deep, source + strip * column, deep, 1, turned=True)
        for strip in strips
    ]


def load_right_part(launch: BlockCall, block: Block, part: TilePart) -> list[Instruction]:
    """Return the loads of the right operand."""
    element, columns = launch.element, block.n_padded
    wide = columns // FRACTAL_ROWS
    if launch.tb:
        source = part.l1[1] + part.start * columns * element.bytes
        return [
            _load("cb", launch, part, at * wide, source + at * wide * FRACTAL_BYTES, wide, 1)
            for at in range(part.depth // element.block)
        ]
    source = part.l1[1] + part.start * element.block * element.bytes
    if element.bytes == 1:
        pairs, stride = columns // 32, part.tile_depth // FRACTAL_ROWS // 2
        return [
            _turn("cb", part, at * pairs * 2, source + at * 1024, pairs, stride, 1, 0)
            for at in range(part.depth // 32)
        ]
    stride = part.tile_depth // FRACTAL_ROWS
    return [
        _load("cb", launch, part, at * wide, source + at * FRACTAL_BYTES, wide, stride, turned=True)
        for at in range(part.depth // FRACTAL_ROWS)
    ]


def _load(
    side: str,
    launch: BlockCall,
    part: TilePart,
    fractal: int,
    source: int,
    repeat: int,
    stride: int,
    *,
    turned: bool = False,
) -> Instruction:
    elem = launch.element.pointer
    dst = pointer("L0A" if side == "ca" else "L0B", part.l0 + fractal * FRACTAL_BYTES, elem)
    return call(
        f"load_cbuf_to_{side}", dst, pointer("L1", source, elem), 0, repeat, stride, 0, 0, turned, "inc"
    )


def _turn(
    side: str,
    part: TilePart,
    fractal: int,
    source: int,
    repeat: int,
    src_stride: int,
    dst_stride: int,
    frac_stride: int,
) -> Instruction:
    dst = pointer("L0A" if side == "ca" else "L0B", part.l0 + fractal * FRACTAL_BYTES, "int8_t")
    src = pointer("L1", source, "int8_t")
    return call(f"load_cbuf_to_{side}_transpose", dst, src, 0, repeat, src_stride, dst_stride, 0, frac_stride)
