"""How full the memories get, in requests and in elements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pantile.program.program import Program
from pantile.targets.systolic.capacity import memory_usages
from pantile.targets.systolic.config import SystolicConfig
from pantile.targets.systolic.counting import count_requests
from pantile.tiling.onnxim import LoopCounts
from pantile.workload.convolution import Convolution
from pantile.workload.network import Network

Lowered = Callable[..., Program]
ConfigOf = Callable[..., SystolicConfig]


def test_both_countings(lowered: Lowered, config_of: ConfigOf) -> None:
    config = config_of()
    program = lowered("[T] N32 C64 M32 - [O] N2 C2 M2 - [I] N16 C32 M16", config)
    pad, acc = memory_usages(program, config)
    # 16 + 16 rows of 32 B are as many requests of 32 B; four blocks of 8 rows count 8 requests each.
    assert (pad.memory, pad.counted_bytes, pad.physical_bytes, pad.capacity_bytes) == (
        "scratchpad",
        32 * 32,
        2 * 16 * 32,
        32_768,
    )
    assert (acc.memory, acc.counted_bytes, acc.physical_bytes, acc.capacity_bytes) == (
        "accumulator",
        4 * 8 * 32,
        16 * 16 * 4,
        8_192,
    )


def test_short_rows_count_a_whole_request_each(lowered: Lowered, config_of: ConfigOf) -> None:
    # Q2: of rows of 40 B a tile takes 8 B; no two of them lie in one request.
    config = config_of()
    program = lowered("[T] N8 C40 M8 - [O] N1 C5 M1 - [I] N8 C8 M8", config)
    pad, _ = memory_usages(program, config)
    assert pad.counted_bytes == 16 * 32
    assert pad.physical_bytes == 2 * 8 * 8


def test_bias_makes_its_blocks_smaller_in_every_stage(lowered: Lowered, config_of: ConfigOf) -> None:
    # Q26: the first row block of each column begins as a bias of one request, not of 8.
    config = config_of()
    line = "[T] N16 C16 M16 - [O] N1 C2 M1 - [I] N16 C8 M16"
    assert count_requests(lowered(line, config), config).accumulator.tolist() == [4 * 8, 4 * 8]
    assert count_requests(lowered(line, config, bias=True), config).accumulator.tolist() == [2 * 9, 2 * 9]


def test_the_smallest_core_decides(lowered: Lowered, config_of: ConfigOf) -> None:
    config = config_of(num_cores=2, per_core=[{}, {"spad_size": 8, "accum_spad_size": 2}])
    program = lowered("[T] N8 C8 M8 - [O] N1 C1 M1 - [I] N8 C8 M8", config)
    assert [usage.capacity_bytes for usage in memory_usages(program, config)] == [4096, 1024]


def test_blocks_of_a_convolution_may_count_nothing(
    lowered_counts: Lowered, config_of: ConfigOf, conv_network: Callable[..., Network]
) -> None:
    # onnxim-conv.md C4: size = rows * p // request bytes: 16 rows of 1 B are 0 requests, 64 are 2.
    config = config_of()
    for side, granules in ((4, 0), (8, 2)):
        conv = Convolution(batch=1, in_channels=8, out_channels=8, height=side, width=side, kernel=(1, 1))
        whole = LoopCounts(1, 8, 8, 1, 1, side, side)
        program = lowered_counts(
            conv_network(conv), (whole, LoopCounts(1, 1, 1), whole), config, semantics="fixed"
        )
        _, acc = memory_usages(program, config)
        assert acc.counted_bytes == granules * 32
        assert acc.physical_bytes == side * side * 8 * 4


def test_the_operation_is_one_of_the_tile_that_overflows(lowered: Lowered, config_of: ConfigOf) -> None:
    config = config_of(spad_size=1)
    program = lowered("[T] N8 C36 M8 - [O] N1 C2 M1 - [I] N8 C32 M8", config)
    counts = count_requests(program, config)
    # As if the second stage, which holds fewer elements, took more requests: 17 of 32 B in a half of 512 B.
    pad, _ = memory_usages(program, config, replace(counts, scratchpad=np.array([16, 17])))
    assert (pad.counted_bytes, pad.capacity_bytes) == (544, 512)
    assert pad.operation == program.pieces[1].tables["op"]["id"][0]
    within, _ = memory_usages(program, config, counts)
    assert within.operation == program.pieces[0].tables["op"]["id"][0]
