"""Compiled generation of the requests of one instruction: the DRAM channel of each, in order.

The compiled form of :mod:`pantile.targets.systolic.requests`. A move is a nest of loops over byte
offsets around a row; rows ascend, so that a request made twice stands beside its twin.
"""

from __future__ import annotations

from pantile.program.tables import MAX_AXES
from pantile.targets.systolic.kernel_moves import (
    BOX_RULE,
    MOVE_BATCHES,
    MOVE_CHUNK,
    MOVE_COLUMN_COUNT,
    MOVE_COLUMN_STEP,
    MOVE_COUNTS,
    MOVE_LEVELS,
    MOVE_RULE,
    MOVE_START,
    MOVE_STEPS,
    MOVE_STRIDES,
    MOVE_WIDTH,
    MOVE_WINDOW,
    MOVE_WRAPS,
    REPEATED_RULE,
    WINDOW_RULE,
)
from pantile.targets.systolic.kernel_state import REQUEST_BYTES, Array, Cores, Tables, compiled, inlined
from pantile.targets.systolic.stream import MOVE_LENGTH, MOVE_LO, TILE_STEP

_LAST_OFFSET = (1 << 32) - 1
_CHANNEL_AXIS = MAX_AXES - 1
_PICTURE_STRIDES = MOVE_WINDOW + 10


@compiled
def write_channels(tables: Tables, cores: Cores, c: int, move: int, tile: int, at: int) -> int:
    """Write the channels of a move's requests to core *c*'s bytes from *at* on; returns their count."""
    moves, steps = tables.moves, cores.steps
    rule = moves[move, MOVE_RULE]
    start = moves[move, MOVE_START]
    for axis in range(MAX_AXES):
        start += moves[move, MOVE_STEPS + axis] * tables.tiles[tile, TILE_STEP + axis]
    levels = moves[move, MOVE_LEVELS]
    if rule == WINDOW_RULE:
        start = _window_steps(tables, steps, move, tile)
    else:
        for level in range(levels):
            _fill_level(steps, level, moves[move, MOVE_COUNTS + level], moves[move, MOVE_STRIDES + level])
        if moves[move, MOVE_BATCHES] >= 0:
            batch = moves[move, MOVE_BATCHES]
            if moves[move, MOVE_LENGTH] > 0:
                batch += tables.tiles[tile, TILE_STEP]
            start += tables.batches[batch] * moves[move, MOVE_WIDTH]
    if rule in (BOX_RULE, WINDOW_RULE):
        count = _write_rows(tables, cores, c, move, start, levels, at)
        if count >= 0:
            return count
    return _write_elements(tables, cores, c, move, start, levels, at, rule != REPEATED_RULE)


@compiled
def _window_steps(tables: Tables, steps: Array, move: int, tile: int) -> int:
    """Fill in the nest of a convolution's picture box; returns the offset of its first element.

    Levels are pictures, rows, columns where channels come last, else pictures, channels, rows, columns.
    """
    moves = tables.moves
    width = moves[move, MOVE_WIDTH]
    picture_bytes = moves[move, _PICTURE_STRIDES] * width
    channel_bytes = moves[move, _PICTURE_STRIDES + 3] * width
    rows = moves[move, MOVE_LEVELS] - 2
    for level in range(rows):
        axis, step_bytes = (0, picture_bytes) if level == 0 else (_CHANNEL_AXIS, channel_bytes)
        _fill_level(steps, level, moves[move, MOVE_LENGTH + axis], step_bytes)
    for side in range(2):
        line_bytes = moves[move, _PICTURE_STRIDES + 1 + side] * width
        first = moves[move, MOVE_LO + 1 + side] + tables.tiles[tile, TILE_STEP + 1 + side]
        outputs = moves[move, MOVE_LENGTH + 1 + side]
        at = MOVE_WINDOW + side
        step, pad, dilation, kernel = (
            moves[move, at],
            moves[move, at + 2],
            moves[move, at + 4],
            moves[move, at + 6],
        )
        count = 0
        reach = (outputs - 1) * step + (kernel - 1) * dilation
        for offset in range(max(0, pad - first * step), reach + 1):
            line = first * step - pad + offset
            if line < moves[move, at + 8] and _reads_line(offset, step, dilation, kernel, outputs):
                count += 1
                steps[rows + side, count] = line * line_bytes
        steps[rows + side, 0] = count
    picture = moves[move, MOVE_LO] + tables.tiles[tile, TILE_STEP]
    channel = moves[move, MOVE_LO + _CHANNEL_AXIS] + tables.tiles[tile, TILE_STEP + _CHANNEL_AXIS]
    return int(picture * picture_bytes + channel * channel_bytes)


