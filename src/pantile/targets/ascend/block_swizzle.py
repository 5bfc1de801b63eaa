"""In which order the macro GEMM of the library walks through its blocks.

Source: ascend-core.md section 3.4. The library computes in unsigned 32-bit numbers, so do these.
"""

from __future__ import annotations

from dataclasses import dataclass

from pantile.targets.ascend.elements import parts

_WRAP = 0xFFFFFFFF


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockOrder:
    """The order of the blocks of one product.

    Attributes:
        m_loops: Blocks along M, likewise *n_loops* along N.
        n_loops: Blocks along N.
        count: Rows (or columns) of blocks that form one group.
        by_columns: Whether groups are of columns instead of rows.
    """

    m_loops: int
    n_loops: int
    count: int
    by_columns: bool

    @property
    def blocks(self) -> int:
        """Number of all blocks."""
        return self.m_loops * self.n_loops

    def block(self, task: int) -> tuple[int, int]:
        """Return row and column of the *task*-th block; every other group runs backwards."""
        across, along = self.m_loops, self.n_loops
        if self.by_columns:
            across, along = along, across
        group, within = divmod(task, self.count * along)
        last = parts(across, self.count) - 1
        width = self.count if group < last else across - self.count * group
        first, second = group * self.count + within % width, within // width
        if group % 2:
            second = along - second - 1
        return (second, first) if self.by_columns else (first, second)


def block_order(m: int, n: int, k: int, *, m_tile: int, n_tile: int, block_num: int) -> BlockOrder:
    """Return the order in which *block_num* cores take the blocks of an m x n x k product.

    The direction is that of the last group size tried, not that of the best one: so the library has it.

    >>> block_order(2048, 2048, 1024, m_tile=256, n_tile=128, block_num=20).count
    5
    """
    best, count, by_columns = (m * k + k * n) & _WRAP, 1, False
    for rows in range(1, block_num + 1):
        columns = parts(block_num, rows)
        by_rows_cost = m_tile * rows + n_tile * columns & _WRAP
        by_columns = (rows * n_tile + m & _WRAP) < (m_tile * columns + n & _WRAP)
        cost = n_tile * rows + m_tile * columns & _WRAP if by_columns else by_rows_cost
        if cost < best or (by_columns and cost == best):
            best, count = cost, rows
    return BlockOrder(m_loops=parts(m, m_tile), n_loops=parts(n, n_tile), count=count, by_columns=by_columns)
