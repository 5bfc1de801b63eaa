"""Clocks."""

from __future__ import annotations

import pytest

from pantile.machine.checks import ConstantError
from pantile.machine.clock import Clock


@pytest.mark.parametrize(
    ("hz", "period_ps"),
    [(1_200_000_000, 833), (10**9, 1000), (333_000_000, 3003), (10**12, 1), (1, 10**12), (3 * 10**11, 3)],
)
def test_the_period_drops_the_remainder(hz: int, period_ps: int) -> None:
    assert Clock("core", hz).period_ps == period_ps


def test_text_with_a_unit() -> None:
    assert Clock.from_entry("dram", "1.05 GHz") == Clock("dram", 1_050_000_000)


@pytest.mark.parametrize(
    ("name", "hz", "message"),
    [
        ("core", 0, "clock.core: expected a whole number from 1, got 0"),
        ("core", 10**12 + 1, "clock.core: expected at most 1 THz, the period of which is 1 ps"),
        ("a.b", 1, "clock.a.b: expected a name of letters, digits, _ and -, got 'a.b'"),
    ],
)
def test_what_no_clock_can_be(name: str, hz: int, message: str) -> None:
    with pytest.raises(ConstantError) as caught:
        Clock(name, hz)
    assert message in str(caught.value)