@inlined
def _fill_level(steps: Array, level: int, count: int, step: int) -> None:
    steps[level, 0] = count
    for i in range(count):
        steps[level, i + 1] = i * step


@compiled
def _reads_line(offset: int, step: int, dilation: int, kernel: int, outputs: int) -> bool:
    """Whether any of *outputs* output lines reads the input line *offset* beyond the first one's start."""
    for tap in range(kernel):
        reach = offset - tap * dilation
        if reach >= 0 and reach % step == 0 and reach // step < outputs:
            return True
    return False


@compiled
def _write_rows(tables: Tables, cores: Cores, c: int, move: int, start: int, levels: int, at: int) -> int:
    """Write row by row; -1 where offsets wrap around within the move."""
    steps, fifo, hashes = cores.steps, cores.fifo, tables.hashes
    wraps = tables.moves[move, MOVE_WRAPS] > 0
    columns = tables.moves[move, MOVE_COLUMN_COUNT]
    span = (columns - 1) * tables.moves[move, MOVE_COLUMN_STEP]
    request_bytes, low = tables.config[REQUEST_BYTES], len(hashes) - 1
    chunk = tables.moves[move, MOVE_CHUNK]
    inner = levels - 1
    outer = 1
    for level in range(inner):
        outer *= steps[level, 0]
    if columns <= 0:
        outer = 0
    to = at
    previous = -1
    for number in range(outer):
        base, rest = start, number
        for level in range(inner - 1, -1, -1):
            base += steps[level, 1 + rest % steps[level, 0]]
            rest //= steps[level, 0]
        for i in range(steps[inner, 0]):
            offset = base + steps[inner, i + 1]
            if wraps:
                offset &= _LAST_OFFSET
                if offset + span > _LAST_OFFSET:
                    return -1
            first, last = offset // request_bytes, (offset + span) // request_bytes
            if first <= previous:
                if first < previous:
                    return -1
                first += 1
            source, size = (chunk + first) & low, last - first + 1
            if source + size <= low + 1:
                for j in range(size):
                    fifo[c, to + j] = hashes[source + j]
            else:
                for j in range(size):
                    fifo[c, to + j] = hashes[(source + j) & low]
            to += max(0, size)
            previous = last
    return to - at


@compiled
def _write_elements(
    tables: Tables, cores: Cores, c: int, move: int, start: int, levels: int, at: int, distinct: bool
) -> int:
    """Write element by element; sorted and without repetitions where they must be *distinct*."""
    steps, chunks, hashes = cores.steps, cores.chunks, tables.hashes
    wraps = tables.moves[move, MOVE_WRAPS] > 0
    columns, step = tables.moves[move, MOVE_COLUMN_COUNT], tables.moves[move, MOVE_COLUMN_STEP]
    request_bytes = tables.config[REQUEST_BYTES]
    outer = 1
    for level in range(levels):
        outer *= steps[level, 0]
    for number in range(outer):
        base, rest = start, number
        for level in range(levels - 1, -1, -1):
            base += steps[level, 1 + rest % steps[level, 0]]
            rest //= steps[level, 0]
        for i in range(columns):
            offset = base + i * step
            if wraps:
                offset &= _LAST_OFFSET
            chunks[number * columns + i] = offset // request_bytes
    count = outer * columns
    if distinct:
        _heap_sort(chunks, count)
    low = len(hashes) - 1
    written = 0
    for i in range(count):
        if not distinct or i == 0 or chunks[i] != chunks[i - 1]:
            cores.fifo[c, at + written] = hashes[(tables.moves[move, MOVE_CHUNK] + chunks[i]) & low]
            written += 1
    return written


@compiled
def _heap_sort(values: Array, count: int) -> None:
    for end in range(2 * count - 1, 0, -1):
        # The first half of the steps builds the heap, the second takes the greatest away.
        root = end - count
        size = count
        if root < 0:
            values[0], values[end] = values[end], values[0]
            root, size = 0, end
        value = values[root]
        child = 2 * root + 1
        while child < size:
            if child + 1 < size and values[child + 1] > values[child]:
                child += 1
            if values[child] <= value:
                break
            values[root] = values[child]
            root, child = child, 2 * child + 1
        values[root] = value
