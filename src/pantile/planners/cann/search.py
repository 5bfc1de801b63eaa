"""The search for the base block, baseM x baseN (section 5).

Doubles are computed in the order in which the source does, so that they are equal bit for bit. The
functions run as they are, or compiled (``fast.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pantile.planners.cann.integers import ceil_div, round_down, round_up

if TYPE_CHECKING:
    from pantile.planners.cann.figures import Figures

EDGE_SCALE = 0.85
BALANCED = 0.9
TIE = 1e-9

SKIPPED_BY_BALANCE, SKIPPED_BY_FP32, CUBE, BETTER = 1, 2, 4, 8
"""What :func:`judge` may find; the last two may come together."""


class Rates(NamedTuple):
    """The machine's and the problem's balance of moving and computing, in the source's units (1024 G).

    Attributes:
        hbm: Rate of the chip's memory; *l2* of L2.
        core_power: Computing power of one core; *power* of all.
        cmr: (M + N) / (M N).
        l2_usage: Bytes of the inputs over those of L2, not below 1.
        edge: What 1 / baseM + 1 / baseN may be for the cube to be the bound.
    """

    hbm: float
    l2: float
    core_power: float
    power: float
    cmr: float
    l2_usage: float
    edge: float


class Limits(NamedTuple):
    """Where the search runs.

    Attributes:
        best_m: The largest block that L0C holds, near to square, with *best_n* and *best_param*; it only
            decides *memory_bound*.
        inner_bytes: Contiguous bytes wanted along an inner axis.
        fixp_edge: K below which writing the output bounds.
        unit_m: Step of baseM; likewise *unit_n*.
        max_m: Largest baseM; likewise *max_n*.
    """

    best_m: int
    best_n: int
    best_param: float
    memory_bound: bool
    inner_bytes: int
    fixp_edge: float
    unit_m: int
    unit_n: int
    max_m: int
    max_n: int


class State(NamedTuple):
    """The best block so far.

    Attributes:
        m: baseM; likewise *n*.
        param: 1 / baseM + 1 / baseN.
        rate: Share of the cores' work that is useful.
        edge: The bound of *param*; tightened whenever a block holds it.
    """

    m: int
    n: int
    param: float
    rate: float
    edge: float


def rates(f: Figures) -> Rates:
    """Return the scalars of section 5.1."""
    frequency = f.cube_freq / 1000.0
    hbm = ((frequency * f.soc_cores) * f.ddr_rate) / 1024
    l2 = ((frequency * f.soc_cores) * f.l2_rate) / 1024
    core_power = frequency * 8
    if f.true_fp32:
        core_power = core_power / 16
    power = core_power * f.cores
    cmr = float(f.m + f.n) / (float(f.m) * float(f.n))
    l2_usage = max(float(f.batch_a * (f.m + f.n) * f.k * f.element_bytes) / float(f.l2), 1.0)
    edge = ((l2 / power) + (l2_usage * (1 - l2 / hbm)) * cmr) - (1 + l2 / hbm) / float(f.k)
    return Rates(hbm, l2, core_power, power, cmr, l2_usage, edge)


def limits(f: Figures, r: Rates) -> Limits:
    """Return units and upper limits of the search (sections 5.1 and 5.2)."""
    area = f.l0c // 4
    best_m = min(round_up(f.m, 16), 256)
    best_n = max(16, min(round_up(f.n, 16), round_down(area // best_m, 16)))
    best_param = 1.0 / best_m + 1.0 / best_n
    memory_bound = best_param > r.edge
    inner_bytes = 128 if memory_bound else 64
    fixp_edge = (float(f.m * f.n) * r.hbm) / (float(f.m + f.n) * r.l2)
    unit_m = inner_bytes // f.element_bytes if f.transpose_a else 16
    if f.k < fixp_edge:
        unit_n = 256 // f.element_bytes
    elif f.transpose_b:
        unit_n = 16
    else:
        unit_n = inner_bytes // f.element_bytes
    max_m = _largest(f, memory_bound, f.m, unit_m, False)
    max_n = _largest(f, memory_bound, f.n, unit_n, f.bias_bytes > 0)
    return Limits(
        best_m, best_n, best_param, memory_bound, inner_bytes, fixp_edge, unit_m, unit_n, max_m, max_n
    )


def _largest(f: Figures, memory_bound: bool, size: int, unit: int, biased: bool) -> int:
    """Return the largest base size of one side. L0A's size serves both sides, as in the source."""
    depth = round_up(f.k, 16)
    least_bytes = min(16 if memory_bound else 128 // f.element_bytes, depth) * f.element_bytes
    found = min((f.l0a // 2) // least_bytes, (f.l0c // 4) // 16)
    if biased:
        found = min(found, f.bt // 2 // 4)
    k_unit = 512 // f.element_bytes if not f.transpose_a or f.transpose_b else 16
    found = min(found, f.l1 // (4 * f.element_bytes * min(k_unit, depth)))
    found = min(round_up(size, unit), round_down(found, unit))
    if size < unit:
        found = min(found, round_up(size, 16))
    return found


def balance(f: Figures, m: int, n: int) -> float:
    """Return the share of the cores' rounds that computes outputs that are wanted (section 5.4)."""
    tiles = f.batch_a * ceil_div(f.m, m) * ceil_div(f.n, n)
    rounds = ceil_div(tiles, f.cores)
    rows = f.m if f.m <= 16 else m
    columns = f.n if f.n <= 16 else n
    return ((float(f.batch_a) * f.m * f.n) / f.cores) / float(rounds * rows * columns)


def start(f: Figures, r: Rates, limit: Limits) -> State:
    """Return where the search begins (section 5.3)."""
    m = max(16, min(limit.max_m, 256))
    n = max(16, min(limit.max_n, round_down((f.l0c // 4) // m, limit.unit_n)))
    return State(m, n, 1.0 / m + 1.0 / n, balance(f, m, n), r.edge * EDGE_SCALE)


def top_of_row(f: Figures, limit: Limits, m: int) -> int:
    """Return the largest baseN beside a baseM: the area of L0C is the hard bound."""
    return min(limit.max_n, round_down((f.l0c // 4) // m, limit.unit_n))


def judge(f: Figures, best: State, m: int, n: int, param: float, rate: float) -> int:
    """Return what a candidate is worth beside the best so far: 0, or what the constants say."""
    if best.rate >= BALANCED and param > best.param and param > best.edge and best.edge > 0:
        return SKIPPED_BY_BALANCE
    small = f.true_fp32 and param < best.edge and (m < 64 or n < 64)
    if small and ceil_div(f.m, m) * ceil_div(f.n, n) > f.cores:  # quirk 3: the batch does not count
        return SKIPPED_BY_FP32
    found = CUBE if param <= best.edge and rate > best.rate else 0
    cost, best_cost = param / rate, best.param / best.rate
    if cost < best_cost or (abs(cost - best_cost) < TIE and rate > best.rate):
        found += BETTER
    return found


def taken(best: State, found: int, m: int, n: int, param: float, rate: float) -> State:
    """Return the best block after a candidate that was found worth it."""
    return State(m, n, param, rate, param if found & CUBE else best.edge)
