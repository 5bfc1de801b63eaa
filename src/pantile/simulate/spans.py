"""Spans of time as two columns, starts and stops: merged, measured, and how much lies before a moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pantile.simulate.bound import Ints


def merged(starts: Ints, stops: Ints) -> tuple[Ints, Ints]:
    """Return disjoint spans, in order, that cover the same moments.

    >>> [each.tolist() for each in merged(np.array([5, 0, 2]), np.array([6, 3, 4]))]
    [[0, 5], [4, 6]]
    """
    kept = stops > starts
    order = np.argsort(starts[kept], kind="stable")
    starts, stops = starts[kept][order], stops[kept][order]
    ends = np.maximum.accumulate(stops)
    first = np.ones(len(starts), bool)
    first[1:] = starts[1:] > ends[:-1]
    last = np.append(first[1:], True)[: len(starts)]
    return starts[first], ends[last]


def length(starts: Ints, stops: Ints) -> int:
    """Return how many ticks lie in at least one of the spans."""
    starts, stops = merged(starts, stops)
    return int((stops - starts).sum())


def ticks_before(moments: Ints, starts: Ints, stops: Ints) -> Ints:
    """Return how many ticks of disjoint spans, in order, lie before each moment.

    >>> ticks_before(np.array([1, 5, 9]), np.array([0, 4]), np.array([2, 7])).tolist()
    [1, 3, 5]
    """
    if not len(starts):
        return np.zeros(len(moments), np.int64)
    lengths = np.maximum(stops - starts, 0)
    before = np.concatenate([[0], np.cumsum(lengths)])
    place = np.searchsorted(starts, moments, side="right")
    latest = np.maximum(place - 1, 0)
    part = np.clip(moments - starts[latest], 0, lengths[latest])
    return np.where(place > 0, before[latest] + part, 0)
