"""Quantities are read and written exactly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pantile.errors import MachineError
from pantile.machine.units import (
    BYTES,
    BYTES_PER_SECOND,
    COUNT,
    HERTZ,
    LARGEST,
    Unit,
    format_quantity,
    parse_quantity,
)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("64 KiB", BYTES, 65_536),
        ("64KiB", BYTES, 65_536),
        ("  32 B ", BYTES, 32),
        ("1.5 MiB", BYTES, 1_572_864),
        ("2 kB", BYTES, 2_000),
        ("1.05 GHz", HERTZ, 1_050_000_000),
        ("0.333333333333 THz", HERTZ, 333_333_333_333),
        ("1.6 TB/s", BYTES_PER_SECOND, 1_600_000_000_000),
        ("1 GiB/s", BYTES_PER_SECOND, 1_073_741_824),
        (65_536, BYTES, 65_536),
        (1e9, HERTZ, 1_000_000_000),
        (7, COUNT, 7),
        (0, COUNT, 0),
        (LARGEST, COUNT, LARGEST),
    ],
)
def test_values_as_people_write_them(text: object, unit: Unit, value: int) -> None:
    assert parse_quantity(text, unit) == value


def test_decimals_are_exact_where_a_double_is_not() -> None:
    assert int(1.001 * 1000) == 1000  # the double below 1001
    assert parse_quantity("1.001 kB", BYTES) == 1001
    assert parse_quantity("9007199254740993 B", BYTES) == 2**53 + 1


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        ("64 KB", BYTES, "got '64 KB'; write the unit as KiB (1024 bytes) or kB (1000 bytes)"),
        ("64", BYTES, "expected a whole number of bytes from 0, such as 65536 or \"64 KiB\", got '64'"),
        ("64 GHz", BYTES, "write the unit as B, kB"),
        ("1 ghz", HERTZ, "write the unit as Hz, kHz, MHz, GHz, THz"),
        ("1.6 TB", BYTES_PER_SECOND, "write the unit as B/s"),
        ("1.5 B", BYTES, "got '1.5 B', which is not whole"),
        ("-1 KiB", BYTES, "got '-1 KiB'"),
        ("KiB", BYTES, "got 'KiB'"),
        ("", BYTES, "got ''"),
        ("1e9 Hz", HERTZ, "got '1e9 Hz'"),
        ("١ KiB", BYTES, "got '١ KiB'"),
        ("9 B" + " " * 80, HERTZ, "..."),
        (-1, BYTES, "got -1"),
        (1.5, HERTZ, "got 1.5"),
        (float("nan"), HERTZ, "got nan"),
        (float("inf"), HERTZ, "got inf"),
        (2.0**60, HERTZ, "got 1.15"),
        (2.0, COUNT, "expected a whole number from 0, got 2.0"),
        ("7", COUNT, "expected a whole number from 0, got '7'"),
        (True, COUNT, "got true"),
        (None, COUNT, "got nothing"),
        ([1], COUNT, "got a list"),
        ({}, COUNT, "got a table"),
        (LARGEST + 1, COUNT, "expected at most 9223372036854775807, got 9223372036854775808"),
        ("9999999 TiB", BYTES, "expected at most 9223372036854775807"),
        ("9" * 400 + " B", BYTES, "expected a whole number of bytes"),
    ],
)
def test_what_is_refused_and_why(value: object, unit: Unit, words: str) -> None:
    with pytest.raises(MachineError) as caught:
        parse_quantity(value, unit)
    assert words in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_bounds_stand_in_the_message() -> None:
    with pytest.raises(MachineError, match="from 1 to 4, got 0"):
        parse_quantity(0, COUNT, 1, 4)
    with pytest.raises(MachineError, match="at most 4, got 5"):
        parse_quantity(5, COUNT, 1, 4)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (65_536, BYTES, "64 KiB"),
        (33_554_432, BYTES, "32 MiB"),
        (1000, BYTES, "1 kB"),
        (1023, BYTES, "1023 B"),
        (1536, BYTES, "1.5 KiB"),
        (1_050_000_000, HERTZ, "1.05 GHz"),
        (10**12, BYTES, "1 TB"),
        (1_200_000_000, HERTZ, "1.2 GHz"),
        (877, HERTZ, "877 Hz"),
        (25_600_000_000, BYTES_PER_SECOND, "25.6 GB/s"),
        (0, BYTES, "0 B"),
        (12, COUNT, "12"),
    ],
)
def test_fewest_digits(value: int, unit: Unit, text: str) -> None:
    assert format_quantity(value, unit) == text


@given(st.integers(0, LARGEST), st.sampled_from([BYTES, HERTZ, BYTES_PER_SECOND]))
def test_written_values_read_back_unchanged(value: int, unit: Unit) -> None:
    assert parse_quantity(format_quantity(value, unit), unit) == value


@given(
    st.integers(0, 10**6), st.integers(0, 999), st.sampled_from([f for f in BYTES.factors if f[1] >= 1000])
)
def test_thousandths_of_a_unit(whole: int, thousandths: int, factor: tuple[str, int]) -> None:
    name, size = factor
    value, rest = divmod((whole * 1000 + thousandths) * size, 1000)
    text = f"{whole}.{thousandths:03} {name}"
    if rest:
        with pytest.raises(MachineError, match="not whole"):
            parse_quantity(text, BYTES)
    else:
        assert parse_quantity(text, BYTES) == value
