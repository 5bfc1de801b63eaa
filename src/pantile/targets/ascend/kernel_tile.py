"""What a core issues for one tile of the result, and around all of its tiles.

Four queues work at once: MTE2 fills a chunk of L1, MTE1 moves steps of another one to a half of L0, the cube
multiplies the other half, FIX carries a sum out. A flag each way orders every pair that shares bytes: one
says that a place is full, the other that it is free. All the latter are raised before the first tile, and
taken after the last. No two flags of one source share an id: programs are right as well where ids belong to
the source, and not to the pair of pipes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pantile.targets.ascend.elements import BLOCK_BYTES, FRACTAL_ROWS, parts, up
from pantile.targets.ascend.hand_over import CHECK, HAND_OVER
from pantile.targets.ascend.instructions import Instruction, call, pipe_barrier, pointer, set_flag, wait_flag
from pantile.targets.ascend.kernel import HALVES, MOST_CHUNKS
from pantile.targets.ascend.memref import dense, left_extents, right_extents, sum_extents
from pantile.targets.ascend.mma_call import MmaCall
from pantile.targets.ascend.mma_loads import Part, load_left, load_right
from pantile.targets.ascend.mma_split import split_of
from pantile.targets.ascend.mma_tile import HF32_BIT

if TYPE_CHECKING:
    from pantile.targets.ascend.kernel import Kernel

FILLED, USED = ("PIPE_MTE2", "PIPE_MTE1"), ("PIPE_MTE1", "PIPE_MTE2")
LOADED, FREE = ("PIPE_MTE1", "PIPE_M"), ("PIPE_M", "PIPE_MTE1")
SUMMED, STORED = ("PIPE_M", "PIPE_FIX"), ("PIPE_FIX", "PIPE_M")
FULL = MOST_CHUNKS
"""The first id of flags by which MTE1 and M say that a place is full; ids below say that one is free."""

BIAS_EVENT = HALVES
"""Id of M to MTE1 for the bias table; those below are for halves of L0."""

LONGEST_ROW = 65536
"""Rows of this length and more do not fit the stride of ``nd2nz``: they are copied one by one."""

_FORWARDED_BLOCKS = 10
"""From so many 16 x 16 blocks on, the cube's pipeline is longer than the dependence of a sum on the last."""

_WIDTHS = {1: "b8", 2: "b16", 4: "b32s"}


class Shape(NamedTuple):
    """Sizes of a tile over a piece of K, in elements, and whether it is added to what lies in GM."""

    rows: int
    columns: int
    depth: int
    adds: bool


class Turn(NamedTuple):
    """Whose turn it is: a chunk of L1, a half of L0, a part of L0C."""

    chunk: int
    half: int
    sums: int


class _Chunk(NamedTuple):
    """One chunk of K: where it begins, its length, and the part of L1 that holds it."""

    start: int
    depth: int
    place: int


def prologue(kernel: Kernel) -> list[Instruction]:
    """Return what a core begins with: registers, and every place free."""
    stream = [call("set_atomic_none"), call("set_padding", 0), call("set_nd_para", 1)]
    stream += [call("set_ctrl", HF32_BIT)] if kernel.hf32 else []
    return stream + [set_flag(*each) for each in _free_places(kernel)]


def epilogue(kernel: Kernel) -> list[Instruction]:
    """Return what a core ends with: every place is free again."""
    stream = [wait_flag(*each) for each in _free_places(kernel)]
    return stream + ([call("set_ctrl", 0)] if kernel.hf32 else [])


def _free_places(kernel: Kernel) -> list[tuple[str, str, int]]:
    places = [(*USED, each) for each in range(kernel.l1_buffers)]
    places += [(*FREE, each) for each in range(HALVES)]
    places += [(*FREE, BIAS_EVENT)] if kernel.guards_bias else []
    return places + ([] if kernel.hands_over else [(*STORED, each) for each in range(kernel.sums)])


def tile_stream(kernel: Kernel, shape: Shape, turn: Turn) -> list[Instruction]:
    """Return the instructions of one tile; pointers into GM count from the tile's own first elements."""
    stream: list[Instruction] = []
    half, steps = turn.half, parts(shape.depth, kernel.chunk)
    for number in range(steps):
        start = number * kernel.chunk
        place = (turn.chunk + number) % kernel.l1_buffers
        chunk = _Chunk(start, min(kernel.chunk, shape.depth - start), place)
        stream += _fill(kernel, shape, chunk)
        stream += _multiply(kernel, shape, chunk, half, turn.sums)
        half = (half + parts(chunk.depth, kernel.step)) % HALVES
    return stream + _store(kernel, shape, turn.sums)


