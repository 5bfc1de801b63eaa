"""Closed forms along one loop against writing every element down."""

from __future__ import annotations

from collections import Counter

from hypothesis import example, given
from hypothesis import strategies as st

from pantile.planners.onnxim.coverage import AxisCut, ceil_div, round_up

cuts = st.builds(
    AxisCut,
    total=st.integers(1, 70),
    outer=st.integers(0, 12),
    inner=st.integers(0, 30),
    side=st.integers(1, 12),
    clipped=st.booleans(),
)


def blocks_of(cut: AxisCut) -> list[list[range]]:
    """The blocks of every tile, as section 4 of the specification steps through them."""
    tiles = []
    for tile in range(cut.outer):
        start = tile * cut.inner
        blocks = []
        for step in range(0, cut.inner, cut.side):
            stop = min(cut.total, start + step + cut.side)
            if cut.clipped:
                stop = min(stop, start + cut.inner)
            if start + step < stop:
                blocks.append(range(start + step, stop))
        tiles.append(blocks)
    return tiles


@given(cuts)
@example(AxisCut(20, 2, 10, 8, False))  # Q8: blocks 0-8, 8-16, 10-18, 18-20
@example(AxisCut(16, 1, 10, 8, False))  # reaches 16 although 1 · 10 < 16
@example(AxisCut(16, 3, 16, 8, False))  # two surplus tiles
@example(AxisCut(64, 30, 1, 8, False))  # every tile reaches over the next seven
def test_equals_the_loops(cut: AxisCut) -> None:
    tiles = blocks_of(cut)
    times = Counter(element for blocks in tiles for block in blocks for element in block)
    assert cut.tiles == sum(1 for blocks in tiles if blocks)
    assert cut.surplus == sum(1 for blocks in tiles if not blocks)
    assert cut.blocks == sum(len(blocks) for blocks in tiles)
    assert cut.computed == times.total()
    assert cut.covered == len(times)
    assert cut.lost == cut.total - len(times)
    assert cut.repeated == times.total() - len(times)
    assert set(times) == set(range(cut.covered))
    if cut.clipped:
        assert +cut.block_sizes == Counter(len(block) for blocks in tiles for block in blocks)


@given(st.integers(1, 50), st.integers(0, 6), st.integers(1, 20))
def test_final_stages_are_those_that_reach_the_end(total: int, outer: int, inner: int) -> None:
    cut = AxisCut(total, outer, inner, 8, True)
    assert cut.final_stages == sum(1 for c in range(outer) if c * inner + inner >= total)


def test_large_counts_need_no_loop() -> None:
    cut = AxisCut(2**31 - 1, 2**28, 8, 8, False)
    assert (cut.tiles, cut.blocks, cut.computed, cut.repeated) == (2**28, 2**28, 2**31 - 1, 0)


def test_rounding() -> None:
    assert [ceil_div(9, 8), ceil_div(8, 8), round_up(9, 8), round_up(8, 8)] == [2, 1, 16, 8]
