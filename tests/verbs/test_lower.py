"""The verb ``lower``, and listings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import pantile
from pantile.errors import UsageError
from pantile.verbs.lower import Lowering
from pantile.verbs.result import Many, as_html

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import WriteOnnx
    from pantile.machine import Machine

A8 = "systolic-ws-8x8"


def test_totals_of_the_worked_example(seed: tuple[str, str]) -> None:
    workload, mapping = seed
    result = pantile.lower(workload, A8, mapping=mapping)
    assert isinstance(result, Lowering)
    totals = result.totals
    assert (totals.regions, totals.tiles, totals.macs) == (4, 8, 65536)
    assert totals.instructions == {"MOVIN": 32, "GEMM_PRELOAD": 128, "MOVOUT": 16}
    # Each of 8 tiles reads 16 x 32 B of either operand, in requests of 32 B; 4 regions of 16 x 16 B are
    # stored row by row, 16 B in a request of 32 B.
    assert totals.requests == {"read": 8 * 2 * 16, "write": 4 * 2 * 16}
    assert totals.bytes["dram"] == {"read": 8192, "write": 4096}
    assert totals.useful_bytes == {"read": 8192, "write": 1024}


def test_every_tile_has_16_preloads_of_512_macs(seed: tuple[str, str]) -> None:
    workload, mapping = seed
    result = pantile.lower(workload, A8, mapping=mapping)
    by_tile: dict[int, list[str]] = {}
    for each in result.listing:
        by_tile.setdefault(each.tile, []).append(each.instruction.opcode)
    assert len(by_tile) == 8
    for tile, opcodes in by_tile.items():
        stores = 4 if tile % 2 else 0  # the last reduction stage of every region
        assert opcodes == ["MOVIN"] * 4 + ["GEMM_PRELOAD"] * 16 + ["MOVOUT"] * stores
    macs = [each.instruction.macs for each in result.listing if each.instruction.opcode == "GEMM_PRELOAD"]
    assert set(macs) == {512}
    assert sum(macs) == 65536


def test_numbers_places_and_indices_agree(seed: tuple[str, str]) -> None:
    workload, mapping = seed
    listing = pantile.lower(workload, A8, mapping=mapping).listing
    rows = list(listing)
    assert [each.number for each in rows] == list(range(176))
    assert listing.count == 176
    assert [each.number - each.place for each in rows] == [int(listing.starts[each.tile]) for each in rows]
    assert [row.index for row in rows if not row.place][-1] == (0, 1, 1, 1)


def test_a_window_and_a_core_choose_from_the_same_rows(seed: tuple[str, str]) -> None:
    workload, mapping = seed
    options = {"machine": "systolic-ws-8x8-c4", "mapping": mapping}
    whole = list(pantile.lower(workload, **options).listing)
    some = pantile.lower(workload, **options, window=range(30, 60)).listing
    assert list(some) == whole[30:60]
    assert some.count == 30
    parts = [pantile.lower(workload, **options, core=core).listing for core in range(4)]
    assert sorted(row.number for part in parts for row in part) == list(range(176))
    assert sum(part.count for part in parts) == 176
    assert [part.count for part in parts] == [44] * 4


def test_a_window_that_ends_before_a_program_begins_lists_nothing_of_it(mlp: str) -> None:
    up, down = pantile.lower(mlp, A8, window=range(25, 30))
    assert (up.listing.count, down.listing.count) == (5, 0)
    assert list(down.listing) == []
    assert down.to_json()["operations"] == []


def test_json_counts_and_lists_the_same(seed: tuple[str, str]) -> None:
    workload, mapping = seed
    made = pantile.lower(workload, A8, mapping=mapping).to_json()
    assert made["operation_count"] == len(made["operations"]) == 176
    assert sum(kind["tiles"] for kind in made["tile_kinds"]) == made["totals"]["tiles"]
    assert sum(kind["tiles"] * kind["macs"] for kind in made["tile_kinds"]) == made["totals"]["macs"]
    first = made["operations"][0]
    assert (first["op"], first["size"], first["tile_m"], first["tile_k"]) == ("MOVIN", 8, 16, 32)


def test_text_shows_roles_and_not_only_fields(seed: tuple[str, str]) -> None:
    workload, mapping = seed
    lines = pantile.lower(workload, A8, mapping=mapping).text().splitlines()
    assert lines[0] == f"# {workload}: number, tile (b,m,n,k), instruction; <- read, -> written"
    # Weights of 2048 B lie at 0, the activation at 2304; the weight block's key follows 16 rows of 32 B.
    assert lines[1] == "      0  (0,0,0,0)  MOVIN         b     0x10000200 <- dram 0x0..0x1c0  8 requests"
    assert lines[2] == "      1  (0,0,0,0)  MOVIN         a     0x10000000 <- dram 0x900..0xac0  8 requests"
    compute = "GEMM_PRELOAD  c     0x20000000 += 0x10000000,0x10000200  m8 n8 k8  512 MACs"
    assert lines[5] == f"      4  (0,0,0,0)  {compute}"
    assert lines[-1].startswith("    175  (0,1,1,1)  MOVOUT        c     0x20000")


def test_totals_print_in_terminal_and_notebook(seed: tuple[str, str]) -> None:
    workload, mapping = seed
    result = pantile.lower(workload, A8, mapping=mapping)
    assert str(result).splitlines() == [
        workload,
        "  regions       4",
        "  tiles         8",
        "  instructions  32 MOVIN, 128 GEMM_PRELOAD, 16 MOVOUT",
        "  MACs          65536 useful, 65536 padded",
        "  DRAM          8192 B read, 4096 B written, in 256 + 128 requests",
    ]
    assert result._repr_html_() == as_html(str(result))


def test_a_long_listing_is_left_out_of_json_and_refused_as_text() -> None:
    result = pantile.lower("gemm:m=512,n=1024,k=512", A8)
    assert result.left_out == result.program.operations > 100_000
    assert result.to_json()["operations"] is None
    with pytest.raises(UsageError, match="a listing holds at most 100000; add --window 0:100000"):
        result.text()


def test_the_corner_tile_of_a_product_that_is_not_cut_evenly() -> None:
    # 512 x 1024 x 512 in tiles of 40 x 40 x 256: the last ones are 32 x 24, 4 x 3 blocks of 32 steps.
    mapping = "[T] N512 C512 M1024 - [O] N13 C2 M26 - [I] N40 C256 M40"
    kinds = pantile.lower("gemm:m=512,n=1024,k=512", A8, mapping=mapping).to_json()["tile_kinds"]
    assert kinds[0]["instructions"]["GEMM_PRELOAD"] == 5 * 5 * 32 == 800
    assert kinds[-1]["instructions"]["GEMM_PRELOAD"] == 4 * 3 * 32 == 384
    assert kinds[-1]["actual_size"] == {"b": 1, "m": 32, "n": 24, "k": 256}
    assert kinds[-1]["nominal_size"] == {"b": 1, "m": 40, "n": 40, "k": 256}


def test_layers_of_a_network_stand_in_file_order_with_their_turn(onnx_file: WriteOnnx) -> None:
    # "late" stands first in the file but waits for nothing else; the order of turns is that of the file here.
    net = onnx_file(
        [("MatMul", "one", ["x", "w0"], "h"), ("MatMul", "two", ["h", "w1"], "y")],
        {"x": [8, 8]},
        {"w0": [8, 8], "w1": [8, 8]},
    )
    results = pantile.lower(net, "systolic-ws-8x8-c4")
    assert isinstance(results, Many)
    assert [(each.workload, each.listing.layer) for each in results] == [(f"{net}#one", 0), (f"{net}#two", 1)]
    # The first region of layer L goes to core L + 1.
    for each, core in zip(results, (1, 2), strict=True):
        alone = pantile.lower(net, "systolic-ws-8x8-c4", core=core)[each.listing.layer]
        assert alone.listing.count == each.listing.count


def test_a_machine_without_that_core(machine: Callable[..., Machine]) -> None:
    with pytest.raises(UsageError, match="there is no core 2; a8 has cores 0 to 1"):
        pantile.lower("gemm:m=8,n=8,k=8", machine(num_cores=2), core=2)