def _adds_bias(kernel: Kernel, shape: Shape) -> bool:
    """A bias is added once, with the first piece of K."""
    return bool(kernel.bias) and not shape.adds


def _fill(kernel: Kernel, shape: Shape, chunk: _Chunk) -> list[Instruction]:
    """What brings a chunk of both operands to L1, with the first one the bias of the tile."""
    base = chunk.place * kernel.chunk_room
    stream = [wait_flag(*USED, chunk.place)]
    if chunk.start == 0 and _adds_bias(kernel, shape):
        to = pointer("L1", base + kernel.left_bytes + kernel.right_bytes, kernel.bias)
        blocks = parts(shape.columns * kernel.bias_bytes, BLOCK_BYTES)
        source = pointer("GM_BIAS", 0, kernel.bias)
        stream.append(call("copy_gm_to_cbuf", to, source, 0, 1, blocks, 0, 0, "PAD_NONE"))
    stream += _fill_left(kernel, shape, chunk, base)
    stream += _fill_right(kernel, shape, chunk, base + kernel.left_bytes)
    return [*stream, set_flag(*FILLED, chunk.place)]


def _fill_left(kernel: Kernel, shape: Shape, chunk: _Chunk, to: int) -> list[Instruction]:
    if kernel.ta:
        return _rows(kernel, "GM_A", to, chunk.start * kernel.m, (chunk.depth, shape.rows, kernel.m))
    return _rows(kernel, "GM_A", to, chunk.start, (shape.rows, chunk.depth, kernel.k))


def _fill_right(kernel: Kernel, shape: Shape, chunk: _Chunk, to: int) -> list[Instruction]:
    if kernel.nz:
        return _fractals(kernel, shape, chunk, to)
    if kernel.tb:
        return _rows(kernel, "GM_B", to, chunk.start, (shape.columns, chunk.depth, kernel.k))
    return _rows(kernel, "GM_B", to, chunk.start * kernel.n, (chunk.depth, shape.columns, kernel.n))


def _rows(
    kernel: Kernel, buffer: str, to: int, start: int, window: tuple[int, int, int]
) -> list[Instruction]:
    """Copies that turn a window (rows, columns, length of a row in GM) into columns of fractals."""
    rows, columns, length = window
    width, elem = kernel.element.bytes, kernel.element.pointer
    along_k = kernel.ta if buffer == "GM_A" else not kernel.tb
    height = up(rows, max(FRACTAL_ROWS, kernel.element.block) if along_k else FRACTAL_ROWS)
    op = f"copy_gm_to_cbuf_multi_nd2nz_{_WIDTHS[width]}"

    def copy(address: int, first: int, count: int, pitch: int, row_step: int) -> Instruction:
        dst, src = pointer("L1", address, elem), pointer(buffer, first * width, elem)
        return call(op, dst, src, 0, 1, count, columns, 0, pitch, height, row_step, 0)

    if length < LONGEST_ROW:
        return [copy(to, start, rows, length, 1)]
    return [copy(to + row * BLOCK_BYTES, start + row * length, 1, 0, 0) for row in range(rows)]


def _fractals(kernel: Kernel, shape: Shape, chunk: _Chunk, to: int) -> list[Instruction]:
    """One copy of columns of fractals, which lie in GM as they will in L1."""
    width, elem, block = kernel.element.bytes, kernel.element.pointer, kernel.element.block
    if kernel.tb:
        columns, rows, tall = chunk.depth, shape.columns, kernel.n
        first = chunk.start * up(kernel.n, FRACTAL_ROWS)
    else:
        columns, rows, tall = shape.columns, chunk.depth, kernel.k
        first = chunk.start * block
    length, height = up(rows, FRACTAL_ROWS), up(tall, FRACTAL_ROWS)
    dst, src = pointer("L1", to, elem), pointer("GM_B", first * width, elem)
    bursts = (parts(columns, block), length, height - length, 0)
    return [call("copy_gm_to_cbuf", dst, src, 0, *bursts, "PAD_NONE")]


def _multiply(kernel: Kernel, shape: Shape, chunk: _Chunk, half: int, sums: int) -> list[Instruction]:
    """What MTE1 and the cube do with one chunk."""
    mma = _call_on(kernel, shape, chunk, sums)
    steps = parts(chunk.depth, kernel.step)
    stream = [wait_flag(*FILLED, chunk.place)]
    for index in range(steps):
        stream += _step(kernel, shape, chunk, mma, index, (half + index) % HALVES, sums)
    return stream


