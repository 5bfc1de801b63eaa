"""Predicted terms against the specification's loops, written out."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pantile.planners.onnxim.layer import Layer
from pantile.planners.onnxim.terms import predicted_terms
from pantile.tiling.onnxim import LoopCounts, Mapping, parse_mapping

small = st.integers(1, 20)
products = st.builds(
    Mapping,
    st.builds(LoopCounts, small, small, small),
    st.builds(LoopCounts, st.integers(1, 3), st.integers(1, 4), st.integers(1, 4)),
    st.builds(LoopCounts, small, small, small),
)


def gemm_by_loops(mapping: Mapping, height: int, width: int) -> dict[str, int]:
    """Section 4: three loops over tiles, then blocks; tiles without instructions are dropped."""
    total, outer, inner = mapping.total, mapping.outer, mapping.inner
    terms = dict.fromkeys(["tiles", "compute_instructions", "macs", "padded_macs"], 0)
    regions = set()
    for n, m, c in product(range(outer.N), range(outer.M), range(outer.C)):
        n0, m0, c0 = n * inner.N, m * inner.M, c * inner.C
        if n0 >= total.N or m0 >= total.M:
            continue
        terms["tiles"] += 1
        regions.add((n, m))
        cb = total.C - c0 if c0 + inner.C > total.C else inner.C
        for ms, ns in product(range(0, inner.M, height), range(0, inner.N, height)):
            mb, nb = min(height, total.M - m0 - ms), min(height, total.N - n0 - ns)
            for k in range(0, cb, height) if mb > 0 and nb > 0 else ():
                terms["compute_instructions"] += 1
                terms["macs"] += mb * nb * min(height, cb - k)
                terms["padded_macs"] += height * width * max(nb, height)
    return {**terms, "regions": len(regions)}


@given(mapping=products, height=st.integers(1, 9), width=st.integers(1, 9), batch=st.integers(1, 3))
def test_product_terms_equal_the_loops(
    mapping: Mapping, height: int, width: int, batch: int, figures: Callable[..., Any]
) -> None:
    layer = Layer(kind="gemm", total=mapping.total, batch=batch)
    expected = {name: batch * n for name, n in gemm_by_loops(mapping, height, width).items()}
    assert predicted_terms(layer, mapping, figures(side=height, width=width)) == expected


def convolution_by_loops(mapping: Mapping, height: int, width: int) -> dict[str, int]:
    """C3 and C4 with every loop clipped at the total (CV6, CV13, CV15 put right)."""
    total, outer, inner = mapping.total, mapping.outer, mapping.inner
    terms = dict.fromkeys(["tiles", "compute_instructions", "macs", "padded_macs"], 0)
    regions = set()
    for index in product(*(range(outer[letter]) for letter in "NPQMSRC")):
        start = dict(
            zip("NPQMSRC", (i * inner[x] for i, x in zip(index, "NPQMSRC", strict=True)), strict=True)
        )
        if any(start[letter] >= total[letter] for letter in start):
            continue
        terms["tiles"] += 1
        regions.add(index[:4])
        steps = {
            letter: [
                min(width if letter in "MCQP" else 1, inner[letter] - at, total[letter] - start[letter] - at)
                for at in range(0, inner[letter], width if letter in "MCQP" else 1)
                if start[letter] + at < total[letter]
            ]
            for letter in "NPQMSRC"
        }
        for n, p, q, m, s, r, c in product(*(steps[letter] for letter in "NPQMSRC")):
            terms["compute_instructions"] += 1
            terms["macs"] += n * p * q * m * s * r * c
            terms["padded_macs"] += height * width * max(p * q, height)
    return {**terms, "regions": len(regions)}


few = st.integers(1, 2)
little = st.integers(1, 7)
convolutions = st.builds(
    Mapping,
    st.builds(LoopCounts, few, little, little, few, few, little, little),
    st.builds(LoopCounts, few, few, few, few, few, few, few),
    st.builds(LoopCounts, few, little, little, few, few, little, little),
)


@given(mapping=convolutions, side=st.integers(1, 5))
def test_convolution_terms_equal_the_loops(mapping: Mapping, side: int, figures: Callable[..., Any]) -> None:
    layer = Layer(kind="conv", total=mapping.total)
    assert predicted_terms(layer, mapping, figures(side=side)) == convolution_by_loops(mapping, side, side)


SEED = "[T] N32 C64 M32 - [O] N2 C2 M2 - [I] N16 C32 M16"


@pytest.mark.parametrize(
    ("line", "terms"),
    [
        # Seed 3: 4 regions, 8 tiles, 16 · 8 = 128 computes of 512 MACs each.
        (SEED, {"regions": 4, "tiles": 8, "compute_instructions": 128, "macs": 65536, "padded_macs": 65536}),
        # Golden q6: the surplus C tile is a tile, without computes.
        (
            "[T] N16 C16 M16 - [O] N1 C2 M1 - [I] N16 C16 M16",
            {"regions": 1, "tiles": 2, "compute_instructions": 8, "macs": 4096, "padded_macs": 4096},
        ),
        # Golden q7 and q8.
        (
            "[T] N16 C16 M16 - [O] N1 C1 M1 - [I] N8 C8 M8",
            {"regions": 1, "tiles": 1, "compute_instructions": 1, "macs": 512, "padded_macs": 512},
        ),
        (
            "[T] N20 C20 M20 - [O] N2 C2 M2 - [I] N10 C10 M10",
            {"regions": 4, "tiles": 8, "compute_instructions": 64, "macs": 13520, "padded_macs": 32768},
        ),
    ],
)
def test_figures_of_the_seed_and_of_the_originals_runs(
    line: str, terms: dict[str, int], figures: Callable[..., Any]
) -> None:
    mapping = parse_mapping(line)
    assert predicted_terms(Layer(kind="gemm", total=mapping.total), mapping, figures()) == terms
