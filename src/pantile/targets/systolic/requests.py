"""From the box of an operation to the addresses of its memory requests.

Source: onnxim-model.md sections 2 and 4, onnxim-conv.md C3 and C4. These are the plain forms; the
compiled forms of :mod:`pantile.targets.systolic.fast` must equal them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pantile.program.program import Operand

Integers = npt.NDArray[np.int64]
_WRAP = 1 << 32


def box_requests(
    operand: Operand, lo: Sequence[int], length: Sequence[int], request_bytes: int, *, wrap: bool
) -> Integers:
    """Return the request addresses of a box of *operand*, in the order in which they are sent.

    Args:
        operand: The tensor and its rule.
        lo: First element along every axis of the iteration space.
        length: Elements along every axis; 0 where the operand lacks the axis.
        request_bytes: Bytes of one request; addresses are rounded down to it.
        wrap: Element offsets are 32-bit, as in the original (quirk Q24).
    """
    spans = _spans(operand, lo, length, request_bytes)
    if spans is None or operand.rule == "stepped_all" or _wraps(spans, request_bytes, wrap):
        offsets = _elements(operand, lo, length, request_bytes) * operand.element_bytes
        if wrap:
            offsets %= _WRAP
        addresses = operand.base + offsets // request_bytes * request_bytes
        return addresses if operand.rule == "stepped_all" else np.unique(addresses)
    first, last = _disjoint(*spans)
    sizes = last - first + 1
    starts = np.cumsum(sizes) - sizes
    chunks = np.repeat(first - starts, sizes) + np.arange(int(sizes.sum()), dtype=np.int64)
    return operand.base + chunks * request_bytes


def count_requests_of(
    operand: Operand, lo: Sequence[int], length: Sequence[int], request_bytes: int, *, wrap: bool
) -> int:
    """Return how many addresses :func:`box_requests` returns for the same arguments."""
    spans = _spans(operand, lo, length, request_bytes)
    if spans is None or operand.rule == "stepped_all" or _wraps(spans, request_bytes, wrap):
        return len(box_requests(operand, lo, length, request_bytes, wrap=wrap))
    first, last = _disjoint(*spans)
    return int((last - first + 1).sum())


def _wraps(spans: tuple[Integers, Integers], request_bytes: int, wrap: bool) -> bool:
    return wrap and len(spans[1]) > 0 and int(spans[1].max() + 1) * request_bytes > _WRAP


def _spans(
    operand: Operand, lo: Sequence[int], length: Sequence[int], request_bytes: int
) -> tuple[Integers, Integers] | None:
    """First and last request number of every row of the box; ``None`` where rows leave requests out."""
    rows, stride, columns = _rows(operand, lo, length)
    width = operand.element_bytes
    first = rows * width // request_bytes
    if columns <= 0:
        return first[:0], first[:0]
    if operand.rule in ("dense", "window"):
        if stride * width > request_bytes:
            return None
        return first, (rows + (columns - 1) * stride) * width // request_bytes
    if request_bytes % width or stride != 1:
        return None
    return first, first + (-(-columns * width // request_bytes) - 1)


def _disjoint(first: Integers, last: Integers) -> tuple[Integers, Integers]:
    """Cut what earlier spans cover from later ones, so that the spans are disjoint and ascend."""
    if len(first) > 1 and np.any(first[1:] < first[:-1]):
        order = np.argsort(first, kind="stable")
        first, last = first[order], last[order]
    reached = np.maximum.accumulate(last)
    start = first.copy()
    start[1:] = np.maximum(first[1:], reached[:-1] + 1)
    kept = start <= last
    return start[kept], last[kept]


def _rows(operand: Operand, lo: Sequence[int], length: Sequence[int]) -> tuple[Integers, int, int]:
    """First element of every row of the box, the stride along rows, and a row's elements."""
    if operand.rule == "window":
        *outer, (columns, stride) = _window_axes(operand, lo, length)
        start = int(columns[0]) * stride if len(columns) else 0
        rows = np.array([start], np.int64)
        for indices, step in outer:
            rows = (rows[:, None] + indices * step).ravel()
        if not _is_run(columns):
            rows = (rows[:, None] + (columns - columns[0]) * stride).ravel()
            return rows, 1, 1
        return rows, stride, len(columns)
    order: list[int] = operand.parameters["order"]
    offset = operand.parameters.get("batch_offsets")
    last = order[-1]
    start = (offset[lo[0]] if offset else 0) + lo[last] * operand.strides[last]
    rows = np.array([start], np.int64)
    for axis in order[:-1]:
        steps = (lo[axis] + np.arange(length[axis], dtype=np.int64)) * operand.strides[axis]
        rows = (rows[:, None] + steps).ravel()
    return rows, operand.strides[last], length[last]


def _is_run(columns: Integers) -> bool:
    return len(columns) == 0 or int(columns[-1] - columns[0]) == len(columns) - 1


def _window_axes(operand: Operand, lo: Sequence[int], length: Sequence[int]) -> list[tuple[Integers, int]]:
    """Indices and strides of the picture's axes, outermost first, that output lines and channels read."""
    given = operand.parameters
    n_stride, h_stride, w_stride, c_stride = given["picture_strides"]
    lines = []
    for side, limit in enumerate((given["height"], given["width"])):
        outputs = lo[1 + side] + np.arange(length[1 + side], dtype=np.int64)
        kernel = np.arange(given["kernel"][side], dtype=np.int64) * given["dilations"][side]
        reached = np.unique(outputs[:, None] * given["strides"][side] - given["pads"][side] + kernel)
        lines.append(reached[(reached >= 0) & (reached < limit)])
    pictures = lo[0] + np.arange(length[0], dtype=np.int64)
    channels = lo[6] + np.arange(length[6], dtype=np.int64)
    rows, columns = (lines[0], h_stride), (lines[1], w_stride)
    inner = (
        [rows, columns, (channels, c_stride)]
        if given["channels_last"]
        else [(channels, c_stride), rows, columns]
    )
    return [(pictures, n_stride), *inner]


def _elements(operand: Operand, lo: Sequence[int], length: Sequence[int], request_bytes: int) -> Integers:
    """Every element that makes a request, one by one."""
    rows, stride, columns = _rows(operand, lo, length)
    step = 1 if operand.rule in ("dense", "window") else request_bytes // operand.element_bytes
    along = np.arange(0, columns, step, dtype=np.int64)
    return (rows[:, None] + along * stride).ravel()
