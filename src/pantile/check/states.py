"""Misuse of tile states and buffers: what can never be right, and readers that may come too late.

Source: tile-language.md sections 6 and 7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.check.explore import explore
from pantile.check.ledger import ADDS, LISTS
from pantile.check.limits import overflows_of
from pantile.check.naming import Naming
from pantile.check.report import Finding, Report
from pantile.check.statements import (
    DESTROY,
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

LISTED = 20
"""Misuses of one kind that are told one by one; the rest is counted."""

SHOWN, SHOWN_BUDGET = 2, 2_000
"""Late readers for which orders are searched that show both outcomes, and states walked through for each."""


def check_states(program: Program, order: Order, budget: int = 100_000) -> Report:
    """Report misuse of copies and buffers in a literal program.

    Args:
        program: What runs.
        order: Its happens-before.
        budget: States with a choice that may be walked through.
    """
    naming = Naming(program)
    statements = statements_of(program, order)
    recorded = _recorded(program)
    told = {op for finding in recorded for op in finding.operations}
    findings = recorded
    findings += [each for each in _unstarted(naming, statements) if each.operations[0] not in told]
    findings += [each for each in _unborn(program, naming, order) if each.operations[0] not in told]
    findings += _late_readers(naming, order, statements, budget)
    findings += _unfinished(naming, statements)
    findings += [each for each in _released(naming, order, budget) if each.operations[0] not in told]
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


def _late_readers(naming: Naming, order: Order, statements: Statements, budget: int) -> list[Finding]:
    """Return a finding for every reader that nothing orders before the end of what it could read."""
    pairs = _unordered_readers(order, statements)
    findings = [
        _late(naming, order, statements, pair, min(budget, SHOWN_BUDGET) if at < SHOWN else -1)
        for at, pair in enumerate(pairs[:LISTED])
    ]
    return _cut(findings, len(pairs))


def _unordered_readers(order: Order, statements: Statements) -> list[tuple[int, int]]:
    """Return pairs of rows (reader, destroy or update) of one copy, of which either may come first."""
    ledger, sync = order.ledger, order.sync
    zero = ledger.wait_test[order.disturbing[:, 0]] == Test.ZERO
    if not zero.any():
        return []
    waiting = sync.row["op"][sync.wait_row[order.disturbing[zero, 0]]]
    other = ledger.entry_op[order.disturbing[zero, 1]]
    key = order.tables["counter"]["key"][ledger.wait_counter[order.disturbing[zero, 0]]]
    rows = {
        (op, copy): row
        for row, (op, copy) in enumerate(zip(statements.op.tolist(), statements.copy.tolist(), strict=True))
    }
    found: dict[tuple[int, int], None] = {}
    for first, second, copy in zip(waiting.tolist(), other.tolist(), key.tolist(), strict=True):
        a, b = rows.get((first, copy)), rows.get((second, copy))
        if a is None or b is None:
            continue
        if statements.code[a] != START_READING:
            a, b = b, a
        if statements.code[a] == START_READING and statements.code[b] in (DESTROY, UPDATE):
            found[a, b] = None
    return list(found)


def _late(
    naming: Naming, order: Order, statements: Statements, pair: tuple[int, int], budget: int
) -> Finding:
    reader, ender = int(statements.op[pair[0]]), int(statements.op[pair[1]])
    births = statements.op[(statements.copy == statements.copy[pair[0]]) & (statements.code == START_WRITING)]
    destroys = statements.code[pair[1]] == DESTROY
    later = births[~order.started_before(births, np.full(len(births), ender))]
    if not destroys:
        then = "it reads what is updated"
    elif len(later):
        then = f"it reads the next generation, written from {naming.op(int(later[0]))} on"
    else:
        then = "it waits for ever: nothing writes the copy again"
    hangs = destroys and not len(later)
    verb = "destroyed" if destroys else "updated"
    return Finding(
        code="PT-STATE",
        severity="error",
        sentence=f"late reader: {naming.op(reader)} is not ordered before {naming.op(ender)}, "
        f"by which the copy is {verb}",
        operations=(reader, ender),
        evidence=_two_witnesses(order, reader, ender, then, budget),
        grade="hang" if hangs else "timing-dependent",
        mend=f"let {naming.thread(ender)} wait, before {ender}, for something that "
        f"{naming.thread(reader)} posts after {reader}",
    )


def _two_witnesses(order: Order, reader: int, ender: int, then: str, budget: int) -> str:
    """Tell an order in which the reader comes in time, and one in which it does not."""
    told = []
    both = ((ender, reader, "the reader is in time"), (reader, ender, then)) if budget >= 0 else ()
    for first, second, what in both:
        found = explore(processes_of(order.tables, looks=(first, second)), budget, until_seen=True)
        path = found.seen or found.seen_dead
        if path is not None:
            end = max(path.index(each) if each in path else -1 for each in (reader, ender)) + 1
            steps = ", ".join(str(op) for op in dict.fromkeys(path[max(0, end - 10) : end]))
            told.append(f"in the order … {steps}: {what}")
    return "; ".join(told) or f"if {ender} comes first, {then}"


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


def _released(naming: Naming, order: Order, budget: int) -> list[Finding]:
    """Return a finding for every release that can find all slots free."""
    rows = overflows_of(order)
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


def _reachable(order: Order, rows: np.ndarray, budget: int) -> np.ndarray:
    """Return which posts of *rows* have a counter that some interleaving overfills, or may."""
    over = {}
    for counter in np.unique(rows["counter"]).tolist():
        found = explore(processes_of(order.tables, watch=counter), budget)
        over[counter] = found.lost is not None or not found.finished
    return np.array([over[counter] for counter in rows["counter"].tolist()], bool)


def _cut(findings: list[Finding], total: int) -> list[Finding]:
    """Return findings, and how many more there are."""
    if total <= len(findings):
        return findings
    first = findings[0]
    more = f"{total - len(findings)} more of this kind"
    return [*findings, Finding(code=first.code, severity=first.severity, sentence=more, grade=first.grade)]
