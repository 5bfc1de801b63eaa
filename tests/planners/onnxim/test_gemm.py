"""The automatic mapping of a product: ONNXim's own results and the seed's intermediates."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pantile.planners.onnxim.gemm import gemm_mapping
from pantile.planners.onnxim.stops import MapperStop
from pantile.tiling.log import DecisionLog
from pantile.tiling.onnxim import LoopCounts, Mapping

TABLE = json.loads((Path(__file__).parents[2] / "golden/onnxim/mapping_table.json").read_text())
MACHINES = {row[0]: row[1:] for row in TABLE["hw"]}


def mapped(total: tuple[int, int, int], machine: Any) -> tuple[Mapping, DecisionLog]:
    log = DecisionLog()
    return gemm_mapping(LoopCounts(*total), machine, log), log


@pytest.mark.parametrize("name", MACHINES)
def test_equals_the_original_row_by_row(name: str, figures: Callable[..., Any]) -> None:
    """All rows of the golden table, those on which the original divides by zero among them."""
    machine = figures(*MACHINES[name])
    rows = [row for row in TABLE["gemm"] if row[0] == name]
    assert rows
    for _, n, c, m, outer, *inner in rows:
        if isinstance(outer, str):
            with pytest.raises(MapperStop) as caught:
                mapped((n, c, m), machine)
            assert (caught.value.quirk, caught.value.refused) == ("Q1", False)
        else:
            mapping, _ = mapped((n, c, m), machine)
            assert mapping == Mapping(LoopCounts(n, c, m), LoopCounts(*outer), LoopCounts(*inner[0]))


def test_every_intermediate_of_the_seed(figures: Callable[..., Any]) -> None:
    """Seed 2.5: one core, 8x8, 64 KiB and 16 KiB, 1 B; N32 C64 M32 stays one tile."""
    mapping, log = mapped((32, 64, 32), figures())
    assert str(mapping) == "[T] N32 C64 M32 - [O] N1 C1 M1 - [I] N32 C64 M32"
    values = {(each.stage, each.name): each.value for each in log.decisions}
    assert values == {
        ("padding", "dim_I_padded"): 32,
        ("padding", "dim_J_padded"): 32,
        ("padding", "dim_K_padded"): 64,
        ("capacity", "max_spad_rows"): 4096,  # 65536 / (8 · 1 · 2)
        ("capacity", "max_acc_rows"): 256,  # 16384 / (8 · 4 · 2)
        ("capacity", "db_partitions_rows"): 2048,  # 4096 / 2
        ("capacity", "db_mats_in_partition"): 256,  # 2048 / 8
        ("capacity", "db_mats_in_acc"): 32,  # 256 / 8
        ("capacity", "db_max_tile_i_j"): 5,  # floor(sqrt(32))
        ("capacity", "db_max_tile_k"): 51,  # floor(256 / 5)
        ("capacity", "candidate_ij"): 40,  # 5 · 8
        ("capacity", "candidate_k"): 408,  # 51 · 8
        ("tiles", "tile_I"): 1,
        ("tiles", "tile_J"): 1,
        ("tiles", "tile_K"): 1,
        ("cores", "num_tiles"): 1,
        ("inner", "inner_I"): 32,
        ("inner", "inner_J"): 32,
        ("inner", "inner_K"): 64,
        ("alignment", "inner_I"): 32,
        ("alignment", "inner_J"): 32,
        ("alignment", "inner_K"): 64,
        ("outer", "tile_I"): 1,
        ("outer", "tile_J"): 1,
        ("outer", "tile_K"): 1,
    }
    assert log.notes == []
    assert all(each.formula and each.inputs for each in log.decisions)


def test_padding_of_the_seeds_example(figures: Callable[..., Any]) -> None:
    """Seed 2.2: N = 50 is 7 blocks of 8, planned as 56."""
    _, log = mapped((50, 70, 46), figures())
    padded = [each for each in log.decisions if each.name == "dim_I_padded"]
    assert [(each.value, each.inputs) for each in padded] == [(56, {"N": 50, "dim": 8})]


def test_bert_on_8x8_is_the_shipped_mapping(figures: Callable[..., Any]) -> None:
    """Seed 5.5: 13, 2 and 26 tiles of 40, 256 and 40."""
    mapping, _ = mapped((512, 512, 1024), figures())
    assert str(mapping) == "[T] N512 C512 M1024 - [O] N13 C2 M26 - [I] N40 C256 M40"


def test_q18_three_regions_become_fifteen(figures: Callable[..., Any]) -> None:
    """40x64x120 on 4 cores: 3 regions, times ceil(4/3) = 6, plus 6 mod 4 = 8; inner M 15 -> 8, so 15."""
    mapping, log = mapped((40, 64, 120), figures(cores=4))
    steps = [(each.name, each.value) for each in log.decisions if each.stage == "cores"]
    assert steps == [
        ("num_tiles", 3),
        ("increase_tile", 2),
        ("tile_J", 6),
        ("num_tiles", 6),
        ("increase_tile", 2),
        ("tile_J", 8),
    ]
    assert [(each.name, each.value) for each in log.decisions if each.name == "inner_J"] == [
        ("inner_J", 15),
        ("inner_J", 8),
    ]
    assert mapping.outer == LoopCounts(1, 1, 15)
    assert [note.code for note in log.notes] == ["Q18"]


def test_q17_equal_sides_are_not_split_for_the_cores(figures: Callable[..., Any]) -> None:
    mapping, log = mapped((32, 32, 32), figures(cores=4))
    assert mapping.outer == LoopCounts(1, 1, 1)
    assert [note.code for note in log.notes] == ["Q17"]
    rejected = [each.rejected for each in log.decisions if each.name == "increase_tile"]
    assert rejected == [("raising tile_I or tile_J: N = M: neither is longer (Q17)",)] * 2


def test_q1_inner_size_is_aligned_down_to_zero(figures: Callable[..., Any]) -> None:
    """13x17x19 on 4 cores: M is cut into 4 tiles of ceil(24 / 4) = 6, and 6 - (6 & 7) = 0."""
    with pytest.raises(MapperStop) as caught:
        mapped((13, 17, 19), figures(cores=4))
    assert str(caught.value) == (
        "inner M = 6, cut into 4 tiles for 4 cores, is aligned down to 0 on an array of 8, and the mapper "
        "divides by it (Q1); use --semantics fixed, or give an explicit mapping [PT-MAPPING]"
    )


def test_q9_the_bit_trick_on_a_side_of_six(figures: Callable[..., Any]) -> None:
    """6 - (6 & 5) = 2: 27 tiles where one would do."""
    mapping, _ = mapped((6, 6, 6), figures(side=6))
    assert (mapping.outer, mapping.inner) == (LoopCounts(3, 3, 3), LoopCounts(2, 2, 2))


@pytest.mark.parametrize(
    ("machine", "quirk", "refused", "numbers"),
    [
        ({"spad_kib": 4, "acc_kib": 1024}, "Q2b", False, ("16 blocks", "45 along a tile")),
        ({"acc_kib": 0}, "Q2c", True, ("half of 0 B", "block of 256 B", "at least 512 B")),
        ({"width": 16}, "Q19", True, ("8 rows and 16 columns", "explicit mapping")),
        ({"precision": 64}, "Q2b", False, ("4 blocks", "5 along a tile")),
    ],
)
def test_machines_on_which_the_mapper_stops(
    machine: dict[str, int], quirk: str, refused: bool, numbers: tuple[str, ...], figures: Callable[..., Any]
) -> None:
    """Q2b: 4096/16/2/8 = 16 blocks against floor(sqrt(2048)) = 45."""
    with pytest.raises(MapperStop) as caught:
        mapped((400, 400, 400), figures(**machine))
    assert (caught.value.quirk, caught.value.refused) == (quirk, refused)
    message = str(caught.value)
    assert "\n" not in message
    assert all(number in message for number in numbers)


def test_region_count_that_wraps_to_zero_stops(figures: Callable[..., Any]) -> None:
    """One block per tile, 2^31 - 1 elements by 1x1 blocks: 2^16 · 2^16 regions wrap to 0 in 32 bits."""
    tiny = figures(side=1, spad_kib=1, acc_kib=0)
    machine = type(tiny)(1, (1,), (1,), (64,), (8,), 1, 32)  # one accumulator row: max_ij = 1
    with pytest.raises(MapperStop, match=r"tile_I · tile_J = 4294967296 wraps to 0"):
        mapped((2**16, 4, 2**16), machine)


def test_memories_of_4_gib_wrap_as_in_the_original(figures: Callable[..., Any]) -> None:
    """Bytes are 32 bits wide there: 4 GiB + 64 KiB is 64 KiB."""
    large, small = figures(spad_kib=4 * 2**20 + 64), figures()
    assert mapped((512, 512, 1024), large)[0] == mapped((512, 512, 1024), small)[0]
