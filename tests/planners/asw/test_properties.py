"""Laws of the ASW_Basic theory, on random products and chips.

The numbers are those of asw-theory.md section 15.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pantile.planners.asw.assignment import ASSIGNMENTS, Grid, batches_at_once, linear, one_wave, placed
from pantile.planners.asw.block_order import ORDERS, BlockOrder, window_of
from pantile.planners.asw.block_time import TimeModel
from pantile.planners.asw.chip import Chip, ticks_of
from pantile.planners.asw.exact import Judge
from pantile.planners.asw.grain import up
from pantile.planners.asw.l2 import l2_use
from pantile.planners.asw.pipeline import SEMANTICS, AswOptions, Stages, run_stages
from pantile.planners.asw.problem import Problem
from pantile.planners.asw.single_core import FINER_CUTS, traffic_bytes
from pantile.planners.asw.working_set import wave_estimate, wave_exact
from pantile.tiling.orders import check_bijection

SIZES = st.one_of(
    st.sampled_from([1, 15, 16, 17, 100, 200, 255, 256, 257, 320, 584, 1152, 1752, 2048, 5427]),
    st.integers(1, 4096),
)


@st.composite
def problems(draw: st.DrawFn, *, largest_batch: int = 96) -> Problem:
    """A product, now and then with an operand that all batches share or that is transposed."""
    batch = draw(st.integers(1, largest_batch))
    shared = draw(st.sampled_from([(0, 0), (0, 0), (1, 0), (0, 1)]))
    return Problem(
        batch=batch,
        m=draw(SIZES),
        n=draw(SIZES),
        k=draw(st.one_of(st.sampled_from([1, 16, 96, 128, 512, 1000, 16384]), st.integers(1, 8192))),
        out_bytes=draw(st.sampled_from([2, 2, 4])),
        a_batch=shared[0],
        b_batch=shared[1],
        transpose_a=draw(st.booleans()),
        transpose_b=draw(st.booleans()),
    )


@st.composite
def chips(draw: st.DrawFn) -> Chip:
    """A chip, most often the one of the document."""
    if draw(st.booleans()):
        return Chip()
    return Chip(
        cores=draw(st.sampled_from([1, 2, 6, 7, 8, 13, 20, 24, 25, 31, 32, 36, 64])),
        l1_bytes=draw(st.sampled_from([16384, 32768, 131072, 524288, 1 << 20])),
        l2_bytes=draw(st.sampled_from([1 << 20, 1 << 24, 1 << 27])),
        peak_flops=draw(st.sampled_from([432 * 10**12, 486 * 10**12])),
        block_overhead_ps=draw(st.sampled_from([0, 0, 250_000])),
    )


def order(name: str, window: int, fastest: int = 0, group: tuple[int, int] | None = None) -> BlockOrder:
    return BlockOrder(
        name=name,  # type: ignore[arg-type]
        window=window,
        fastest=fastest,
        diagonal_readers=0,
        window_readers=0,
        conflict_free=True,
        group=group,
    )


CUTS = st.integers(1, 24)


@given(st.integers(1, 200), st.integers(1, 200), st.integers(1, 128))
def test_1_blocks_for_every_core_are_blocks_per_batch(batch: int, blocks: int, cores: int) -> None:
    assert (batch * blocks >= cores) == (blocks >= -(-cores // batch))


@given(CUTS, CUTS, st.sampled_from(ORDERS), st.integers(1, 9), st.integers(0, 1), CUTS, CUTS)
def test_2_and_7_every_order_takes_every_block_once_in_groups_or_not(
    rows: int, columns: int, name: str, window: int, fastest: int, m_group: int, n_group: int
) -> None:
    for group in (None, (m_group, n_group)):
        at = order(name, window, fastest, group).block_at(rows, columns)
        taken = [at(position) for position in range(rows * columns)]
        check_bijection(taken, (rows, columns))
        over = order(name, window, fastest, group).over(rows, columns)
        assert [over.position(index) for index in over] == list(range(rows * columns))
        if group is not None:  # a group is finished before the next begins
            groups = [(row // m_group, column // n_group) for row, column in taken]
            assert len(set(groups)) == sum(a != b for a, b in pairwise(groups)) + 1


@given(st.integers(1, 500))
def test_3_the_window_divides_the_cores(cores: int) -> None:
    window = window_of(cores)
    assert cores % window == 0
    assert window * window <= cores
    assert not [d for d in range(window + 1, cores + 1) if cores % d == 0 and d * d <= cores]


@given(st.integers(2, 32), st.integers(1, 4096), st.integers(1, 4096))
def test_4_on_32_cores_linear_waves_are_estimated_no_larger(batch: int, m: int, n: int) -> None:
    problem = Problem(batch=batch, m=m, n=n, k=64)
    sets = [wave_estimate(problem, 32, (m, n), how) for how in ASSIGNMENTS]
    assert sets[0] <= sets[1]


def test_4_fails_on_a_prime_number_of_cores() -> None:
    problem = Problem(batch=2, m=1, n=1, k=1, element_bytes=1)
    sets = [wave_estimate(problem, 31, (1, 1), how) for how in ASSIGNMENTS]
    assert sets == [32, 16]


@settings(max_examples=200)
@given(problems(), chips(), st.sampled_from(SEMANTICS))
def test_5_to_11_what_the_stages_choose_is_sound(problem: Problem, chip: Chip, semantics: str) -> None:
    stages = run_stages(problem, chip, semantics)  # type: ignore[arg-type]
    cut = stages.cut
    assert stages.feasible == (cut is not None)
    if cut is None:
        return
    inner = stages.inner
    assert inner is not None
    covers_everything(problem, cut.m, cut.n, cut.rows, cut.columns)
    fits_every_memory(stages, cut.m, cut.n, cut.k_l1)
    block, tail, l2, totals = stages.block, stages.tail, stages.l2, stages.totals
    if block is None or tail is None or l2 is None or totals is None:
        assert stages.entry.mode == "reduce"
        return
    assert problem.batch * block.rows * block.columns >= chip.cores
    assert block.traffic_bytes == traffic_bytes(problem, block.rows, block.columns)
    if not stages.corrected:
        keeps_the_published_constraints(stages)
        return
    keeps_the_corrected_constraints(stages)
    assert l2.reread is not None
    assert l2.reread >= 1
    assert tail.seconds <= tail.seconds_a0
    if tail.seconds_a1 is not None:
        assert tail.seconds_a1 <= tail.seconds_a0
    if tail.seconds_b is not None:
        assert tail.seconds_fewer is not None
        assert tail.seconds_fewer <= tail.seconds_b
    assert totals.total is not None
    assert totals.total >= max(totals.compute, totals.write, tail.seconds)
    judge = Judge(problem=problem, chip=chip, reread=l2.reread).whole(block.m, block.n)
    assert judge.longest >= totals.compute
    assert judge.longest >= Fraction(problem.output_bytes, chip.gm_bytes_per_second)


def covers_everything(problem: Problem, m: int, n: int, rows: int, columns: int) -> None:
    """Blocks tile the output: none is empty, and their areas add up (8)."""
    assert (rows - 1) * m < problem.m <= rows * m
    assert (columns - 1) * n < problem.n <= columns * n
    heights = [min(m, problem.m - row * m) for row in range(rows)]
    widths = [min(n, problem.n - column * n) for column in range(columns)]
    assert sum(heights) * sum(widths) == problem.m * problem.n


def fits_every_memory(stages: Stages, m: int, n: int, k_l1: int) -> None:
    chip, width, inner = stages.chip, stages.problem.element_bytes, stages.inner
    assert inner is not None
    assert k_l1 >= min(chip.grain, stages.problem.k)
    assert 2 * (m + n) * k_l1 * width <= chip.l1_bytes
    assert inner.m * inner.n * 4 * inner.buffers <= chip.l0c_bytes
    if stages.corrected or stages.base.k_cap:  # as published a long tile overflows, and a note says so
        assert 2 * inner.m * inner.k * width <= chip.l0a_bytes
        assert 2 * inner.n * inner.k * width <= chip.l0b_bytes


def keeps_the_published_constraints(stages: Stages) -> None:
    problem, chip, block, base = stages.problem, stages.chip, stages.block, stages.base
    assert block is not None
    width = problem.element_bytes
    run = block.m if problem.transpose_a else block.k_l1
    assert run * width >= chip.run_bytes
    assert min(block.m, block.n) * block.k_l1 * width >= chip.move_bytes
    if not block.unsplit:
        assert block.m % base.m == 0
        assert block.n % base.n == 0


def keeps_the_corrected_constraints(stages: Stages) -> None:
    problem, chip, block = stages.problem, stages.chip, stages.block
    assert block is not None
    width = problem.element_bytes
    assert block.m % chip.grain == 0
    assert block.n % chip.grain == 0
    left = (block.m, problem.m) if problem.transpose_a else (block.k_l1, problem.k)
    right = (block.k_l1, problem.k) if problem.transpose_b else (block.n, problem.n)
    if block.relax_level < 2:
        for length, whole in (left, right):
            assert length * width >= min(chip.run_bytes, whole * width)
    if block.relax_level < 1:
        assert block.m * block.k_l1 * width >= min(chip.move_bytes, problem.left_bytes)
        assert block.n * block.k_l1 * width >= min(chip.move_bytes, problem.right_bytes)


@settings(max_examples=200)
@given(problems(), st.sampled_from([4096, 16384, 32768, 40000, 524288]))
def test_corrected_finds_a_block_wherever_one_is_legal(problem: Problem, l1_bytes: int) -> None:
    """Legal: no finer than the side of L0C, a block for every core, and L1 holds a grain of k for it.

    Where none is, blocks are finer, and the plan says so.
    """
    chip = replace(Chip(), l1_bytes=l1_bytes)
    stages = run_stages(problem, chip)
    assert stages.feasible
    if stages.reduction is not None:
        held = chip.l1_bytes // (2 * (stages.base.m + stages.base.n) * 2) // 16
        same = (stages.reduction.m, stages.reduction.n) == (stages.base.m, stages.base.n)
        assert same == (held > 0)
        return
    legal = False
    for rows in range(1, -(-problem.m // min(256, up(problem.m, 16))) + 1):
        for columns in range(1, -(-problem.n // min(256, up(problem.n, 16))) + 1):
            m, n = up(-(-problem.m // rows), 16), up(-(-problem.n // columns), 16)
            blocks = problem.batch * -(-problem.m // m) * -(-problem.n // n)
            legal |= blocks >= chip.cores and chip.l1_bytes // (2 * (m + n) * 2) >= 16
    assert stages.block is not None
    assert (stages.block.relax_level < FINER_CUTS) == legal


@settings(max_examples=60)
@given(st.integers(1, 9), CUTS, CUTS, st.integers(1, 40), st.sampled_from(ORDERS), st.integers(0, 1))
def test_every_assignment_computes_every_block_once(
    batch: int, rows: int, columns: int, cores: int, name: str, fastest: int
) -> None:
    grid = Grid(batch, rows, columns, cores)
    for how in ASSIGNMENTS:
        blocks = list(placed(grid, order(name, window_of(cores), fastest), how))
        seen = Counter((each.batch, each.row, each.column) for each in blocks)
        assert len(blocks) == grid.blocks == len(seen)
        assert max(each.core for each in blocks) < cores
        slots = Counter((each.core, each.wave) for each in blocks)
        assert max(slots.values()) == 1, "a core computes one block at a time"
        longest = Counter(each.core for each in blocks)
        assert all(each.wave < longest[each.core] for each in blocks), "no core waits for nothing"
        for wave in {0, max(each.wave for each in blocks)}:
            alone = one_wave(grid, order(name, window_of(cores), fastest), how, wave)
            assert sorted(alone) == sorted(each for each in blocks if each.wave == wave)


@given(st.integers(1, 9), CUTS, CUTS, st.integers(1, 40))
def test_a_wave_touches_no_more_batches_than_the_bound(
    batch: int, rows: int, columns: int, cores: int
) -> None:
    grid = Grid(batch, rows, columns, cores)
    waves: dict[int, set[int]] = {}
    for each in linear(grid, order("swizzle", window_of(cores))):
        waves.setdefault(each.wave, set()).add(each.batch)
    assert max(map(len, waves.values())) <= batches_at_once(grid)


@given(st.integers(1, 6), CUTS, CUTS, st.sampled_from([4, 6, 8, 20, 32]))
def test_a_full_window_of_one_batch_needs_what_the_formula_says(
    batch: int, rows: int, columns: int, cores: int
) -> None:
    """The estimate is exact for a wave that is W rows by C / W columns of one batch, and only then."""
    window = window_of(cores)
    rows, columns = rows * window, columns * cores // window
    problem = Problem(batch=batch, m=rows * 16, n=columns * 32, k=64)
    grid = Grid(batch, rows, columns, cores)
    blocks = [each for each in linear(grid, order("swizzle", window)) if each.wave == 0]
    assume(window * 2 <= rows)
    exact = wave_exact(problem, (16, 32), blocks)
    assert exact == wave_estimate(problem, cores, (16, 32), "linear")


def test_waves_may_need_more_than_the_formula_says() -> None:
    """E-26: windows are covered by whole waves on few grids."""
    problem = Problem(batch=1, m=10 * 16, n=10 * 16, k=64)
    grid = Grid(1, 10, 10, 32)
    waves: dict[int, list[object]] = {}
    for each in linear(grid, order("swizzle", 4)):
        waves.setdefault(each.wave, []).append(each)
    exact = [wave_exact(problem, (16, 16), wave) for wave in waves.values()]  # type: ignore[arg-type]
    estimate = wave_estimate(problem, 32, (16, 16), "linear")
    assert estimate == 12 * 16 * 64 * 2
    assert max(exact) > estimate


@settings(max_examples=60)
@given(problems(), st.sampled_from(SEMANTICS), st.sampled_from([2, 3]))
def test_12_times_shrink_as_all_rates_grow(problem: Problem, semantics: str, factor: int) -> None:
    chip = Chip()
    faster = replace(
        chip,
        gm_bytes_per_second=chip.gm_bytes_per_second * factor,
        l2_bytes_per_second=chip.l2_bytes_per_second * factor,
        peak_flops=chip.peak_flops * factor,
    )
    slow, fast = (run_stages(problem, each, semantics) for each in (chip, faster))  # type: ignore[arg-type]
    assert slow.cut is None or (slow.cut.m, slow.cut.n) == (fast.cut.m, fast.cut.n)  # type: ignore[union-attr]
    if slow.totals is not None and fast.totals is not None:
        for name in ("memory", "l2", "compute", "write", "schedule", "tail", "drain", "total"):
            before, after = getattr(slow.totals, name), getattr(fast.totals, name)
            assert (before is None and after is None) or before == after * factor, name
    if slow.reduction is not None and fast.reduction is not None:
        assert slow.reduction.total == fast.reduction.total * factor


@given(problems(), st.integers(1, 300_000))
def test_a_fixed_cost_of_a_block_counts_once_a_block(problem: Problem, overhead: int) -> None:
    chip = replace(Chip(), block_overhead_ps=overhead)
    plain, costly = run_stages(problem, Chip()).tail, run_stages(problem, chip).tail
    if plain is None or costly is None:
        return
    extra = Fraction(overhead, 10**12)
    assert costly.time.total == plain.time.total + extra
    assert costly.seconds_a0 == plain.seconds_a0 + plain.waves * extra
    assert costly.seconds <= plain.seconds + plain.waves * extra


@given(problems())
def test_a_fused_consumer_turns_what_becomes_of_outputs_round(problem: Problem) -> None:
    usual = run_stages(problem, Chip())
    fused = run_stages(problem, Chip(), "corrected", AswOptions(consumer="fused"))
    if usual.l2 is None or fused.l2 is None:
        return
    assert usual.l2.scene == fused.l2.scene
    assert usual.l2.outputs_stay == (usual.l2.scene == "A")
    assert fused.l2.outputs_stay
    assert usual.l2.reread is not None
    assert fused.l2.reread is not None
    assert fused.l2.reread >= usual.l2.reread


@settings(max_examples=40)
@given(problems())
def test_without_unit_flag_writes_come_after_computing(problem: Problem) -> None:
    with_flag = run_stages(problem, Chip())
    without = run_stages(problem, Chip(), "corrected", AswOptions(unit_flag=False))
    if with_flag.tail is None or without.tail is None or with_flag.block is None:
        return
    one, other = with_flag.tail.time, without.tail.time
    assert other.compute in (one.compute, one.compute + one.write)
    assert other.total >= one.total


@given(problems(largest_batch=64))
def test_groups_cut_what_memory_delivers(problem: Problem) -> None:
    """A smaller L2 never makes memory deliver less, and grouped blocks fit it."""
    assume(problem.k >= 16)
    big = run_stages(problem, Chip())
    assume(big.block is not None)
    block = big.block
    assert block is not None
    rereads = []
    for size in (1 << 27, 1 << 24, 1 << 22, 1 << 20):
        chip = replace(Chip(), l2_bytes=size)
        use = l2_use(problem, chip, block, "corrected")
        assert use.reread is not None
        rereads.append(use.reread)
        if use.sub == "C1":
            span = use.m_group * block.m + use.n_group * block.n
            assert span * problem.k * problem.element_bytes <= size
        assert use.groups == -(-block.rows // use.m_group) * -(-block.columns // use.n_group)
    assert rereads == sorted(rereads)


@pytest.mark.parametrize("semantics", SEMANTICS)
def test_5_pieces_of_one_are_the_block_itself(semantics: str) -> None:
    problem = Problem(batch=1, m=2560, n=2560, k=256)
    stages = run_stages(problem, Chip(), semantics)  # type: ignore[arg-type]
    block, tail, l2 = stages.block, stages.tail, stages.l2
    assert block is not None
    assert tail is not None
    assert l2 is not None
    delivered = None if semantics != "corrected" else (l2.reread or 1) * problem.input_bytes
    model = TimeModel(problem, ticks_of(Chip()), delivered)
    one = model.block(block.m, block.n, block.k_l1, Fraction(1, tail.blocks))
    assert (tail.waves - 1) * tail.time.total + one.total == tail.seconds_a0
