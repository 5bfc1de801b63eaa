"""Divisions and roundings of whole numbers that are not negative, as the source has them."""

from __future__ import annotations


def ceil_div(count: int, size: int) -> int:
    """Return how many pieces of *size* hold *count*; pieces of no size hold what there is."""
    return -(-count // size) if size else count


def floor_div(count: int, size: int) -> int:
    """Return how many whole pieces of *size* are in *count*; divided by 0 it is *count*."""
    return count // size if size else count


def round_up(count: int, size: int) -> int:
    """Return the smallest multiple of *size* that is not below *count*."""
    return -(-count // size) * size


def round_down(count: int, size: int) -> int:
    """Return the largest multiple of *size* that is not above *count*."""
    return count // size * size
