"""Runs of equal tiles along one loop: all that distinguishes a tile's kind from its neighbours'.

Interior tiles of a loop are alike; the last may be clipped, the first of a reduction starts an output
and the last stores it. A kind of tile is one run per loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive indices of one loop whose tiles are alike.

    Attributes:
        first: First index.
        count: Indices in the run.
        key: What they share, e.g. the actual size.
    """

    first: int
    count: int
    key: Any


def runs_of(count: int, key: Callable[[int], Hashable]) -> list[Run]:
    """Return the maximal runs of equal ``key(index)`` over ``range(count)``, in order.

    >>> [(run.first, run.count, run.key) for run in runs_of(3, lambda i: min(24, 50 - 24 * i))]
    [(0, 2, 24), (2, 1, 2)]
    """
    runs: list[Run] = []
    for index in range(count):
        value = key(index)
        if runs and runs[-1].key == value:
            runs[-1] = Run(runs[-1].first, runs[-1].count + 1, value)
        else:
            runs.append(Run(index, 1, value))
    return runs


def blocks_of(size: int, step: int) -> list[tuple[int, int]]:
    """Return (offset, length) of the blocks of *step* elements that cover *size*, the last one clipped.

    >>> blocks_of(22, 8)
    [(0, 8), (8, 8), (16, 6)]
    """
    return [(offset, min(step, size - offset)) for offset in range(0, size, step)]
