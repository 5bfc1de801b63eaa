"""Covers of boxes equal the count of every single point."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pantile.check import boxes
from pantile.check.boxes import Box, Cover, cover_of

RANGE = st.tuples(st.integers(-2, 7), st.integers(-2, 7)).map(lambda pair: (min(pair), max(pair)))
RANGES = st.lists(RANGE, min_size=1, max_size=3).map(tuple)


def by_hand(domain: tuple[int, ...], covering: list[Box]) -> tuple[int, int, int, tuple[int, ...] | None]:
    """(missing, repeated, outside, a first point covered wrongly), point by point."""
    counts = np.zeros(domain, int)
    outside = 0
    for box in covering:
        points = product(*([at for lo, hi in ranges for at in range(lo, hi)] for ranges in box))
        for point in points:
            if all(0 <= at < size for at, size in zip(point, domain, strict=True)):
                counts[point] += 1
            else:
                outside += 1
    bad = np.argwhere(counts != 1)
    first = tuple(bad[0].tolist()) if len(bad) else None
    return int((counts == 0).sum()), int(np.maximum(counts - 1, 0).sum()), outside, first


@settings(deadline=None)
@given(
    domain=st.tuples(st.integers(1, 6), st.integers(1, 6)),
    covering=st.lists(st.tuples(RANGES, RANGES), max_size=5),
)
@example((4, 4), [(((0, 2), (1, 3)), ((0, 4),))])  # one box whose own ranges overlap
@example((2, 2), [(((0, 2),), ((0, 2),)), (((1, 1),), ((0, 2),))])  # an empty range covers nothing
def test_as_point_by_point(domain: tuple[int, int], covering: list[Box]) -> None:
    missing, repeated, outside, first = by_hand(domain, covering)
    cover = cover_of(domain, covering)
    assert cover is not None
    assert (cover.missing, cover.repeated, cover.outside) == (missing, repeated, outside)
    assert cover.exact == (not (missing or repeated or outside))
    if first is None:
        assert cover.example is None
    else:
        assert cover.example is not None
        assert all(lo <= at < hi for at, (lo, hi) in zip(first, cover.example, strict=True))


def test_figures_of_a_small_cover() -> None:
    # 4 x 6 points; two boxes overlap in rows 1 and 2 of columns 0 to 2, and columns 3 to 5 are bare.
    cover = cover_of((4, 6), [(((0, 3),), ((0, 3),)), (((1, 4),), ((0, 3),))])
    assert cover == Cover(missing=12, repeated=6, outside=0, example=((0, 1), (3, 6)), example_count=0)


def test_uniform_tilings_cost_one_cell_an_axis() -> None:
    # A thousand touching ranges would be a grid of a thousand cells; joined they are one.
    tiles = tuple((at * 8, at * 8 + 8) for at in range(1000))
    cover = cover_of((8000, 8000), [(((0, 8000),), tiles)])
    assert cover is not None
    assert cover.exact


def test_too_fine_a_grid_is_not_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boxes, "MAX_CELLS", 8)
    assert cover_of((3, 3), [(((0, 1), (1, 2), (2, 3)), ((0, 1), (1, 2), (2, 3)))]) is None
    assert cover_of((3, 3), [(((0, 3),), ((0, 3),))]) is not None


def test_an_empty_domain_is_covered_by_nothing() -> None:
    assert cover_of((0, 3), []) == Cover(0, 0, 0, None, 0)
    cover = cover_of((0, 3), [(((0, 1),), ((0, 3),))])
    assert cover is not None
    assert cover.outside == 3
