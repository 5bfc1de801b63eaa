"""Coverage per kind of tile equals a count of every point of the unrolled program."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pantile.check.coverage import check_coverage
from pantile.check.report import Report
from pantile.program.piece import Loop, Piece
from pantile.program.program import Program
from pantile.program.tables import Kind, Mode
from pantile.tiling.onnxim import LoopCounts
from pantile.workload.convolution import Convolution
from pantile.workload.matmul import Matmul
from pantile.workload.network import network_of

Lowered = Callable[..., Program]
MAIN = "[T] N32 C64 M32 - [O] N2 C2 M2 - [I] N16 C32 M16"


def by_hand(program: Program) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """(never, again, outside) of products and of outputs, point by point."""
    tables = program.tables()
    result = next(place for place, each in enumerate(program.operands) if each.name == "c")
    access = tables["access"]
    writes = access["op"][(access["mode"] == Mode.WRITE) & (access["operand"] == result)]
    kept = [0, 1, 2] if program.axes[0] == "b" else [0, 1, 2, 3]
    found = []
    for chosen, axes in (
        (tables["op"]["kind"] == Kind.COMPUTE, list(range(len(program.axes)))),
        (np.isin(tables["op"]["id"], writes), kept),
    ):
        extents = [program.extents[axis] for axis in axes]
        counts = np.zeros(extents, int)
        outside = 0
        for box in tables["box"][chosen]:
            lo, length = box["lo"][axes], box["length"][axes]
            inside = [
                slice(max(a, 0), max(0, min(a + n, size)))
                for a, n, size in zip(lo, length, extents, strict=True)
            ]
            counts[tuple(inside)] += 1
            outside += int(np.prod(length)) - int(np.prod([max(0, s.stop - s.start) for s in inside]))
        found.append((int((counts == 0).sum()), int(np.maximum(counts - 1, 0).sum()), outside))
    return found[0], found[1]


def reported(report: Report) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """The same figures, read from the report's sentences."""
    found = []
    for what, done in (("MACs", "computed"), ("outputs", "stored")):
        sentences = [f.sentence for f in report.findings if f" {what}, " in f.sentence]
        proved = [text for text in report.proved if f" {what}, each {done} exactly once" in text]
        assert len(sentences) + len(proved) == 1
        text = sentences[0] if sentences else ""
        patterns = (rf"(\d+) {what} never", rf"(\d+) {what} {done} again", rf"(\d+) {what} outside")
        figures = [match.group(1) if (match := re.search(each, text)) else 0 for each in patterns]
        found.append(tuple(map(int, figures)))
    return found[0], found[1]


def test_every_product_and_output_once(lowered: Lowered) -> None:
    report = check_coverage(lowered(MAIN))
    assert report.ok
    assert report.proved == (
        "coverage: 65536 MACs, each computed exactly once",
        "coverage: 1024 outputs, each stored exactly once",
    )


@pytest.mark.parametrize(
    ("line", "macs", "outputs"),
    [
        # Q7: 8^3 of 16^3 products are computed; no output is stored, as the stage is not the last.
        ("[T] N16 C16 M16 - [O] N1 C1 M1 - [I] N8 C8 M8", (4096 - 512, 0, 0), (256, 0, 0)),
        # Q6: the true last stage stores 16 x 16 outputs, the surplus one stores them again.
        ("[T] N16 C16 M16 - [O] N1 C2 M1 - [I] N16 C16 M16", (0, 0, 0), (0, 256, 0)),
        # Two surplus stages: each output is stored three times.
        ("[T] N16 C16 M16 - [O] N1 C3 M1 - [I] N16 C16 M16", (0, 0, 0), (0, 512, 0)),
        # Q8: blocks of 8 in tiles of 10 reach from 0 to 16 and from 10 to 20: 26 of 20, so 26 * 26 * 20 MACs.
        ("[T] N20 C20 M20 - [O] N2 C2 M2 - [I] N10 C10 M10", (0, 13_520 - 8_000, 0), (0, 676 - 400, 0)),
        # Q5: surplus tiles are empty.
        ("[T] N16 C16 M16 - [O] N1 C1 M3 - [I] N16 C16 M16", (0, 0, 0), (0, 0, 0)),
    ],
)
def test_quirks(
    lowered: Lowered, line: str, macs: tuple[int, int, int], outputs: tuple[int, int, int]
) -> None:
    assert reported(check_coverage(lowered(line))) == (macs, outputs)


def test_a_dropped_store_leaves_its_outputs_unstored(lowered: Lowered, dropped: Lowered) -> None:
    program = lowered(MAIN)
    # Piece 1 is the last stage; its last row stores the block m 8:16, n 8:16 of each of 2 x 2 regions.
    report = check_coverage(dropped(program, 1, -1))
    (finding,) = report.findings
    assert (finding.code, finding.severity, finding.grade) == ("PT-COVERAGE", "error", "wrong value")
    assert finding.sentence == f"of 1024 outputs, {4 * 64} outputs never stored"
    assert finding.evidence == "b 0:1, m 8:16, n 8:16 stored 0 times"


