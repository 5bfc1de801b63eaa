from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pantile.errors import Place, WorkloadError
from pantile.workload.sizes import LARGEST_SIZE, parse_size, quoted


@given(st.integers(1, LARGEST_SIZE))
def test_reads_back_every_size_that_it_allows(size: int) -> None:
    assert parse_size(str(size), "m") == size
    assert parse_size(f"00{size}", "m") == size


@pytest.mark.parametrize("text", ["", "x", "1.5", "1e3", "1_000", "+1", "0x10", " 1", "１２", "--1", "1\n"])
def test_refuses_what_is_no_integer(text: str) -> None:
    with pytest.raises(WorkloadError, match="m must be an integer, got") as caught:
        parse_size(text, "m")
    assert caught.value.mend == "write a whole number from 1 to 2147483647"


@pytest.mark.parametrize(("text", "least"), [("0", 1), ("-1", 1), ("-1", 0), ("-" + "9" * 5000, 1)])
def test_refuses_what_is_below_the_least(text: str, least: int) -> None:
    with pytest.raises(WorkloadError, match=f"n must be at least {least}, got {text[:5]}"):
        parse_size(text, "n", least=least)


def test_zero_is_a_size_where_asked_for() -> None:
    assert parse_size("0", "k", least=0) == 0
    assert parse_size("-0", "k", least=0) == 0


@pytest.mark.parametrize("text", ["2147483648", "4294967296", "9" * 5000])
def test_names_the_limit_and_the_value_above_it(text: str) -> None:
    with pytest.raises(WorkloadError) as caught:
        parse_size(text, "k", place=Place("f", 2, 3))
    shown = text if len(text) < 20 else "9" * 40 + "…"
    assert str(caught.value) == f"f:2:3: k must be at most 2147483647 (2^31 - 1), got {shown} [PT-WORKLOAD]"


def test_quotes_on_one_line() -> None:
    assert quoted("a\nb") == r"'a\nb'"
    assert quoted("a" * 41) == "'" + "a" * 40 + "…'"
