"""Mappings as nested cuts in the house's letters."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pantile.errors import MappingError
from pantile.planners.onnxim.coverage import gemm_axes
from pantile.planners.onnxim.layer import Layer
from pantile.planners.onnxim.levels import order_of, tiling_of
from pantile.tiling.onnxim import LoopCounts, Mapping, parse_mapping
from pantile.tiling.tile import Tile
from pantile.tiling.tiling import Level, Tiling


def tiled(line: str, machine: Any, **layer: Any) -> Tiling | None:
    mapping = parse_mapping(line)
    return tiling_of(Layer(**({"kind": "gemm", "total": mapping.total} | layer)), mapping, machine)


def test_the_seeds_levels(figures: Callable[..., Any]) -> None:
    """32x32x64 in 2x2x2 tiles of 2x2x4 blocks of 8x8x8."""
    tiling = tiled("[T] N32 C64 M32 - [O] N2 C2 M2 - [I] N16 C32 M16", figures())
    assert tiling == Tiling(
        ("m", "n", "k"),
        (32, 32, 64),
        (Level("tile", (2, 2, 2)), Level("block", (2, 2, 4)), Level("element", (8, 8, 8))),
    )
    assert tiling.nominal_sizes[0] == (16, 16, 32)


def test_the_seeds_short_tail(figures: Callable[..., Any]) -> None:
    """Seed 5.6: the last tile is N2 M22 C6, 264 MACs; golden n50c70m46."""
    tiling = tiled("[T] N50 C70 M46 - [O] N3 C3 M2 - [I] N24 C32 M24", figures())
    assert tiling is not None
    last = Tile(tiling, ((2, 1, 2),))
    assert (last.size, last.volume) == ((2, 22, 6), 264)


def test_a_reduction_tile_that_is_no_whole_number_of_blocks_is_not_cut_further(
    figures: Callable[..., Any],
) -> None:
    tiling = tiled("[T] N16 C20 M16 - [O] N1 C2 M1 - [I] N16 C10 M16", figures())
    assert tiling is not None
    assert [level.factors for level in tiling.levels] == [(1, 1, 2), (2, 2, 1), (8, 8, 10)]


@pytest.mark.parametrize(
    "line",
    [
        "[T] N16 C16 M16 - [O] N1 C1 M1 - [I] N8 C16 M16",  # Q7
        "[T] N16 C16 M16 - [O] N1 C1 M1 - [I] N16 C10 M16",  # Q7: two blocks of 8 are not computed
        "[T] N20 C20 M20 - [O] N2 C2 M2 - [I] N10 C10 M10",  # Q8
    ],
)
def test_lost_or_repeated_work_is_no_nested_cut(line: str, figures: Callable[..., Any]) -> None:
    assert tiled(line, figures()) is None


def test_a_batch_is_a_dimension_of_its_own(figures: Callable[..., Any]) -> None:
    line = "[T] N8 C8 M8 - [O] N1 - [I] N8 C8 M8"
    tiling = tiled(line, figures(), batch=5)
    assert tiling is not None
    assert (tiling.dimensions, tiling.total) == (("b", "m", "n", "k"), (5, 8, 8, 8))
    assert tiling.nominal_sizes[0] == (1, 8, 8, 8)
    assert order_of(Layer(kind="gemm", total=LoopCounts(8, 8, 8), batch=5)) == ("b", "m", "n", "k")
    assert order_of(Layer(kind="gemm", total=LoopCounts(8, 8, 8))) == ("m", "n", "k")


def test_a_convolution_keeps_its_seven_loops(figures: Callable[..., Any]) -> None:
    line = "[T] N1 C16 M16 S3 R3 Q12 P20 - [O] N1 C2 M2 Q2 P3 - [I] N1 C8 M8 S3 R3 Q8 P8"
    tiling = tiled(line, figures(), kind="conv")
    assert tiling is not None
    assert tiling.dimensions == ("n", "p", "q", "m", "s", "r", "c")
    assert [level.factors for level in tiling.levels] == [
        (1, 3, 2, 2, 1, 1, 2), (1, 1, 1, 1, 3, 3, 1), (1, 8, 8, 8, 1, 1, 8),
    ]  # fmt: skip
    assert order_of(Layer(kind="conv", total=LoopCounts(1, 1, 1))) == tiling.dimensions


small = st.integers(1, 12)


@given(
    mapping=st.builds(
        Mapping,
        st.builds(LoopCounts, small, small, small),
        st.builds(LoopCounts, st.integers(1, 3), st.integers(1, 3), st.integers(1, 3)),
        st.builds(LoopCounts, small, small, small),
    ),
    side=st.integers(1, 5),
)
def test_tiles_start_where_the_mapping_says(mapping: Mapping, side: int, figures: Callable[..., Any]) -> None:
    """Where there is a tiling, its tiles are the mapping's: same starts, same sizes, none more."""
    tiling = tiling_of(Layer(kind="gemm", total=mapping.total), mapping, figures(side=side))
    axes = gemm_axes(mapping, side)
    if tiling is None:
        assert any(axis.lost or axis.repeated for axis in axes.values())
        return
    for index in product(*(range(mapping.outer[letter]) for letter in "NMC")):
        starts = [i * mapping.inner[letter] for i, letter in zip(index, "NMC", strict=True)]
        sizes = [
            min(axes[letter].reach, mapping.total[letter] - start)
            for start, letter in zip(starts, "NMC", strict=True)
        ]
        if min(sizes) > 0:
            tile = Tile(tiling, (index,))
            assert (list(tile.start), list(tile.size)) == (starts, sizes)
        else:
            with pytest.raises(MappingError, match="starts at"):
                Tile(tiling, (index,))