def test_a_dropped_compute_leaves_its_products_out(lowered: Lowered, dropped: Lowered) -> None:
    program = lowered(MAIN)
    # Row 4 of piece 0 computes m 0:8, n 0:8 of the first stage: 8 * 8 * 32 MACs in each of 4 regions.
    report = check_coverage(dropped(program, 0, 4))
    (finding,) = report.findings
    assert finding.sentence == f"of 65536 MACs, {4 * 8 * 8 * 32} MACs never computed"
    assert finding.evidence == "b 0:1, m 0:8, n 0:8, k 0:32 computed 0 times"


def test_a_shifted_tile_misses_repeats_and_leaves_the_domain(lowered: Lowered, shifted: Lowered) -> None:
    # Four tiles of 16 x 16 x 32, one row down: row 0 is bare and row 32 outside, each for 32 x 32 products.
    report = check_coverage(shifted(lowered(MAIN), 0, 1, 1))
    (finding,) = report.findings
    assert finding.sentence == "of 65536 MACs, 1024 MACs never computed and 1024 MACs outside the domain"
    assert finding.evidence == "b 0:1, m 0:1, n 0:32, k 0:32 computed 0 times"


def test_a_repeated_tile_computes_and_stores_again(lowered: Lowered) -> None:
    program = lowered(MAIN)
    last = program.pieces[1]
    once = tuple(replace(loop, count=1) for loop in last.loops)
    report = check_coverage(replace(program, pieces=(*program.pieces, Piece(last.tables, once))))
    assert [finding.sentence for finding in report.findings] == [
        "of 65536 MACs, 8192 MACs computed again",
        "of 1024 outputs, 256 outputs stored again",
    ]


def test_a_dropped_band_of_tiles_is_found(lowered: Lowered) -> None:
    # A31: a grid that its group width does not divide loses the last band: here one of three M tiles.
    program = lowered("[T] N16 C16 M48 - [O] N1 C1 M3 - [I] N16 C16 M16")
    (piece,) = program.pieces

    def narrowed(loop: Loop) -> Loop:
        return replace(loop, count=2) if loop.name == "n" else loop

    report = check_coverage(
        replace(program, pieces=(Piece(piece.tables, tuple(map(narrowed, piece.loops))),))
    )
    assert [finding.sentence for finding in report.findings] == [
        f"of {16 * 16 * 48} MACs, {16 * 16 * 16} MACs never computed",
        f"of {16 * 48} outputs, 256 outputs never stored",
    ]
    assert report.findings[1].evidence == "b 0:1, m 0:16, n 32:48 stored 0 times"


@pytest.mark.slow
@settings(deadline=None)
@given(
    total=st.tuples(*[st.integers(1, 20)] * 3),
    inner=st.tuples(*[st.integers(1, 12)] * 3),
    outer=st.tuples(*[st.integers(1, 4)] * 3),
    side=st.sampled_from([1, 3, 4]),
    batch=st.integers(1, 2),
    shift=st.tuples(st.integers(0, 3), st.integers(-2, 3)),
)
def test_products_as_point_by_point(
    lowered_counts: Lowered,
    shifted: Lowered,
    total: tuple[int, int, int],
    inner: tuple[int, int, int],
    outer: tuple[int, int, int],
    side: int,
    batch: int,
    shift: tuple[int, int],
) -> None:
    shape = (batch,) if batch > 1 else ()
    product = Matmul(m=total[0], k=total[1], n=total[2], a_batch=shape, b_batch=shape)
    counts = (LoopCounts(*total), LoopCounts(*outer), LoopCounts(*inner))
    program = lowered_counts(network_of(product), counts, side=side, batch=batch)
    assert reported(check_coverage(program)) == by_hand(program)
    place = len(program.pieces) // 2
    assume((program.pieces[place].tables["box"]["lo"][:, shift[0]] + shift[1]).min() >= 0)
    moved = shifted(program, place, *shift)
    assert reported(check_coverage(moved)) == by_hand(moved)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(data=st.data(), side=st.sampled_from([1, 2, 4]))
def test_convolutions_as_point_by_point(lowered_convolution: Lowered, data: st.DataObject, side: int) -> None:
    def small(limit: int) -> Any:
        return data.draw(st.integers(1, limit))

    conv = Convolution(
        batch=small(2),
        in_channels=small(4),
        out_channels=small(4),
        height=small(3) + 2,
        width=small(3) + 2,
        kernel=(small(3), small(3)),
    )
    total = LoopCounts(
        conv.batch, conv.in_channels, conv.out_channels, *conv.kernel, conv.out_height, conv.out_width
    )
    inner = LoopCounts(**{letter: small(count + 1) for letter, count in total.items()})
    outer = LoopCounts(**{letter: small(3) for letter, _ in total.items()})
    program = lowered_convolution(conv, (total, outer, inner), side=side)
    assert reported(check_coverage(program)) == by_hand(program)


def test_too_many_ranges_are_undecided(lowered: Lowered, monkeypatch: pytest.MonkeyPatch) -> None:
    from pantile.check import boxes

    monkeypatch.setattr(boxes, "MAX_CELLS", 1)
    report = check_coverage(lowered("[T] N20 C20 M20 - [O] N2 C2 M2 - [I] N10 C10 M10"))
    assert report.ok
    assert {finding.code for finding in report.findings} == {"PT-UNDECIDED"}
    assert report.findings[0].sentence.startswith("whether all 8000 MACs are computed once was not decided")
