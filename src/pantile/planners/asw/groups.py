"""Blocks in groups whose panels fit L2: group by group, and within a group in the usual order.

Source: asw-theory.md section 9, group order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.errors import MappingError
from pantile.tiling.cut import ceil_div
from pantile.tiling.orders import Index, Order, check_loops

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Grouped(Order):
    """Rectangles of blocks, row by row of rectangles, every second row of them from the far end.

    Attributes:
        loops: Names of rows and columns.
        counts: Rows and columns of blocks.
        group: Rows and columns of a rectangle; those at the edge are smaller.
        within: Returns the order over a rectangle of so many rows and columns.

    Raises:
        MappingError: If there are not two loops, or a rectangle is empty.
    """

    loops: tuple[str, ...]
    counts: tuple[int, ...]
    group: tuple[int, int]
    within: Callable[[tuple[int, int]], Order]

    def __post_init__(self) -> None:
        check_loops(self.loops, self.counts, 2)
        if min(self.group) < 1:
            raise MappingError(f"a group needs at least 1 row and 1 column, got {self.group}")

    def _row(self, number: int) -> tuple[int, int]:
        """Return the first row of blocks of a row of groups, and how many it has."""
        first = number * self.group[0]
        return first, min(self.group[0], self.counts[0] - first)

    def _column(self, number: int) -> tuple[int, int]:
        first = number * self.group[1]
        return first, min(self.group[1], self.counts[1] - first)

    def _columns_of(self, row: int) -> range:
        """Return the groups of one row of them, in order."""
        across = ceil_div(self.counts[1], self.group[1])
        return range(across - 1, -1, -1) if row % 2 else range(across)

    def at(self, position: int) -> Index:
        """Return row and column at a position."""
        self.refuse_position(position)
        row = position // (self.group[0] * self.counts[1])
        first, height = self._row(row)
        position -= first * self.counts[1]
        for number in self._columns_of(row):
            left, width = self._column(number)
            if position < height * width:
                down, across = self.within((height, width)).at(position)
                return first + down, left + across
            position -= height * width
        raise AssertionError("the position is within the row of groups")

    def position(self, index: Index) -> int:
        """Return the position of row and column."""
        self.refuse_index(index)
        row = index[0] // self.group[0]
        first, height = self._row(row)
        before = first * self.counts[1]
        for number in self._columns_of(row):
            left, width = self._column(number)
            if number == index[1] // self.group[1]:
                inside = (index[0] - first, index[1] - left)
                return before + self.within((height, width)).position(inside)
            before += height * width
        raise AssertionError("the column is within the row of groups")
