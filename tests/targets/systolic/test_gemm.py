"""Tiles and instructions of a product: the seed's worked figures, and an independent generator.

The worked figures are those of the seed text (its sections 3 to 5): N rows, C reduction, M columns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.program.program import Program
from pantile.targets.systolic.config import SystolicConfig
from pantile.targets.systolic.instructions import Instruction, program_instructions, tile_instructions
from pantile.targets.systolic.tiles import tiles_of
from pantile.tiling.onnxim import LoopCounts
from pantile.workload.matmul import Matmul
from pantile.workload.network import network_of

Lowered = Callable[..., Program]
ConfigOf = Callable[..., SystolicConfig]

MAIN = "[T] N32 C64 M32 - [O] N2 C2 M2 - [I] N16 C32 M16"
BERT = "[T] N512 C512 M1024 - [O] N13 C2 M26 - [I] N40 C256 M40"
TAILS = "[T] N50 C70 M46 - [O] N3 C3 M2 - [I] N24 C32 M24"


def listing_of(program: Program, config: SystolicConfig, index: tuple[int, int, int]) -> list[Instruction]:
    """Instructions of the tile at (n, m, c), ONNXim's letters."""
    tiles = tiles_of(program)
    (tile,) = tiles[(tiles["index"][:, 1:4] == index).all(axis=1)]
    return tile_instructions(program, int(tile["piece"]), tile["step"], config)


def test_main_example_counts(lowered: Lowered, config_of: ConfigOf) -> None:
    config = config_of()
    program = lowered(MAIN, config)
    tiles = tiles_of(program)
    # 2 N x 2 M output regions, each in 2 C stages.
    assert len(set(tiles["region"].tolist())) == 4
    assert program.tiles == len(tiles) == 8
    # Tile N16 C32 M16 on 8 x 8: 2 Ms x 2 Ns x 4 c_iter = 16 PRELOADs of 8 x 8 x 8 = 512 MACs.
    for listing in program_instructions(program, config):
        computes = [each for each in listing if each.opcode == "GEMM_PRELOAD"]
        assert len(computes) == 16
        assert {each.macs for each in computes} == {512}
        assert sum(each.macs for each in computes) == 8192
    # 8 tiles x 16 PRELOADs x 512 = 32 x 32 x 64 MACs.
    opcodes = Counter(each.opcode for listing in program_instructions(program, config) for each in listing)
    assert opcodes["GEMM_PRELOAD"] == 128
    assert program.macs == 65_536


def test_tiles_in_the_order_n_m_c_and_which_of_them_store(lowered: Lowered, config_of: ConfigOf) -> None:
    config = config_of()
    program = lowered(MAIN, config)
    rows = [
        (*tile["index"][1:4].tolist(), int(tile["accumulates"]), sum(i.opcode == "MOVOUT" for i in listing))
        for tile, listing in zip(tiles_of(program), program_instructions(program, config), strict=True)
    ]
    # The last C stage (0 + 32 >= 64 does not hold, 32 + 32 >= 64 does) stores 2 Ms x 2 Ns blocks.
    assert rows == [
        (0, 0, 0, 0, 0),
        (0, 0, 1, 1, 4),
        (0, 1, 0, 0, 0),
        (0, 1, 1, 1, 4),
        (1, 0, 0, 0, 0),
        (1, 0, 1, 1, 4),
        (1, 1, 0, 0, 0),
        (1, 1, 1, 1, 4),
    ]


def test_movin_order_is_weight_activation_activation_weight(lowered: Lowered, config_of: ConfigOf) -> None:
    config = config_of()
    loads = [each for each in listing_of(lowered(MAIN, config), config, (0, 0, 0)) if each.opcode == "MOVIN"]
    assert [each.operand for each in loads] == ["b", "a", "a", "b"]
    # Entry keys: activation Ns * iC * p; weight behind all 16 activation rows, (16 + Ms) * 32.
    keys = [each.dest_addr - 0x10000000 for each in loads]
    assert keys == [16 * 32, 0, 8 * 32, (16 + 8) * 32]
    # Each block of 8 rows x 32 elements of 1 B is one 32-byte request per row.
    assert [each.size for each in loads] == [8, 8, 8, 8]