def _call_on(kernel: Kernel, shape: Shape, chunk: _Chunk, sums: int) -> MmaCall:
    """Return a chunk as a call of the library, whose loads fill L0."""
    element, rows, columns = kernel.element, shape.rows, shape.columns
    base = chunk.place * kernel.chunk_room
    left = left_extents(element, rows, chunk.depth, transposed=kernel.ta)
    right = right_extents(element, columns, chunk.depth, transposed=kernel.tb)
    whole = sum_extents(element, rows, columns, ta=kernel.ta, tb=kernel.tb)
    return MmaCall(
        element=element,
        ta=kernel.ta,
        tb=kernel.tb,
        m=rows,
        n=columns,
        k=chunk.depth,
        a=dense(base, left),
        b=dense(base + kernel.left_bytes, right),
        c=dense(kernel.sum_address(sums), whole),
    )


def _step(
    kernel: Kernel, shape: Shape, chunk: _Chunk, mma: MmaCall, index: int, half: int, sums: int
) -> list[Instruction]:
    """One step of K: MTE1 fills a half of L0, the cube multiplies it."""
    split = split_of(mma)
    begin = index * kernel.step
    deep, actual = split.k_ceil - begin, chunk.depth - begin
    part = Part(
        index=index,
        k_part=kernel.step,
        k_ceil=min(up(kernel.step, max(FRACTAL_ROWS, kernel.element.block)), deep),
        k_actual=min(kernel.step, actual),
        l0=kernel.l0_address(half, "L0A"),
    )
    first, last = chunk.start + begin == 0, chunk.start + begin + part.k_actual == shape.depth
    biased = first and _adds_bias(kernel, shape)
    stream = [wait_flag(*FREE, half), *load_left(mma, split, part)]
    stream += load_right(mma, split, replace(part, l0=kernel.l0_address(half, "L0B")))
    if biased:
        stream += [wait_flag(*FREE, BIAS_EVENT)] if kernel.guards_bias else []
        stream.append(_load_bias(kernel, shape, chunk))
    if begin + part.k_actual == chunk.depth:
        stream.append(set_flag(*USED, chunk.place))
    stream += [set_flag(*LOADED, FULL + half), wait_flag(*LOADED, FULL + half)]
    if first and not kernel.hands_over:
        stream.append(wait_flag(*STORED, sums))
    elif not first and split.sum_rows // 16 * split.cube_n // 16 < _FORWARDED_BLOCKS:
        stream.append(pipe_barrier("PIPE_M"))
    stream.append(
        call(
            "mad",
            pointer("L0C", kernel.sum_address(sums), kernel.element.accumulator),
            pointer("L0A", kernel.l0_address(half, "L0A"), kernel.element.pointer),
            pointer("L0B", kernel.l0_address(half, "L0B"), kernel.element.pointer),
            split.sum_rows,
            part.k_actual,
            split.cube_n,
            (HAND_OVER if last else CHECK) if kernel.hands_over else 0,
            split.align_k,
            biased,
            first and not biased,
        )
    )
    stream.append(set_flag(*FREE, half))
    return stream + ([set_flag(*FREE, BIAS_EVENT)] if biased and kernel.guards_bias else [])


def _load_bias(kernel: Kernel, shape: Shape, chunk: _Chunk) -> Instruction:
    address = chunk.place * kernel.chunk_room + kernel.left_bytes + kernel.right_bytes
    bursts = parts(shape.columns * kernel.bias_bytes, 64)
    widened = int(kernel.bias_bytes == 2)
    return call("copy_cbuf_to_bt", 0, pointer("L1", address, kernel.bias), widened, 1, bursts, 0, 0)


def _store(kernel: Kernel, shape: Shape, sums: int) -> list[Instruction]:
    """What FIX does with the sum of a tile."""
    copy = call(
        "copy_matrix_cc_to_gm",
        pointer("GM_C", 0, kernel.out),
        pointer("L0C", kernel.sum_address(sums), kernel.element.accumulator),
        0,
        shape.columns,
        shape.rows,
        kernel.n,
        kernel.padded(shape.rows, shape.columns)[0],
        HAND_OVER if kernel.hands_over else 0,
        kernel.quantised,
        0,
        False,
        True,
    )
    adding = [call("set_atomic_f32"), call("set_atomic_add")] if shape.adds else []
    stream = [*adding, copy, *([call("set_atomic_none")] if shape.adds else [])]
    if kernel.hands_over:
        return stream
    return [set_flag(*SUMMED, FULL + sums), wait_flag(*SUMMED, FULL + sums), *stream, set_flag(*STORED, sums)]
