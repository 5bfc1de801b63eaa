"""Blocks of memory with four extents: what ``mma_tile`` is handed, and how an operand is stored in them.

Source: ascend-core.md section 1.6.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from pantile.targets.ascend.elements import FRACTAL_ROWS, Element, parts, up

if TYPE_CHECKING:
    from collections.abc import Sequence

Extents = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Memref:
    """A four-dimensional block of one buffer.

    Attributes:
        base: Byte address.
        offset: Elements from there to the first one.
        sizes: Extents in elements; of four-bit data, the innermost counts bytes.
        strides: Elements between neighbours.
    """

    base: int
    offset: int
    sizes: Extents
    strides: Extents

    def address(self, element_bytes: int) -> int:
        """Return the byte address of the first element."""
        return self.base + self.offset * element_bytes

    @property
    def elements(self) -> int:
        """How many elements it holds."""
        return prod(self.sizes)


def dense(base: int, sizes: Sequence[int]) -> Memref:
    """Return a block without gaps.

    >>> dense(0, (8, 4, 16, 16)).strides
    (1024, 256, 16, 1)
    """
    first, second, third, fourth = sizes
    strides = (second * third * fourth, third * fourth, fourth, 1)
    return Memref(base, 0, (first, second, third, fourth), strides)


def fractals(rows: int, columns: int, row_step: int, column_step: int) -> Extents:
    """Return the extents of a matrix stored in fractals of 16 x *column_step*, column of fractals first."""
    row_blocks = up(rows, row_step) // FRACTAL_ROWS
    return (parts(columns, column_step), row_blocks, FRACTAL_ROWS, column_step)


def left_extents(element: Element, m: int, k: int, *, transposed: bool) -> Extents:
    """Return how the left operand lies in L1; *k* counts what the type's addresses count.

    A load that turns bytes takes 32 rows at once, so that rows are padded to that.

    >>> from pantile.targets.ascend.elements import ELEMENTS
    >>> left_extents(ELEMENTS["half"], 100, 190, transposed=False)
    (12, 7, 16, 16)
    >>> left_extents(ELEMENTS["int8"], 33, 80, transposed=True)
    (2, 6, 16, 32)
    """
    if not transposed:
        return fractals(m, k, FRACTAL_ROWS, element.block)
    return fractals(k, m, _turned_rows(element), element.block)


def right_extents(element: Element, n: int, k: int, *, transposed: bool) -> Extents:
    """Return how the right operand lies in L1.

    Of four-bit data, *k* and *n* count bytes; its rows are single elements of K, turned 64 at a time.

    >>> from pantile.targets.ascend.elements import ELEMENTS
    >>> right_extents(ELEMENTS["int4"], 32, 64, transposed=False)
    (1, 8, 16, 32)
    """
    real_k = 2 * k if element.is_int4 else k
    if transposed:
        return fractals(n, real_k, FRACTAL_ROWS, element.block)
    return fractals(real_k, n, _turned_rows(element), element.block)


def sum_extents(element: Element, m: int, n: int, *, ta: bool, tb: bool) -> Extents:
    """Return the extents of the result in L0C, in blocks of 16 x 16."""
    height = up(m, _turned_columns(element) if ta else FRACTAL_ROWS)
    real_n = 2 * n if element.is_int4 else n
    width = up(real_n, FRACTAL_ROWS if tb else _turned_columns(element))
    return (width // FRACTAL_ROWS, height // FRACTAL_ROWS, FRACTAL_ROWS, FRACTAL_ROWS)


def _turned_rows(element: Element) -> int:
    """How many rows a turning load takes at once."""
    return 64 if element.is_int4 else max(FRACTAL_ROWS, element.block)


def _turned_columns(element: Element) -> int:
    """How many columns a turning load delivers at once."""
    return 64 if element.is_int4 else max(FRACTAL_ROWS, element.block)
