"""Instructions as values: roles, JSON, digest."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from pantile.program.program import Program
from pantile.targets.systolic.config import SystolicConfig
from pantile.targets.systolic.instructions import (
    Instruction,
    compute_shape,
    digest_lines,
    program_instructions,
)

LOAD = Instruction("MOVIN", "b", 0x10000200, 2, 0, 16, 32, 0, (64, 96))
COMPUTE = Instruction("GEMM_PRELOAD", "", 0x20000000, 8, 8, 8, 4, 8, (0x10000000, 0x10000200))
STORE = Instruction("MOVOUT", "c", 0x20000000, 17, 0, 0, 0, 0, tuple(range(0, 17 * 32, 32)))


def test_macs_are_those_of_computes() -> None:
    assert COMPUTE.macs == 8 * 4 * 8
    assert LOAD.macs == STORE.macs == 0


def test_roles_name_movouts_source() -> None:
    assert LOAD.roles() == {"dest_addr": "entry filled", "src_addrs": "DRAM requests read"}
    assert STORE.roles() == {"dest_addr": "entry read", "src_addrs": "DRAM requests written"}
    assert COMPUTE.roles() == {"dest_addr": "entry updated", "src_addrs": "activation entry, weight entry"}


def test_json_lists_sixteen_addresses_and_digests_more() -> None:
    assert LOAD.to_json() == {
        "op": "MOVIN",
        "dest_addr": 0x10000200,
        "size": 2,
        "compute_size": 0,
        "tile_m": 16,
        "tile_k": 32,
        "tile_n": 0,
        "src_addrs": [64, 96],
    }
    long = STORE.to_json()
    assert "src_addrs" not in long
    assert (long["src_count"], long["src_first"], long["src_last"]) == (17, 0, 16 * 32)
    text = ",".join(str(at * 32) for at in range(17))
    assert long["src_sha256"] == hashlib.sha256(text.encode()).hexdigest()


def test_digest_lines() -> None:
    assert digest_lines(1, 2, [LOAD, COMPUTE]) == (
        "1|2|MOVIN|268435968|2|0|16|32|0|64,96\n1|2|GEMM_PRELOAD|536870912|8|8|8|4|8|268435456,268435968\n"
    )


def test_shape_of_a_compute(
    lowered: Callable[..., Program], config_of: Callable[..., SystolicConfig]
) -> None:
    config = config_of(precision=2)
    program = lowered("[T] N8 C8 M4 - [O] N1 C1 M1 - [I] N8 C8 M8", config)
    # Axes b, m, n, k: 6 rows, 4 columns; one granule a row, whatever its bytes.
    assert compute_shape(program, [1, 6, 4, 8, 0, 0, 0], config) == (6, 4, 6)


def test_tiles_are_yielded_in_creation_order(
    lowered: Callable[..., Program], config_of: Callable[..., SystolicConfig]
) -> None:
    config = config_of()
    program = lowered("[T] N16 C8 M16 - [O] N2 C1 M2 - [I] N8 C8 M8", config)
    bases = {operand.name: operand.base for operand in program.operands}
    first = [listing[0].src_addrs[0] - bases["b"] for listing in program_instructions(program, config)]
    # The weights of M tiles 0 and 1, for each of the two N tiles: column 8 begins at byte 64.
    assert first == [0, 64, 0, 64]
