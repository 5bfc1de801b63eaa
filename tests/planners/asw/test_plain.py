"""The vectorised enumerations equal plain loops over fractions, candidate by candidate."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.planners.asw.block_time import TimeModel
from pantile.planners.asw.chip import Chip, ticks_of
from pantile.planners.asw.grain import aligned_cuts
from pantile.planners.asw.l2 import l2_use
from pantile.planners.asw.pieces import quickest_pieces
from pantile.planners.asw.pipeline import run_stages
from pantile.planners.asw.problem import Problem
from pantile.planners.asw.recut import recuts

CHIP = Chip()
Q16 = Fraction(CHIP.peak_flops, CHIP.cores)
BW_PC = Fraction(CHIP.gm_bytes_per_second, CHIP.cores)
L2_PC = Fraction(CHIP.l2_bytes_per_second, CHIP.cores)

PROBLEMS = st.builds(
    Problem,
    batch=st.one_of(st.integers(1, 48), st.sampled_from([1, 2, 4, 8, 32, 64])),
    m=st.one_of(st.integers(1, 2600), st.sampled_from([256, 512, 1024, 1792, 2048, 2304, 2560])),
    n=st.one_of(st.integers(1, 2600), st.sampled_from([256, 512, 1024, 1792, 2048, 2304, 2560])),
    k=st.one_of(st.integers(1, 5000), st.sampled_from([64, 96, 128, 256, 1024, 4096])),
    out_bytes=st.sampled_from([2, 4]),
)


def up16(x: int) -> int:
    return -(-x // 16) * 16


def cd(a: int, b: int) -> int:
    return -(-a // b)


def k_l1_of(p: Problem, s: int) -> int:
    return min(p.k, CHIP.l1_bytes // (2 * s * 2) // 16 * 16)


def loops(p: Problem, bound_m: int, bound_n: int) -> dict[tuple[int, int], tuple[int, int, int]]:
    """Every cut by its counts, as the spec's two loops give it: m, n, k_l1."""
    found = {}
    for rows in range(1, bound_m + 1):
        for columns in range(1, bound_n + 1):
            m, n = up16(cd(p.m, rows)), up16(cd(p.n, columns))
            found[cd(p.m, m), cd(p.n, n)] = (m, n, k_l1_of(p, m + n))
    return found


def plain_published(p: Problem) -> tuple[Any, ...] | None:
    base = run_stages(p, CHIP, "published").base
    if cd(CHIP.cores, p.batch) == 1:
        k = k_l1_of(p, p.m + p.n)
        if k * 2 >= 256 and min(p.m, p.n) * k * 2 >= 16384:
            return p.m, p.n, k, 1, 1
    best = None
    for (rows, columns), (m, n, k) in loops(p, cd(p.m, base.m), cd(p.n, base.n)).items():
        if p.batch * rows * columns < CHIP.cores or m % base.m or n % base.n:
            continue
        if k * 2 < 256 or m * k * 2 < 16384 or n * k * 2 < 16384:
            continue
        remainder = p.batch * rows * columns % CHIP.cores
        key = (Fraction((m + n) * k, m * n), -remainder, rows * columns, rows)
        if best is None or key < best[0]:
            best = (key, (m, n, k, rows, columns))
    return best and best[1]


def plain_corrected(p: Problem) -> tuple[Any, ...] | None:
    found = loops(p, cd(p.m, min(256, up16(p.m))), cd(p.n, min(256, up16(p.n))))
    for level in (0, 1, 2):
        best = None
        for (rows, columns), (m, n, k) in found.items():
            if p.batch * rows * columns < CHIP.cores or k < min(16, p.k):
                continue
            runs = k * 2 >= min(256, p.k * 2) and n * 2 >= min(256, p.n * 2)
            moves = m * k * 2 >= min(16384, p.m * p.k * 2) and k * n * 2 >= min(16384, p.k * p.n * 2)
            if (level < 2 and not runs) or (level < 1 and not moves):
                continue
            remainder = p.batch * rows * columns % CHIP.cores
            traffic = columns * p.m + rows * p.n
            run = -min(256, k * 2) if level == 2 else 0
            key = (run, traffic, remainder > 0, -remainder, rows * columns, rows)
            if best is None or key < best[0]:
                best = (key, (m, n, k, rows, columns))
        if best:
            return best[1]
    return None


@settings(max_examples=250)
@given(PROBLEMS)
def test_stage_2_equals_the_loops(p: Problem) -> None:
    for semantics, plain in (("published", plain_published), ("corrected", plain_corrected)):
        stages = run_stages(p, CHIP, semantics)  # type: ignore[arg-type]
        if stages.entry.mode != "asw" or not stages.base.m:
            continue
        block = stages.block
        got = block and (block.m, block.n, block.k_l1, block.rows, block.columns)
        assert got == plain(p), semantics


