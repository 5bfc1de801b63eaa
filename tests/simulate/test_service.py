"""Exact service times, also where products leave 64 bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pantile.errors import ProgramError
from pantile.simulate.engine import run_compiled
from pantile.simulate.service import MOST, service_column, service_ticks

rates = st.one_of(st.integers(1, 10**15), st.sampled_from([25_600_000_000, 999_999_999_989, 10**12]))


@given(st.lists(st.tuples(st.integers(0, 2**40), rates), min_size=1, max_size=20))
def test_a_column_of_services_equals_one_by_one(pairs: list[tuple[int, int]]) -> None:
    pairs = [(amount, max(rate, amount // 10**6)) for amount, rate in pairs]  # within 64 bits
    amounts, speeds = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    found = service_column(amounts, speeds, np.arange(len(pairs)))
    assert found.tolist() == [service_ticks(*pair) for pair in pairs]


def test_nothing_serves_at_rate_0() -> None:
    assert service_column(np.array([5]), np.array([0]), np.array([0])).tolist() == [0]


@pytest.mark.slow
@pytest.mark.parametrize("rate", [999_999_999_989, 10**15 + 37, 3 * 10**12, 25_600_000_001])
@pytest.mark.parametrize("amount", [1, 10**9 + 7, MOST // 7])
def test_the_compiled_link_is_exact_where_products_overflow(
    builder: Callable[[], Any], rate: int, amount: int
) -> None:
    b = builder()
    if service_ticks(amount, rate) >= 1 << 59:
        amount = 10**9
    b.op(b.thread(), uses=[(b.resource(rate, shared=True, quantum=4096), amount)])
    assert run_compiled(b.bound()).times["finish"].tolist() == [service_ticks(amount, rate)]


def test_more_than_can_be_counted_is_refused(builder: Callable[[], Any]) -> None:
    b = builder()
    b.op(b.thread(), uses=[(b.resource(1), 2 * 10**6)])
    with pytest.raises(ProgramError, match=r"operations one after the other take 2e\+18 ps, more than 2\^60"):
        b.bound()
    b = builder()
    b.op(b.thread(), uses=[(b.resource(10**17 + 3), 1)])
    with pytest.raises(ProgramError, match="a rate of 100000000000000003 per second cannot be counted"):
        b.bound()
