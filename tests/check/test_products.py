"""Products computed once, outputs stored once."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.check.products import check_products
from pantile.program.piece import Piece
from pantile.program.program import Operand, Program
from pantile.program.tables import BOX, Kind

Box = tuple[tuple[int, int], ...]


@pytest.fixture(scope="session")
def product(literal: Any) -> Any:
    """A program over t, o, i whose computes and stores cover the given ranges."""

    def build(
        extents: tuple[int, ...], computes: list[Box], stores: list[Box], loads: tuple[Box, ...] = ()
    ) -> Program:
        made = literal()
        thread = made.thread("t")
        made.space("sram")
        boxes = []
        for kind, touch, wanted in (
            (Kind.COMPUTE, "updates", computes),
            (Kind.MOVE, "writes", stores),
            (Kind.MOVE, "reads", loads),
        ):
            for box in wanted:
                space = "sram" if kind == Kind.COMPUTE else "ddr"
                op = made.op(thread, "x", kind, **{touch: [(space, 0, 4)]})
                lo, length = [0] * 7, [0] * 7
                for axis, (begin, end) in enumerate(box):
                    lo[axis], length[axis] = begin, end - begin
                boxes.append((op, -1, 0, lo, length))
        program = made.program(output="Y", lives=[[0, 0, 4, 0, -1]])
        tables = {name: rows.copy() for name, rows in program.pieces[0].tables.items()}
        tables["box"] = np.array(boxes, BOX)
        tables["access"]["operand"] = 0
        output = Operand(
            name="Y",
            tensor="Y",
            base=0,
            dims=extents[:2],
            element_bytes=4,
            rule="",
            strides=(extents[1], 1, 0),
        )
        return replace(
            program, axes=("t", "o", "i"), extents=extents, operands=(output,), pieces=(Piece(tables),)
        )

    return build


HALVES = [
    ((0, 2), (0, 3), (0, 2)),
    ((0, 2), (0, 3), (2, 4)),
    ((2, 4), (0, 3), (0, 2)),
    ((2, 4), (0, 3), (2, 4)),
]
STORES = [((0, 2), (0, 3)), ((2, 4), (0, 3))]


def test_a_tiling_is_proved(product: Any) -> None:
    report = check_products(product((4, 3, 4), HALVES, STORES))
    assert report.proved == (
        "coverage: 48 MACs, each computed exactly once",
        "coverage: 12 outputs, each stored exactly once",
    )


def test_a_dropped_band_is_found_with_its_range(product: Any) -> None:  # A31
    (finding,) = check_products(product((4, 3, 4), HALVES[:3], STORES)).findings
    assert (finding.code, finding.severity, finding.grade) == ("PT-COVERAGE", "error", "wrong value")
    assert finding.sentence == "of 48 MACs, 12 MACs never computed"
    assert finding.evidence == "t 2:4, o 0:3, i 2:4 computed 0 times"


def test_computed_twice_and_outside(product: Any) -> None:
    (finding,) = check_products(product((4, 3, 4), [*HALVES, ((3, 5), (0, 3), (0, 4))], STORES)).findings
    assert finding.sentence == "of 48 MACs, 12 MACs computed again and 12 MACs outside the domain"


def test_computed_but_never_stored_is_a_warning(product: Any) -> None:
    (finding,) = check_products(product((4, 3, 4), HALVES, [])).findings
    assert (finding.code, finding.severity) == ("PT-COVERAGE", "warning")
    assert finding.sentence == "12 outputs computed, never stored"


def test_stored_in_part_is_an_error(product: Any) -> None:
    (finding,) = check_products(product((4, 3, 4), HALVES, STORES[:1])).findings
    assert (finding.severity, finding.sentence) == ("error", "of 12 outputs, 6 outputs never stored")


def test_a_spill_that_is_brought_back_does_not_count_as_stored(product: Any) -> None:
    spilled = product((4, 3, 4), HALVES, [*STORES, STORES[0]], (STORES[0],))
    assert not check_products(spilled).findings
    (finding,) = check_products(product((4, 3, 4), HALVES, [*STORES, STORES[0]])).findings
    assert finding.sentence == "of 12 outputs, 6 outputs stored again"


ranges = st.tuples(st.integers(0, 5), st.integers(0, 5)).map(lambda ends: (min(ends), max(ends)))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(ranges, ranges, ranges), min_size=1, max_size=5))
def test_same_as_counting_every_point(product: Any, boxes: list[Box]) -> None:
    counts = np.zeros((6, 6, 6), int)
    for box in boxes:
        counts[tuple(slice(*ends) for ends in box)] += 1
    inside = counts[:4, :3, :4]
    report = check_products(product((4, 3, 4), boxes, STORES))
    missing, again = int((inside == 0).sum()), int(np.maximum(inside - 1, 0).sum())
    outside = int(counts.sum() - inside.sum())
    if not (missing or again or outside):
        assert not report.findings
        return
    sentence = report.findings[0].sentence
    for count, words in (
        (missing, "never computed"),
        (again, "computed again"),
        (outside, "outside the domain"),
    ):
        assert (f"{count} MACs {words}" in sentence) == bool(count)


def test_a_program_without_boxes_is_not_asked(ping_pong: Any) -> None:
    report = check_products(ping_pong(2, 2).program())
    assert (report.findings, report.proved) == ((), ())


def test_long_axes_are_counted_without_a_mark_per_element(
    product: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = 1 << 40
    halves = [((0, 1), (0, 1), (0, 7)), ((0, 1), (0, 1), (7, far))]
    assert check_products(product((1, 1, far), halves, [((0, 1), (0, 1))])).ok
    right, wrong = product((4, 3, 4), HALVES, STORES), product((4, 3, 4), HALVES[1:], STORES)
    marked = [check_products(each) for each in (right, wrong)]
    monkeypatch.setattr(sys.modules[check_products.__module__], "DENSE", 0)
    assert [check_products(each) for each in (right, wrong)] == marked
