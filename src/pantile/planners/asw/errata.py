"""Which errata of the analysis one product runs into, with its own figures.

The list of all errata is docs/errata-asw.md; an erratum that no single product shows is not here.

Source: asw-errata.md.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from pantile.planners.asw.assignment import Grid, batches_at_once
from pantile.planners.asw.figures import counted, microseconds, rounded
from pantile.planners.asw.full_load import left_full_load, right_full_load
from pantile.planners.asw.infeasible import why_infeasible
from pantile.planners.asw.pipeline import DEFAULTS, run_stages
from pantile.planners.asw.printed_tail import GATE_WAVES
from pantile.tiling.cut import ceil_div
from pantile.tiling.plan import Note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pantile.planners.asw.chip import Chip
    from pantile.planners.asw.pipeline import AswOptions, Stages
    from pantile.planners.asw.problem import Problem


def errata_met(problem: Problem, chip: Chip, options: AswOptions = DEFAULTS) -> tuple[Note, ...]:
    """Return the errata that show on this product, by number."""
    printed = run_stages(problem, chip, "published", options)
    other = run_stages(problem, chip, "published_5_2", options)
    right = run_stages(problem, chip, "corrected", options)
    found = [
        *_entry(printed, right),
        *_block(printed, right),
        *_order(right),
        *_l2(printed, other, right),
        *_tail(printed, right),
        *_full_load(problem, chip, options),
    ]
    first = {note.code: note for note in reversed(found)}
    return tuple(first[code] for code in sorted(first))


def _entry(printed: Stages, right: Stages) -> Iterator[Note]:
    problem, chip = right.problem, right.chip
    entry = right.entry
    filled = rounded(entry.parallelism)
    if entry.mode == "asw" and entry.blocks_per_batch < chip.cores:
        yield Note(
            "E-05",
            f"the flowchart tests ceil(C/b) = {entry.blocks_per_batch} < {chip.cores} and would reduce "
            f"cores; the product fills {filled} L0C",
        )
    if entry.mode == "reduce" and printed.entry.used_cores != entry.used_cores:
        assert printed.entry.used_cores is not None
        verb = "works" if printed.entry.used_cores == 1 else "work"
        few = counted(printed.entry.used_cores, "core")
        yield Note("E-06", f"as published {few} {verb}, {entry.used_cores} have a block")
    if entry.mode == "reduce" and problem.batch >= chip.cores:
        yield Note("E-54", f"b = {problem.batch} >= C, yet only {filled} L0C are filled")
    if (printed.base.m, printed.base.n) != (right.base.m, right.base.n):
        yield Note(
            "E-08",
            f"the L0 tile is {printed.base.m} x {printed.base.n} rounded down, "
            f"{right.base.m} x {right.base.n} rounded up",
        )


def _block(printed: Stages, right: Stages) -> Iterator[Note]:
    problem, chip, block, base = right.problem, right.chip, right.block, right.base
    if block is None:
        return
    if printed.block is None and printed.entry.mode == "asw":
        why = why_infeasible(printed)
        code = "E-13" if why.startswith("constraint 3") else "E-12"
        yield Note(code if printed.base.m else "E-08", f"as published there is no plan: {why}")
    elif printed.block is not None:
        more = printed.block.traffic_bytes - block.traffic_bytes
        if more > 0:
            yield Note(
                "E-10",
                f"as published stage 2 takes {printed.block.rows} x {printed.block.columns} blocks, "
                f"which move {100 * more / block.traffic_bytes:.3g} % more than {block.rows} x "
                f"{block.columns}",
            )
        if block.m % base.m or block.n % base.n:
            yield Note("E-12", f"{block.m} x {block.n} is no multiple of the L0 tile {base.m} x {base.n}")
    if block.relax_level or problem.k * problem.element_bytes < chip.run_bytes:
        yield Note("E-13", f"thresholds are capped by what the operands offer; level {block.relax_level}")
    assert right.executed is not None
    totals = right.executed.totals
    if totals.l2 is not None and totals.memory is not None and totals.l2 > totals.memory:
        yield Note(
            "E-41",
            f"all panels take {microseconds(totals.l2)} us through L2, more than "
            f"{microseconds(totals.memory)} us from memory",
        )


def _order(right: Stages) -> Iterator[Note]:
    problem, chip, block, order = right.problem, right.chip, right.block, right.order
    if block is None or order is None:
        return
    grid = Grid(problem.batch, block.rows, block.columns, chip.cores)
    per_batch = block.rows * block.columns
    printed = ceil_div(chip.cores, per_batch)
    most = batches_at_once(grid)
    if most > printed:
        yield Note("E-22", f"a wave touches up to {most} batches, not {printed}")
    if order.window_readers > chip.max_readers and order.diagonal_readers < order.window_readers:
        yield Note(
            "E-27",
            f"windows let {order.window_readers} cores read one panel, diagonals {order.diagonal_readers}; "
            f"{chip.max_readers} are tolerated",
        )
    shared = " and ".join(
        name for name, is_shared in zip(("left", "right"), problem.shares, strict=True) if is_shared
    )
    if shared and right.l2 is not None and right.l2.scene == "C":
        yield Note("E-21", f"batches share the {shared} operand: linear dealing may read it once per batch")


def _l2(printed: Stages, other: Stages, right: Stages) -> Iterator[Note]:
    if printed.l2 is None or other.l2 is None or right.l2 is None:
        return
    reread = [each.reread for each in (printed.l2, other.l2, right.l2)]
    same_block = printed.block == other.block
    if printed.l2.reach is not None and reread[1] != reread[2] and right.l2.sub == "C0":
        yield Note("E-29", f"one batch fits L2: r_in is {rounded(reread[2])}, not {rounded(reread[1])}")
    elif printed.l2.reach is not None and reread[1] != reread[2]:
        yield Note("E-29", f"with one batch live r_in is {rounded(reread[2])}, not {rounded(reread[1])}")
    if same_block and reread[0] != reread[1]:
        yield Note("E-30", f"r_in is {rounded(reread[0])} by [5.6] and {rounded(reread[1])} by [5.2]")
    if right.l2.closed_form is not None and right.l2.closed_form[2] != reread[2]:
        closed = rounded(right.l2.closed_form[2])
        yield Note("E-31", f"the closed form re-reads {closed} times, the best groups {rounded(reread[2])}")


def _tail(printed: Stages, right: Stages) -> Iterator[Note]:
    if printed.tail is not None and right.tail is not None and printed.tail.remainder:
        yield from _printed_tail(printed)
    if printed.tail is not None and right.tail is not None and printed.block is not None:
        bounds = printed.tail.time.bound, right.tail.time.bound
        if bounds[0] != bounds[1]:
            yield Note("E-11", f"a block is {bounds[0]} bound as published, {bounds[1]} bound with all of k")
    tail = right.tail
    if tail is None or not tail.remainder:
        return
    if tail.seconds_b is not None and tail.seconds_fewer is not None and tail.seconds_fewer < tail.seconds_b:
        assert tail.fewer is not None
        yield Note(
            "E-37",
            f"{counted(tail.fewer.waves, 'wave')} {'takes' if tail.fewer.waves == 1 else 'take'} "
            f"{microseconds(tail.seconds_fewer)} us, "
            f"{tail.waves} take {microseconds(tail.seconds_b)} us",
        )


def _printed_tail(printed: Stages) -> Iterator[Note]:
    """Yield what the published tail rules get wrong on a product with a tail."""
    tail, block, chip = printed.tail, printed.block, printed.chip
    assert tail is not None
    assert tail.printed is not None
    assert block is not None
    if tail.time.bound != "memory" and tail.x_min is not None and tail.x_min > chip.grain:
        limits = block.n // chip.grain, int(block.n / tail.x_min)
        yield Note(
            "E-15",
            f"a load is hidden from {ceil(tail.x_min)} columns on: at most {limits[1]} pieces, "
            f"not {limits[0]}",
        )
    if tail.strategy == "B" and tail.recut is None:
        yield Note("E-17", f"no aligned cut gives {tail.waves} full waves, the table says B")
    if tail.waves > GATE_WAVES:
        yield Note("E-18", f"{tail.waves} waves: the older rule cuts tails of {GATE_WAVES} waves at most")
    yield Note("E-19", "the total of [5.2] counts the tail twice; [7.2] adds only what is extra")
    timed = {"A0": tail.seconds_a0, "A1": tail.seconds_a1, "B": tail.seconds_b}
    possible = {name: seconds for name, seconds in timed.items() if seconds is not None}
    best = min(possible, key=lambda name: possible[name])
    if possible[best] < tail.seconds:
        code = "E-32" if tail.time.bound == "memory" else "E-33"
        yield Note(
            code,
            f"the table says {tail.strategy}: {microseconds(tail.seconds)} us, "
            f"{best} takes {microseconds(possible[best])} us",
        )


def _full_load(problem: Problem, chip: Chip, options: AswOptions) -> Iterator[Note]:
    for name, find in (("left", left_full_load), ("right", right_full_load)):
        found = find(problem, chip, bias_batch=options.bias_batch)
        if found.by_theory != found.by_source:
            says = {True: "stays", False: "does not stay"}
            yield Note(
                "E-48",
                f"the {name} operand {says[found.by_theory]} in L1 by theory, and {says[found.by_source]} "
                "by the operator's rule",
            )