def plain_recuts(p: Problem, waves: int, delivered: Fraction | None) -> list[tuple[Any, ...] | None]:
    """The best cut into exactly *waves* waves and into at most as many, over every factor pair."""
    exact, best = None, None
    for count in range(1, waves + 1):
        if count * CHIP.cores % p.batch:
            continue
        pieces = count * CHIP.cores // p.batch
        for rows in range(1, pieces + 1):
            if pieces % rows:
                continue
            columns = pieces // rows
            m, n = up16(cd(p.m, rows)), up16(cd(p.n, columns))
            k = k_l1_of(p, m + n)
            if cd(p.m, m) != rows or cd(p.n, n) != columns or k < 1:
                continue
            if k * 2 < min(256, p.k * 2) or n * 2 < min(256, p.n * 2):
                continue
            compute, write = 2 * m * n * p.k / Q16, m * n * p.out_bytes / BW_PC
            if delivered is None:
                load = (m + n) * k * 2 / BW_PC
            else:
                load = max((m + n) * p.k * 2 / L2_PC, delivered / p.batch / pieces / BW_PC)
            time = max(compute, load, write)
            key = (count * time, count, m + n, rows)
            value = (count, rows, columns, m, n, k, count * time)
            if best is None or key < best[0]:
                best = (key, value)
            if count == waves and (exact is None or key < exact[0]):
                exact = (key, value)
    return [exact and exact[1], best and best[1]]


@settings(max_examples=120)
@given(PROBLEMS, st.integers(1, 6), st.booleans())
def test_recuts_equal_the_factor_pairs(p: Problem, waves: int, corrected: bool) -> None:
    delivered = Fraction(p.input_bytes) if corrected else None
    model = TimeModel(p, ticks_of(CHIP), delivered)
    got = [
        each and (each.waves, each.rows, each.columns, each.m, each.n, each.k_l1, each.seconds)
        for each in recuts(p, CHIP, model, waves)
    ]
    assert got == plain_recuts(p, waves, delivered)


@settings(max_examples=150)
@given(PROBLEMS)
def test_pieces_equal_the_loops(p: Problem) -> None:
    stages = run_stages(p, CHIP)
    block, tail, l2 = stages.block, stages.tail, stages.l2
    if block is None or tail is None or l2 is None or not tail.remainder:
        return
    assert l2.reread is not None
    delivered = l2.reread * p.input_bytes
    best = None
    for place, (axis, length) in enumerate((("n", block.n), ("m", block.m))):
        for s in range(2, CHIP.cores // tail.remainder + 1):
            size = up16(cd(length, s))
            count = cd(length, size)
            if count < 2:
                continue
            m, n = (block.m, size) if axis == "n" else (size, block.n)
            k = block.k_l1
            narrow = n * 2 < min(256, p.n * 2) or k * n * 2 < min(16384, p.k * p.n * 2)
            if tail.time.bound == "memory" and (narrow or m * k * 2 < min(16384, p.m * p.k * 2)):
                continue
            share = delivered / (p.batch * block.rows * block.columns) / BW_PC * size / length
            load = max((m + n) * p.k * 2 / L2_PC, share)
            time = max(2 * m * n * p.k / Q16, load, m * n * p.out_bytes / BW_PC)
            key = (round(float(time), 15), place, count)
            if best is None or key < best[0]:
                best = (key, axis, size, count, time)
    model = TimeModel(p, ticks_of(CHIP), delivered)
    got = quickest_pieces(CHIP, model, block, tail.remainder, tail.time.bound)
    assert (got and (got.axis, got.size, got.count, got.seconds)) == (best and best[1:])


@given(st.integers(1, 3000), st.integers(1, 40))
def test_cuts_are_those_of_the_loop(size: int, most: int) -> None:
    plain = {up16(cd(size, count)) for count in range(1, most + 1)}
    sizes, counts = aligned_cuts(size, 16, most=most, largest=1 << 20)
    assert sizes.tolist() == sorted(plain)
    assert counts.tolist() == [cd(size, each) for each in sorted(plain)]


@settings(max_examples=120)
@given(PROBLEMS, st.sampled_from([1 << 16, 1 << 18, 1 << 20, 1 << 22]))
def test_groups_equal_the_loop(p: Problem, l2_bytes: int) -> None:

    block = run_stages(p, CHIP).block
    if block is None:
        return
    use = l2_use(p, replace(CHIP, l2_bytes=l2_bytes), block, "corrected")
    if use.sub != "C1":
        return
    reach = l2_bytes // (p.k * 2)
    best = None
    for m_group in range(1, block.rows + 1):
        n_group = min(block.columns, (reach - m_group * block.m) // block.n)
        if n_group < 1:
            continue
        across, down = cd(block.columns, n_group), cd(block.rows, m_group)
        key = (Fraction(across * p.m + down * p.n, p.m + p.n), across * down, m_group)
        if best is None or key < best[0]:
            best = (key, m_group, n_group)
    assert best is not None
    assert (use.reread, use.groups, use.m_group, use.n_group) == (best[0][0], best[0][1], best[1], best[2])


@pytest.mark.parametrize("semantics", ["published", "corrected"])
def test_huge_axes_are_planned_without_listing_their_cuts(semantics: str) -> None:
    """An axis of 2^31 - 1 has millions of cuts, of which L1 allows a few hundred."""
    problem = Problem(batch=3, m=2**31 - 1, n=2**31 - 1, k=4096)
    stages = run_stages(problem, CHIP, semantics)  # type: ignore[arg-type]
    if semantics == "corrected":
        assert stages.block is not None
        assert stages.block.m + stages.block.n <= 1024
