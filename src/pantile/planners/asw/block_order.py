"""Stage 5: in which order the blocks of a batch are taken, and how many cores then read one panel.

Source: asw-theory.md section 8; errata E-26 (windows and waves), E-27 (window order against conflicts).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import isqrt
from typing import TYPE_CHECKING, Literal, get_args

from pantile.errors import UsageError, suggestion
from pantile.planners.asw.groups import Grouped
from pantile.tiling.cut import ceil_div
from pantile.tiling.orders import Nest
from pantile.tiling.swizzle import Diagonal, Swizzle

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.planners.asw.chip import Chip
    from pantile.planners.asw.l2 import L2Use
    from pantile.planners.asw.problem import Problem
    from pantile.planners.asw.single_core import SingleCore
    from pantile.tiling.orders import Order

OrderName = Literal["lexicographic", "swizzle", "diagonal"]
ORDERS: tuple[OrderName, ...] = get_args(OrderName)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockOrder:
    """How the blocks of a batch are taken.

    Attributes:
        name: Which order.
        window: Rows of a window (W).
        fastest: Axis that runs fastest: 0 is m, 1 is n (calOrder).
        diagonal_readers: Most cores that read one panel at once in diagonal order (transConflict).
        window_readers: The same in window order.
        conflict_free: Whether the diagonal order stays within what the chip tolerates.
        group: Blocks of a group along m and n; ``None`` where a batch is one group.
    """

    name: OrderName
    window: int
    fastest: int
    diagonal_readers: int
    window_readers: int
    conflict_free: bool
    group: tuple[int, int] | None = None

    def over(self, rows: int, columns: int) -> Order:
        """Return the order over a grid of blocks; index tuples are (m, n) if m is fastest, else (n, m)."""
        counts = (rows, columns) if self.fastest == 0 else (columns, rows)
        if self.group is None:
            return order_over(counts, self.name, self.window)
        group = self.group if self.fastest == 0 else self.group[::-1]
        return Grouped(("m", "n"), counts, group, partial(_named_order, self.name, self.window))

    def block_at(self, rows: int, columns: int) -> Callable[[int], tuple[int, int]]:
        """Return the function from a position in a batch to the block's row and column."""
        at = self.over(rows, columns).at

        def place(position: int) -> tuple[int, int]:
            first, second = at(position)
            return (first, second) if self.fastest == 0 else (second, first)

        return place


def window_of(cores: int) -> int:
    """Return the largest divisor of *cores* that is not above its square root.

    >>> [window_of(cores) for cores in (32, 20, 25, 36, 7)]
    [4, 4, 5, 6, 1]
    """
    return next(width for width in range(isqrt(cores), 0, -1) if cores % width == 0)


def order_over(counts: tuple[int, int], name: OrderName, window: int) -> Order:
    """Return an order over rows and columns.

    Raises:
        UsageError: If there is no such order.
    """
    loops = ("m", "n")
    if name == "lexicographic":
        return Nest(loops, counts)
    if name == "swizzle":
        return Swizzle(loops, counts, window, tail="merged")
    if name == "diagonal":
        return Diagonal(loops, counts)
    raise UsageError(f"unknown order {name!r}", mend=suggestion(name, ORDERS))


def _named_order(name: OrderName, window: int, counts: tuple[int, int]) -> Order:
    return order_over(counts, name, window)


def diagonal_readers(cores: int, rows: int, columns: int) -> int:
    """Return the most cores that read one panel at once when cores stand on diagonals (transConflict)."""
    return max(ceil_div(cores, rows), ceil_div(cores, columns))


def block_order(problem: Problem, chip: Chip, block: SingleCore, l2: L2Use, name: OrderName) -> BlockOrder:
    """Return stage 5; the groups of stage 6 are taken one after another."""
    window = window_of(chip.cores)
    readers = diagonal_readers(chip.cores, block.rows, block.columns)
    return BlockOrder(
        name=name,
        window=window,
        fastest=0 if problem.m <= problem.n else 1,
        diagonal_readers=readers,
        window_readers=max(chip.cores // window, window),
        conflict_free=readers <= chip.max_readers,
        group=(l2.m_group, l2.n_group) if (l2.groups or 0) > 1 else None,
    )
