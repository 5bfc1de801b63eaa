"""Rows of MOVINs and MOVOUTs, prepared so that compiled code makes their requests without thinking.

A row of :attr:`Stream.loads` or :attr:`Stream.stores` is followed by the nest of loops that its box is:
byte offsets of rows, outermost loop first, and the bytes along a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from pantile.program.tables import MAX_AXES
from pantile.targets.systolic.stream import (
    LOAD_START,
    LOAD_STOP,
    MOVE_COLUMNS,
    MOVE_LENGTH,
    MOVE_LO,
    MOVE_OPERAND,
    OPERAND_AXES,
    OPERAND_BASE,
    OPERAND_BATCHES,
    OPERAND_COLUMNS,
    OPERAND_ORDER,
    OPERAND_RULE,
    OPERAND_STRIDE,
    OPERAND_WIDTH,
    OPERAND_WINDOW,
    OPERAND_WRAP,
    RULES,
    STORE_START,
    STORE_STOP,
    TILE_KIND,
    TILE_STEP,
)

if TYPE_CHECKING:
    from pantile.targets.systolic.stream import Stream, Table

(
    MOVE_RULE,
    MOVE_CHUNK,  # request number of the operand's base
    MOVE_WIDTH,  # bytes of an element
    MOVE_WRAPS,  # whether byte offsets are 32-bit and may not fit
    MOVE_BATCHES,  # row of batch offsets of the first tile; -1 none
    MOVE_START,  # byte offset of the first tile's first element, batch left out
    MOVE_LEVELS,
    MOVE_COLUMN_COUNT,  # elements, or request-sized steps, along a row
    MOVE_COLUMN_STEP,  # bytes between them, at most a request where the rule is BOX_RULE
    MOVE_STEPS,  # bytes per element of a tile's displacement, by axis
) = range(MOVE_COLUMNS, MOVE_COLUMNS + 10)
MOVE_COUNTS = MOVE_STEPS + MAX_AXES
MOVE_STRIDES = MOVE_COUNTS + MAX_AXES
MOVE_WINDOW = MOVE_STRIDES + MAX_AXES  # of a convolution's window: OPERAND_WINDOW
MOVE_ROW_COLUMNS = MOVE_WINDOW + OPERAND_COLUMNS - OPERAND_WINDOW

BOX_RULE, WINDOW_RULE, SCATTERED_RULE, REPEATED_RULE = range(4)
"""Ascending rows without gaps; a convolution's window; any order; any order, repetitions kept."""

_OFFSETS = 1 << 32


@dataclass(frozen=True, slots=True)
class Moves:
    """All moves of a stream.

    Attributes:
        rows: Loads, then stores.
        largest: Requests that one move makes at most.
        longest: Iterations of one loop at most.
        scratch: Elements of a move that may have to be sorted, at most.
    """

    rows: Table
    largest: int
    longest: int
    scratch: int


