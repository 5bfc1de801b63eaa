"""Misuse of tile states and buffers: what can never be right, and readers that may come too late.

Source: tile-language.md sections 6 and 7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.check.explore import explore
from pantile.check.late_readers import late_readers
from pantile.check.ledger import ADDS, LISTS, TAKES
from pantile.check.limits import overflows_of
from pantile.check.naming import Naming
from pantile.check.report import Finding, Report
from pantile.check.statements import (
    FINISH_READING,
    FINISH_WRITING,
    NAMES,
    START_READING,
    START_WRITING,
    UPDATE,
    Statements,
    role_of_counters,
    statements_of,
)
from pantile.check.steps import processes_of
from pantile.program.tables import Overflow, Test

if TYPE_CHECKING:
    from pantile.check.order import Order
    from pantile.program.program import Program


def check_states(
    program: Program, order: Order, budget: int = 100_000, *, overflows: np.ndarray | None = None
) -> Report:
    """Report misuse of copies and buffers in a literal program.

    Args:
        program: What runs.
        order: Its happens-before.
        budget: States with a choice that may be walked through.
        overflows: Posts that can find their counter full, if they are at hand.
    """
    naming = Naming(program)
    full = overflows_of(order) if overflows is None else overflows
    statements = statements_of(program, order)
    recorded = _recorded(program)
    told = {op for finding in recorded for op in finding.operations}
    findings = recorded
    findings += [each for each in _unstarted(naming, statements) if each.operations[0] not in told]
    findings += [each for each in _unborn(program, naming, order) if each.operations[0] not in told]
    findings += late_readers(naming, order, statements, budget)
    findings += _unfinished(naming, statements)
    findings += [each for each in _released(naming, order, full, budget) if each.operations[0] not in told]
    findings += _slots_by_timing(program, naming, order)
    if findings:
        return Report(tuple(findings))
    if not len(statements):
        return Report()
    return Report(proved=(f"states: {len(statements)} statements on copies, each in a state that allows it",))


def _recorded(program: Program) -> list[Finding]:
    """Return the misuses that were found when the program was recorded."""
    return [
        Finding(
            code="PT-STATE",
            severity="error",
            sentence=f"{fault['sentence']} ({fault['place']})",
            operations=(int(fault["op"]),),
            mend=fault["mend"],
        )
        for fault in program.parameters.get("faults", ())
    ]


def _unstarted(naming: Naming, statements: Statements) -> list[Finding]:
    """Return a finding for every finish whose start its own thread has not made."""
    findings = []
    for finish, starts in ((FINISH_WRITING, (START_WRITING, UPDATE)), (FINISH_READING, (START_READING,))):
        chosen = np.flatnonzero(np.isin(statements.code, (finish, *starts)))
        for row in _unmatched(statements, chosen, statements.code[chosen] == finish):
            op, copy = int(statements.op[row]), statements.copy[row]
            elsewhere = np.isin(statements.code, starts) & (statements.copy == copy)
            elsewhere &= statements.thread != statements.thread[row]
            others = statements.op[elsewhere]
            by = f"; another thread starts it: {naming.op(int(others[0]))}" if len(others) else ""
            verb = NAMES[starts[0]]
            findings.append(
                Finding(
                    code="PT-STATE",
                    severity="error",
                    sentence=f"{naming.op(op)} without a {verb} of its own thread before it{by}",
                    operations=(op, *(int(other) for other in others[:1])),
                    mend=f"call {verb} first, in the same thread",
                )
            )
    return findings


def _unmatched(statements: Statements, rows: np.ndarray, closes: np.ndarray) -> list[int]:
    """Return the rows that close what their thread has not opened, of each copy."""
    order = np.lexsort((statements.op[rows], statements.thread[rows], statements.copy[rows]))
    rows, closes = rows[order], closes[order]
    if not len(rows):
        return []
    new = np.ones(len(rows), bool)
    new[1:] = (np.diff(statements.copy[rows]) != 0) | (np.diff(statements.thread[rows]) != 0)
    level = np.cumsum(np.where(closes, -1, 1))
    level -= (level - np.where(closes, -1, 1))[new][np.cumsum(new) - 1]
    far = 2 * len(rows) + 1
    segment = np.cumsum(new) - 1
    lowest = np.minimum(np.minimum.accumulate(level - segment * far) + segment * far, 0)
    before = np.where(new, 0, np.concatenate([[0], lowest[:-1]]))
    return sorted(int(row) for row in rows[lowest < before])


def _unborn(program: Program, naming: Naming, order: Order) -> list[Finding]:
    """Return a finding for every wait for a generation that is never written."""
    roles = role_of_counters(program, order.tables)
    ledger, sync = order.ledger, order.sync
    waits = np.flatnonzero(order.surplus & (ledger.wait_test == Test.REACH))
    waits = waits[roles[ledger.wait_counter[waits]] >= 0]
    wait_of = dict(zip(sync.row["op"][sync.wait_row[waits]].tolist(), waits.tolist(), strict=True))
    findings = []
    for op, more in naming.lines(wait_of):
        counter, wanted = int(ledger.wait_counter[wait_of[op]]), int(ledger.wait_amount[wait_of[op]])
        births = int(ledger.list_sum[LISTS * counter + ADDS])
        copy = program.text(int(order.tables["counter"]["dst"][counter]))
        written = f"is written {births} times" if births else "is never written"
        which = f", and generation {wanted} of it is wanted" if births else ""
        findings.append(
            Finding(
                code="PT-STATE",
                severity="error",
                sentence=f"{naming.op(op)} uses an unborn copy: {copy} {written}{which}{more}",
                operations=(op,),
                grade="hang",
                mend="write it first: start_writing, load_store, finish_writing",
            )
        )
    return findings


def _unfinished(naming: Naming, statements: Statements) -> list[Finding]:
    """Return a finding for every start that its thread never finishes."""
    findings = []
    for finish, starts in ((FINISH_WRITING, (START_WRITING, UPDATE)), (FINISH_READING, (START_READING,))):
        chosen = np.flatnonzero(np.isin(statements.code, (finish, *starts)))
        mirrored = Statements(-statements.op, statements.code, statements.copy, statements.thread)
        open_rows = _unmatched(mirrored, chosen, statements.code[chosen] != finish)
        for op, more in naming.lines(statements.op[open_rows].tolist()):
            findings.append(
                Finding(
                    code="PT-STATE",
                    severity="warning",
                    sentence=f"{naming.op(op)} is never followed by {NAMES[finish]} of its thread{more}",
                    operations=(op,),
                    grade="leak",
                    mend=f"call {NAMES[finish]} when it is done",
                )
            )
    return findings


def _released(naming: Naming, order: Order, rows: np.ndarray, budget: int) -> list[Finding]:
    """Return a finding for every release that can find all slots free."""
    counters = order.tables["counter"]
    rows = rows[(counters["overflow"][rows["counter"]] == Overflow.ERROR) & order.reached[rows["op"]]]
    if not len(rows):
        return []
    always = rows["least"] > counters["capacity"][rows["counter"]]
    if not always.any() and not order.exact:
        rows = rows[_reachable(order, rows, budget)]
        always = np.zeros(len(rows), bool)
    found = {op: (counter, most) for op, counter, most, _ in rows.tolist()}
    sure = set(rows["op"][always].tolist())
    findings = []
    for op, more in naming.lines(found):
        counter, most = found[op]
        when = "" if op in sure else " under some timings"
        findings.append(
            Finding(
                code="PT-STATE",
                severity="error",
                sentence=f"{naming.op(op)} releases more than was acquired{when}: {naming.counter(counter)} "
                f"comes to {most} of {counters['capacity'][counter]}{more}",
                operations=(op,),
                grade="" if op in sure else "timing-dependent",
                mend="acquire a slot for every release",
            )
        )
    return findings


def _slots_by_timing(program: Program, naming: Naming, order: Order) -> list[Finding]:
    """Return a finding for every buffer whose slots go to whoever comes first."""
    if program.parameters.get("slot_order", "program") == "program" or order.stuck:
        return []
    ledger, counters = order.ledger, order.tables["counter"]
    rank = np.empty(len(order.topo), np.int64)
    rank[order.topo] = np.arange(len(order.topo))
    pairs: dict[int, tuple[int, int]] = {}
    for counter in np.flatnonzero(counters["overflow"] == Overflow.ERROR).tolist():
        first, stop = ledger.list_first[LISTS * counter + TAKES : LISTS * counter + TAKES + 2]
        ops = ledger.entry_op[ledger.seg_first[first] : ledger.seg_first[stop]]
        if len(ops) <= counters["capacity"][counter]:  # no slot is taken twice
            continue
        ops = ops[np.argsort(rank[ops])]
        apart = np.flatnonzero(~order.started_before(ops[:-1], ops[1:]))
        if len(apart):
            pairs[int(ops[apart[0]])] = (int(ops[apart[0] + 1]), counter)
    return [
        Finding(
            code="PT-STATE",
            severity="warning",
            sentence=f"which slot {naming.op(op)} and {naming.op(pairs[op][0])} get depends on the timing: "
            f"{naming.counter(pairs[op][1])}; checked is one order of them{more}",
            operations=(op, pairs[op][0]),
            grade="timing-dependent",
            mend="let one thread alone acquire, or order the acquires",
        )
        for op, more in naming.lines(pairs)
    ]


def _reachable(order: Order, rows: np.ndarray, budget: int) -> np.ndarray:
    """Return which posts of *rows* have a counter that some interleaving overfills, or may."""
    over = {}
    for counter in np.unique(rows["counter"]).tolist():
        found = explore(processes_of(order.tables, watch=counter), budget)
        over[counter] = found.lost is not None or not found.finished
    return np.array([over[counter] for counter in rows["counter"].tolist()], bool)
