"""Strided sets, against sets of bytes."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from pantile.check.overlap import SPAN, common_range, normal, overlaps, stop
from pantile.program.tables import ACCESS

spans = st.tuples(st.just(0), st.integers(0, 20), st.integers(0, 4), st.integers(0, 4), st.integers(1, 7))


def row(span: tuple[int, ...]) -> np.ndarray:
    made = np.zeros(1, ACCESS)
    for name, value in zip(SPAN.names or (), span, strict=True):
        made[name] = value
    return normal(made)


def covered(span: tuple[int, ...]) -> set[int]:
    _, lo, length, rows, pitch = span
    return {lo + at * pitch + byte for at in range(rows) for byte in range(length)}


@given(spans, spans)
@example((0, 0, 2, 3, 5), (0, 3, 1, 2, 5))  # of one pitch, between one another
@example((0, 0, 1, 4, 6), (0, 4, 1, 4, 4))  # they meet only at 12
def test_same_as_sets_of_bytes(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    a, b = row(first), row(second)
    common = covered(first) & covered(second)
    assert overlaps(a, b).tolist() == [bool(common)]
    if common:
        lo, hi = common_range(a[0], b[0])
        assert lo == min(common)
        assert set(range(lo, hi)) <= common


@given(spans)
def test_normal_keeps_the_bytes_and_joins_rows_that_touch(span: tuple[int, ...]) -> None:
    made = row(span)
    assert covered(tuple(made[0].tolist())) == covered(span)
    if made["rows"][0] > 1:
        assert made["pitch"][0] > made["length"][0]


def test_stop_is_one_more_than_the_last_byte() -> None:
    assert stop(row((0, 8, 2, 3, 16))).tolist() == [8 + 2 * 16 + 2]


def test_blocks_of_one_matrix_side_by_side_do_not_meet() -> None:
    left, right = row((0, 0, 64, 32, 128)), row((0, 64, 64, 32, 128))
    below = row((0, 31 * 128, 64, 4, 128))
    assert overlaps(left, right).tolist() == [False]
    assert overlaps(left, below).tolist() == [True]
    assert common_range(left[0], below[0]) == (31 * 128, 31 * 128 + 64)
