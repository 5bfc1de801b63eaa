"""What this version takes on at most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pantile.errors import ManyProblems, OutsideModelError
from pantile.machine import load_machine
from pantile.targets.systolic.config import systolic_config
from pantile.tiling.onnxim import parse_mapping
from pantile.verbs.limits import (
    MAX_BLOCKS,
    MAX_LATENCY,
    MAX_NODES,
    MAX_TILES,
    overflow_of_huge_tile,
    require_addressable,
    require_manageable,
    require_within_limits,
)
from pantile.workload.matmul import Matmul
from pantile.workload.network import network_of

if TYPE_CHECKING:
    from conftest import WriteMachine
    from pantile.targets.systolic.config import SystolicConfig


def config_of(machine_file: WriteMachine, **changes: Any) -> SystolicConfig:
    return systolic_config(load_machine(machine_file(**changes)))


def test_tiles_up_to_the_limit() -> None:
    text = "[T] N{0} C8 M8 - [O] N{0} C1 M1 - [I] N1 C8 M8"
    require_within_limits(parse_mapping(text.format(MAX_TILES)), 1)
    with pytest.raises(
        OutsideModelError, match=f"{MAX_TILES + 1} tiles: this version takes at most {MAX_TILES}"
    ):
        require_within_limits(parse_mapping(text.format(MAX_TILES + 1)), 1)
    with pytest.raises(OutsideModelError, match=f"{2 * MAX_TILES} tiles"):
        require_within_limits(parse_mapping(text.format(MAX_TILES)), 2)


def test_a_nominal_tile_beyond_64_bits() -> None:
    mapping = parse_mapping("[T] N8 C8 M8 - [O] N1 C1 M1 - [I] N1048576 C1048576 M1048576")
    with pytest.raises(
        OutsideModelError, match=f"a nominal tile of {2**60} steps: this version takes at most {2**56}"
    ):
        require_within_limits(mapping, 1)


def test_bytes_and_macs_that_64_bits_hold() -> None:
    require_addressable(network_of(Matmul(m=2**20, n=2**20, k=2**20)), 2)
    # Operands of 2^29 x 2^28, 2^28 x 1 and 2^29 x 1 elements of 4 B.
    with pytest.raises(
        OutsideModelError, match=f"^x: {2**59 + 2**30 + 2**31} bytes of tensors: this version"
    ):
        require_addressable(network_of(Matmul(m=2**29, n=1, k=2**28, name="x")), 4)
    with pytest.raises(ManyProblems) as caught:
        require_addressable(network_of(Matmul(m=2**30, n=2**30, k=2**30)), 1)
    assert [str(each).split(": ")[1].split(" ", 1)[1] for each in caught.value.problems] == [
        "bytes of tensors",
        "multiply-accumulates",
    ]


def test_machines_that_are_too_large_or_too_slow(machine_file: WriteMachine) -> None:
    def place(label: str) -> None:
        return None

    require_manageable(config_of(machine_file, dram_latency=MAX_LATENCY, icnt_latency=MAX_LATENCY), place)
    slow = config_of(
        machine_file, num_cores=2, icnt_injection_ports_per_core=MAX_NODES // 2,
        dram_latency=MAX_LATENCY + 1, icnt_latency=MAX_LATENCY + 2,
    )  # fmt: skip
    with pytest.raises(ManyProblems) as caught:
        require_manageable(slow, place)
    assert [each.problem for each in caught.value.problems] == [
        "family.systolic.ports_per_core: 4098 network nodes: this version takes at most 4096",
        "family.systolic.dram_latency_cycles: a latency of 65537 cycles: this version takes at most 65536",
        "family.systolic.noc_latency_cycles: a latency of 65538 cycles: this version takes at most 65536",
    ]


def test_tiles_of_a_usual_size_are_left_to_the_exact_count(machine_file: WriteMachine) -> None:
    config = config_of(machine_file)
    mapping = parse_mapping("[T] N800 C8 M800 - [O] N1 C1 M1 - [I] N800 C8 M800")
    assert overflow_of_huge_tile(mapping, config, is_convolution=False) is None


def test_a_huge_tile_overflows_by_its_elements(machine_file: WriteMachine) -> None:
    # 2^16 x 2^16 outputs in blocks of 8 x 8 are 2^26 blocks.
    line = "[T] N65536 C{0} M65536 - [O] N1 C1 M1 - [I] N65536 C{0} M65536"
    config = config_of(machine_file, spad_size=2**20)  # halves of 512 MiB and 8 KiB
    short = overflow_of_huge_tile(parse_mapping(line.format(8)), config, is_convolution=False)
    assert short is not None
    assert (short.memory, short.needed_bytes, short.capacity_bytes) == ("accumulator", 2**34, 2**13)
    long = overflow_of_huge_tile(parse_mapping(line.format(2**16)), config, is_convolution=False)
    assert long is not None
    assert (long.memory, long.needed_bytes, long.capacity_bytes) == ("scratchpad", 2**33, 2**29)


def test_a_huge_tile_that_would_fit_is_refused(machine_file: WriteMachine) -> None:
    config = config_of(machine_file, spad_size=2**30, accum_spad_size=2**30)
    line = "[T] N65536 C8 M8192 - [O] N1 C1 M1 - [I] N65536 C8 M8192"
    blocks = 2**13 * 2**10
    with pytest.raises(
        OutsideModelError, match=f"{blocks} blocks in one tile: this version takes at most {MAX_BLOCKS}"
    ):
        overflow_of_huge_tile(parse_mapping(line), config, is_convolution=False)


def test_a_huge_tile_of_a_convolution(machine_file: WriteMachine) -> None:
    # 64/8 x 64/8 weight blocks of a 100 x 100 kernel.
    line = "[T] N1 C64 M64 S100 R100 - [O] N1 - [I] N1 C64 M64 S100 R100"
    overflow = overflow_of_huge_tile(parse_mapping(line), config_of(machine_file), is_convolution=True)
    assert overflow is not None
    assert (overflow.memory, overflow.needed_bytes) == ("scratchpad", 64 * 64 * 10_000)
