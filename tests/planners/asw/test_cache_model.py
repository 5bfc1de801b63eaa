"""What a shared cache makes memory deliver, and counterexamples to "linear is never worse"."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.planners.asw.assignment import ASSIGNMENTS, Grid, placed
from pantile.planners.asw.block_order import BlockOrder, window_of
from pantile.planners.asw.cache_model import SLICES, cache_traffic
from pantile.planners.asw.problem import Problem


def order(cores: int, name: str = "swizzle") -> BlockOrder:
    return BlockOrder(
        name=name,  # type: ignore[arg-type]
        window=window_of(cores),
        fastest=0,
        diagonal_readers=0,
        window_readers=0,
        conflict_free=True,
    )


def delivered(problem: Problem, grid: Grid, block: tuple[int, int], capacity: int | Fraction) -> list[int]:
    return [
        int(cache_traffic(problem, placed(grid, order(grid.cores), how), block, capacity).delivered)
        for how in ASSIGNMENTS
    ]


def test_e20_batch_first_can_move_a_quarter() -> None:
    problem = Problem(batch=2, m=3 * 512, n=10 * 64, k=512)
    capacity = Fraction(3, 4) * (problem.left_bytes + problem.right_bytes)
    linear, batch_first = delivered(problem, Grid(2, 3, 10, 4), (512, 64), capacity)
    assert (linear, batch_first) == (25_493_504, 6_553_600)


def test_e21_a_shared_operand_is_read_once_by_batch_first() -> None:
    problem = Problem(batch=8, m=21 * 256, n=38 * 256, k=8192, b_batch=1)
    linear, batch_first = delivered(problem, Grid(8, 21, 38, 32), (256, 256), 1 << 27)
    assert (round(linear / 1e9, 2), round(batch_first / 1e9, 2)) == (4.23, 2.22)


@settings(max_examples=60)
@given(
    st.integers(1, 4),
    st.integers(1, 6),
    st.integers(1, 6),
    st.integers(1, 9),
    st.sampled_from(["linear", "batch_first"]),
    st.booleans(),
    st.integers(0, 2000),
)
def test_equals_a_list_of_what_is_held(
    batch: int, rows: int, columns: int, cores: int, how: str, shared: bool, capacity: int
) -> None:
    """A plain list of names in the order of their last use, walked touch by touch."""
    problem = Problem(batch=batch, m=rows * 3 - 1, n=columns * 2 - 1, k=8, b_batch=1 if shared else 0)
    grid = Grid(batch, rows, columns, cores)
    blocks = list(placed(grid, order(cores), how))  # type: ignore[arg-type]
    held: list[tuple[object, int]] = []
    missed = 0
    for wave in range(max(each.wave for each in blocks) + 1):
        now = sorted(each for each in blocks if each.wave == wave)
        for part in range(SLICES):
            for each in now:
                rows_here = min(3, problem.m - 3 * each.row)
                columns_here = min(2, problem.n - 2 * each.column)
                left = (("a", each.batch, each.row, part), rows_here * 8 * 2 // SLICES)
                right = (("b", 0 if shared else each.batch, each.column, part), columns_here * 4)
                for touch in (left, right):
                    if touch in held:
                        held.remove(touch)
                    else:
                        missed += touch[1]
                    held.append(touch)
                    while sum(size for _, size in held) > capacity and held:
                        held.pop(0)
    traffic = cache_traffic(problem, blocks, (3, 2), capacity)
    assert traffic.delivered == missed
    total = sum(
        (min(3, problem.m - 3 * each.row) + min(2, problem.n - 2 * each.column)) * 16 for each in blocks
    )
    assert traffic.touched == total


def test_everything_fits_means_everything_once() -> None:
    problem = Problem(batch=3, m=64, n=96, k=32)
    grid = Grid(3, 4, 6, 8)
    for got in delivered(problem, grid, (16, 16), 1 << 30):
        assert got == problem.input_bytes
