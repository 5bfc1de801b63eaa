"""Sizes in whole grains: rounded up, rounded down, and every size that a cut into equal pieces can have."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pantile.planners.asw.limits import refuse_many
from pantile.tiling.cut import ceil_div

Integers = NDArray[np.int64]


def up(size: int, grain: int) -> int:
    """Return the smallest multiple of *grain* that is not below *size*."""
    return ceil_div(size, grain) * grain


def down(size: int, grain: int) -> int:
    """Return the largest multiple of *grain* that is not above *size*."""
    return size // grain * grain


def aligned_cuts(size: int, grain: int, *, most: int, largest: int) -> tuple[Integers, Integers]:
    """Return the piece sizes that cutting *size* into 1 to *most* pieces gives, and the pieces of each.

    A piece of a cut into *c* is ``up(ceil(size / c))``; how many of them there are is counted again, because
    alignment may lower it. Every size stands once, smallest first; none is above *largest*.

    >>> sizes, counts = aligned_cuts(160, 16, most=9, largest=8192)
    >>> sizes.tolist(), counts.tolist()
    ([32, 48, 64, 80, 160], [5, 4, 3, 2, 1])

    Raises:
        OutsideModelError: If there are too many to try.
    """
    first, last = up(ceil_div(size, most), grain), min(up(size, grain), largest)
    refuse_many((last - first) // grain + 1, "cuts of an axis")
    sizes = np.arange(first, last + 1, grain)
    counts = -(-size // sizes)
    reached = -(-size // counts) > sizes - grain
    return sizes[reached], counts[reached]
