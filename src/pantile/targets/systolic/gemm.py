"""Tiles and instructions of a product.

Source: onnxim-model.md section 4. A tile loads, per block of output columns, the bias (first reduction
stage only) and the weights, and with the first of these blocks all activations; then computes block by
block along the reduction; the last reduction stage stores every block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.targets.systolic.operands import GEMM_AXES
from pantile.targets.systolic.pieces import Kind, LoopSpec, pieces_of
from pantile.targets.systolic.rows import ACCUMULATOR, GEMM_PRELOAD, SCRATCHPAD, Box, TileRows
from pantile.targets.systolic.runs import blocks_of, runs_of

if TYPE_CHECKING:
    from pantile.program.piece import Piece
    from pantile.program.program import Operand
    from pantile.targets.systolic.runs import Run

SCRATCHPAD_BASE = 0x10000000
ACCUMULATOR_BASE = 0x20000000
"""First address labels of the two memories; a label from the accumulator's on means the accumulator."""

_B, _M, _N, _K = range(len(GEMM_AXES))  # the loops stand in the order of the axes


def gemm_loops(
    total: dict[str, int], outer: dict[str, int], inner: dict[str, int], *, batch: int, side: int
) -> tuple[LoopSpec, ...]:
    """Return the loops over tiles, outermost first: b, m, n, k.

    Blocks are clipped at the total alone: with an inner size that is no multiple of the array's
    height the last block of a tile reaches into the next tile (quirk Q8).

    Args:
        total: Elements of m, n and k.
        outer: Tiles along each.
        inner: Nominal elements of a tile along each.
        batch: Products computed one after the other.
        side: Height of the array, the step of blocks in m and n.
    """

    def stage(index: int) -> tuple[int, bool, bool]:
        start = index * inner["k"]
        size = max(0, min(inner["k"], total["k"] - start))
        return size, index > 0, start + inner["k"] >= total["k"]

    def extents(axis: str) -> list[Run]:
        padded = -(-inner[axis] // side) * side
        return runs_of(outer[axis], lambda i: max(0, min(padded, total[axis] - i * inner[axis])))

    return (
        LoopSpec(name="b", count=batch, size=1, axis=_B, runs=runs_of(batch, lambda _: 1)),
        LoopSpec(name="m", count=outer["m"], size=inner["m"], axis=_M, runs=extents("m")),
        LoopSpec(name="n", count=outer["n"], size=inner["n"], axis=_N, runs=extents("n")),
        LoopSpec(name="k", count=outer["k"], size=inner["k"], axis=_K, runs=runs_of(outer["k"], stage)),
    )


def gemm_pieces(
    loops: tuple[LoopSpec, ...],
    inner: dict[str, int],
    operands: tuple[Operand, ...],
    *,
    side: int,
    element_bytes: int,
) -> tuple[Piece, ...]:
    """Return the pieces of a product's program, one per kind of tile that is not empty."""
    has_bias = any(operand.name == "bias" for operand in operands)
    starts = tuple(loop.size for loop in loops)

    def fill(rows: TileRows, kind: Kind) -> None:
        if kind[_M].key and kind[_N].key:
            tile = _Tile(rows, kind, starts, inner, side, element_bytes)
            tile.load(has_bias=has_bias)
            tile.compute()
            tile.store()

    return pieces_of(loops, len(GEMM_AXES), operands, fill, lambda kind: bool(kind[_K].key[1]))


class _Tile:
    """Adds the rows of one kind of tile; blocks are named by their offsets and lengths in the tile."""

    def __init__(
        self,
        rows: TileRows,
        kind: Kind,
        sizes: tuple[int, ...],
        inner: dict[str, int],
        side: int,
        element_bytes: int,
    ) -> None:
        self._rows, self._inner, self._side, self._width = rows, inner, side, element_bytes
        self._start = [run.first * size for run, size in zip(kind, sizes, strict=True)]
        self._depth, self._accumulates, self._stores = kind[_K].key
        self._m_blocks, self._n_blocks = blocks_of(kind[_M].key, side), blocks_of(kind[_N].key, side)

    def load(self, *, has_bias: bool) -> None:
        """Weights block by block, behind their bias; all activations with the first of them."""
        for at, n in enumerate(self._n_blocks):
            if has_bias and not self._accumulates:
                self._rows.load("bias", ACCUMULATOR, self._output(0, n[0]), self._box(n=n))
            self._rows.load("b", SCRATCHPAD, self._weight(n[0]), self._box(n=n, k=True))
            for m in self._m_blocks if at == 0 else ():
                self._rows.load("a", SCRATCHPAD, self._activation(m[0]), self._box(m=m, k=True))

    def compute(self) -> None:
        """Every output block along the whole reduction of the tile; a surplus stage has none."""
        if not self._depth:
            return
        for n in self._n_blocks:
            for m in self._m_blocks:
                self._rows.compute(
                    GEMM_PRELOAD,
                    (self._activation(m[0]), self._weight(n[0])),
                    self._output(m[0], n[0]),
                    self._box(m=m, n=n, k=True),
                    axis=_K,
                    step=self._side,
                    count=-(-self._depth // self._side),
                )

    def store(self) -> None:
        """Every output block, if the tile reaches the end of the reduction."""
        for n in self._n_blocks if self._stores else ():
            for m in self._m_blocks:
                self._rows.store(self._output(m[0], n[0]), self._box(m=m, n=n))

    def _activation(self, m: int) -> int:
        return SCRATCHPAD_BASE + m * self._inner["k"] * self._width

    def _weight(self, n: int) -> int:
        return SCRATCHPAD_BASE + (self._inner["m"] + n) * self._inner["k"] * self._width

    def _output(self, m: int, n: int) -> int:
        return ACCUMULATOR_BASE + (m * self._inner["n"] + n) * self._width

    def _box(
        self, *, m: tuple[int, int] | None = None, n: tuple[int, int] | None = None, k: bool = False
    ) -> Box:
        """Box of the iteration space over a block of rows, one of columns and the tile's reduction."""
        box: Box = {_B: (self._start[_B], 1)}
        for axis, block in ((_M, m), (_N, n)):
            if block:
                box[axis] = (self._start[axis] + block[0], block[1])
        if k:
            box[_K] = (self._start[_K], self._depth)
        return box