def test_computes_walk_m_then_n_then_the_reduction(lowered: Lowered, config_of: ConfigOf) -> None:
    config = config_of()
    listing = listing_of(lowered(MAIN, config), config, (1, 1, 1))
    computes = [each for each in listing if each.opcode == "GEMM_PRELOAD"]
    # Output block (Ns, Ms): (Ns * 16 + Ms) * 1 B; four c_iter each update one block.
    keys = [each.dest_addr - 0x20000000 for each in computes]
    assert keys == [0] * 4 + [8 * 16] * 4 + [8] * 4 + [8 * 16 + 8] * 4
    stores = [each.dest_addr - 0x20000000 for each in listing if each.opcode == "MOVOUT"]
    assert stores == [0, 8 * 16, 8, 8 * 16 + 8]
    assert [each.opcode for each in listing] == ["MOVIN"] * 4 + ["GEMM_PRELOAD"] * 16 + ["MOVOUT"] * 4


def test_corner_tile_has_384_preloads_against_800(lowered: Lowered, config_of: ConfigOf) -> None:
    config = config_of()
    program = lowered(BERT, config)
    corner = [each for each in listing_of(program, config, (12, 25, 1)) if each.opcode == "GEMM_PRELOAD"]
    # N 512 - 12 * 40 = 32: 4 blocks; M 1024 - 25 * 40 = 24: 3 blocks; C 256: 32 c_iter.
    assert len(corner) == 3 * 4 * 32 == 384
    whole = [each for each in listing_of(program, config, (0, 0, 0)) if each.opcode == "GEMM_PRELOAD"]
    assert len(whole) == 5 * 5 * 32 == 800
    # Fewer blocks, none of them shorter.
    assert {(each.tile_m, each.tile_k, each.tile_n) for each in corner} == {(8, 8, 8)}
    assert program.macs == 512 * 512 * 1024


@pytest.mark.parametrize(
    ("reduction", "steps"),
    # The seed's table: c_in_loop, and the c_iter_size of each instruction on an array of 8.
    [(32, [8, 8, 8, 8]), (20, [8, 8, 4]), (6, [6])],
)
def test_c_iter_sizes(lowered: Lowered, config_of: ConfigOf, reduction: int, steps: list[int]) -> None:
    config = config_of()
    program = lowered(f"[T] N8 C{reduction} M8 - [O] N1 C1 M1 - [I] N8 C32 M8", config)
    (listing,) = program_instructions(program, config)
    assert [each.tile_k for each in listing if each.opcode == "GEMM_PRELOAD"] == steps


def test_short_tail_of_n2_c6_m22_has_264_macs(lowered: Lowered, config_of: ConfigOf) -> None:
    config = config_of()
    listing = listing_of(lowered(TAILS, config), config, (2, 1, 2))
    computes = [each for each in listing if each.opcode == "GEMM_PRELOAD"]
    # Starts N 48, M 24, C 64 of N50 C70 M46: actual N2 M22 C6; blocks of M: 8, 8, 6.
    assert [(each.tile_m, each.tile_k, each.tile_n) for each in computes] == [(8, 6, 2), (8, 6, 2), (6, 6, 2)]
    assert [each.macs for each in computes] == [96, 96, 72]
    assert sum(each.macs for each in computes) == 264 == 22 * 6 * 2
    # 64 + 32 >= 70: it stores although its actual length is shorter than the nominal one.
    assert sum(each.opcode == "MOVOUT" for each in listing) == 3
    # MOVINs carry the nominal inner sizes, whatever is left of them.
    fields = {each.operand: (each.tile_m, each.tile_k, each.tile_n) for each in listing[:4]}
    assert fields == {"b": (24, 32, 0), "a": (0, 32, 24)}


