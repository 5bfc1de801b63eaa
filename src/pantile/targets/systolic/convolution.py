"""Tiles and instructions of a convolution.

Source: onnxim-conv.md C2 to C5, with its quirks CV3, CV6, CV7, CV8 and CV13 to CV15 put right: a tile
loads the input rows ``q * stride - pad`` over the whole kernel extent, every kernel element has an
address of its own, every loop is clipped at its total, and the tile that completes an output stores it.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING

from pantile.targets.systolic.gemm import ACCUMULATOR_BASE, SCRATCHPAD_BASE
from pantile.targets.systolic.operands import CONVOLUTION_AXES
from pantile.targets.systolic.pieces import Kind, LoopSpec, pieces_of
from pantile.targets.systolic.rows import GEMM, GEMM_PRELOAD, SCRATCHPAD, Box, TileRows
from pantile.targets.systolic.runs import Run, blocks_of, runs_of

if TYPE_CHECKING:
    from pantile.program.piece import Piece
    from pantile.program.program import Operand
    from pantile.workload.convolution import Convolution

_AXIS = {axis: place for place, axis in enumerate(CONVOLUTION_AXES)}
_NEST = "npqmsrc"  # outermost first: N, P, Q, M, S, R, C
REDUCTIONS = ("s", "r", "c")

Block = tuple[int, int]
"""Offset in the tile, and length."""


def window_lines(first: int, count: int, conv: Convolution, side: int) -> list[int]:
    """Return the input rows (*side* 0) or columns (1) that output lines ``first..first+count`` read.

    Lines of the padding are left out.

    >>> from pantile.workload.convolution import Convolution
    >>> conv = Convolution(batch=1, in_channels=3, out_channels=4, height=8, width=8, kernel=(3, 3),
    ...                    strides=(2, 2), pads=(1, 1, 1, 1))
    >>> window_lines(0, 2, conv, 0)
    [0, 1, 2, 3]
    """
    limit = (conv.height, conv.width)[side]
    stride, pad, dilation = conv.strides[side], conv.pads[side], conv.dilations[side]
    lines = {
        line * stride - pad + step * dilation
        for line in range(first, first + count)
        for step in range(conv.kernel[side])
    }
    return sorted(line for line in lines if 0 <= line < limit)


def _pattern(lines: list[int]) -> tuple[int, ...]:
    """Distances of the lines from the first one: tiles of one kind read the same pattern."""
    return tuple(line - lines[0] for line in lines)


def convolution_loops(
    conv: Convolution, total: dict[str, int], outer: dict[str, int], inner: dict[str, int]
) -> tuple[LoopSpec, ...]:
    """Return the loops over tiles, outermost first: n, p, q, m, s, r, c.

    Args:
        conv: The convolution.
        total: Elements of every loop.
        outer: Tiles along each.
        inner: Nominal elements of a tile along each.
    """

    def size(axis: str, index: int) -> int:
        return max(0, min(inner[axis], total[axis] - index * inner[axis]))

    def runs(axis: str) -> list[Run]:
        if axis in REDUCTIONS:
            return runs_of(
                outer[axis],
                lambda i: (size(axis, i), i > 0, (i + 1) * inner[axis] >= total[axis]),
            )
        if axis in "qp":
            side = "qp".index(axis)
            return runs_of(
                outer[axis],
                lambda i: (size(axis, i), _pattern(window_lines(i * inner[axis], size(axis, i), conv, side))),
            )
        return runs_of(outer[axis], lambda i: (size(axis, i),))

    return tuple(
        LoopSpec(name=axis, count=outer[axis], size=inner[axis], axis=_AXIS[axis], runs=runs(axis))
        for axis in _NEST
    )


def convolution_pieces(
    conv: Convolution,
    loops: tuple[LoopSpec, ...],
    inner: dict[str, int],
    operands: tuple[Operand, ...],
    *,
    width: int,
    element_bytes: int,
    request_bytes: int,
) -> tuple[Piece, ...]:
    """Return the pieces of a convolution's program, one per kind of tile that is not empty.

    Args:
        conv: The convolution.
        loops: From :func:`convolution_loops`.
        inner: Nominal elements of a tile along each loop.
        operands: Of the program.
        width: Width of the array, the step of blocks in q, p, m and c.
        element_bytes: Width of one element.
        request_bytes: What output keys are rounded down to (CV12a).
    """
    keys = _Keys(conv, inner, width, element_bytes, request_bytes)

    def fill(rows: TileRows, kind: Kind) -> None:
        sizes = {loop.name: run.key[0] for run, loop in zip(kind, loops, strict=True)}
        if not all(sizes.values()):
            return
        starts = {loop.name: run.first * loop.size for run, loop in zip(kind, loops, strict=True)}
        tile = _Tile(rows, conv, keys, starts, sizes, width)
        tile.load()
        tile.compute()
        if all(run.key[2] for run in _reductions(kind, loops)):
            tile.store()

    def accumulates(kind: Kind) -> bool:
        """Whether another tile began the outputs."""
        return any(run.key[1] for run in _reductions(kind, loops))

    return pieces_of(loops, len(CONVOLUTION_AXES), operands, fill, accumulates)


def _reductions(kind: Kind, loops: tuple[LoopSpec, ...]) -> list[Run]:
    return [run for run, loop in zip(kind, loops, strict=True) if loop.name in REDUCTIONS]


class _Keys:
    """Address labels of a tile's entries."""

    def __init__(
        self,
        conv: Convolution,
        inner: dict[str, int],
        width: int,
        element_bytes: int,
        request_bytes: int,
    ) -> None:
        extent = [
            (inner[axis] - 1) * conv.strides[side] + conv.dilations[side] * (conv.kernel[side] - 1) + 1
            for side, axis in enumerate("qp")
        ]
        self._inner, self._block = inner, width * width
        self._element, self._request = element_bytes, request_bytes
        self.window = SCRATCHPAD_BASE
        self._kernels = SCRATCHPAD_BASE + inner["n"] * prod(extent) * inner["c"] * element_bytes

    def kernel(self, place: int, s: int, r: int) -> int:
        """Label of the kernel block that is loaded as the *place*-th, at kernel row *s* and column *r*."""
        rows, columns = self._inner["s"], self._inner["r"]
        return self._kernels + self._block * (place * rows * columns + s * columns + r)

    def output(self, n: int, q: int, p: int, m: int) -> int:
        """Label of the output block at offsets n, q, p and m of the tile."""
        inner = self._inner
        flat = ((n * inner["q"] + q) * inner["p"] + p) * inner["m"] + m
        return ACCUMULATOR_BASE + flat * self._element // self._request * self._request