def prepare_moves(stream: Stream, request_bytes: int) -> Moves:
    """Return the prepared rows of all moves of *stream*."""
    raw = np.concatenate([stream.loads, stream.stores])
    rows = np.zeros((len(raw), MOVE_ROW_COLUMNS), np.int64)
    rows[:, :MOVE_COLUMNS] = raw
    largest = longest = scratch = 1
    for row, reach in zip(rows, _reaches(stream), strict=True):
        operand = stream.operands[row[MOVE_OPERAND]]
        rule = RULES[operand[OPERAND_RULE]]
        if rule == "window":
            counts = _prepare_window(row, operand)
        else:
            counts = _prepare_box(row, operand, rule, request_bytes)
        batch = _last_batch(stream, row, operand, reach)
        end = _end_bytes(row, operand, reach, batch)
        row[MOVE_CHUNK] = operand[OPERAND_BASE] // request_bytes
        row[MOVE_WRAPS] = int(operand[OPERAND_WRAP] and end > _OFFSETS)
        elements = prod(counts) * int(row[MOVE_COLUMN_COUNT])
        span = (int(row[MOVE_COLUMN_COUNT]) - 1) * int(row[MOVE_COLUMN_STEP])
        largest = max(largest, min(elements, prod(counts) * (span // request_bytes + 2)))
        longest = max(longest, *counts)
        if row[MOVE_WRAPS] or row[MOVE_RULE] in (SCATTERED_RULE, REPEATED_RULE):
            scratch = max(scratch, elements)
    return Moves(rows, largest, longest, max(scratch, largest))


def _reaches(stream: Stream) -> Table:
    """Farthest displacement by axis of the tiles that use each move."""
    kinds, loads = stream.kinds, len(stream.loads)
    farthest = np.zeros((len(kinds) + 1, MAX_AXES), np.int64)  # the last row takes the skip tiles
    np.maximum.at(farthest, stream.tiles[:, TILE_KIND], stream.tiles[:, TILE_STEP:])
    reaches = np.zeros((loads + len(stream.stores), MAX_AXES), np.int64)
    for kind, reach in zip(kinds, farthest, strict=False):
        for start, stop, shift in (
            (kind[LOAD_START], kind[LOAD_STOP], 0),
            (kind[STORE_START], kind[STORE_STOP], loads),
        ):
            reaches[start + shift : stop + shift] = reach
    return reaches


def _prepare_box(row: Table, operand: Table, rule: str, request_bytes: int) -> list[int]:
    """Fill in the nest of a box; returns the counts of its loops."""
    width = int(operand[OPERAND_WIDTH])
    order = operand[OPERAND_ORDER : OPERAND_ORDER + operand[OPERAND_AXES]].tolist()
    lo, length = row[MOVE_LO:MOVE_LENGTH], row[MOVE_LENGTH:MOVE_COLUMNS]
    stride = operand[OPERAND_STRIDE:OPERAND_ORDER] * width
    row[MOVE_START] = sum(int(lo[axis] * stride[axis]) for axis in order)
    for axis in order:
        row[MOVE_STEPS + axis] = stride[axis] if length[axis] > 0 else 0
    loops = [(int(length[axis]), int(stride[axis])) for axis in order[:-1]]
    last = order[-1]
    elements = 1 if rule == "dense" else request_bytes // width
    columns = -(-int(length[last]) // elements), elements * int(stride[last])
    if columns[1] > request_bytes:
        loops.append(columns)
        columns = 1, 0
    row[MOVE_RULE] = BOX_RULE if _ascends([*loops, columns]) else SCATTERED_RULE
    if rule == "stepped_all":
        row[MOVE_RULE] = REPEATED_RULE
    return _write_nest(row, operand, loops, columns)


def _prepare_window(row: Table, operand: Table) -> list[int]:
    """Fill in what of a convolution's window does not depend on the tile; returns bounds of its loops."""
    width = int(operand[OPERAND_WIDTH])
    row[MOVE_WINDOW:] = operand[OPERAND_WINDOW:]
    window = operand[OPERAND_WINDOW:].tolist()
    length = row[MOVE_LENGTH:MOVE_COLUMNS].tolist()
    lines = [
        max(
            0,
            min(
                window[8 + side],
                (length[1 + side] - 1) * window[side] + (window[6 + side] - 1) * window[4 + side] + 1,
            ),
        )
        for side in (0, 1)
    ]
    channels_last, channels = bool(window[14]), length[MAX_AXES - 1]
    counts = [length[0], *lines] if channels_last else [length[0], channels, *lines]
    row[MOVE_RULE], row[MOVE_LEVELS], row[MOVE_WIDTH], row[MOVE_BATCHES] = WINDOW_RULE, len(counts), width, -1
    row[MOVE_COLUMN_COUNT] = channels if channels_last else 1
    row[MOVE_COLUMN_STEP] = window[13] * width if channels_last else 0
    return counts


def _write_nest(
    row: Table, operand: Table, loops: list[tuple[int, int]], columns: tuple[int, int]
) -> list[int]:
    loops = [loop for loop in loops if loop[0] != 1] or [(1, 0)]
    row[MOVE_WIDTH] = operand[OPERAND_WIDTH]
    row[MOVE_LEVELS] = len(loops)
    row[MOVE_BATCHES] = -1
    if operand[OPERAND_BATCHES] >= 0:
        row[MOVE_BATCHES] = operand[OPERAND_BATCHES] + row[MOVE_LO]
    row[MOVE_COLUMN_COUNT], row[MOVE_COLUMN_STEP] = columns
    for level, (count, stride) in enumerate(loops):
        row[MOVE_COUNTS + level], row[MOVE_STRIDES + level] = count, stride
    return [count for count, _ in loops]


def _ascends(loops: list[tuple[int, int]]) -> bool:
    """Whether the offsets of a nest never fall; *loops* are (count, stride), outermost first."""
    reach = 0
    for count, stride in reversed(loops):
        if count > 1 and stride < reach:
            return False
        reach += max(0, count - 1) * stride
    return True


def _last_batch(stream: Stream, row: Table, operand: Table, reach: Table) -> int:
    """Largest first element among the batch elements that a move's tiles read."""
    if operand[OPERAND_BATCHES] < 0:
        return 0
    start = int(operand[OPERAND_BATCHES])
    offsets = stream.batch_offsets[start : start + int(row[MOVE_LO] + reach[0]) + 1]
    return int(offsets.max())


def _end_bytes(row: Table, operand: Table, reach: Table, batch: int) -> int:
    """Bytes of the operand that the moves of one row reach at most."""
    width = int(operand[OPERAND_WIDTH])
    if row[MOVE_RULE] == WINDOW_RULE:
        n, h, w, c = operand[OPERAND_WINDOW + 10 : OPERAND_WINDOW + 14].tolist()
        height, breadth = operand[OPERAND_WINDOW + 8 : OPERAND_WINDOW + 10].tolist()
        last = row[MOVE_LO:MOVE_LENGTH] + row[MOVE_LENGTH:MOVE_COLUMNS] + reach
        return int(last[0] * n + height * h + breadth * w + last[-1] * c) * width
    start = batch * width + int(row[MOVE_START] + reach @ row[MOVE_STEPS:MOVE_COUNTS])
    nest = int(row[MOVE_COUNTS:MOVE_STRIDES] @ row[MOVE_STRIDES:MOVE_WINDOW])
    return start + nest + int(row[MOVE_COLUMN_COUNT] * row[MOVE_COLUMN_STEP]) + width
