"""The figures of a page: those that the viewer's acceptance names, equal to the ones of ``--json``."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import pytest

import pantile
from pantile.verbs.page_figures import page_figures

if TYPE_CHECKING:
    from pantile.view.pagedata import Figure

A8 = "systolic-ws-8x8"


def figures_of(workload: str, mapping: str | None = None) -> dict[str, Figure]:
    return {each.key: each for each in page_figures(pantile.simulate(workload, A8, mapping=mapping))}


def test_the_worked_example(seed: tuple[str, str]) -> None:
    figures = figures_of(*seed)
    values = {key: each.value for key, each in figures.items()}
    assert values["regions"] == 4
    assert values["tiles"] == 8
    assert values["instructions"] == 176
    assert values["compute_per_tile"] == 16
    assert values["compute"] == 128
    assert values["macs_per_instruction"] == 512
    assert values["macs_per_tile"] == 8192
    assert values["macs"] == 65536
    assert "macs_last_tile" not in figures  # it is like all others
    products = {
        key: [(factor.count, factor.axis or factor.noun) for factor in each.factors]
        for key, each in figures.items()
        if each.factors
    }
    assert products == {
        "regions": [(2, "m"), (2, "n")],
        "tiles": [(2, "m"), (2, "n"), (2, "k")],
        "compute_per_tile": [(2, "n"), (2, "m"), (4, "k")],
        "compute": [(8, "tiles"), (16, "a tile")],
        "macs_per_tile": [(16, "instructions"), (512, "MACs each")],
    }


@pytest.mark.parametrize(
    ("workload", "mapping"),
    [
        ("gemm:m=32,n=32,k=64", None),
        ("gemm:m=50,n=46,k=70", "[T] N50 C70 M46 - [O] N3 C3 M2 - [I] N24 C32 M24"),
        ("bmm:b=3,m=9,n=8,k=8,bias", None),
    ],
)
def test_factors_multiply_up_to_their_count(workload: str, mapping: str | None) -> None:
    for figure in figures_of(workload, mapping).values():
        if figure.factors:
            assert prod(factor.count for factor in figure.factors) == figure.value


def test_figures_equal_those_of_json(seed: tuple[str, str]) -> None:
    workload, mapping = seed
    run = pantile.simulate(workload, A8, mapping=mapping)
    made = run.to_json()
    (layer,) = made["per_layer"]
    values = {each.key: each.value for each in page_figures(run)}
    for key in ("regions", "tiles", "macs", "padded_macs"):
        assert values[key] == layer[key]
    assert values["total_cycles"] == made["total_cycles"]
    assert values["instructions"] == sum(layer["instructions"].values())
    assert values["compute"] == layer["instructions"]["GEMM_PRELOAD"]
    assert values["requests"] == layer["requests"]["read"] + layer["requests"]["write"]
    assert (values["mac_utilisation"], values["busy_utilisation"]) == tuple(made["utilisation"].values())
    assert values["bound_by"] == made["bound_by"]
    for memory, ways in layer["bytes"].items():
        assert {way: values[f"{memory}_{way}"] for way in ways} == ways


def test_a_last_tile_that_is_cut_short_shows_its_sum() -> None:
    # The last tile is 2 x 22 x 6: blocks of 8, 8 and 6 columns, 2 rows and 6 steps each.
    figures = figures_of("gemm:m=50,n=46,k=70", "[T] N50 C70 M46 - [O] N3 C3 M2 - [I] N24 C32 M24")
    last = figures["macs_last_tile"]
    assert (last.value, last.label) == (264, "MACs of the last tile: 96 + 96 + 72")
    assert figures["compute_last_tile"].value == 3
    assert figures["macs_per_tile"].value == 24 * 24 * 32
    cut = next(factor for factor in figures["tiles"].factors if factor.axis == "m")
    assert cut.pieces == ((0, 24), (24, 48), (48, 50))
    assert cut.sentence == "{m} has 50 elements, cut into 3 of 24 each, the last one clipped to 2"


def test_an_even_cut_is_not_called_clipped(seed: tuple[str, str]) -> None:
    sentences = [factor.sentence for factor in figures_of(*seed)["tiles"].factors]
    assert sentences == [
        "{m} has 32 elements, cut into 2 of 16 each",
        "{n} has 32 elements, cut into 2 of 16 each",
        "{k} has 64 elements, cut into 2 of 32 each",
    ]


@pytest.mark.slow
def test_a_full_tile_of_800_and_a_corner_of_384_instructions() -> None:
    mapping = "[T] N512 C512 M1024 - [O] N13 C2 M26 - [I] N40 C256 M40"
    figures = figures_of("gemm:m=512,n=1024,k=512", mapping)
    assert figures["compute_per_tile"].value == 800
    assert [factor.count for factor in figures["compute_per_tile"].factors] == [5, 5, 32]
    assert figures["compute_last_tile"].value == 384
    assert [factor.count for factor in figures["compute_last_tile"].factors] == [3, 4, 32]
    assert figures["tiles"].value == 13 * 26 * 2


def test_a_batch_is_a_factor_of_its_own() -> None:
    figures = figures_of("bmm:b=3,m=8,n=16,k=8")
    assert [(factor.count, factor.axis) for factor in figures["tiles"].factors] == [
        (3, "b"),
        (1, "m"),
        (1, "n"),
        (1, "k"),
    ]
