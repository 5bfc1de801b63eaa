"""Channels of requests, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pantile.targets.systolic.channels import channels_of

# onnxim-model.md section 9, as it is written there.
EQUATIONS = {
    16: [
        "a11^a10^a9^a8^a6^a4^a3^a0",
        "a12^a8^a7^a6^a5^a3^a1^a0",
        "a9^a8^a7^a6^a4^a2^a1",
        "a10^a9^a8^a7^a5^a3^a2",
    ],
    32: [
        "a13^a12^a11^a10^a9^a6^a5^a3^a0",
        "a14^a13^a12^a11^a10^a7^a6^a4^a1",
        "a14^a10^a9^a8^a7^a6^a3^a2^a0",
        "a11^a10^a9^a8^a7^a4^a3^a1",
        "a12^a11^a10^a9^a8^a5^a4^a2",
    ],
    64: [
        "a18^a17^a16^a15^a12^a10^a6^a5^a0",
        "a15^a13^a12^a11^a10^a7^a5^a1^a0",
        "a16^a14^a13^a12^a11^a8^a6^a2^a1",
        "a17^a15^a14^a13^a12^a9^a7^a3^a2",
        "a18^a16^a15^a14^a13^a10^a8^a4^a3",
        "a17^a16^a15^a14^a11^a9^a5^a4",
    ],
}


def by_hand(number: int, channels: int) -> int:
    """The equations, with the bits of the request number put in."""
    hashed = 0
    for place, equation in enumerate(EQUATIONS[max(16, channels)]):
        bits = [number >> int(term[1:]) & 1 for term in equation.split("^")]
        hashed |= sum(bits) % 2 << place
    return hashed % channels


@given(
    numbers=st.lists(st.integers(0, 2**40), min_size=1, max_size=40),
    channels=st.sampled_from([*range(1, 17), 32, 64]),
)
def test_channel_is_the_parity_of_each_equation(numbers: list[int], channels: int) -> None:
    found = channels_of(np.array(numbers, np.int64), channels)
    assert found.tolist() == [by_hand(number, channels) for number in numbers]


@pytest.mark.parametrize("channels", [16, 32, 64])
def test_consecutive_requests_of_an_aligned_group_take_every_channel_once(channels: int) -> None:
    # The hash of a group is the low bits permuted: the equations are independent in them.
    assert sorted(channels_of(np.arange(channels), channels).tolist()) == list(range(channels))


def test_small_counts_take_the_16_way_hash_modulo_the_count() -> None:
    # Request 8: a3 is in b0, b1 and b3, so that the hash is 1 + 2 + 8 = 11; 11 mod 3 = 2.
    assert channels_of(np.array([8]), 16).tolist() == [11]
    assert channels_of(np.array([8]), 3).tolist() == [2]
    assert channels_of(np.array([8]), 1).tolist() == [0]
