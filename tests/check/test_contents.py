"""Blocks that hold something else than what is read from them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.check.ready import check_ready
from pantile.program.piece import Piece
from pantile.program.program import Program
from pantile.program.tables import Kind
from pantile.tiling.onnxim import LoopCounts
from pantile.workload.convolution import Convolution

Lowered = Callable[..., Program]
MAIN = "[T] N32 C64 M32 - [O] N2 C2 M2 - [I] N16 C32 M16"
M, N, K = 1, 2, 3  # axes of a product


@pytest.fixture(scope="module")
def moved(with_boxes: Lowered) -> Lowered:
    """Moves the box of one row of operations of a piece."""

    def move(program: Program, place: int, row: int, axis: int, by: int) -> Program:
        boxes = program.pieces[place].tables["box"].copy()
        boxes["lo"][row, axis] += by
        return with_boxes(program, place, boxes)

    return move


def test_a_load_of_other_elements_is_found_at_every_use(lowered: Lowered, moved: Lowered) -> None:
    # Row 1 of the first stage loads the activations m 0:8, k 0:32; rows 4 and 6 compute with them.
    report = check_ready(moved(lowered(MAIN), 0, 1, M, 8))
    assert [finding.operations for finding in report.findings] == [(1, 4), (1, 12)]
    first = report.findings[0]
    assert (first.code, first.severity, first.grade) == ("PT-STATE", "error", "wrong value")
    assert first.sentence == (
        "operation 4 reads b 0:1, m 0:8, n 0:8, k 0:32 from a block into which operation 1 loaded "
        "b 0:1, m 8:16, k 0:32, in 4 tiles of its kind"
    )


@pytest.mark.parametrize(("axis", "by"), [(N, 1), (K, -1), (K, 32)])
def test_weights_of_other_columns_or_stages(lowered: Lowered, moved: Lowered, axis: int, by: int) -> None:
    # Row 0 of the last stage, whose box lies at k 32, loads the weights of rows 4 and 5: runs 24 and 28.
    report = check_ready(moved(lowered(MAIN), 1, 0, axis, by))
    assert [finding.operations for finding in report.findings] == [(20, 24), (20, 28)]


def test_a_store_of_other_outputs_than_were_computed(lowered: Lowered, moved: Lowered) -> None:
    # The last row of the last stage stores m 8:16, n 8:16; its computes are the run at 36.
    report = check_ready(moved(lowered(MAIN), 1, -1, M, 1))
    (finding,) = report.findings
    assert finding.operations == (36, 43)
    assert finding.sentence.startswith("operation 43 stores b 0:1, m 9:17, n 8:16 from a block into which")


def test_a_whole_tile_may_move_as_long_as_all_of_it_does(lowered: Lowered, shifted: Lowered) -> None:
    # Coverage finds it; each block still holds what is read from it.
    assert check_ready(shifted(lowered(MAIN), 1, M, 8)).ok


def test_a_surplus_stage_stores_what_the_true_one_made(lowered: Lowered) -> None:
    assert check_ready(lowered("[T] N16 C16 M16 - [O] N1 C2 M1 - [I] N16 C16 M16", bias=True)).ok


def test_a_convolution_s_window_must_hold_every_block(lowered_convolution: Lowered, moved: Lowered) -> None:
    conv = Convolution(
        batch=1, in_channels=16, out_channels=8, height=8, width=8, kernel=(3, 3), pads=(1, 1, 1, 1)
    )
    total = LoopCounts(1, 16, 8, 3, 3, 8, 8)
    program = lowered_convolution(conv, (total, LoopCounts(1, 1, 1), total))
    assert check_ready(program).ok
    # Without its last channel the window lacks what 9 of 18 kernel blocks need, those of channels 8 to 15.
    (piece,) = program.pieces
    assert piece.tables["op"]["kind"][0] == Kind.MOVE
    report = check_ready(moved(program, 0, 0, 6, -1))
    assert len(report.findings) == 9


@settings(deadline=None, max_examples=50)
@given(
    row=st.integers(0, 23),
    axis=st.sampled_from([M, N, K]),
    by=st.integers(1, 40),
)
def test_every_moved_box_is_found(lowered: Lowered, moved: Lowered, row: int, axis: int, by: int) -> None:
    program = lowered(MAIN)
    tables = program.pieces[1].tables
    row %= len(tables["op"])
    changed = check_ready(moved(program, 1, row, axis, by))
    has_axis = tables["box"]["length"][row, axis] > 0
    assert changed.ok == (not has_axis)


def test_pieces_are_left_alone(lowered: Lowered) -> None:
    program = lowered(MAIN)
    before = [Piece(dict(piece.tables), piece.loops) for piece in program.pieces]
    check_ready(program)
    assert list(program.pieces) == before
