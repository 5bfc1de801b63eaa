"""Stores and the contributions that they must not overtake."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.check.overtaking import check_overtaking
from pantile.program.piece import Piece
from pantile.program.program import Program
from pantile.program.tables import Kind, SlotRule, Test
from pantile.tiling.onnxim import LoopCounts
from pantile.workload.convolution import Convolution

Lowered = Callable[..., Program]
PROVED = ("order: every store follows all contributions to its block",)


@pytest.mark.parametrize(
    "line",
    [
        "[T] N8 C8 M8 - [O] N1 C1 M1 - [I] N8 C8 M8",
        # Ragged tiles of several kinds, whose blocks have the same keys: each is a region of its own.
        "[T] N50 C70 M46 - [O] N3 C1 M2 - [I] N24 C72 M24",
        # Nothing is stored, so nothing is stored too early.
        "[T] N16 C16 M16 - [O] N1 C1 M1 - [I] N8 C8 M8",
    ],
)
def test_a_reduction_in_one_tile_is_ordered(lowered: Lowered, line: str) -> None:
    report = check_overtaking(lowered(line))
    assert report.findings == ()
    assert report.proved == PROVED


def test_two_stages_are_timing_dependent(lowered: Lowered) -> None:
    report = check_overtaking(lowered("[T] N32 C64 M32 - [O] N2 C2 M2 - [I] N16 C32 M16"))
    (finding,) = report.findings
    assert report.ok
    assert (finding.code, finding.severity, finding.grade) == ("PT-RACE", "warning", "timing-dependent")
    # Four regions of 2 x 2 blocks; tile 1's first store is operation 20 + 4 + 16, tile 0's first compute 4.
    assert finding.sentence.startswith("16 stores could leave before")
    assert finding.operations == (4, 40)


def test_an_overtaking_run_is_an_error(lowered: Lowered) -> None:
    report = check_overtaking(lowered("[T] N32 C64 M32 - [O] N2 C2 M2 - [I] N16 C32 M16"), 3)
    (finding,) = report.findings
    assert not report.ok
    assert (finding.severity, finding.grade) == ("error", "wrong value")
    assert finding.sentence == ("3 of 16 stores leave before an earlier tile has issued its contribution")
    assert check_overtaking(lowered("[T] N32 C64 M32 - [O] N2 C2 M2 - [I] N16 C32 M16"), 0).ok


def test_surplus_stages_store_once_each(lowered: Lowered) -> None:
    # Q6: the surplus stage's 4 stores could leave before the true stage's computes, which its own follow.
    report = check_overtaking(lowered("[T] N16 C16 M16 - [O] N1 C2 M1 - [I] N16 C16 M16"))
    (finding,) = report.findings
    assert finding.sentence.startswith("4 stores could leave")


def test_ragged_regions_are_counted_apart(lowered: Lowered) -> None:
    # N 3 + 3 + 1, M 3 + 3 blocks in 3 stages: 7 * 6 stores, all of last stages.
    report = check_overtaking(lowered("[T] N50 C70 M46 - [O] N3 C3 M2 - [I] N24 C32 M24"))
    (finding,) = report.findings
    assert finding.sentence.startswith("42 stores could leave")


def test_a_store_before_a_later_stage_is_wrong_under_every_timing(lowered: Lowered) -> None:
    program = lowered("[T] N8 C16 M8 - [O] N1 C2 M1 - [I] N8 C8 M8")
    first, last = program.pieces

    def at(piece: Piece, index: int) -> Piece:
        return Piece(
            piece.tables,
            tuple(replace(loop, first=index) if loop.name == "k" else loop for loop in piece.loops),
        )

    swapped = replace(program, pieces=(at(last, 0), at(first, 1)))
    (finding,) = check_overtaking(swapped).findings
    assert (finding.code, finding.severity, finding.grade) == ("PT-RACE", "error", "wrong value")
    assert finding.sentence == "1 stores come before a later tile's contribution to what they store"


def test_stages_of_a_convolution(lowered_convolution: Lowered) -> None:
    # Two stages along C: 16 channels in tiles of 8; one block of 16 outputs, stored by the second.
    conv = Convolution(batch=1, in_channels=16, out_channels=8, height=4, width=4, kernel=(1, 1))
    total = LoopCounts(1, 16, 8, 1, 1, 4, 4)
    counts = (total, LoopCounts(1, 2, 1), LoopCounts(1, 8, 8, 1, 1, 4, 4))
    (finding,) = check_overtaking(lowered_convolution(conv, counts)).findings
    assert finding.sentence.startswith("1 stores could leave")
    whole = (total, LoopCounts(1, 1, 1), LoopCounts(1, 16, 8, 1, 1, 4, 4))
    assert check_overtaking(lowered_convolution(conv, whole)).proved == PROVED


def by_hand(program: Program) -> int:
    """Stores of the unrolled program with a compute on their block in an earlier tile of their region."""
    tables = program.tables()
    ops = tables["op"]
    kinds = dict(zip(ops["id"].tolist(), ops["kind"].tolist(), strict=True))
    tile_of = dict(zip(ops["id"].tolist(), ops["tile"].tolist(), strict=True))
    region_of, region = {}, -1
    rules = {task: rule for task, memory, rule in tables["slot"].tolist()}  # the accumulator's stands last
    for tile in sorted(rules):
        region += rules[tile] != SlotRule.ALTERNATE_UNLESS_ACCUMULATING
        region_of[tile] = region
    sync = tables["sync"].tolist()
    began = {
        (region_of[tile_of[op]], counter, tile_of[op])
        for op, _, counter, test, amount, _, _ in sync
        if kinds[op] == Kind.COMPUTE and test == Test.POST and amount > 0
    }
    return sum(
        any((region_of[tile_of[op]], counter, earlier) in began for earlier in range(tile_of[op]))
        for op, _, counter, test, _, _, _ in sync
        if kinds[op] == Kind.MOVE and test == Test.ZERO
    )


@settings(deadline=None)
@given(
    total=st.tuples(*[st.integers(1, 20)] * 3),
    inner=st.tuples(*[st.integers(1, 12)] * 3),
    outer=st.tuples(*[st.integers(1, 3)] * 3),
    bias=st.booleans(),
)
def test_per_kind_as_tile_by_tile(
    lowered: Lowered,
    total: tuple[int, int, int],
    inner: tuple[int, int, int],
    outer: tuple[int, int, int],
    bias: bool,
) -> None:
    sections = (
        " ".join(f"{letter}{count}" for letter, count in zip("NCM", counts, strict=True))
        for counts in (total, outer, inner)
    )
    line = " - ".join(f"[{name}] {section}" for name, section in zip("TOI", sections, strict=True))
    program = lowered(line, bias=bias, side=4)
    stores = by_hand(program)
    report = check_overtaking(program)
    found = [int(finding.sentence.split()[0]) for finding in report.findings]
    assert found == ([stores] if stores else [])
