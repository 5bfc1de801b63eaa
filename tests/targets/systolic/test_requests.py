"""Requests of boxes: dense rules against sets over elements, stepped ones against the specification."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pantile.program.program import Operand
from pantile.targets.systolic.requests import box_requests, count_requests_of

law = settings(deadline=None, max_examples=150)
GRANULES = st.sampled_from([1, 4, 8, 32, 48, 64])


def matrix(rule: str, rows: int, columns: int, width: int, base: int, **parameters: Any) -> Operand:
    """A row-major matrix over axes 1 and 2 of (batch, row, column)."""
    return Operand(
        name="a",
        tensor="x",
        base=base,
        dims=(rows, columns),
        element_bytes=width,
        rule=rule,
        strides=(0, columns, 1),
        parameters={"order": [1, 2], **parameters},
    )


@st.composite
def boxes_of_matrices(draw: st.DrawFn) -> tuple[int, int, list[int], list[int]]:
    """(rows, columns, first element and length along batch, row and column)."""
    rows, columns = draw(st.integers(1, 9)), draw(st.integers(1, 40))
    row, column = draw(st.integers(0, rows - 1)), draw(st.integers(0, columns - 1))
    high, wide = draw(st.integers(1, rows - row)), draw(st.integers(0, columns - column))
    return rows, columns, [0, row, column], [1, high, wide]


@law
@given(box=boxes_of_matrices(), width=st.integers(1, 8), base=st.integers(0, 3), granule=GRANULES)
def test_dense_box_is_every_request_that_holds_an_element(
    box: tuple[int, int, list[int], list[int]], width: int, base: int, granule: int
) -> None:
    rows, columns, lo, length = box
    operand = matrix("dense", rows, columns, width, base * 256)
    elements = [
        r * columns + c for r in range(lo[1], lo[1] + length[1]) for c in range(lo[2], lo[2] + length[2])
    ]
    expected = sorted({base * 256 + e * width // granule * granule for e in elements})
    assert box_requests(operand, lo, length, granule, wrap=False).tolist() == expected
    assert count_requests_of(operand, lo, length, granule, wrap=False) == len(expected)


@law
@given(box=boxes_of_matrices(), width=st.integers(1, 8), base=st.integers(0, 3), granule=GRANULES)
@example(
    (2, 40, [0, 0, 20], [1, 2, 20]), 1, 0, 32
)  # Q27: from 20 on, 20 elements: one step, so bytes 32..39 miss
def test_stepped_box_starts_at_its_first_element_and_steps_by_a_request(
    box: tuple[int, int, list[int], list[int]], width: int, base: int, granule: int
) -> None:
    rows, columns, lo, length = box
    if width > granule:
        return  # refused by the machine (Q22)
    operand = matrix("stepped", rows, columns, width, base * 256)
    asked = [
        base * 256 + (r * columns + c) * width // granule * granule
        for r in range(lo[1], lo[1] + length[1])
        for c in range(lo[2], lo[2] + length[2], granule // width)
    ]
    assert box_requests(operand, lo, length, granule, wrap=False).tolist() == sorted(set(asked))
    assert count_requests_of(operand, lo, length, granule, wrap=False) == len(set(asked))


def test_unaligned_segment_misses_its_last_chunk() -> None:
    # Q27: elements 20..39 of a row of 40 B touch the requests at 0 and 32, but only 20 is addressed.
    operand = matrix("stepped", 1, 40, 1, 0)
    assert box_requests(operand, [0, 0, 20], [1, 1, 20], 32, wrap=False).tolist() == [0]
    dense = matrix("dense", 1, 40, 1, 0)
    assert box_requests(dense, [0, 0, 20], [1, 1, 20], 32, wrap=False).tolist() == [0, 32]


def test_rows_that_share_a_request_ask_for_it_once() -> None:
    # Eight rows of 4 B lie in one request of 32 B.
    operand = matrix("stepped", 8, 4, 1, 512)
    assert box_requests(operand, [0, 0, 0], [1, 8, 4], 32, wrap=False).tolist() == [512]


def test_bias_keeps_repeated_requests() -> None:
    bias = Operand(
        name="bias",
        tensor="b",
        base=512,
        dims=(64,),
        element_bytes=3,
        rule="stepped_all",
        strides=(0, 0, 1),
        parameters={"order": [2], "batch_offsets": [0, 0]},
    )
    # 8 B hold two elements of 3 B: elements 1, 3, 5, 7 at bytes 3, 9, 15, 21, rounded down to 0, 8, 8, 16.
    found = box_requests(bias, [1, 0, 1], [1, 0, 8], 8, wrap=False)
    assert found.tolist() == [512, 520, 520, 528]
    assert count_requests_of(bias, [1, 0, 1], [1, 0, 8], 8, wrap=False) == 4


def test_batch_offset_moves_the_box() -> None:
    operand = matrix("stepped", 2, 32, 1, 0, batch_offsets=[0, 64, 128])
    assert box_requests(operand, [2, 1, 0], [1, 1, 32], 32, wrap=False).tolist() == [128 + 32]


@pytest.mark.parametrize(("wrap", "expected"), [(True, [256]), (False, [256 + 2**32])])
def test_offsets_wrap_at_32_bits_where_they_do_in_the_original(wrap: bool, expected: list[int]) -> None:
    # Q24: row 2^27 of rows of 32 B starts 2^32 bytes into the tensor.
    operand = matrix("stepped", 2**28, 32, 1, 256)
    assert box_requests(operand, [0, 2**27, 0], [1, 1, 32], 32, wrap=wrap).tolist() == expected
    assert count_requests_of(operand, [0, 2**27, 0], [1, 1, 32], 32, wrap=wrap) == 1


def test_a_wrapped_block_asks_for_both_ends_in_ascending_order() -> None:
    # The last row below 2^32 and the first beyond, which comes round to the tensor's start.
    operand = matrix("stepped", 2**28, 32, 1, 256)
    found = box_requests(operand, [0, 2**27 - 1, 0], [1, 2, 32], 32, wrap=True)
    assert found.tolist() == [256, 256 + 2**32 - 32]


# -- windows -------------------------------------------------------------------------------------------


@st.composite
def windows(draw: st.DrawFn) -> tuple[dict[str, Any], list[int], list[int]]:
    """Parameters of a window operand, and a box over n, q, p, m, s, r, c."""
    height, width, channels, batch = (draw(st.integers(1, limit)) for limit in (8, 8, 5, 2))
    channels_last = draw(st.booleans())
    sizes = {"n": batch, "h": height, "w": width, "c": channels}
    order = "nhwc" if channels_last else "nchw"
    strides = {axis: int(np.prod([sizes[x] for x in order[at + 1 :]])) for at, axis in enumerate(order)}
    given_ = {
        "strides": [draw(st.integers(1, 3)) for _ in "hw"],
        "pads": [draw(st.integers(0, 3)) for _ in "hw"],
        "dilations": [draw(st.integers(1, 3)) for _ in "hw"],
        "kernel": [draw(st.integers(1, 3)) for _ in "hw"],
        "height": height,
        "width": width,
        "picture_strides": [strides[axis] for axis in "nhwc"],
        "channels_last": channels_last,
    }
    n, c = draw(st.integers(0, batch - 1)), draw(st.integers(0, channels - 1))
    lo = [n, draw(st.integers(0, 4)), draw(st.integers(0, 4)), 0, 0, 0, c]
    length = [draw(st.integers(1, batch - n)), *(draw(st.integers(1, 4)) for _ in "qp"), 0, 0, 0]
    return given_, lo, [*length, draw(st.integers(1, channels - c))]


@law
@given(window=windows(), width=st.sampled_from([1, 2, 3, 4]), granule=GRANULES)
def test_window_is_every_request_that_holds_an_element_which_an_output_needs(
    window: tuple[dict[str, Any], list[int], list[int]], width: int, granule: int
) -> None:
    given_, lo, length = window
    operand = Operand(
        name="a",
        tensor="x",
        base=1024,
        dims=(),
        element_bytes=width,
        rule="window",
        strides=(0,) * 7,
        parameters=given_,
    )
    n_stride, h_stride, w_stride, c_stride = given_["picture_strides"]
    expected = set()
    for n, q, p, s, r, c in product(
        *(range(lo[axis], lo[axis] + length[axis]) for axis in (0, 1, 2)),
        *map(range, given_["kernel"]),
        range(lo[6], lo[6] + length[6]),
    ):
        h = q * given_["strides"][0] - given_["pads"][0] + s * given_["dilations"][0]
        w = p * given_["strides"][1] - given_["pads"][1] + r * given_["dilations"][1]
        if 0 <= h < given_["height"] and 0 <= w < given_["width"]:
            flat = n * n_stride + h * h_stride + w * w_stride + c * c_stride
            expected.add(1024 + flat * width // granule * granule)
    assert box_requests(operand, lo, length, granule, wrap=False).tolist() == sorted(expected)
    assert count_requests_of(operand, lo, length, granule, wrap=False) == len(expected)
