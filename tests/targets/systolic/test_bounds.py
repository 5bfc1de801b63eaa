"""Lower bounds of a run, worked by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from pantile.program.program import Program
from pantile.targets.systolic.bounds import lower_bounds
from pantile.targets.systolic.config import SystolicConfig
from pantile.targets.systolic.plain import simulate_plain
from pantile.targets.systolic.stream import stream_of
from pantile.tiling.onnxim import LoopCounts
from pantile.workload.convolution import Convolution
from pantile.workload.network import Network

Lowered = Callable[..., Program]
ConfigOf = Callable[..., SystolicConfig]


def bounds_of(program: Program, config: SystolicConfig) -> dict[str, int]:
    stream = stream_of([program], config)
    return lower_bounds(stream, config, simulate_plain(stream, config), program.macs)


def test_what_binds(lowered: Lowered, config_of: ConfigOf) -> None:
    # N16 C32 M16 on one array of 8 x 8 in one tile: 4 blocks of 4 preloads, 8 cycles apart; 4 loads and 4
    # stores; 32 read requests (one a row of 32 B) and 4 * 4 writes (two rows of 16 B share one) through one
    # port at 2 GHz; the channels at 400 MHz.
    config = config_of()
    program = lowered("[T] N16 C32 M16 - [O] N1 C1 M1 - [I] N16 C32 M16", config)
    stream = stream_of([program], config)
    result = simulate_plain(stream, config)
    assert lower_bounds(stream, config, result, program.macs) == {
        "macs": 16 * 32 * 16 // 64,
        "array": 16 * 8,
        "issue": 4 + 16 + 4,
        "ports": (32 + 16) * 500 // 1000,
        "dram": max(result.requests_per_channel.tolist()) * 2500 // 1000,
    }


def test_the_busiest_core_counts(lowered: Lowered, config_of: ConfigOf) -> None:
    # Three regions on two cores: core 1 takes the first and third, 2 of 8 preloads.
    config = config_of(num_cores=2)
    program = lowered("[T] N8 C64 M24 - [O] N1 C1 M3 - [I] N8 C64 M8", config)
    bounds = bounds_of(program, config)
    assert bounds["array"] == 2 * 8 * 8
    assert bounds["issue"] == 2 * (2 + 8 + 1)
    assert bounds["macs"] == 8 * 64 * 24 // 128


def test_short_computes_take_four_cycles_on_a_small_array(lowered: Lowered, config_of: ConfigOf) -> None:
    config = config_of(core_height=2, core_width=2)
    program = lowered("[T] N2 C16 M2 - [O] N1 C1 M1 - [I] N2 C16 M2", config)
    assert bounds_of(program, config)["array"] == 8 * 4


def test_plain_computes_take_their_rows(
    lowered_counts: Lowered, config_of: ConfigOf, conv_network: Callable[..., Network]
) -> None:
    # 64 + 32 outputs as blocks of 8 x 8 and 4 x 8 rows: a preload, then a plain compute behind 64 rows.
    conv = Convolution(batch=1, in_channels=8, out_channels=8, height=12, width=8, kernel=(1, 1))
    whole = LoopCounts(1, 8, 8, Q=12, P=8)
    config = config_of()
    program = lowered_counts(
        conv_network(conv), (whole, LoopCounts(1, 1, 1), whole), config, semantics="fixed"
    )
    assert bounds_of(program, config)["array"] == 64 + 32


def test_a_block_larger_than_an_array_lowers_the_bound(lowered: Lowered, config_of: ConfigOf) -> None:
    # Q19: on 16 rows and 4 columns a block counts 16 x 16 products a row, and the run takes as long as that.
    config = config_of(core_height=16, core_width=4, accum_spad_size=64)
    program = lowered("[T] N64 C64 M64 - [O] N1 C1 M1 - [I] N64 C64 M64", config)
    assert bounds_of(program, config)["macs"] == 64**3 // 256


def test_reads_under_way_at_the_end_do_not_count(lowered: Lowered, config_of: ConfigOf) -> None:
    # As if three of channel 0's requests had not been answered: nothing waited for them.
    config = config_of()
    program = lowered("[T] N16 C32 M16 - [O] N1 C1 M1 - [I] N16 C32 M16", config)
    stream = stream_of([program], config)
    result = simulate_plain(stream, config)
    busiest = int(result.requests_per_channel.max())
    cores = result.cores.copy()
    cores["read_responses"] -= 3
    less = lower_bounds(stream, config, replace(result, cores=cores), program.macs)
    assert less["dram"] == (busiest - 3) * 2500 // 1000


def test_a_run_below_a_bound_is_a_defect(lowered: Lowered, config_of: ConfigOf) -> None:
    config = config_of()
    program = lowered("[T] N16 C32 M16 - [O] N1 C1 M1 - [I] N16 C32 M16", config)
    stream = stream_of([program], config)
    result = replace(simulate_plain(stream, config), core_ticks=100)
    with pytest.raises(AssertionError, match="macs"):
        lower_bounds(stream, config, result, program.macs)


def test_skip_layers_have_no_bounds(config_of: ConfigOf) -> None:
    config = config_of()
    stream = stream_of([2], config)
    bounds = lower_bounds(stream, config, simulate_plain(stream, config), 0)
    assert np.all(np.array(list(bounds.values())) == 0)
