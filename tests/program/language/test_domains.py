"""Programs over spaces that are no boxes: steps, coverage and values are those of the domain's points."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.check.program import check_program
from pantile.language import (
    DDR,
    SRAM,
    Buffer,
    Core,
    Domain,
    Program,
    Range,
    Tile,
    Tiling,
    compute,
    destroy,
    finish_reading,
    finish_writing,
    load_store,
    start_reading,
    start_writing,
    thread,
)

Cut = tuple[int, int, int]
DOMAINS: dict[str, Callable[..., np.ndarray]] = {
    "t >= o": lambda t, o, i: t >= o,
    "t >= i": lambda t, o, i: t >= i,
    "i >= t": lambda t, o, i: i >= t,
    "0 <= t - i < 3": lambda t, o, i: (t - i >= 0) & (t - i < 3),
    "t + o + i < 9": lambda t, o, i: t + o + i < 9,
    "2*t >= o and i >= t": lambda t, o, i: (2 * t >= o) & (i >= t),
}
CORE0 = Core(0, 0)


def program(where: str, total: Cut, outer: Cut, inner: Cut, *, skip: bool = False) -> Program:
    """Ping-pong over the tiles that exist; *skip* leaves the last one out."""
    tiling = Tiling("ti,oi->to", total=total, domain=Domain(where), D=outer, T=inner, S=...)
    buffer, sram = Buffer(slots=2), SRAM(CORE0)
    tiles = [Tile(tiling, d, location=CORE0) for d in Range(tiling.D)]
    tiles = tiles[: len(tiles) - skip]

    @thread
    def load() -> None:
        for tile in tiles:
            buffer.acquire()
            start_writing(tile)
            load_store(src=DDR(0), dst=sram, tile=tile)
            finish_writing(tile)

    @thread
    def multiply() -> None:
        for tile in tiles:
            start_reading(tile)
            for child in tile.children():
                compute(child)
            finish_reading(tile)
            load_store(src=sram, dst=DDR(0), tile=tile)
            destroy(tile)
            buffer.release()

    return Program(tiling, load, multiply)


def expected(where: str, total: Cut, x: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """The sums over the domain's points, which outputs exist, and how many points there are."""
    inside = DOMAINS[where](*np.indices(total))
    return np.einsum("ti,oi,toi->to", x, w, inside.astype(float)), inside.any(axis=2), int(inside.sum())


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(DOMAINS)),
    st.tuples(*[st.integers(1, 7)] * 3),
    st.tuples(*[st.integers(1, 3)] * 3),
    st.tuples(*[st.integers(1, 2)] * 3),
)
def test_coverage_and_values_are_those_of_the_points(where: str, total: Cut, outer: Cut, inner: Cut) -> None:
    rng = np.random.default_rng(2)
    x, w = (rng.integers(1, 9, (size, total[2])).astype(np.float32) for size in total[:2])
    product, exists, points = expected(where, total, x, w)
    if not points:
        return
    made = program(where, total, outer, inner)
    report = check_program(made)
    assert report.ok
    assert not [each for each in report.findings if each.severity != "note"]
    assert f"coverage: {points} MACs, each computed exactly once" in report.proved
    assert f"coverage: {exists.sum()} outputs, each stored exactly once" in report.proved
    assert made.tables()["op"]["macs"].sum() == points
    assert np.array_equal(made.execute(x=x, w=w)[exists], product[exists])


def test_a_causal_sum_leaves_out_what_lies_beyond_the_diagonal() -> None:
    """y[t] adds i <= t only, by hand: 1, 1 + 2, 1 + 2 + 3; the tile across the diagonal is masked."""
    made = program("t >= i", (3, 1, 3), (2, 1, 2), (1, 1, 1))
    x, w = np.array([[1.0, 2.0, 3.0]] * 3, np.float32), np.ones((1, 3), np.float32)
    assert made.execute(x=x, w=w)[:, 0].tolist() == [1, 3, 6]


def test_a_lost_tile_counts_by_its_points() -> None:
    """Of a triangle of 21 outputs with 4 reduction steps the last tile of 2 x 2 holds 3 points, 12 MACs."""
    report = check_program(program("t >= o", (6, 6, 4), (3, 3, 1), (1, 1, 1), skip=True))
    assert [each.sentence for each in report.findings if each.code == "PT-COVERAGE"] == [
        "of 84 MACs, 12 MACs never computed",
        "of 21 outputs, 3 outputs never stored",
    ]
