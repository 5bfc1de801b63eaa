"""Totals from loop bounds: the seed's figures, and a count over all instructions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.program.program import Program
from pantile.targets.systolic.config import SystolicConfig
from pantile.targets.systolic.instructions import program_instructions
from pantile.targets.systolic.tiles import tiles_of
from pantile.targets.systolic.totals import tile_kinds, totals_of
from pantile.tiling.onnxim import LoopCounts
from pantile.workload.matmul import Matmul
from pantile.workload.network import network_of

Lowered = Callable[..., Program]
ConfigOf = Callable[..., SystolicConfig]


def test_main_example(lowered: Lowered, config_of: ConfigOf) -> None:
    config = config_of()
    totals = totals_of(lowered("[T] N32 C64 M32 - [O] N2 C2 M2 - [I] N16 C32 M16", config), config)
    # The seed's table, and its section 5: 4 MOVINs per tile, 4 MOVOUTs in each of the four last stages.
    assert (totals.regions, totals.tiles, totals.macs, totals.padded_macs) == (4, 8, 65_536, 65_536)
    assert totals.instructions == {"MOVIN": 32, "GEMM_PRELOAD": 128, "MOVOUT": 16}
    # Loads: 8 tiles x 4 blocks x 8 rows of one request. Stores: 16 blocks x 8 rows of 8 B, a request each.
    assert totals.requests == {"read": 256, "write": 128}
    assert totals.bytes["dram"] == {"read": 256 * 32, "write": 128 * 32}
    assert totals.useful_bytes == {"read": 8 * 4 * 256, "write": 32 * 32}
    # Each PRELOAD reads 8 x 8 of both operands and updates 8 x 8 sums of 4 B.
    assert totals.bytes["scratchpad"] == {"read": 128 * 128, "write": 8 * 4 * 256}
    assert totals.bytes["accumulator"] == {"read": 32 * 32 * 4, "write": 128 * 64 * 4}


def test_short_blocks_occupy_the_whole_array(lowered: Lowered, config_of: ConfigOf) -> None:
    # One row of one product: the array of 8 x 8 is taken for 8 rows.
    config = config_of()
    totals = totals_of(lowered("[T] N1 C1 M1 - [O] N1 C1 M1 - [I] N8 C8 M8", config), config)
    assert (totals.macs, totals.padded_macs) == (1, 8 * 8 * 8)


def test_kinds_of_tiles(lowered: Lowered, config_of: ConfigOf) -> None:
    kinds = tile_kinds(lowered("[T] N50 C70 M46 - [O] N3 C3 M2 - [I] N24 C32 M24", config_of()))
    last = kinds[-1]
    # The seed's short tail: N2 C6 M22, 264 MACs in three computes; 3 + 1 loads, 3 stores.
    assert last["actual_size"] == {"b": 1, "m": 2, "n": 22, "k": 6}
    assert last["nominal_size"] == {"b": 1, "m": 24, "n": 24, "k": 32}
    assert last["instructions"] == {"MOVIN": 4, "GEMM_PRELOAD": 3, "MOVOUT": 3}
    assert (last["macs"], last["tiles"]) == (264, 1)
    assert last["first"] == {"b": 0, "m": 2, "n": 1, "k": 2}
    assert sum(kind["macs"] * kind["tiles"] for kind in kinds) == 50 * 70 * 46
    assert sum(kind["tiles"] for kind in kinds) == 18


@settings(deadline=None, max_examples=50)
@given(data=st.data(), side=st.sampled_from([1, 3, 8]), bias=st.booleans())
def test_totals_are_sums_over_instructions(
    lowered_counts: Lowered,
    config_of: ConfigOf,
    product_cuts: st.SearchStrategy[tuple[LoopCounts, LoopCounts, LoopCounts]],
    data: st.DataObject,
    side: int,
    bias: bool,
) -> None:
    counts = data.draw(product_cuts)
    total = counts[0]
    product = Matmul(m=total.N, k=total.C, n=total.M, bias="default" if bias else None)
    config = config_of(core_height=side, core_width=side)
    program = lowered_counts(network_of(product), counts, config)
    listing = [each for tile in program_instructions(program, config) for each in tile]
    computes = [each for each in listing if each.compute_size]
    found = totals_of(program, config)
    assert found.instructions == dict(Counter(each.opcode for each in listing))
    assert found.macs == sum(each.macs for each in listing)
    assert found.padded_macs == sum(side * side * max(each.tile_n, side) for each in computes)
    assert found.requests == {
        "read": sum(len(each.src_addrs) for each in listing if each.opcode == "MOVIN"),
        "write": sum(len(each.src_addrs) for each in listing if each.opcode == "MOVOUT"),
    }
    assert found.tiles == len(tiles_of(program))
    assert found.bytes["scratchpad"]["read"] == sum(
        each.tile_k * (each.tile_m + each.tile_n) for each in computes
    )
    assert found.bytes["accumulator"]["write"] == sum(4 * each.tile_m * each.tile_n for each in computes)
