"""Which core does which block when, as the kernels of ASW_BASIC go (section 11)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pantile.planners.cann.integers import ceil_div, round_up
from pantile.tiling.swizzle import Swizzle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pantile.planners.cann.figures import Figures

WINDOW = 4
"""Rows of tiles of a window: a constant of the kernel, whatever aswWindowLen says."""


class Block(NamedTuple):
    """One unit of work; offsets and sizes in elements.

    Attributes:
        round: How many blocks its core did before; chunks of one tile's reduction count as one.
        m_index: Row of tiles; likewise *n_index*.
        single_m: Rows of the tile, fewer at the edge; likewise columns and reduction.
        offset_a: Where its first element of A lies; likewise of B, of the output and of the bias.
    """

    round: int
    core: int
    batch: int
    m_index: int
    n_index: int
    single_m: int
    single_n: int
    m_offset: int
    n_offset: int
    k_offset: int
    single_k: int
    offset_a: int
    offset_b: int
    offset_c: int
    offset_bias: int


@dataclass(frozen=True, slots=True)
class BlockOrder:
    """The order of a problem's blocks.

    Attributes:
        figures: The problem and its platform.
        rows: Rows of a tile (mL1); likewise *columns* (nL1).
        pieces: Start and stop of each chunk of the reduction.
    """

    figures: Figures
    rows: int
    columns: int
    pieces: tuple[tuple[int, int], ...]

    @property
    def counts(self) -> tuple[int, int]:
        """Rows and columns of tiles of one batch."""
        return ceil_div(self.figures.m, self.rows), ceil_div(self.figures.n, self.columns)

    @property
    def tiles(self) -> int:
        """Tiles of all batches."""
        m_count, n_count = self.counts
        return m_count * n_count * self.figures.batch_c

    @property
    def swizzle(self) -> Swizzle:
        """The order inside a batch: windows of rows, left-over rows in the last, every second backwards."""
        return Swizzle(("m", "n"), self.counts, window=WINDOW, tail="merged")

    def __iter__(self) -> Iterator[Block]:
        """Yield the blocks core by core, each core's in its order."""
        for core in range(min(self.figures.cores, self.tiles)):
            yield from self.of_core(core)

    def of_core(self, core: int) -> Iterator[Block]:
        """Yield one core's blocks in its order: every so-manieth tile, batch after batch."""
        f, order = self.figures, self.swizzle
        for number, at in enumerate(range(core, self.tiles, f.cores)):
            batch, inside = divmod(at, order.size)
            m_index, n_index = order.at(inside)
            for start, stop in self.pieces:
                yield self._block(number, core, batch, m_index, n_index, start, stop)

    def _block(
        self, number: int, core: int, batch: int, m_index: int, n_index: int, start: int, stop: int
    ) -> Block:
        f = self.figures
        m_offset, n_offset = m_index * self.rows, n_index * self.columns
        at = _steps(f)
        return Block(
            round=number,
            core=core,
            batch=batch,
            m_index=m_index,
            n_index=n_index,
            single_m=min(self.rows, f.m - m_offset),
            single_n=min(self.columns, f.n - n_offset),
            m_offset=m_offset,
            n_offset=n_offset,
            k_offset=start,
            single_k=stop - start,
            offset_a=batch * at.a_batch + m_offset * at.a_m + start * at.a_k,
            offset_b=batch * at.b_batch + n_offset * at.b_n + start * at.b_k,
            offset_c=batch * f.m * f.n + m_offset * f.n + n_offset,
            offset_bias=n_offset if f.bias_bytes else 0,
        )


def reduction_pieces(k: int, length: int) -> tuple[tuple[int, int], ...]:
    """Return the chunks of a reduction cut every *length*, the rest in the last; 0 cuts nothing.

    >>> reduction_pieces(2500, 1024)
    ((0, 1024), (1024, 2500))
    """
    if not length:
        return ((0, k),)
    last = (k // length - 1) * length
    return (*((at, at + length) for at in range(0, last, length)), (last, k))


class _Steps(NamedTuple):
    """How far one step along a dimension moves in memory, in elements, for tiles at multiples of 16."""

    a_batch: int
    a_m: int
    a_k: int
    b_batch: int
    b_n: int
    b_k: int


def _steps(f: Figures) -> _Steps:
    """Return the steps of the two inputs (section 11.3)."""
    a_row = f.m if f.transpose_a else f.k
    b_row = f.k if f.transpose_b else f.n
    a_batch, b_batch, a_pitch, b_pitch = f.m * f.k, f.n * f.k, a_row, b_row
    if f.strided_a and f.strided_b:
        a_batch, b_batch, a_pitch, b_pitch = a_row, b_row, a_row * f.batch_c, b_row * f.batch_c
    b_n, b_k = (b_pitch, 1) if f.transpose_b else (1, b_pitch)
    if f.nz:  # columns of fractals, each 32 B wide and all rows tall
        unit = 32 // f.element_bytes
        wide, tall = (f.k, f.n) if f.transpose_b else (f.n, f.k)
        b_batch = ceil_div(wide, unit) * round_up(tall, 16) * unit
        b_n, b_k = (unit, round_up(tall, 16)) if f.transpose_b else (round_up(tall, 16), unit)
    a_m, a_k = (1, a_pitch) if f.transpose_a else (a_pitch, 1)
    return _Steps(a_batch, a_m, a_k, b_batch, b_n, b_k)
