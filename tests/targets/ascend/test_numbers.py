"""Four-bit numbers, HF32, and products as the cube forms them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pantile.targets.ascend.numbers import (
    HF32_FRACTION_BITS,
    pack_int4,
    product,
    round_to_hf32,
    unpack_int4,
)


@given(st.lists(st.integers(-8, 7), min_size=2, max_size=64).filter(lambda each: len(each) % 2 == 0))
def test_four_bit_numbers_come_back(values: list[int]) -> None:
    packed = pack_int4(values)
    assert packed.size == len(values) // 2
    assert unpack_int4(packed).tolist() == values


def test_the_first_of_two_four_bit_numbers_is_the_low_half() -> None:
    assert pack_int4([3, -2]).tolist() == [0xE3]


@given(st.floats(width=32, allow_nan=False, allow_infinity=False, min_value=-(2.0**99), max_value=2.0**99))
def test_hf32_is_the_nearest_number_of_so_many_fraction_bits(value: float) -> None:
    rounded = float(round_to_hf32([value])[0])
    if abs(value) < 2.0**-120:
        return
    step = 2.0 ** (np.frexp(value)[1] - 1 - HF32_FRACTION_BITS)
    assert rounded % step == 0
    assert abs(rounded - value) <= step / 2


def test_hf32_breaks_ties_to_even_and_keeps_what_is_no_number() -> None:
    unit = 2.0**-HF32_FRACTION_BITS
    assert round_to_hf32([1 + unit / 2, 1 + 3 * unit / 2]).tolist() == [1, 1 + 2 * unit]
    kept = round_to_hf32([np.inf, -np.inf, np.nan])
    assert np.isposinf(kept[0])
    assert np.isneginf(kept[1])
    assert np.isnan(kept[2])


def test_integer_sums_wrap_at_32_bits() -> None:
    left, right = np.full((1, 140000), 127, np.int8), np.full((140000, 1), 127, np.int8)
    exact = 140000 * 127 * 127
    assert exact >= 2**31
    assert int(product(left, right)[0, 0]) == exact - 2**32
