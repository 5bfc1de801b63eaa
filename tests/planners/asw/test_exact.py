"""The judge counts every block at its true size."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.planners.asw.assignment import ASSIGNMENTS, Grid, placed
from pantile.planners.asw.block_order import BlockOrder
from pantile.planners.asw.chip import Chip
from pantile.planners.asw.exact import Judge
from pantile.planners.asw.pieces import Pieces
from pantile.planners.asw.problem import Problem


@settings(max_examples=80)
@given(
    st.integers(1, 20),
    st.integers(1, 100),
    st.integers(1, 100),
    st.integers(8, 60),
    st.integers(8, 60),
    st.sampled_from([1, 5, 7, 8, 32]),
)
def test_equals_one_block_after_another(batch: int, m: int, n: int, bm: int, bn: int, cores: int) -> None:
    judge = Judge(problem=Problem(batch=batch, m=m, n=n, k=70), chip=Chip(cores=cores))
    rows, columns = -(-m // bm), -(-n // bn)
    seconds = [Fraction(0)] * cores
    for index in range(batch * rows * columns):
        row, column = divmod(index % (rows * columns), columns)
        seconds[index % cores] += judge.block(min(bm, m - row * bm), min(bn, n - column * bn))
    found = judge.whole(bm, bn)
    assert (found.longest, found.shortest) == (max(seconds), min(seconds))


def test_a_block_of_the_document_takes_what_its_terms_say() -> None:
    judge = Judge(problem=Problem(m=2048, n=2048, k=4096), chip=Chip())
    compute = Fraction(2 * 256 * 256 * 4096 * 32, 486 * 10**12)
    assert judge.block(256, 256) == compute
    assert judge.block(250, 250) == compute, "computed in whole grains"
    assert judge.block(16, 16) == Fraction(32 * 4096 * 2 * 32, 5_200_000_000_000), (
        "loaded longer than computed"
    )


def test_pieces_go_to_the_first_cores() -> None:
    """Three blocks on two cores: the third is cut, and its halves run side by side."""
    chip = Chip(cores=2)
    judge = Judge(problem=Problem(m=48, n=512, k=256), chip=chip)
    whole, half = judge.block(16, 512), judge.block(16, 256)
    pieces = Pieces(axis="n", size=256, count=2, seconds=Fraction(0))
    assert judge.whole(16, 512).longest == 2 * whole
    assert judge.with_pieces(16, 512, pieces).longest == whole + half


def test_thin_edge_blocks_can_make_pieces_worse() -> None:
    """A1 loses where the last blocks are thin and their pieces land on cores with full ones."""
    problem = Problem(batch=4, m=320, n=2560, k=8192)
    judge = Judge(problem=problem, chip=Chip())
    plain = judge.whole(256, 256)
    pieces = Pieces(axis="n", size=128, count=2, seconds=Fraction(0))
    cut = judge.with_pieces(256, 256, pieces)
    assert (round(float(plain.longest) * 1e6, 1), round(float(cut.longest) * 1e6, 1)) == (183.3, 189.7)


def test_e23_edge_blocks_can_make_batch_first_quicker() -> None:
    """Last block an eighth as wide: 2 block times dealt in one list, 1.125 in groups."""
    grid = Grid(2, 1, 3, 4)
    order = BlockOrder(
        name="lexicographic", window=2, fastest=0, diagonal_readers=0, window_readers=0, conflict_free=True
    )
    widths = (Fraction(1), Fraction(1), Fraction(1, 8))
    busiest = []
    for how in ASSIGNMENTS:
        cores = [Fraction(0)] * 4
        for each in placed(grid, order, how):
            cores[each.core] += widths[each.column]
        busiest.append(max(cores))
    assert busiest == [2, Fraction(9, 8)]
