"""Is every product computed once and every output stored once?"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from pantile.check.boxes import Box, Cover, Intervals, cover_of
from pantile.check.report import Finding, Report
from pantile.program.tables import Kind, Mode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pantile.program.piece import Piece
    from pantile.program.program import Program


def check_coverage(program: Program) -> Report:
    """Check that the computes of *program* cover its iteration space once, and its stores the output once.

    Works per distinct kind of tile: the boxes of a kind's rows are moved along its loops as ranges,
    never one by one.
    """
    output = [axis for axis, name in enumerate(program.axes) if name not in _reduced(program)]
    computes = _boxes(program, Kind.COMPUTE, list(range(len(program.axes))))
    stores = _boxes(program, Kind.MOVE, output)
    macs = cover_of(program.extents, computes)
    written = cover_of([program.extents[axis] for axis in output], stores)
    return _verdict(program, macs, program.axes, "MACs", "computed") + _verdict(
        program, written, [program.axes[axis] for axis in output], "outputs", "stored"
    )


def _reduced(program: Program) -> Sequence[str]:
    """Axes of the iteration space that the output lacks."""
    result = next(operand for operand in program.operands if operand.name == "c")
    order = result.parameters["order"]
    batched = "batch_offsets" in result.parameters
    kept = {program.axes[axis] for axis in order} | ({program.axes[0]} if batched else set())
    return [axis for axis in program.axes if axis not in kept]


def _boxes(program: Program, kind: Kind, axes: list[int]) -> list[Box]:
    """Boxes of all computes, or of all moves that write the output, over *axes*."""
    result = [place for place, operand in enumerate(program.operands) if operand.name == "c"]
    boxes = []
    for piece in program.pieces:
        ops, rows = piece.tables["op"], piece.tables["box"]
        if kind == Kind.COMPUTE:
            chosen = ops["kind"] == Kind.COMPUTE
        else:
            access = piece.tables["access"]
            writes = (access["mode"] == Mode.WRITE) & np.isin(access["operand"], result)
            chosen = np.isin(ops["id"], access["op"][writes])
        boxes += _merged(piece, rows["lo"][chosen], rows["length"][chosen], axes)
    return boxes


def _merged(piece: Piece, lo: np.ndarray, length: np.ndarray, axes: list[int]) -> list[Box]:
    """Boxes of the rows of one piece over all its instances.

    Rows that together fill a box, as the blocks of a tile do, are joined first. Loops that move nothing
    along *axes* repeat the boxes: their ranges stand as often along the first axis.
    """
    if not len(lo):
        return []
    lo, length = lo[:, axes], length[:, axes]
    first = lo.min(axis=0)
    extent = (lo + length).max(axis=0) - first
    if _fill_a_box(lo - first, length, extent):
        lo, length = first[None], extent[None]
    times = prod(loop.count for loop in piece.loops if not any(loop.offset[axis] for axis in axes))
    boxes: list[Box] = []
    for start, size in zip(lo, length, strict=True):
        box = [_repeated(piece, axis, int(start[at]), int(size[at])) for at, axis in enumerate(axes)]
        boxes.append((box[0] * times, *box[1:]))
    return boxes


def _fill_a_box(lo: np.ndarray, length: np.ndarray, extent: np.ndarray) -> bool:
    """Whether rows cover the box from 0 to *extent* exactly once."""
    place = np.zeros(len(lo), np.int64)
    cells = 1
    for axis, size in enumerate(extent):
        # The usual case: rows are a grid, every axis of which is cut into touching ranges.
        ranges, which = np.unique((lo[:, axis] << 32) | length[:, axis], return_inverse=True)
        starts, lengths = ranges >> 32, ranges & 0xFFFFFFFF
        if starts[0] or np.any(starts[1:] != (starts + lengths)[:-1]) or starts[-1] + lengths[-1] != size:
            break
        place = place * len(ranges) + which.reshape(-1)
        cells *= len(ranges)
    else:
        if cells == len(lo) == len(np.unique(place)):
            return True
    boxes = [
        tuple(((int(a), int(a + n)),) for a, n in zip(row_lo, row_length, strict=True))
        for row_lo, row_length in zip(lo, length, strict=True)
    ]
    cover = cover_of([int(size) for size in extent], boxes)
    return cover is not None and cover.exact


def _repeated(piece: Piece, axis: int, start: int, size: int) -> Intervals:
    """Ranges that one axis of a row takes over the piece's loops; touching ones are joined."""
    ranges = [(start, start + size)]
    for loop in piece.loops:
        step = loop.offset[axis]
        if not step or loop.count == 1:
            continue
        if len(ranges) == 1 and step == ranges[0][1] - ranges[0][0]:
            ranges = [(ranges[0][0], ranges[0][1] + step * (loop.count - 1))]
        else:
            ranges = [(lo + i * step, hi + i * step) for i in range(loop.count) for lo, hi in ranges]
    return tuple(ranges)


def _verdict(program: Program, cover: Cover | None, axes: Sequence[str], what: str, done: str) -> Report:
    total = prod(program.extents[program.axes.index(name)] for name in axes)
    if cover is None:
        sentence = f"whether all {total} {what} are {done} once was not decided: too many distinct ranges"
        return Report(
            (Finding(code="PT-UNDECIDED", severity="warning", sentence=sentence, grade="undecided"),)
        )
    if cover.exact:
        return Report(proved=(f"coverage: {total} {what}, each {done} exactly once",))
    parts = [
        f"{count} {what} {how}"
        for count, how in (
            (cover.missing, f"never {done}"),
            (cover.repeated, f"{done} again"),
            (cover.outside, "outside the domain"),
        )
        if count
    ]
    evidence = ""
    if cover.example is not None:
        at = ", ".join(f"{name} {lo}:{hi}" for name, (lo, hi) in zip(axes, cover.example, strict=True))
        evidence = f"{at} {done} {cover.example_count} times"
    return Report(
        (
            Finding(
                code="PT-COVERAGE",
                severity="error",
                sentence=f"of {total} {what}, {' and '.join(parts)}",
                evidence=evidence,
                grade="wrong value",
                mend="make the tiles of every dimension cover its total once",
            ),
        )
    )
