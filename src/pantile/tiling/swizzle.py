"""Window-and-serpentine order (swizzle), and the diagonal order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pantile.errors import MappingError
from pantile.tiling.cut import ceil_div
from pantile.tiling.orders import Index, Order, check_loops

Tail = Literal["short", "merged"]
"""What becomes of rows that fill no window: a window of their own, or part of the one before."""


@dataclass(frozen=True, slots=True)
class Swizzle(Order):
    """Windows of rows, column by column, every second window from the far end.

    The first loop counts rows, the second columns. Neighbours in the order share a column, and few rows are
    at work at a time.

    Attributes:
        loops: Names of rows and columns.
        counts: Rows and columns.
        window: Rows of a window; more than there are rows count as all.
        tail: ``short`` gives the remaining rows a window of their own, ``merged`` adds them to the last one.

    Raises:
        MappingError: If there are not two loops, or the window is below 1.
    """

    loops: tuple[str, ...]
    counts: tuple[int, ...]
    window: int
    tail: Tail = "short"

    def __post_init__(self) -> None:
        check_loops(self.loops, self.counts, 2)
        if self.window < 1:
            raise MappingError(f"a window needs at least 1 row, got {self.window}")
        if self.tail not in ("short", "merged"):
            raise MappingError(f"the tail of a swizzle is 'short' or 'merged', got {self.tail!r}")

    def _window(self, number: int) -> tuple[int, int]:
        """Return the first row of a window and how many it has; a number beyond the last means the last."""
        rows = self.counts[0]
        height = min(self.window, rows)
        windows = ceil_div(rows, height) if self.tail == "short" else rows // height
        if number >= windows - 1:
            return (windows - 1) * height, rows - (windows - 1) * height
        return number * height, height

    def at(self, position: int) -> Index:
        """Return row and column at a position.

        >>> Swizzle(("m", "n"), (8, 8), window=4).at(60)
        (4, 0)
        """
        self.refuse_position(position)
        columns, height = self.counts[1], min(self.window, self.counts[0])
        first, rows = self._window(position // (height * columns))
        column, row = divmod(position - first * columns, rows)
        return first + row, self._mirrored(first, column)

    def position(self, index: Index) -> int:
        """Return the position of row and column."""
        self.refuse_index(index)
        height = min(self.window, self.counts[0])
        first, rows = self._window(index[0] // height)
        return first * self.counts[1] + self._mirrored(first, index[1]) * rows + index[0] - first

    def _mirrored(self, first: int, column: int) -> int:
        """Return the column counted from the far end in every second window."""
        odd = first // min(self.window, self.counts[0]) % 2
        return self.counts[1] - 1 - column if odd else column


@dataclass(frozen=True, slots=True)
class Diagonal(Order):
    """Down the diagonals: each step moves to the next row and the next column, both around the edge.

    As many neighbours in the order as there are rows share no row, and few share a column. Each further
    diagonal starts one column on.

    Raises:
        MappingError: If there are not two loops.
    """

    loops: tuple[str, ...]
    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        check_loops(self.loops, self.counts, 2)

    def at(self, position: int) -> Index:
        """Return row and column at a position.

        >>> Diagonal(("m", "n"), (4, 4)).at(7)
        (3, 0)
        """
        self.refuse_position(position)
        diagonal, row = divmod(position, self.counts[0])
        return row, (row + diagonal) % self.counts[1]

    def position(self, index: Index) -> int:
        """Return the position of row and column."""
        self.refuse_index(index)
        return (index[1] - index[0]) % self.counts[1] * self.counts[0] + index[0]
