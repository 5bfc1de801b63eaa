"""The two branches that keep one input whole in L1, as far as section 12 goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pantile.planners.cann import stages
from pantile.planners.cann.integers import ceil_div, round_down, round_up
from pantile.planners.cann.run_info import RunInfo

if TYPE_CHECKING:
    from pantile.planners.cann.figures import Figures

BASE = 256
_BUFFERS = 2


class _Sides(NamedTuple):
    """The side that moves, beside the one that stays.

    Attributes:
        stays: Rows or columns that stay in L1; *moves* those that go by.
        inner: Whether the moving side's own axis, not K, is its inner one.
        loaded_bytes: Bytes of L1 that the side that stays takes.
        l0_moves: L0 of the moving side; *l0_stays* the other's.
    """

    stays: int
    moves: int
    inner: bool
    loaded_bytes: int
    l0_moves: int
    l0_stays: int


def full_load(f: Figures, *, loads_a: bool) -> RunInfo:
    """Return the state after AL1_FULL_LOAD_BASIC, or BL1_FULL_LOAD_BASIC if it is B that stays."""
    side = _sides(f, loads_a=loads_a)
    size, base, depth = f.element_bytes, BASE, 128 // f.element_bytes
    rest = f.l1 - side.loaded_bytes - (BASE * 2 * f.bias_bytes)
    base = min(base, round_down(min(rest // (depth * size * 2), f.l0c // (BASE * 4 * 2)), 16))
    if side.inner and base > 128 // size:
        base = round_down(base, 128 // size)
    most = min(ceil_div(f.k, depth), stages.MOST_PACKED_STEPS)
    by_buffer = rest // (depth * base * _BUFFERS * size)
    if (
        not side.inner
        and by_buffer < most
        and by_buffer * depth % 256
        and 2 * depth * BASE * size * 2 <= side.l0_stays
    ):
        depth *= 2
        base = min(base, round_down(side.l0_moves // 2 // (depth * size), 16))
        by_buffer = rest // (depth * base * _BUFFERS * size)
    steps = _steps(f, base, depth, min(most, by_buffer), inner=side.inner)
    return _state(f, side, base, depth, steps, loads_a=loads_a)


def _sides(f: Figures, *, loads_a: bool) -> _Sides:
    depth = round_up(f.k, 16) * f.element_bytes
    if loads_a:
        return _Sides(f.m, f.n, not f.transpose_b, round_up(f.m, 16) * depth, f.l0b, f.l0a)
    return _Sides(f.n, f.m, bool(f.transpose_a), round_up(f.n, 16) * depth, f.l0a, f.l0b)


def _steps(f: Figures, base: int, depth: int, most: int, *, inner: bool) -> int:
    """Return the fewest base depths that move 48 KiB at a time, aligned where K is the inner axis."""
    for step in range(1, most):
        k = step * depth
        aligned = inner or k % (256 // f.element_bytes) == 0
        if base * k * f.element_bytes >= stages.LEAST_MOVE_BYTES and aligned:
            return step
    return most


def _state(f: Figures, side: _Sides, base: int, depth: int, steps: int, *, loads_a: bool) -> RunInfo:
    count = ceil_div(side.moves, base)
    whole = ceil_div(f.k, depth)
    base_m, base_n = (BASE, base) if loads_a else (base, BASE)
    chunk_bytes = base * depth * steps * f.element_bytes
    m_step, n_step = (whole, steps) if loads_a else (steps, whole)
    m_depth, n_depth = (whole, 2 * steps) if loads_a else (2 * steps, whole)
    tails = _tails(f, count, base, inner=side.inner)
    return RunInfo(
        used_core_num=min(count * f.batch_c, f.cores),
        single_core_m=f.m if loads_a else base,
        single_core_n=base if loads_a else f.n,
        single_core_k=f.k,
        base_m=base_m,
        base_n=base_n,
        base_k=depth,
        step_ka=m_step,
        step_kb=n_step,
        depth_a1=m_depth,
        depth_b1=n_depth,
        db_l0c=stages.l0c_buffers(f, base_m, base_n),
        l1_buffer_num=4 if 4 * chunk_bytes + side.loaded_bytes <= f.l1 else 2,
        ub_db=1 if loads_a else stages.ub_buffers(f, base_m, base_n),
        tail_m_cnt=1 if loads_a else tails,
        tail_n_cnt=tails if loads_a else 1,
    )


def _tails(f: Figures, count: int, base: int, *, inner: bool) -> int:
    """Return into how many parts the blocks of the last round are cut."""
    tails, rest = 1, count % f.cores
    if count <= f.cores or not rest:
        return tails
    while (tails + 1) * rest <= f.cores and (not inner or ceil_div(base, tails) * f.element_bytes > 128):
        tails += 1
    return tails
