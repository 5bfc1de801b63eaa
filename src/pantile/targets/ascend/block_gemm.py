"""The macro GEMM of the library: a whole product, GM to GM, as the stream of one core.

Only the 220x architecture has it. It does not call ``mma_tile``; its loop over tiles follows the same idea.

Source: ascend-core.md sections 3.1 to 3.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.targets.ascend.block_call import K_TILE, M_TILE, N_TILE, block_at
from pantile.targets.ascend.block_gm import load_bias, load_scales, load_tile, store
from pantile.targets.ascend.block_loads import TilePart, load_left_part, load_right_part
from pantile.targets.ascend.block_swizzle import block_order
from pantile.targets.ascend.elements import parts, up
from pantile.targets.ascend.instructions import (
    Instruction,
    call,
    pipe_barrier,
    pointer,
    set_flag,
    wait_flag,
)
from pantile.targets.ascend.mma_split import L0_BYTES

if TYPE_CHECKING:
    from pantile.targets.ascend.block_call import Block, BlockCall

_PRIMED = (
    *(("PIPE_MTE1", "PIPE_MTE2", event) for event in range(4)),
    ("PIPE_M", "PIPE_MTE1", 0),
    ("PIPE_M", "PIPE_MTE1", 1),
    ("PIPE_FIX", "PIPE_M", 0),
    ("PIPE_FIX", "PIPE_MTE2", 0),
)
"""Flags that are up between blocks; raised first and taken last even where a core has no block."""


def gemm_block(launch: BlockCall) -> tuple[Instruction, ...]:
    """Return the whole stream of one core."""
    stream = [call("set_mask_norm"), call("set_atomic_none"), call("set_padding", 0), call("set_nd_para", 1)]
    stream += [set_flag(*flag) for flag in _PRIMED]
    order = block_order(
        launch.m, launch.n, launch.k, m_tile=M_TILE, n_tile=N_TILE, block_num=launch.block_num
    )
    tiles_done = 0
    for task in range(launch.block_idx, order.blocks, launch.block_num):
        block = block_at(launch, *order.block(task))
        stream += _block(launch, block, tiles_done)
        tiles_done += parts(launch.k, K_TILE)
    stream += [wait_flag(*flag) for flag in _PRIMED]
    return (*stream, pipe_barrier("PIPE_ALL"))


def _block(launch: BlockCall, block: Block, tiles_done: int) -> list[Instruction]:
    """One block of the result; the halves of L1 alternate across blocks."""
    stream: list[Instruction] = []
    if launch.has_bias:
        stream += load_bias(launch, block)
    if launch.has_scales:
        stream += load_scales(launch, block)
    count = parts(launch.k, K_TILE)
    for tile in range(count):
        half = (tiles_done + tile) % 2
        if tile == 0:
            stream += load_tile(launch, block, tile, half)
        if tile + 1 < count:
            stream += load_tile(launch, block, tile + 1, 1 - half)
        stream += _tile(launch, block, tile, half)
    done = ("PIPE_M", "PIPE_FIX", 0)
    return [
        *stream,
        set_flag(*done),
        wait_flag(*done),
        store(launch, block),
        set_flag("PIPE_FIX", "PIPE_M", 0),
    ]


def _tile(launch: BlockCall, block: Block, tile: int, half: int) -> list[Instruction]:
    """One K tile in L1: parts of it alternate between the halves of L0, beginning with the first."""
    depth = min(K_TILE, launch.k - tile * K_TILE)
    part_depth = _part_depth(launch, block)
    count, padded = parts(depth, part_depth), up(depth, launch.element.block)
    stream: list[Instruction] = []
    for index in range(count):
        start, l0 = index * part_depth, index % 2 * (L0_BYTES // 2)
        last = index + 1 == count
        part = TilePart(
            start=start,
            depth=padded - start if last else part_depth,
            tile_depth=padded,
            l1=launch.addresses(half),
            l0=l0,
        )
        k = depth - start if last else part_depth
        opens = tile == 0 and index == 0
        stream += _part(launch, block, part, k, half, first=index == 0, last=last, opens=opens)
    return stream


def _part_depth(launch: BlockCall, block: Block) -> int:
    """K of one part: what fits half of L0A and of L0B, in whole blocks."""
    elements, step = L0_BYTES // 2 // launch.element.bytes, launch.element.block
    return min(elements // rows // step * step for rows in (block.m_padded, block.n_padded))


def _part(
    launch: BlockCall,
    block: Block,
    part: TilePart,
    k: int,
    half: int,
    *,
    first: bool,
    last: bool,
    opens: bool,
) -> list[Instruction]:
    """One part of a tile; *opens* where it is the block's first."""
    event = part.l0 and 1
    stream: list[Instruction] = []
    sides = ((load_left_part, half), (load_right_part, half + 2))
    for at, (load, loaded) in enumerate(sides):
        stream += [wait_flag("PIPE_MTE2", "PIPE_MTE1", loaded)] if first else []
        stream += [wait_flag("PIPE_M", "PIPE_MTE1", event)] if at == 0 else []
        stream += load(launch, block, part)
        stream += [set_flag("PIPE_MTE1", "PIPE_MTE2", loaded)] if last else []
    stream += [set_flag("PIPE_MTE1", "PIPE_M", event), wait_flag("PIPE_MTE1", "PIPE_M", event)]
    if opens:
        stream.append(wait_flag("PIPE_FIX", "PIPE_M", 0))
        stream += [wait_flag("PIPE_MTE1", "PIPE_M", 7)] if launch.has_bias else []
    stream.append(_mad(launch, block, part, k, opens=opens))
    return [*stream, pipe_barrier("PIPE_M"), set_flag("PIPE_M", "PIPE_MTE1", event)]


def _mad(launch: BlockCall, block: Block, part: TilePart, k: int, *, opens: bool) -> Instruction:
    """The product of one part; a block with a bias starts from the bias table."""
    element = launch.element
    from_bias = opens and launch.has_bias
    return call(
        "mad",
        pointer("L0C", 0, element.accumulator),
        pointer("L0A", part.l0, element.pointer),
        pointer("L0B", part.l0, element.pointer),
        *([0] if from_bias else []),
        block.m_padded,
        k,
        block.n_padded,
        0,
        0,
        int(from_bias),
        0 if from_bias else opens,
    )
