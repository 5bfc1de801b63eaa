"""What every operation reads and writes, as rows of the table ``access``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pantile.program.tables import ACCESS

if TYPE_CHECKING:
    from pantile.program.language.geometry import Geometry, Ints
    from pantile.program.language.storage import Found


@dataclass(frozen=True, slots=True, eq=False)
class Touches:
    """One operand tile that an operation reads, writes or updates; one row each.

    Attributes:
        op: The operation.
        mode: How it touches.
        operand: The operand.
        tile: The tile whose operand tile it is.
        place: Where.
        found: What holds it there.
    """

    op: Ints
    mode: Ints
    operand: int
    tile: Ints
    place: Ints
    found: Found


def access_rows(geometry: Geometry, touches: list[Touches], spaces: Ints) -> np.ndarray:
    """Return the table ``access``, in order of operations.

    A copy is stored row by row in the operand's own order of dimensions.

    Args:
        geometry: Boxes of the tiles.
        touches: What is touched, all found somewhere; where one operation touches several, in that order.
        spaces: Number of the memory of every place.
    """
    if not touches:
        return np.zeros(0, ACCESS)
    ranges = [_ranges(geometry, each) for each in touches]
    order = np.argsort(np.concatenate([each.op for each in ranges]), kind="stable")
    parts = [_columns(each, mine, spaces) for each, mine in zip(touches, ranges, strict=True)]
    rows = np.empty(len(order), ACCESS)
    for name in ACCESS.names or ():
        rows[name] = np.concatenate([each[name] for each in parts])[order]
    return rows


def _columns(touches: Touches, ranges: _Ranges, spaces: Ints) -> dict[str, Ints]:
    """Return the columns of the rows of one kind of touches, in the order of *ranges*."""
    space = spaces[touches.place]
    own = {"mode": touches.mode, "space": space, "location": space, "generation": touches.found.generation}
    if ranges.source is not None:
        own = {name: column[ranges.source] for name, column in own.items()}
    own["operand"] = np.full(len(ranges.op), touches.operand, np.int64)
    return own | {name: getattr(ranges, name) for name in ("op", "lo", "length", "rows", "pitch")}


@dataclass(frozen=True, slots=True, eq=False)
class _Ranges:
    """Ranges of bytes of touches; as of the table ``access``.

    Attributes:
        op: The operation.
        lo: First byte.
        length: Bytes of one row.
        rows: Rows.
        pitch: Bytes from row to row.
        source: The touch that each belongs to, where they are more than the touches.
    """

    op: Ints
    lo: Ints
    length: Ints
    rows: Ints
    pitch: Ints
    source: Ints | None = None


def _ranges(geometry: Geometry, touches: Touches) -> _Ranges:
    """Return the ranges that hold each operand tile: those of a part of a box that is stored row by row."""
    tile, depth = touches.tile, _common(touches.found.depth)
    width = geometry.operands.element_bytes[touches.operand]
    stride: Ints = np.full(len(tile), width, np.int64)
    first = touches.found.base.copy()
    length, count, pitch = stride.copy(), np.ones_like(stride), np.zeros_like(stride)
    dense = np.ones(len(tile), bool)  # what was gone through so far fills the copy
    split = np.zeros(len(tile), bool)  # it takes several ranges of rows
    apart: list[tuple[Ints, Ints]] = []
    for axis in reversed(geometry.operands.axes[touches.operand]):
        lo, whole = geometry.lo[depth, axis, tile], geometry.hi[depth, axis, tile]
        whole -= lo
        start = geometry.lo[-1, axis, tile]
        size = geometry.hi[-1, axis, tile] - start
        first += (start - lo) * stride
        many, flat = size > 1, pitch == 0
        extends, begins, widens = many & flat & dense, many & flat & ~dense, many & ~flat & dense & ~split
        length[extends] *= size[extends]
        pitch[begins] = stride[begins]
        count[begins | widens] *= size[begins | widens]
        left = many & ~(extends | begins | widens)
        if left.any():
            apart.append((np.where(left, size, 1), stride.copy()))
            split |= left
        dense = np.where(many, size == whole, dense & (whole == 1))
        stride *= whole
    pitch = np.where(pitch > 0, pitch, length)
    if not apart:
        return _Ranges(touches.op, first, length, count, pitch)
    return _spread(_Ranges(touches.op, first, length, count, pitch, np.arange(len(tile))), apart)


def _common(depth: Ints) -> Ints | int:
    """Return the one depth that all rows have, if they do: a plain index is read faster."""
    return int(depth[0]) if len(depth) and (depth == depth[0]).all() else depth


def _spread(ranges: _Ranges, apart: list[tuple[Ints, Ints]]) -> _Ranges:
    """Repeat ranges along further dimensions, given sizes and strides from the innermost outwards."""
    op, lo, length, rows, pitch, source = (getattr(ranges, name) for name in _Ranges.__slots__)
    apart = list(reversed(apart))
    for at in range(len(apart)):
        sizes, strides = apart[at]
        which = np.repeat(np.arange(len(op)), sizes)
        step = np.arange(len(which)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        op, lo, length, rows, pitch, source = (each[which] for each in (op, lo, length, rows, pitch, source))
        lo = lo + step * strides[which]
        apart = [(one[which], other[which]) for one, other in apart]
    return _Ranges(op, lo, length, rows, pitch, source)
