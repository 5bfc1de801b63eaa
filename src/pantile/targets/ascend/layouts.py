"""Layouts of matrices in a core's buffers, as maps from an element's place to its offset and back.

A buffer holds a matrix in *fractals*. Of a layout's two letters the lower one says in which order the
elements of a fractal lie, the upper one in which order the fractals do: z and Z row by row, n and N column
by column.

Source: ascend-core.md section 1.6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pantile.errors import ProgramError
from pantile.targets.ascend.elements import FRACTAL_ROWS, up

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """One layout of a padded matrix: a bijection between its elements and the offsets from 0.

    Attributes:
        name: As it is called, such as ``"zN"``.
        rows: Rows with padding; a multiple of those of a fractal. Likewise *columns*.
        columns: Columns with padding.
        fractal_rows: Rows of a fractal; likewise *fractal_columns*.
        fractal_columns: Columns of a fractal.
        row_inner: Whether the elements of a fractal lie row by row.
        row_outer: Whether the fractals do.

    Raises:
        ProgramError: If fractals do not cover it.
    """

    name: str
    rows: int
    columns: int
    fractal_rows: int
    fractal_columns: int
    row_inner: bool
    row_outer: bool

    def __post_init__(self) -> None:
        if self.rows % self.fractal_rows or self.columns % self.fractal_columns:
            raise ProgramError(
                f"{self.name}: {self.rows} x {self.columns} elements are no whole number of fractals of "
                f"{self.fractal_rows} x {self.fractal_columns}"
            )

    @property
    def elements(self) -> int:
        """Elements with padding."""
        return self.rows * self.columns

    def offset(self, row: npt.ArrayLike, column: npt.ArrayLike) -> Ints:
        """Return where elements lie; *row* and *column* broadcast."""
        at_row, at_column = np.asarray(row, np.int64), np.asarray(column, np.int64)
        outer_row, inner_row = np.divmod(at_row, self.fractal_rows)
        outer_column, inner_column = np.divmod(at_column, self.fractal_columns)
        if self.row_outer:
            fractal = outer_row * (self.columns // self.fractal_columns) + outer_column
        else:
            fractal = outer_column * (self.rows // self.fractal_rows) + outer_row
        if self.row_inner:
            inner = inner_row * self.fractal_columns + inner_column
        else:
            inner = inner_column * self.fractal_rows + inner_row
        return np.asarray(fractal * (self.fractal_rows * self.fractal_columns) + inner, np.int64)

    def place(self, offset: npt.ArrayLike) -> tuple[Ints, Ints]:
        """Return row and column of what lies at *offset*: the inverse of :meth:`offset`."""
        fractal, inner = np.divmod(np.asarray(offset, np.int64), self.fractal_rows * self.fractal_columns)
        if self.row_outer:
            outer_row, outer_column = np.divmod(fractal, self.columns // self.fractal_columns)
        else:
            outer_column, outer_row = np.divmod(fractal, self.rows // self.fractal_rows)
        if self.row_inner:
            inner_row, inner_column = np.divmod(inner, self.fractal_columns)
        else:
            inner_column, inner_row = np.divmod(inner, self.fractal_rows)
        return outer_row * self.fractal_rows + inner_row, outer_column * self.fractal_columns + inner_column

    def pack(self, matrix: npt.NDArray[Any], padding: Any = 0) -> npt.NDArray[Any]:
        """Return the elements of *matrix* in the order of the layout, *padding* where it has none."""
        rows, columns = matrix.shape
        flat = np.full(self.elements, padding, matrix.dtype)
        flat[self.offset(np.arange(rows)[:, None], np.arange(columns))] = matrix
        return flat

    def unpack(self, flat: npt.NDArray[Any], rows: int, columns: int) -> npt.NDArray[Any]:
        """Return the first *rows* x *columns* elements as a matrix."""
        return np.asarray(flat)[self.offset(np.arange(rows)[:, None], np.arange(columns))]


def nd(rows: int, columns: int) -> Layout:
    """Return plain row order, as tensors lie in GM."""
    return Layout(
        name="ND",
        rows=rows,
        columns=columns,
        fractal_rows=1,
        fractal_columns=columns,
        row_inner=True,
        row_outer=True,
    )


def zn(rows: int, columns: int, block: int) -> Layout:
    """Return the layout of operands in L1 (*block* is C0), and with a block of 16 that of sums in L0C.

    >>> int(zn(32, 64, 16).offset(1, 16))  # one column of fractals of 32 rows, one row of 16 elements
    528
    """
    return _fractals("zN", rows, columns, FRACTAL_ROWS, block, row_inner=True, row_outer=False)


def zz(rows: int, columns: int, block: int) -> Layout:
    """Return the layout of the left operand in L0A: rows are M, columns K."""
    return _fractals("zZ", rows, columns, FRACTAL_ROWS, block, row_inner=True, row_outer=True)


def nz(rows: int, columns: int, block: int) -> Layout:
    """Return the layout of the right operand in L0B: rows are K, columns N; a fractal is *block* x 16.

    >>> int(nz(32, 48, 16).offset(0, 1)), int(nz(32, 48, 16).offset(16, 0))
    (16, 768)
    """
    return _fractals("nZ", rows, columns, block, FRACTAL_ROWS, row_inner=False, row_outer=True)


def _fractals(
    name: str, rows: int, columns: int, fractal_rows: int, fractal_columns: int, **order: bool
) -> Layout:
    return Layout(
        name=name,
        rows=up(rows, fractal_rows),
        columns=up(columns, fractal_columns),
        fractal_rows=fractal_rows,
        fractal_columns=fractal_columns,
        **order,
    )