class _Tile:
    """Adds the rows of one kind of tile; blocks are named by their offsets and lengths in the tile."""

    def __init__(
        self,
        rows: TileRows,
        conv: Convolution,
        keys: _Keys,
        starts: dict[str, int],
        sizes: dict[str, int],
        width: int,
    ) -> None:
        self._rows, self._conv, self._keys = rows, conv, keys
        self._starts, self._sizes = starts, sizes
        blocks = {axis: blocks_of(sizes[axis], width if axis in "qpmc" else 1) for axis in _NEST}
        self._columns = blocks["m"]
        self._kernels = list(product(*(blocks[axis] for axis in "msrc")))
        self._outputs = list(product(*(blocks[axis] for axis in "nqp")))

    def load(self) -> None:
        """The whole window in one entry, then every kernel block in one of its own."""
        lines = [
            len(window_lines(self._starts[axis], self._sizes[axis], self._conv, side))
            for side, axis in enumerate("qp")
        ]
        whole = {axis: (0, self._sizes[axis]) for axis in "nqpc"}
        elements = self._sizes["n"] * prod(lines) * self._sizes["c"]
        self._rows.load("a", SCRATCHPAD, self._keys.window, self._box(**whole), elements)
        for place, (m, s, r, c) in enumerate(self._kernels):
            key = self._keys.kernel(place, s[0], r[0])
            self._rows.load("b", SCRATCHPAD, key, self._box(m=m, s=s, r=r, c=c))

    def compute(self) -> None:
        """Every kernel block with every output block; the first of them preloads it."""
        for place, (m, s, r, c) in enumerate(self._kernels):
            sources = (self._keys.window, self._keys.kernel(place, s[0], r[0]))
            for at, (n, q, p) in enumerate(self._outputs):
                self._rows.compute(
                    GEMM if at else GEMM_PRELOAD,
                    sources,
                    self._keys.output(n[0], q[0], p[0], m[0]),
                    self._box(n=n, q=q, p=p, m=m, s=s, r=r, c=c),
                    axis=_AXIS["c"],
                    step=c[1],
                    count=1,
                )

    def store(self) -> None:
        """Every output block."""
        for n, q, p in self._outputs:
            for m in self._columns:
                key = self._keys.output(n[0], q[0], p[0], m[0])
                self._rows.store(key, self._box(n=n, q=q, p=p, m=m))

    def _box(self, **blocks: Block) -> Box:
        """Box of the iteration space over blocks of some axes."""
        return {_AXIS[axis]: (self._starts[axis] + first, size) for axis, (first, size) in blocks.items()}