def test_bias_is_loaded_in_the_first_stage_alone_one_request_per_aligned_run(
    lowered: Lowered, config_of: ConfigOf
) -> None:
    config = config_of()
    program = lowered("[T] N16 C16 M16 - [O] N1 C2 M1 - [I] N16 C8 M16", config, bias=True)
    first, second = program_instructions(program, config)
    assert [each.operand for each in first if each.opcode == "MOVIN"] == ["bias", "b", "a", "a", "bias", "b"]
    assert [each.operand for each in second if each.opcode == "MOVIN"] == ["b", "a", "a", "b"]
    # Weight of 256 B at 0, which ends on a granule: base 256 + 256. Bias of 16 B at 512: both blocks of 8
    # elements lie in its first request, and each loads it.
    assert [each.src_addrs for each in first if each.operand == "bias"] == [(512,), (512,)]


# -- the law -------------------------------------------------------------------------------------------


Row = tuple[str, int, int, int, int, int, int, tuple[int, ...]]


def reference(
    counts: tuple[LoopCounts, LoopCounts, LoopCounts],
    config: SystolicConfig,
    bases: dict[str, int],
    batch: int,
) -> Iterator[tuple[tuple[int, ...], int, bool, list[Row]]]:
    """Tiles as onnxim-model.md section 4 spells them out, one element at a time.

    Yields (index, region counted with empty tiles, accumulate mark, instructions). A tile without rows is
    dropped like one without columns: ``fixed`` semantics of quirk Q4.
    """
    total, outer, inner = counts
    side, p, granule = config.heights[0], config.precision, config.request_bytes
    run = granule // p
    rows_n, rows_c, rows_m = total.N, total.C, total.M
    region = -1

    def round_down(address: int) -> int:
        return address // granule * granule

    for b in range(batch):
        for at_n in range(outer.N):
            for at_m in range(outer.M):
                for at_c in range(outer.C):
                    region += at_c == 0
                    n0, m0, c0 = at_n * inner.N, at_m * inner.M, at_c * inner.C
                    depth = rows_c - c0 if c0 + inner.C > rows_c else inner.C

                    def clip(start: int, stop: int) -> int:
                        return stop - start if start + side > stop else side

                    ms = [(s, clip(m0 + s, rows_m)) for s in range(0, inner.M, side) if m0 + s < rows_m]
                    ns = [(s, clip(n0 + s, rows_n)) for s in range(0, inner.N, side) if n0 + s < rows_n]
                    if not ms or not ns:
                        continue
                    listing: list[Row] = []

                    def out_key(n: int, m: int) -> int:
                        return 0x20000000 + (n * inner.M + m) * p

                    def act_key(n: int) -> int:
                        return 0x10000000 + n * inner.C * p

                    def weight_key(m: int) -> int:
                        return 0x10000000 + (inner.N + m) * inner.C * p

                    for m, mb in ms:
                        if at_c == 0 and "bias" in bases:
                            sent = [bases["bias"] + round_down((m0 + m + i) * p) for i in range(0, mb, run)]
                            listing.append(("MOVIN", out_key(0, m), len(sent), 0, 0, 0, 0, tuple(sent)))
                        asked = {
                            bases["b"] + round_down(((b * rows_m + m0 + m + i) * rows_c + c0 + c) * p)
                            for i in range(mb)
                            for c in range(0, depth, run)
                        }
                        fields = (inner.M, inner.C, 0)
                        listing.append(("MOVIN", weight_key(m), len(asked), 0, *fields, tuple(sorted(asked))))
                        for n, nb in ns if m == 0 else ():
                            asked = {
                                bases["a"] + round_down(((b * rows_n + n0 + n + i) * rows_c + c0 + c) * p)
                                for i in range(nb)
                                for c in range(0, depth, run)
                            }
                            fields = (0, inner.C, inner.N)
                            listing.append(
                                ("MOVIN", act_key(n), len(asked), 0, *fields, tuple(sorted(asked)))
                            )
                    for m, mb in ms:
                        for n, nb in ns:
                            for k in range(0, depth, side):
                                sources = (act_key(n), weight_key(m))
                                fields = (mb, min(side, depth - k), nb)
                                listing.append(("GEMM_PRELOAD", out_key(n, m), nb, nb, *fields, sources))
                    for m, mb in ms if c0 + inner.C >= rows_c else ():
                        for n, nb in ns:
                            asked = {
                                bases["c"] + round_down(((b * rows_n + n0 + n + i) * rows_m + m0 + m + j) * p)
                                for i in range(nb)
                                for j in range(0, mb, run)
                            }
                            listing.append(
                                ("MOVOUT", out_key(n, m), len(asked), 0, 0, 0, 0, tuple(sorted(asked)))
                            )
                    yield (b, at_n, at_m, at_c), region, at_c > 0, listing


