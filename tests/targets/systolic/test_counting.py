"""Counted requests and granules equal those of the instructions, spelled out."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.program.program import Program
from pantile.targets.systolic.config import SystolicConfig
from pantile.targets.systolic.counting import count_requests
from pantile.targets.systolic.instructions import program_instructions
from pantile.targets.systolic.tiles import tiles_of
from pantile.tiling.onnxim import LoopCounts
from pantile.workload.convolution import Convolution
from pantile.workload.matmul import Matmul
from pantile.workload.network import Network, network_of

Lowered = Callable[..., Program]
ConfigOf = Callable[..., SystolicConfig]
Counts = tuple[LoopCounts, LoopCounts, LoopCounts]

ACCUMULATOR = 0x20000000


def by_hand(program: Program, config: SystolicConfig) -> list[tuple[int, int, int, int | None]]:
    """(reads, writes, scratchpad granules, accumulator granules) per tile, entry by entry.

    A scratchpad half starts empty with every tile, an accumulator half with every region (section 5); a tile
    that brings no block of its own (Q6) says nothing of the accumulator.
    """
    counts = []
    accumulator: dict[int, int] = {}
    region = -1
    for tile, listing in zip(tiles_of(program), program_instructions(program, config), strict=True):
        if tile["region"] != region:
            region, accumulator = int(tile["region"]), {}
        reads = writes = 0
        scratchpad: dict[int, int] = {}
        for each in listing:
            if each.opcode == "MOVOUT":
                writes += len(each.src_addrs)
                continue
            if each.opcode == "MOVIN":
                reads += len(each.src_addrs)
            memory = accumulator if each.dest_addr >= ACCUMULATOR else scratchpad
            memory.setdefault(each.dest_addr, each.size)
        adds = any(each.compute_size for each in listing)
        held = sum(accumulator.values()) if adds else None
        counts.append((reads, writes, sum(scratchpad.values()), held))
    return counts


def counted(program: Program, config: SystolicConfig) -> list[tuple[int, ...]]:
    counts = count_requests(program, config)
    columns = (counts.reads, counts.writes, counts.scratchpad, counts.accumulator)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(
    data=st.data(),
    side=st.sampled_from([1, 3, 4, 8]),
    precision=st.sampled_from([1, 2, 3]),
    granule=st.sampled_from([8, 32, 64]),
    bias=st.booleans(),
    batch=st.integers(1, 2),
)
def test_products(
    lowered_counts: Lowered,
    config_of: ConfigOf,
    product_cuts: st.SearchStrategy[Counts],
    data: st.DataObject,
    side: int,
    precision: int,
    granule: int,
    bias: bool,
    batch: int,
) -> None:
    counts = data.draw(product_cuts)
    config = config_of(core_height=side, core_width=side, precision=precision, dram_req_size=granule)
    total, shape = counts[0], (batch,) if batch > 1 else ()
    product = Matmul(
        m=total.N, k=total.C, n=total.M, a_batch=shape, b_batch=shape, bias="default" if bias else None
    )
    program = lowered_counts(network_of(product), counts, config, batch=batch)
    expected = by_hand(program, config)
    found = counted(program, config)
    assert [row[:3] for row in found] == [row[:3] for row in expected]
    assert all(row[3] in (mine[3], None) for mine, row in zip(found, expected, strict=True))


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(
    data=st.data(),
    side=st.sampled_from([1, 2, 4]),
    precision=st.sampled_from([1, 2]),
    granule=st.sampled_from([4, 32]),
    layout=st.sampled_from(["NHWC", "NCHW"]),
)
def test_convolutions(
    lowered_counts: Lowered,
    config_of: ConfigOf,
    conv_network: Callable[..., Network],
    convolution_cuts: st.SearchStrategy[tuple[Convolution, Counts]],
    data: st.DataObject,
    side: int,
    precision: int,
    granule: int,
    layout: str,
) -> None:
    conv, counts = data.draw(convolution_cuts)
    config = config_of(
        core_height=side, core_width=side, precision=precision, dram_req_size=granule, layout=layout
    )
    network = conv_network(conv, channels_last=layout == "NHWC")
    program = lowered_counts(network, counts, config, semantics="fixed")
    assert counted(program, config) == by_hand(program, config)


def test_bands_of_one_pattern_are_counted_where_their_lines_are(
    lowered_counts: Lowered, config_of: ConfigOf, conv_network: Callable[..., Network]
) -> None:
    # Kernel rows 2 apart, stride 5, one row of padding, 6 rows of 24 B: band 0 reads rows -1 and 1, band 1
    # rows 4 and 6, so one row each. Row 1 is bytes 24..47, in two requests of 32 B; row 4 is bytes 96..119,
    # in one. Were band 0 counted from its padding's end, row 0, it would look aligned like row 4.
    conv = Convolution(
        batch=1,
        in_channels=24,
        out_channels=1,
        height=6,
        width=1,
        kernel=(2, 1),
        strides=(5, 1),
        pads=(1, 0, 1, 0),
        dilations=(2, 1),
    )
    counts = (
        LoopCounts(1, 24, 1, S=2, Q=2),
        LoopCounts(1, 1, 1, Q=2),
        LoopCounts(1, 24, 1, S=2),
    )
    config = config_of()
    program = lowered_counts(conv_network(conv), counts, config, semantics="fixed")
    assert [listing[0].size for listing in program_instructions(program, config)] == [2, 1]
    kernel_reads = 2 * 3  # 24 channels in blocks of 8 B, at two kernel rows: one request each
    assert count_requests(program, config).reads.tolist() == [2 + kernel_reads, 1 + kernel_reads]
