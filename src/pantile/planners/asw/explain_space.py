"""The decisions of stages 0 to 3 and 5, which say what is cut and where it goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.planners.asw.assignment import (
    ASSIGNMENTS,
    Assignment,
    Grid,
    batches_at_once,
    cores_in_use,
    group_cores,
    one_wave,
    windows_of,
)
from pantile.planners.asw.figures import microseconds, rounded
from pantile.planners.asw.full_load import left_full_load, right_full_load
from pantile.planners.asw.infeasible import what_fails, why_infeasible
from pantile.planners.asw.l0_tile import PING_PONG, base_tile, side_of
from pantile.planners.asw.single_core import traffic_bytes
from pantile.planners.asw.split import ranked_splits, residency, split_kind
from pantile.planners.asw.working_set import wave_estimate, wave_exact

if TYPE_CHECKING:
    from pantile.planners.asw.pipeline import Stages
    from pantile.planners.asw.single_core import SingleCore
    from pantile.tiling.log import DecisionLog

_SHOWN = 3
"""Candidates of each kind that the log shows; all of them would be hundreds."""


def explain_entry(stages: Stages, log: DecisionLog) -> None:
    """Log stage 0: whether there is work for all cores."""
    problem, chip, entry = stages.problem, stages.chip, stages.entry
    log.stage = "0 entry"
    sizes = {"b": problem.batch, "m": problem.m, "n": problem.n, "k": problem.k}
    log.add(
        "P_par",
        rounded(entry.parallelism),
        "b m n 4 B / L0C",
        {**sizes, "element_bytes": problem.element_bytes, "l0c_bytes": chip.l0c_bytes},
    )
    log.add("P_split", entry.blocks_per_batch, "ceil(C / b)", {"C": chip.cores, "b": problem.batch})
    enough = entry.parallelism >= chip.cores
    rejected = {
        "asw": ("reduce: there is a full L0C for every core",),
        "reduce": (f"asw: {rounded(entry.parallelism)} < {chip.cores} cores",),
        "rejected": ("asw and reduce: another branch, which cuts k, takes it",),
    }[entry.mode]
    log.add(
        "mode",
        entry.mode,
        "asw if P_par >= C, else reduce",
        {"enough": enough, "P_par": rounded(entry.parallelism), "C": chip.cores},
        rejected=rejected,
    )
    if entry.used_cores is None:
        return
    formula = "min(C, b ceil(m / BaseM) ceil(n / BaseN))" if stages.corrected else "ceil(P_par)"
    other = "" if stages.corrected else "E-06: blocks of different batches share no L0C"
    base = stages.base
    inputs: dict[str, object] = (
        {"C": chip.cores, **sizes, "BaseM": base.m, "BaseN": base.n} if stages.corrected else {}
    )
    if not stages.corrected:
        inputs = {"P_par": rounded(entry.parallelism)}
    log.add("used_cores", entry.used_cores, formula, inputs, rejected=(other,) if other else ())
    log.add(
        "minCoreNum",
        chip.saturating_cores,
        "ceil(W_GM / BW_core_max): fewest cores that draw all the memory gives",
        {"W_GM": chip.gm_bytes_per_second, "BW_core_max": chip.core_gm_bytes_per_second or "W_GM / C"},
    )


def explain_tile(stages: Stages, log: DecisionLog) -> None:
    """Log stage 1: the tile of L0C, and what buffers its results have."""
    problem, chip, base = stages.problem, stages.chip, stages.base
    log.stage = "1 L0 tile"
    side = side_of(chip)
    rounding = "up" if stages.corrected else "down"
    forced = problem.m < side or problem.n < side
    formula = (
        f"{side} square; a narrower axis rounded {rounding} to {chip.grain}, the other as long as L0C holds"
    )
    double = base_tile(problem, chip, corrected=stages.corrected, buffers=2)
    log.add(
        "base_tile",
        {"m": base.m, "n": base.n},
        formula,
        {"m": problem.m, "n": problem.n, "l0c_bytes": chip.l0c_bytes},
        rejected=() if forced else (f"a long tile: it would lower the K step below {base.k_cap}",),
    )
    log.add(
        "base_k_cap",
        base.k_cap,
        "min(L0A / (2 BaseM dt), L0B / (2 BaseN dt)), whole grains",
        {"l0a_bytes": chip.l0a_bytes, "l0b_bytes": chip.l0b_bytes, "buffers": PING_PONG},
    )
    if not base.m or not double.m:
        return
    _explain_l0c(stages, log, double.m, double.n)


def _explain_l0c(stages: Stages, log: DecisionLog, m: int, n: int) -> None:
    """Set the ways of letting results leave L0C side by side, for one tile each."""
    problem, chip, base = stages.problem, stages.chip, stages.base

    def times(m: int, n: int) -> tuple[float, float]:
        compute = 2 * m * n * problem.k * chip.cores / chip.peak_flops
        return compute, m * n * problem.out_bytes * chip.cores / chip.drawn_bytes_per_second

    single, double = times(base.m, base.n), times(m, n)
    ways = {
        "UnitFlag": max(single) / (base.m * base.n),
        "double buffer": max(double) / (m * n),
        "neither": sum(single) / (base.m * base.n),
    }
    unit = 1e6 * base.m * base.n
    log.add(
        "overlap",
        "UnitFlag" if stages.options.unit_flag else "neither",
        "time of a whole tile's area: max(compute, write) with either, their sum with neither",
        {
            "tile": f"{base.m}x{base.n}",
            "tile_of_double_buffer": f"{m}x{n}",
            **{f"{name.replace(' ', '_')}_us": round(time * unit, 3) for name, time in ways.items()},
        },
        rejected=(
            f"double buffer: {base.m * base.n / (m * n):.3g} times as many tiles, no time saved",
            "neither: results leave only after the tile is computed",
        )
        if stages.options.unit_flag
        else (),
    )


def explain_block(stages: Stages, log: DecisionLog) -> None:
    """Log stage 2: the block of one core, or why there is none."""
    problem, chip, block = stages.problem, stages.chip, stages.block
    log.stage = "2 single-core block"
    if block is None:
        sizes = {
            "b": problem.batch,
            "m": problem.m,
            "n": problem.n,
            "k": problem.k,
            "l1_bytes": chip.l1_bytes,
        }
        sizes |= {"BaseM": stages.base.m, "BaseN": stages.base.n, "C": chip.cores}
        why = (why_infeasible(stages),)
        log.add("feasible", False, "a block that meets constraints 1 to 4", sizes, rejected=why)
        return
    cost = (
        "b (nCnt m + mCnt n) k dt / W_GM" if stages.corrected else "b m n (1/sM + 1/sN) kL1 dt / W_GM (E-10)"
    )
    log.add(
        "block",
        {"m": block.m, "n": block.n, "k_l1": block.k_l1},
        f"least {cost}",
        {
            "candidates_that_pass": block.feasible_count,
            "cost_us": microseconds(block.cost),
            "relax_level": block.relax_level,
        },
        rejected=_losers(stages, block),
    )
    log.add(
        "counts",
        {"rows": block.rows, "columns": block.columns},
        "ceil(m / sM), ceil(n / sN)",
        {"blocks": problem.batch * block.rows * block.columns, "C": chip.cores},
    )
    blocks = problem.batch * block.rows * block.columns
    log.add("r", block.remainder, "blocks mod C", {"blocks": blocks, "C": chip.cores})
    log.add(
        "traffic_bytes",
        block.traffic_bytes,
        "b (nCnt m + mCnt n) k dt: every panel of every block",
        {"b": problem.batch, "nCnt": block.columns, "mCnt": block.rows, "m": problem.m, "n": problem.n}
        | {"k": problem.k, "dt": problem.element_bytes},
    )


def _losers(stages: Stages, block: SingleCore) -> tuple[str, ...]:
    """Return the coarsest cuts that fail a constraint, and the next best that pass."""
    problem = stages.problem
    if block.unsplit:
        return ("every cut: the whole output passes, which as published is final",)
    found = stages.candidates
    assert found is not None
    passing, count = found.passes(block.relax_level), found.rows * found.columns
    failed = np.flatnonzero(~passing & (count <= block.rows * block.columns))
    failed = failed[np.argsort(count[failed], kind="stable")][-_SHOWN:]
    fewest = stages.entry.blocks_per_batch
    lost = [
        f"{_cut(found.at(int(at)))}: {what_fails(problem, stages.chip, found, int(at), fewest)}"
        for at in failed
    ]
    rate = stages.chip.drawn_bytes_per_second
    if stages.corrected:
        cost = (found.columns * problem.m + found.rows * problem.n) * float(problem.k)
    else:
        cost = (found.m + found.n) * found.k_l1 / (found.m * found.n) * float(problem.m * problem.n)
    cost = cost * (problem.batch * problem.element_bytes) / rate
    slower = np.flatnonzero(passing & ~((found.rows == block.rows) & (found.columns == block.columns)))
    slower = slower[np.argsort(cost[slower], kind="stable")][:_SHOWN]
    lost += [f"{_cut(found.at(int(at)))}: {cost[at] * 1e6:.4g} us" for at in slower]
    return tuple(lost)


def _cut(candidate: tuple[int, int, int, int, int]) -> str:
    m, n, k_l1, rows, columns = candidate
    return f"{rows} x {columns} blocks of {m} x {n}, kL1 {k_l1}"


def explain_assignment(stages: Stages, log: DecisionLog) -> None:
    """Log stage 3: which core takes what, both ways side by side, and along what the cores share."""
    problem, chip, block = stages.problem, stages.chip, stages.block
    assert block is not None
    log.stage = "3 assignment"
    grid = Grid(problem.batch, block.rows, block.columns, chip.cores)
    used = cores_in_use(grid, stages.options.assignment)
    log.add("used_cores", used, "min(blocks, C)", {"blocks": grid.blocks, "C": chip.cores})
    kind = split_kind(block.rows, block.columns)
    assert stages.candidates is not None
    ways = ranked_splits(problem, chip, stages.entry, block, stages.candidates)
    left, right = residency(problem, chip)
    log.add(
        "split",
        kind,
        "cheapest sharing first: b, m, n, both",
        {
            "shared_bytes": traffic_bytes(problem, block.rows, block.columns) - traffic_bytes(problem, 1, 1),
            "left_fits_l2": left,
            "right_fits_l2": right,
        },
        rejected=tuple(
            f"{way.kind} ({way.shared_bytes} B shared): {way.remark}" for way in ways if way.remark
        ),
    )
    size = (block.m, block.n)
    sets = {how: int(wave_estimate(problem, chip.cores, size, how)) for how in ASSIGNMENTS}
    chosen = stages.options.assignment
    other = next(how for how in ASSIGNMENTS if how != chosen)
    log.add(
        "assignment",
        chosen,
        "linear: all blocks in one list; batch_first: cores in groups, a batch each",
        {
            **{f"{how}_wave_bytes": value for how, value in sets.items()},
            **{f"{how}_first_wave_bytes": _first_wave(stages, grid, how) for how in ASSIGNMENTS},
            "batches_at_once": batches_at_once(grid),
            "group_cores": group_cores(grid, 0),
        },
        rejected=(f"{other}: {sets[other]} B a wave by the formula, which is no proof (E-20 to E-23)",),
    )


def _first_wave(stages: Stages, grid: Grid, how: Assignment) -> int:
    """Return the bytes of the distinct panels that the first wave really reads."""
    order, block = stages.order, stages.block
    assert order is not None
    assert block is not None
    return wave_exact(stages.problem, (block.m, block.n), one_wave(grid, order, how))


def explain_order(stages: Stages, log: DecisionLog) -> None:
    """Log stage 5: window, fastest axis and readers of a panel."""
    chip, order, block = stages.chip, stages.order, stages.block
    assert order is not None
    assert block is not None
    log.stage = "5 block order"
    grid = Grid(stages.problem.batch, block.rows, block.columns, chip.cores)
    windows, dealt = windows_of(grid, order, stages.options.assignment), stages.options.assignment
    if dealt == "linear":
        log.add("W", windows[0], "largest divisor of C not above sqrt(C)", {"C": chip.cores})
    else:
        formula = "largest divisor of a group's cores not above their root; larger groups, smaller ones"
        log.add("W", list(windows), formula, {"C": chip.cores, "group_cores": group_cores(grid, 0)})
    readers = {"diagonal": order.diagonal_readers, "swizzle": order.window_readers}
    inner = block.columns if order.fastest == 0 else block.rows
    readers["lexicographic"] = max(min(chip.cores, inner), -(-chip.cores // inner))
    others = tuple(
        f"{name}: up to {count} readers of a panel" for name, count in readers.items() if name != order.name
    )
    log.add(
        "order",
        order.name,
        "the window has the smaller working set, the diagonal the fewer readers; not both (E-27)",
        {"readers": readers[order.name]},
        rejected=others,
    )
    log.add(
        "transConflict",
        order.diagonal_readers,
        f"max(ceil(C / mCnt), ceil(C / nCnt)), at most {chip.max_readers}",
        {"mCnt": block.rows, "nCnt": block.columns, "ok": order.conflict_free},
    )
    if order.group is not None:
        grouped = "groups row by row, every second row of them from the far end; the order within each"
        log.add("groups_of", list(order.group), grouped, {"rows": block.rows, "columns": block.columns})
    sizes = {"m": stages.problem.m, "n": stages.problem.n}
    log.add("calOrder", order.fastest, "0 (m fastest) if m <= n, else 1", sizes)


def explain_full_load(stages: Stages, log: DecisionLog) -> None:
    """Log whether an operand stays in L1."""
    log.stage = "7 totals"
    bias = stages.options.bias_batch
    for name, find in (("AL1_full_load", left_full_load), ("BL1_full_load", right_full_load)):
        found = find(stages.problem, stages.chip, bias_batch=bias)
        log.add(
            name,
            found.by_theory,
            "no batch, at most 256 wide, twice in L1, at least 4 rounds of every core",
            {
                "batch_ok": found.batch_ok,
                "side_ok": found.side_ok,
                "l1_ok": found.l1_ok,
                "rounds": found.rounds,
                "rounds_ok": found.rounds_ok,
                "by_source": found.by_source,
            },
            rejected=_differs(found.by_theory, found.by_source),
        )


def _differs(theory: bool, source: bool) -> tuple[str, ...]:
    return () if theory == source else (f"{source}: what the operator's own rule says (E-48)",)