def check(
    lowered_counts: Lowered,
    config: SystolicConfig,
    counts: tuple[LoopCounts, LoopCounts, LoopCounts],
    *,
    bias: bool,
    batch: int,
) -> None:
    """Compare tiles, marks and every field of every instruction."""
    total = counts[0]
    shape = (batch,) if batch > 1 else ()
    product = Matmul(
        m=total.N, k=total.C, n=total.M, a_batch=shape, b_batch=shape, bias="default" if bias else None
    )
    program = lowered_counts(network_of(product), counts, config, batch=batch)
    bases = {operand.name: operand.base for operand in program.operands}
    expected = list(reference(counts, config, bases, batch))

    tiles = tiles_of(program)
    assert [tuple(tile["index"][:4].tolist()) for tile in tiles] == [index for index, *_ in expected]
    assert tiles["region"].tolist() == [region for _, region, _, _ in expected]
    assert tiles["accumulates"].astype(bool).tolist() == [accumulates for _, _, accumulates, _ in expected]
    found = [
        [
            (i.opcode, i.dest_addr, i.size, i.compute_size, i.tile_m, i.tile_k, i.tile_n, i.src_addrs)
            for i in listing
        ]
        for listing in program_instructions(program, config)
    ]
    assert found == [listing for *_, listing in expected]
    assert program.operations == sum(len(listing) for listing in found)
    assert program.macs == sum(row[4] * row[5] * row[6] for listing in found for row in listing if row[3])


@pytest.mark.slow
@settings(deadline=None)
@given(
    data=st.data(),
    side=st.sampled_from([1, 2, 3, 4, 8]),
    precision=st.sampled_from([1, 2, 3, 4]),
    bias=st.booleans(),
    batch=st.integers(1, 3),
)
def test_pieces_unrolled_are_the_tiles_of_the_specification(
    lowered_counts: Lowered,
    config_of: ConfigOf,
    product_cuts: st.SearchStrategy[tuple[LoopCounts, LoopCounts, LoopCounts]],
    data: st.DataObject,
    side: int,
    precision: int,
    bias: bool,
    batch: int,
) -> None:
    config = config_of(core_height=side, core_width=side, precision=precision)
    check(lowered_counts, config, data.draw(product_cuts), bias=bias, batch=batch)


@pytest.mark.parametrize(
    "counts",
    [
        (LoopCounts(17, 9, 5), LoopCounts(3, 2, 1), LoopCounts(8, 8, 8)),  # ragged along every loop
        (LoopCounts(16, 16, 16), LoopCounts(1, 2, 1), LoopCounts(16, 16, 16)),  # Q6, a surplus C tile
        (LoopCounts(16, 16, 16), LoopCounts(1, 1, 1), LoopCounts(8, 8, 8)),  # Q7, stores nothing
        (LoopCounts(20, 20, 20), LoopCounts(2, 2, 2), LoopCounts(10, 10, 10)),  # Q8, blocks overlap
        (LoopCounts(16, 16, 16), LoopCounts(3, 1, 3), LoopCounts(8, 16, 8)),  # Q4 and Q5, empty tiles
    ],
)
@pytest.mark.parametrize("bias", [False, True])
def test_quirks_unrolled(
    lowered_counts: Lowered,
    config_of: ConfigOf,
    counts: tuple[LoopCounts, LoopCounts, LoopCounts],
    bias: bool,
) -> None:
    check(lowered_counts, config_of(), counts, bias=bias, batch=2)
