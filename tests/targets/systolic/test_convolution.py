"""Tiles and instructions of a convolution, against an independent generator and per-element sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.program.program import Program
from pantile.program.tables import Kind
from pantile.targets.systolic.config import SystolicConfig
from pantile.targets.systolic.convolution import window_lines
from pantile.targets.systolic.instructions import program_instructions
from pantile.targets.systolic.tiles import tiles_of
from pantile.tiling.onnxim import LoopCounts, parse_mapping
from pantile.workload.convolution import Convolution
from pantile.workload.network import Network

Lowered = Callable[..., Program]
ConfigOf = Callable[..., SystolicConfig]
Networks = Callable[..., Network]
Counts = tuple[LoopCounts, LoopCounts, LoopCounts]
Row = tuple[str, int, int, int, int, int, int, tuple[int, ...]]


def totals_of(conv: Convolution) -> LoopCounts:
    (s, r), q, p = conv.kernel, conv.out_height, conv.out_width
    return LoopCounts(conv.batch, conv.in_channels, conv.out_channels, s, r, q, p)


def element(letters: dict[str, int], sizes: dict[str, int], order: str) -> int:
    """Row-major position of an index in a tensor whose axes stand in *order*."""
    flat = 0
    for axis in order:
        flat = flat * sizes[axis] + letters[axis]
    return flat


def reference(
    conv: Convolution, counts: Counts, config: SystolicConfig, bases: dict[str, int]
) -> Iterator[tuple[tuple[int, ...], int, bool, list[Row]]]:
    """Tiles as onnxim-conv.md C3 and C4 say, with the quirks of design put right, element by element.

    Yields (index in the nest n, p, q, m, s, r, c; region; accumulate mark; instructions).
    """
    total, outer, inner = counts
    width, p_bytes, granule = config.widths[0], config.precision, config.request_bytes
    last = config.layout != "NCHW"
    pictures = {"n": conv.batch, "h": conv.height, "w": conv.width, "c": conv.in_channels}
    results = {"n": total.N, "q": total.Q, "p": total.P, "m": total.M}
    kernels = {"m": total.M, "s": total.S, "r": total.R, "c": total.C}
    reach = [
        (size - 1) * conv.strides[side] + conv.dilations[side] * (conv.kernel[side] - 1) + 1
        for side, size in enumerate((inner.Q, inner.P))
    ]
    weights = 0x10000000 + inner.N * reach[0] * reach[1] * inner.C * p_bytes
    region = -1

    def request(name: str, flat: int) -> int:
        return bases[name] + flat * p_bytes // granule * granule

    for index in product(*(range(outer[letter]) for letter in "NPQMSRC")):
        at = dict(zip("NPQMSRC", index, strict=True))
        region += at["S"] == at["R"] == at["C"] == 0
        start = {letter: at[letter] * inner[letter] for letter in at}
        size = {letter: min(inner[letter], total[letter] - start[letter]) for letter in at}
        if min(size.values()) <= 0:
            continue
        n0, p0, q0, m0, s0, r0, c0 = (start[letter] for letter in "NPQMSRC")
        listing: list[Row] = []
        asked = set()
        for n, q, p, s, r, c in product(
            *(range(size[letter]) for letter in "NQP"), range(total.S), range(total.R), range(size["C"])
        ):
            h = (q0 + q) * conv.strides[0] - conv.pads[0] + s * conv.dilations[0]
            w = (p0 + p) * conv.strides[1] - conv.pads[1] + r * conv.dilations[1]
            if 0 <= h < conv.height and 0 <= w < conv.width:
                where = {"n": n0 + n, "h": h, "w": w, "c": c0 + c}
                asked.add(request("a", element(where, pictures, "nhwc" if last else "nchw")))
        listing.append(("MOVIN", 0x10000000, len(asked), 0, 0, 0, 0, tuple(sorted(asked))))
        blocks = list(
            product(
                range(0, size["M"], width), range(size["S"]), range(size["R"]), range(0, size["C"], width)
            )
        )
        keys = {}
        for j, (m, s, r, c) in enumerate(blocks):
            keys[m, s, r, c] = weights + width * width * (j * inner.S * inner.R + s * inner.R + r)
            asked = {
                request(
                    "b",
                    element(
                        {"m": m0 + m + i, "s": s0 + s, "r": r0 + r, "c": c0 + c + k},
                        kernels,
                        "msrc" if last else "mcsr",
                    ),
                )
                for i in range(min(width, size["M"] - m))
                for k in range(min(width, size["C"] - c))
            }
            listing.append(("MOVIN", keys[m, s, r, c], len(asked), 0, 0, 0, 0, tuple(sorted(asked))))

        def out_key(n: int, q: int, p: int, m: int) -> int:
            flat = ((n * inner.Q + q) * inner.P + p) * inner.M + m
            return 0x20000000 + flat * p_bytes // granule * granule

        outputs = list(product(range(size["N"]), range(0, size["Q"], width), range(0, size["P"], width)))
        for m, s, r, c in blocks:
            for n, q, p in outputs:
                rows = min(width, size["Q"] - q) * min(width, size["P"] - p)
                fields = (min(width, size["M"] - m), min(width, size["C"] - c), rows)
                opcode = "GEMM" if (n, q, p) != (0, 0, 0) else "GEMM_PRELOAD"
                sources = (0x10000000, keys[m, s, r, c])
                granules = rows * p_bytes // granule
                listing.append((opcode, out_key(n, q, p, m), granules, rows, *fields, sources))
        if all(start[letter] + size[letter] == total[letter] for letter in "SRC"):
            for n, q, p in outputs:
                for m in range(0, size["M"], width):
                    asked = {
                        request(
                            "c",
                            element(
                                {"n": n0 + n, "q": q0 + q + i, "p": p0 + p + j, "m": m0 + m + k},
                                results,
                                "nqpm" if last else "nmqp",
                            ),
                        )
                        for i in range(min(width, size["Q"] - q))
                        for j in range(min(width, size["P"] - p))
                        for k in range(min(width, size["M"] - m))
                    }
                    row = ("MOVOUT", out_key(n, q, p, m), len(asked), 0, 0, 0, 0, tuple(sorted(asked)))
                    listing.append(row)
        yield index, region, any(at[letter] for letter in "SRC"), listing


def check(
    lowered_counts: Lowered, conv_network: Networks, config: SystolicConfig, conv: Convolution, counts: Counts
) -> None:
    """Compare tiles, marks and every field of every instruction."""
    network = conv_network(conv, channels_last=config.layout == "NHWC")
    program = lowered_counts(network, counts, config, semantics="fixed")
    bases = {operand.name: operand.base for operand in program.operands}
    expected = list(reference(conv, counts, config, bases))

    tiles = tiles_of(program)
    assert [tuple(tile["index"].tolist()) for tile in tiles] == [index for index, *_ in expected]
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
    assert program.macs == conv.macs


@pytest.mark.slow
@settings(deadline=None)
@given(
    data=st.data(),
    side=st.sampled_from([1, 2, 4]),
    precision=st.sampled_from([1, 2, 4]),
    layout=st.sampled_from(["NHWC", "NCHW"]),
)
def test_pieces_unrolled_are_the_tiles_of_the_specification(
    lowered_counts: Lowered,
    config_of: ConfigOf,
    conv_network: Networks,
    convolution_cuts: st.SearchStrategy[tuple[Convolution, Counts]],
    data: st.DataObject,
    side: int,
    precision: int,
    layout: str,
) -> None:
    conv, counts = data.draw(convolution_cuts)
    config = config_of(core_height=side, core_width=side, precision=precision, layout=layout)
    check(lowered_counts, conv_network, config, conv, counts)


def test_bands_that_read_one_line_each_from_different_places(
    lowered_counts: Lowered, config_of: ConfigOf, conv_network: Networks
) -> None:
    # Rows -1 and 1 of 5, then 2 and 4: one line read at row 1 by the first band, two by the second.
    conv = Convolution(
        batch=1,
        in_channels=3,
        out_channels=1,
        height=5,
        width=1,
        kernel=(2, 1),
        strides=(3, 1),
        pads=(1, 0, 0, 0),
        dilations=(2, 1),
    )
    total = totals_of(conv)
    counts = (total, LoopCounts(1, 1, 1, Q=2), LoopCounts(1, 3, 1, S=2, Q=1))
    check(lowered_counts, conv_network, config_of(core_height=4, core_width=4), conv, counts)


@pytest.mark.slow
@settings(deadline=None)
@given(data=st.data(), side=st.sampled_from([1, 2, 4]))
def test_every_product_is_computed_once_and_every_output_stored_once(
    lowered_counts: Lowered,
    config_of: ConfigOf,
    conv_network: Networks,
    convolution_cuts: st.SearchStrategy[tuple[Convolution, Counts]],
    data: st.DataObject,
    side: int,
) -> None:
    conv, counts = data.draw(convolution_cuts)
    config = config_of(core_height=side, core_width=side)
    program = lowered_counts(conv_network(conv), counts, config, semantics="fixed")
    tables = program.tables()
    computed = np.zeros(program.extents, np.int64)
    stored = np.zeros(program.extents[:4], np.int64)
    computes = tables["op"]["kind"] == Kind.COMPUTE
    stores = np.array([program.text(opcode) == "MOVOUT" for opcode in tables["op"]["opcode"]])
    for box in tables["box"][computes]:
        computed[slices(box)] += 1
    for box in tables["box"][stores]:
        stored[slices(box)[:4]] += 1
    assert (computed == 1).all()
    assert (stored == 1).all()


def slices(box: Any) -> tuple[slice, ...]:
    return tuple(slice(lo, lo + size) for lo, size in zip(box["lo"], box["length"], strict=True))


@pytest.mark.parametrize(
    ("first", "count", "lines"),
    # A kernel of 3, stride 2, one line of padding: output 0 reads -1..1, 1 reads 1..3, 3 reads 5..7.
    [(0, 1, [0, 1]), (0, 2, [0, 1, 2, 3]), (1, 2, [1, 2, 3, 4, 5]), (3, 1, [5, 6, 7])],
)
def test_window_lines(first: int, count: int, lines: list[int]) -> None:
    conv = Convolution(
        batch=1,
        in_channels=1,
        out_channels=1,
        height=8,
        width=8,
        kernel=(3, 3),
        strides=(2, 2),
        pads=(1, 1, 1, 1),
    )
    assert window_lines(first, count, conv, 0) == lines
    assert window_lines(first, count, conv, 1) == lines


def test_opcodes_of_a_3x3_convolution(
    lowered_counts: Lowered, config_of: ConfigOf, conv_network: Networks
) -> None:
    # 8 x 8 outputs are one block of 64 rows on an 8 x 8 array; 16 input and 16 output channels are 2 blocks
    # each, 9 kernel elements: 36 weight blocks, one preload each, 64 rows x 8 x 8 MACs.
    conv = Convolution(
        batch=1, in_channels=16, out_channels=16, height=8, width=8, kernel=(3, 3), pads=(1, 1, 1, 1)
    )
    whole = totals_of(conv)
    config = config_of()
    program = lowered_counts(
        conv_network(conv), (whole, LoopCounts(1, 1, 1), whole), config, semantics="fixed"
    )
    (listing,) = program_instructions(program, config)
    opcodes = [each.opcode for each in listing]
    assert opcodes == ["MOVIN"] * 37 + ["GEMM_PRELOAD"] * 36 + ["MOVOUT"] * 2
    assert {each.macs for each in listing if each.opcode == "GEMM_PRELOAD"} == {64 * 8 * 8}
    # The picture of 8 * 8 * 16 B is 32 requests; each kernel block 8 rows of 8 B, 144 B apart.
    assert [each.size for each in listing[:2]] == [32, 8]


def test_plain_gemm_follows_the_preload_of_its_weights(
    lowered_counts: Lowered, config_of: ConfigOf, conv_network: Networks
) -> None:
    # 20 output columns on an array of 8: blocks of 8, 8 and 4; the first preloads, the others reuse.
    conv = Convolution(batch=1, in_channels=8, out_channels=8, height=1, width=20, kernel=(1, 1))
    whole = totals_of(conv)
    config = config_of()
    program = lowered_counts(
        conv_network(conv), (whole, LoopCounts(1, 1, 1), whole), config, semantics="fixed"
    )
    (listing,) = program_instructions(program, config)
    computes = [(each.opcode, each.tile_n) for each in listing if each.compute_size]
    assert computes == [("GEMM_PRELOAD", 8), ("GEMM", 8), ("GEMM", 4)]


def test_explicit_line_of_the_specification(
    lowered_counts: Lowered, config_of: ConfigOf, conv_network: Networks
) -> None:
    # onnxim-conv.md C2's example line: 2 x 3 x 2 x 2 tiles over Q, P, M and C, each in full channels of 8.
    line = "[T] N1 C16 M16 S3 R3 Q12 P20 - [O] N1 C2 M2 S1 R1 Q2 P3 - [I] N1 C8 M8 S3 R3 Q8 P8"
    mapping = parse_mapping(line)
    conv = Convolution(
        batch=1, in_channels=16, out_channels=16, height=12, width=20, kernel=(3, 3), pads=(1, 1, 1, 1)
    )
    config = config_of()
    counts = (mapping.total, mapping.outer, mapping.inner)
    program = lowered_counts(conv_network(conv), counts, config, semantics="fixed")
    assert program.tiles == 2 * 3 * 2 * 2
    assert program.macs == 12 * 20 * 16 * 16 * 9
    assert program.reductions == ("s", "r", "c")
