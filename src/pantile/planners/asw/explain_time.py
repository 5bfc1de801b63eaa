"""The decisions of stages 6, 4 and 7, which say what moves and how long it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pantile.planners.asw.figures import counted, microseconds, rounded
from pantile.planners.asw.l2 import l2_use
from pantile.planners.asw.pipeline import SEMANTICS

if TYPE_CHECKING:
    from pantile.planners.asw.l2 import L2Use
    from pantile.planners.asw.pipeline import Stages
    from pantile.planners.asw.recut import Recut
    from pantile.planners.asw.tail import Tail
    from pantile.tiling.log import DecisionLog

_BLOCK_OF = {
    True: "compute: 2 sM sN k / Q16; load: max(all of k through L2, the share of what memory delivers)",
    False: "compute: 2 sM sN k / Q16; load: (sM + sN) kL1 dt / BW_pc, one step of k (E-11)",
}
_SUBS = {
    "C0": "one batch fits: no groups",
    "C1": "the groups that make memory deliver least",
    "C2": "not one pair of blocks fits: every block reads its panels from memory",
}


def explain_l2(stages: Stages, log: DecisionLog) -> None:
    """Log stage 6: what stays in L2, groups, and whether memory keeps up with the outputs."""
    problem, chip, l2, block = stages.problem, stages.chip, stages.l2, stages.block
    assert l2 is not None
    assert block is not None
    log.stage = "6 L2"
    sizes = {"S_in": problem.input_bytes, "S_out": problem.output_bytes, "l2_bytes": chip.l2_bytes}
    log.add("scene", l2.scene, "A: S_in + S_out <= L2; B: S_in <= L2; C: neither", sizes)
    if l2.reach is not None:
        _explain_groups(stages, l2, log)
    formula = "bytes that memory delivers / S_in"
    grid = {"S_in": problem.input_bytes, "rows": block.rows, "columns": block.columns}
    log.add("r_in", rounded(l2.reread), formula, grid, rejected=_other_rereads(stages, l2))
    held = {"scene": l2.scene, "consumer": stages.options.consumer}
    kept = "allocate" if l2.outputs_stay else "no-allocate"
    why = "a fused consumer reads them at once" if stages.options.consumer == "fused" else f"scene {l2.scene}"
    log.add("outputs", kept, f"inputs allocate; outputs by scene and consumer: {why}", held)
    rate = chip.drawn_bytes_per_second
    log.add(
        "write_out",
        rounded(l2.write_out),
        "C Q16 outB / (2 k), in B/s; above W_GM the product is bound by its writes whatever is done",
        {"W_GM": rate, "ok": l2.write_out <= rate},
    )
    log.add(
        "bus",
        rounded(l2.bus),
        "(S_in + S_out) / T_MMAD, in B/s",
        {"W_GM": rate, "ok": l2.bus <= rate},
    )


def _explain_groups(stages: Stages, l2: L2Use, log: DecisionLog) -> None:
    live = "" if stages.options.assignment == "linear" else "min(b, C) "
    depth = f"L2 div ({live}k dt)" if stages.corrected else "L2 / (b k dt) (E-29)"
    log.add("D", rounded(l2.reach), f"{depth}: rows and columns whose panels fit", _depth(stages))
    formula = _SUBS[l2.sub] if l2.sub else "floor(D / (2 sM)), floor(D / (2 sN))"
    rejected: tuple[str, ...] = ()
    if l2.closed_form is not None:
        m, n, reread = l2.closed_form
        rejected = (f"the closed form {m} x {n}: r_in {rounded(reread)} (E-31)",)
    value: dict[str, Any] = {"m": l2.m_group, "n": l2.n_group, "groups": l2.groups}
    assert stages.block is not None
    sizes: dict[str, Any] = {"sM": stages.block.m, "sN": stages.block.n, "D": rounded(l2.reach)}
    log.add("group", value, formula, sizes | ({"sub": l2.sub} if l2.sub else {}), rejected=rejected)


def _depth(stages: Stages) -> dict[str, int]:
    problem = stages.problem
    return {
        "l2_bytes": stages.chip.l2_bytes,
        "b": problem.batch,
        "k": problem.k,
        "element_bytes": problem.element_bytes,
    }


def _other_rereads(stages: Stages, l2: L2Use) -> tuple[str, ...]:
    """Return what the other two readings make of r_in, where they differ."""
    if l2.reach is None:
        return ()
    assert stages.block is not None
    found = []
    for name in SEMANTICS:
        if name == stages.semantics:
            continue
        other = l2_use(stages.problem, stages.chip, stages.block, name, stages.options.consumer).reread
        if other != l2.reread:
            found.append(f"{rounded(other)}: as {name} has it (E-29, E-30)")
    return tuple(found)


def explain_tail(stages: Stages, log: DecisionLog) -> None:
    """Log stage 4: what bounds a block, and every strategy with its time."""
    tail, chip = stages.tail, stages.chip
    assert tail is not None
    log.stage = "4 tail"
    time = tail.time
    terms = {
        "compute_us": microseconds(time.compute),
        "load_us": microseconds(time.load),
        "write_us": microseconds(time.write),
        "overhead_us": microseconds(time.overhead),
    }
    log.add("T_block_us", microseconds(time.total), _BLOCK_OF[stages.corrected], terms)
    log.add("bound", time.bound, "the largest term", terms)
    log.add(
        "n_wave",
        tail.waves,
        "ceil(blocks / C)" if stages.options.assignment == "linear" else "blocks of the busiest core",
        {"blocks": tail.blocks, "C": chip.cores, "r": tail.remainder},
    )
    least = "no width hides its load" if tail.x_min is None else rounded(tail.x_min)
    block = stages.block
    assert block is not None
    depth, rate = stages.problem.k, chip.l2_bytes_per_second
    if not stages.corrected:
        depth, rate = block.k_l1, chip.drawn_bytes_per_second
    hidden = {"sM": block.m, "k": stages.problem.k, "kt": depth, "dt": stages.problem.element_bytes}
    hidden |= {"PEAK": chip.peak_flops, "rate": rate}
    formula = "sM kt dt PEAK / (2 sM k rate - kt dt PEAK): fewest columns whose load the cube hides (E-15)"
    log.add("x_min", least, formula, hidden)
    if tail.printed is not None and tail.remainder:
        rule = tail.printed
        log.add("s_star", rule.s_star, "min(C div r, s_max)", {"direction": rule.direction})
        log.add("g", rounded(rule.growth), "n_wave C / blocks", {"resplit_gate": rule.gate})
    _explain_strategies(stages, tail, log)


def _explain_strategies(stages: Stages, tail: Tail, log: DecisionLog) -> None:
    times = {
        "A0_us": microseconds(tail.seconds_a0),
        "A1_us": microseconds(tail.seconds_a1),
        "B_us": microseconds(tail.seconds_b),
    }
    if tail.printed is None:
        times["B*_us"] = microseconds(tail.seconds_fewer)
        formula = "r = 0: nothing to do" if not tail.remainder else "the least time of A0, A1 and B*"
    else:
        formula = f"the printed table: {tail.printed.row}"
    possible = {name: time for name, time in times.items() if time is not None}
    log.add("strategy", tail.strategy, formula, possible, rejected=_lost(tail))
    if tail.effective != tail.strategy:
        log.add(
            "strategy_effective",
            tail.effective,
            "B has no tile",
            {"n_wave": tail.waves, "C": stages.chip.cores, "b": stages.problem.batch},
            rejected=(f"{tail.strategy}: no aligned cut gives n_wave C blocks (E-17)",),
        )
    if tail.effective == "A1" and tail.pieces is not None:
        pieces = tail.pieces
        value = {"axis": pieces.axis, "size": pieces.size, "count": pieces.count}
        log.add("pieces", value, "the last wave's blocks are cut", {"piece_us": microseconds(pieces.seconds)})
    recut = tail.fewer or tail.recut
    if tail.effective == "B" and recut is not None:
        log.add("recut", _recut(recut), "the whole output is cut again", {"waves": recut.waves})


def _lost(tail: Tail) -> tuple[str, ...]:
    """Return what every strategy that was not taken would take."""
    timed = {"A0": tail.seconds_a0, "A1": tail.seconds_a1, "B": tail.seconds_fewer or tail.seconds_b}
    if not tail.remainder:
        return ()
    lost = []
    for name, seconds in timed.items():
        if name == tail.strategy:
            continue
        said = "not possible, or no gain" if seconds is None else f"{microseconds(seconds)} us"
        lost.append(f"{name}: {said}")
    if tail.printed is not None:
        possible = {name: seconds for name, seconds in timed.items() if seconds is not None}
        best = min(possible, key=lambda name: possible[name])
        if possible[best] < tail.seconds:
            lost.append(f"the table's answer: {best} is quicker by the same times (E-32, E-33)")
    return tuple(lost)


def _recut(recut: Recut) -> dict[str, int]:
    return {"rows": recut.rows, "columns": recut.columns, "m": recut.m, "n": recut.n, "k_l1": recut.k_l1}


def explain_totals(stages: Stages, log: DecisionLog) -> None:
    """Log stage 7: the time of everything, and what L1 holds."""
    totals = stages.totals
    assert totals is not None
    log.stage = "7 totals"
    terms = {
        "memory_us": microseconds(totals.memory),
        "l2_us": microseconds(totals.l2),
        "compute_us": microseconds(totals.compute),
        "write_us": microseconds(totals.write),
        "schedule_us": microseconds(totals.schedule),
        "drain_us": microseconds(totals.drain),
        "tail_us": microseconds(totals.tail),
    }
    shown = {name: value for name, value in terms.items() if value is not None}
    formula = "max(memory, l2, compute, write, schedule) + drain"
    if not stages.corrected:
        formula = "max(memory, compute, write) + drain + tail"
    why = () if totals.total is not None else ("a time: r_in is undefined, D holds no pair of blocks (E-29)",)
    log.add("T_us", microseconds(totals.total), formula, shown, rejected=why)
    _explain_executed(stages, formula, log)
    inner = stages.inner
    assert stages.tail is not None
    assert inner is not None
    equal = "equal tiles of the blocks that cores take, the K step at most kL1"
    log.add(
        "inner_tile",
        {"m": inner.m, "n": inner.n, "k": inner.k},
        equal if stages.corrected else "the base tile, at most the block",
        {"tiles": inner.count, "l0c_buffers": inner.buffers},
    )
    log.add(
        "unit_flag",
        uses_unit_flag(stages),
        "on if a block is compute or write bound and L0C holds a single tile",
        {"bound": stages.tail.time.bound, "l0c_buffers": inner.buffers},
    )
    assert stages.block is not None
    four = 4 * (stages.block.m + stages.block.n) * stages.block.k_l1 * stages.problem.element_bytes
    log.add(
        "l1_buffers",
        totals.l1_buffers,
        "4 if 4 (sM + sN) kL1 dt <= L1, else 2",
        {"four": four, "l1_bytes": stages.chip.l1_bytes},
    )


def _explain_executed(stages: Stages, formula: str, log: DecisionLog) -> None:
    """Log stages 6 and 7 once more where cores take other blocks than those of stage 2."""
    done = stages.executed
    if done is None or not done.again:
        return
    l2, totals = done.l2, done.totals
    terms = {
        "r_in": rounded(l2.reread),
        "groups": l2.groups,
        "l2_bytes": done.block.traffic_bytes,
        "memory_us": microseconds(totals.memory),
        "l2_us": microseconds(totals.l2),
        "compute_us": microseconds(totals.compute),
        "write_us": microseconds(totals.write),
        "schedule_us": microseconds(totals.schedule),
        "drain_us": microseconds(totals.drain),
    }
    log.add(
        "T_recut_us",
        microseconds(totals.total),
        f"{formula}, of the blocks of B",
        {name: value for name, value in terms.items() if value is not None},
        rejected=(f"{microseconds(stages.totals.total)}: T_us is of the blocks of stage 2",)
        if stages.totals is not None and stages.totals.total != totals.total
        else (),
    )


def uses_unit_flag(stages: Stages) -> bool:
    """Whether results are to leave L0C while the cube computes; a block bound by loads gains nothing."""
    timed = stages.tail or stages.reduction
    if timed is None or stages.inner is None or not stages.options.unit_flag:
        return False
    return stages.inner.buffers == 1 and timed.time.bound != "memory"


def explain_reduction(stages: Stages, log: DecisionLog) -> None:
    """Log the product on few cores."""
    found, chip = stages.reduction, stages.chip
    if found is None:
        return
    log.stage = "2 single-core block"
    log.add(
        "block",
        {"m": found.m, "n": found.n, "k_l1": found.k_l1},
        "the tile of stage 1, as far as L1 holds a step of it; no swizzle, no groups",
        {"blocks": found.blocks},
    )
    log.stage = "3 assignment"
    log.add(
        "used_cores",
        found.cores,
        "from stage 0" if found.cores == stages.entry.used_cores else "min(C, blocks that L1 holds)",
        {"waves": found.waves},
    )
    log.stage = "7 totals"
    log.add(
        "gm_rate",
        rounded(found.gm_rate),
        "min(W_GM, c BW_core_max), in B/s",
        {"c": found.cores, "W_GM": chip.gm_bytes_per_second},
        rejected=()
        if found.cores >= chip.saturating_cores
        else (f"W_GM: {counted(found.cores, 'core')} < minCoreNum {chip.saturating_cores}",),
    )
    terms = {
        "compute_us": microseconds(found.time.compute),
        "load_us": microseconds(found.time.load),
        "write_us": microseconds(found.time.write),
        "drain_us": microseconds(found.drain),
    }
    log.add("T_us", microseconds(found.total), "n_wave max(compute, load, write) + drain", terms)
