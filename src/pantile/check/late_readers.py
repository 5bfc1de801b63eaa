"""Readers that nothing orders before the end of what they could read.

Such a reader may find its copy destroyed: then it waits for ever, or reads the next generation.

Source: tile-language.md section 6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.check.explore import explore
from pantile.check.report import Finding
from pantile.check.statements import DESTROY, START_READING, START_WRITING, UPDATE, Statements
from pantile.check.steps import processes_of
from pantile.program.tables import Test

if TYPE_CHECKING:
    from pantile.check.naming import Naming
    from pantile.check.order import Order

LISTED = 20
"""Late readers that are told one by one; the rest is counted."""

SHOWN, SHOWN_BUDGET = 2, 300
"""Late readers for which orders are searched for that show both outcomes, and states met for each."""


def late_readers(naming: Naming, order: Order, statements: Statements, budget: int) -> list[Finding]:
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
    starts = order.reached[waiting] & order.reached[other]  # what never runs is not late
    columns = (waiting[starts], other[starts], key[starts])
    for first, second, copy in zip(*(column.tolist() for column in columns), strict=True):
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


def _cut(findings: list[Finding], total: int) -> list[Finding]:
    """Return findings, and how many more there are."""
    if total <= len(findings):
        return findings
    first = findings[0]
    more = f"{total - len(findings)} more of this kind"
    return [*findings, Finding(code=first.code, severity=first.severity, sentence=more, grade=first.grade)]
