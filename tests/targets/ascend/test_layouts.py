"""Layouts are bijections, and lie as worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pantile.errors import ProgramError
from pantile.targets.ascend.layouts import Layout, nd, nz, zn, zz

BLOCKS = [4, 8, 16, 32, 64]
shapes = st.tuples(st.integers(1, 100), st.integers(1, 100), st.sampled_from(BLOCKS))


def layouts(rows: int, columns: int, block: int) -> list[Layout]:
    return [nd(rows, columns), zn(rows, columns, block), zz(rows, columns, block), nz(rows, columns, block)]


@given(shapes)
def test_every_layout_is_a_bijection(shape: tuple[int, int, int]) -> None:
    for layout in layouts(*shape):
        rows, columns = np.arange(layout.rows)[:, None], np.arange(layout.columns)
        offsets = layout.offset(rows, columns)
        assert np.array_equal(np.sort(offsets.reshape(-1)), np.arange(layout.elements))
        back_rows, back_columns = layout.place(offsets)
        assert np.array_equal(back_rows, np.broadcast_to(rows, offsets.shape))
        assert np.array_equal(back_columns, np.broadcast_to(columns, offsets.shape))


@given(shapes)
def test_packing_and_unpacking_give_the_matrix_back(shape: tuple[int, int, int]) -> None:
    rows, columns, _ = shape
    matrix = np.arange(rows * columns).reshape(rows, columns)
    for layout in layouts(*shape):
        assert np.array_equal(layout.unpack(layout.pack(matrix, -1), rows, columns), matrix)


def one_by_one(layout: Layout, row: int, column: int, block: int) -> int:
    """The formulas of the documents, for one element."""
    if layout.name == "ND":
        return row * layout.columns + column
    if layout.name == "zN":
        return column // block * layout.rows * block + row * block + column % block
    if layout.name == "zZ":
        fractal = row // 16 * (layout.columns // block) + column // block
        return fractal * 16 * block + row % 16 * block + column % block
    fractal = row // block * (layout.columns // 16) + column // 16
    return fractal * 16 * block + column % 16 * block + row % block


@given(shapes, st.data())
def test_offsets_are_those_of_the_documents(shape: tuple[int, int, int], data: st.DataObject) -> None:
    rows, columns, block = shape
    row, column = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, columns - 1))
    for layout in layouts(*shape):
        assert layout.offset(row, column) == one_by_one(layout, row, column, block)


def test_a_small_matrix_lies_as_drawn_by_hand() -> None:
    # 32 x 32 of half (blocks of 16): four fractals of 16 x 16.
    corner = {"zN": (0, 512, 256, 768), "zZ": (0, 256, 512, 768), "nZ": (0, 256, 512, 768)}
    for layout in (zn(32, 32, 16), zz(32, 32, 16), nz(32, 32, 16)):
        corners = [(0, 0), (0, 16), (16, 0), (16, 16)]
        assert tuple(int(layout.offset(*at)) for at in corners) == corner[layout.name]
    assert int(zn(32, 32, 16).offset(1, 0)) == 16  # z: row by row
    assert int(nz(32, 32, 16).offset(1, 0)) == 1  # n: column by column


def test_fractals_cover_a_layout() -> None:
    with pytest.raises(ProgramError, match="17 x 16 elements are no whole number of fractals of 16 x 16"):
        Layout(
            name="zN",
            rows=17,
            columns=16,
            fractal_rows=16,
            fractal_columns=16,
            row_inner=True,
            row_outer=True,
        )
