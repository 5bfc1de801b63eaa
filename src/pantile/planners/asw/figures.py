"""Exact figures as a log shows them."""

from __future__ import annotations

from fractions import Fraction

_DIGITS = 7


def rounded(value: Fraction | None) -> float | int | None:
    """Return a fraction as a number for people: whole, or to seven digits."""
    if value is None:
        return None
    return int(value) if value.denominator == 1 else float(f"{float(value):.{_DIGITS}g}")


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, in the plural unless it is one."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def microseconds(seconds: Fraction | None) -> float | int | None:
    """Return seconds as microseconds for people."""
    return None if seconds is None else rounded(seconds * 10**6)
