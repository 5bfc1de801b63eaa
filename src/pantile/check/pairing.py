"""Posts and waits that do not come out even, and flags and barriers that cannot be used as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.check.ledger import ADDS, LISTS, TAKES
from pantile.check.limits import overflows_of
from pantile.check.naming import Naming
from pantile.check.report import Finding, Report
from pantile.program.tables import Kind, Overflow, Test

if TYPE_CHECKING:
    from pantile.check.order import Order
    from pantile.program.program import Program


def surplus_of(order: Order) -> tuple[list[int], list[int]]:
    """Return the waits and the posts of flags that are left over by count, in the order of the listing.

    The k-th post belongs to the k-th wait; the last ones are left over.
    """
    counters = order.tables["counter"]
    waits: list[int] = []
    posts: list[int] = []
    for counter in np.flatnonzero(counters["overflow"] == Overflow.SATURATE).tolist():
        given = _operations(order, LISTS * counter + ADDS)
        taken = _operations(order, LISTS * counter + TAKES)
        there = int(counters["initial"][counter])
        waits += taken[len(given) + there :].tolist()
        posts += given[max(len(taken) - there, 0) :].tolist()
    return sorted(waits), sorted(posts)


def _operations(order: Order, which: int) -> np.ndarray:
    ledger = order.ledger
    begin, end = ledger.seg_first[ledger.list_first[which : which + 2]]
    return np.sort(ledger.entry_op[begin:end])


def source_conflicts(tables: dict[str, np.ndarray]) -> list[tuple[int, int]]:
    """Return posts of flags whose source has the same id pending towards another destination.

    Goes by the order of the listing; each comes with the flag that is pending.
    """
    counters, sync = tables["counter"], tables["sync"]
    rows = sync[(counters["overflow"] == Overflow.SATURATE)[sync["counter"]]] if len(sync) else sync
    pending: dict[int, int] = {}
    siblings: dict[tuple[int, int], list[int]] = {}
    for counter in np.unique(rows["counter"]).tolist():
        siblings.setdefault((int(counters["src"][counter]), int(counters["key"][counter])), []).append(
            counter
        )
    found = []
    for op, counter, test in zip(*(rows[name].tolist() for name in ("op", "counter", "test")), strict=True):
        if test != Test.POST:
            pending[counter] = pending.get(counter, 0) - 1
            continue
        mates = siblings[int(counters["src"][counter]), int(counters["key"][counter])]
        raised = [each for each in mates if each != counter and pending.get(each, 0) > 0]
        if raised:
            found.append((op, raised[0]))
        pending[counter] = pending.get(counter, 0) + 1
    return found


def check_pairing(
    program: Program,
    order: Order,
    *,
    overflows: np.ndarray | None = None,
    strict_scope: bool = False,
    event_ids: int | None = None,
) -> Report:
    """Report posts and waits that do not come out even, double sets, and wrong ids and barriers.

    Args:
        program: What runs.
        order: Its happens-before.
        overflows: Posts that can find their counter full, if they are at hand.
        strict_scope: Also report flags of one source and id that are pending towards two destinations.
        event_ids: How many ids a flag may have; by default what the program says.
    """
    naming = Naming(program)
    ids = event_ids or program.parameters.get("event_ids")
    findings = [
        *_surplus(naming, order),
        *_kept_slots(naming, order),
        *_double_sets(naming, order, overflows_of(order) if overflows is None else overflows),
        *(_wrong_ids(naming, order, int(ids)) if ids else ()),
        *(_scope(naming, order) if strict_scope else ()),
        *_barriers(program, naming, order),
    ]
    flags = int((order.tables["counter"]["overflow"] == Overflow.SATURATE).sum())
    if findings or not flags:
        return Report(tuple(findings))
    return Report(proved=(f"pairing: {flags} flags, every set taken once and before the next",))


def _surplus(naming: Naming, order: Order) -> list[Finding]:
    """Return a finding for every wait without a post and every post without a wait, by count."""
    waits, posts = surplus_of(order)
    found = [
        Finding(
            code="PT-UNPAIRED",
            severity="error",
            sentence=f"{naming.op(op)} waits for {_counter(naming, order, op)}, which is set too few times",
            operations=(op,),
            grade="hang",
            mend="set the flag once for every wait, with the same source, destination and id",
        )
        for op in waits
    ]
    found += [
        Finding(
            code="PT-LEAK",
            severity="warning",
            sentence=f"{naming.op(op)} leaves {_counter(naming, order, op)} up: no wait takes it",
            operations=(op,),
            evidence="the next wait of that flag, of whatever runs then, passes too early",
            grade="leak",
            mend="wait for it, or leave the set out",
        )
        for op in posts
    ]
    return found


def _counter(naming: Naming, order: Order, op: int) -> str:
    rows = order.sync.row["op"].searchsorted(op)
    return naming.counter(int(order.sync.counter[rows]))


def _kept_slots(naming: Naming, order: Order) -> list[Finding]:
    """Return a finding for every buffer of which slots are never given back."""
    counters, ledger = order.tables["counter"], order.ledger
    found = []
    for counter in np.flatnonzero(counters["overflow"] == Overflow.ERROR).tolist():
        taken = int(ledger.list_sum[LISTS * counter + TAKES])
        kept = taken - int(ledger.list_sum[LISTS * counter + ADDS])
        if 0 < kept <= int(counters["initial"][counter]):
            last = int(_operations(order, LISTS * counter + TAKES)[-1])
            found.append(
                Finding(
                    code="PT-LEAK",
                    severity="warning",
                    sentence=f"{kept} of {taken} acquired are never released: {naming.counter(counter)}",
                    operations=(last,),
                    grade="leak",
                    mend="release every slot that is acquired",
                )
            )
    return found


def _double_sets(naming: Naming, order: Order, rows: np.ndarray) -> list[Finding]:
    """Return a finding for every set that can find its flag up."""
    rows = rows[order.tables["counter"]["overflow"][rows["counter"]] == Overflow.SATURATE]
    found = []
    for counter in np.unique(rows["counter"]).tolist():
        mine = np.sort(rows["op"][rows["counter"] == counter]).tolist()
        sets = _operations(order, LISTS * counter + ADDS)
        takes = _operations(order, LISTS * counter + TAKES)
        place = int(np.flatnonzero(sets == mine[0])[0])
        before = int(sets[place - 1]) if place else -1
        taker = int(takes[place - 1]) if 0 < place <= len(takes) else -1
        waited = f"nothing orders {naming.op(taker)} before it" if taker >= 0 else "no wait takes that one"
        more = f"; so can {len(mine) - 1} later sets of it" if len(mine) > 1 else ""
        found.append(
            Finding(
                code="PT-DOUBLE-SET",
                severity="error",
                sentence=f"{naming.op(mine[0])} can find {naming.counter(counter)} still up{more}",
                operations=tuple(each for each in (before, taker, *mine) if each >= 0),
                evidence=f"set by {naming.op(before)}; {waited}" if before >= 0 else "",
                grade="timing-dependent",
                mend="use another id, or let the source wait until the flag was taken",
            )
        )
    return found


def _wrong_ids(naming: Naming, order: Order, ids: int) -> list[Finding]:
    counters = order.tables["counter"]
    wrong = (counters["overflow"] == Overflow.SATURATE) & ((counters["key"] < 0) | (counters["key"] >= ids))
    found = []
    for counter in np.flatnonzero(wrong).tolist():
        ops = np.unique(order.sync.row["op"][order.sync.counter == counter]).tolist()
        found.append(
            Finding(
                code="PT-EVENT-ID",
                severity="error",
                sentence=f"{naming.counter(counter)}: ids go from 0 to {ids - 1}, in {naming.ops(ops[:4])}"
                + (f" and {len(ops) - 4} more" if len(ops) > 4 else ""),
                operations=tuple(ops),
                mend=f"use an id below {ids}",
            )
        )
    return found


def _scope(naming: Naming, order: Order) -> list[Finding]:
    """Return a finding for every flag that is set while a sibling of its source is pending."""
    sync, pending = order.sync, dict(source_conflicts(order.tables))
    by_flag: dict[tuple[int, int], list[int]] = {}
    for op, other in pending.items():
        counter = int(sync.counter[sync.row["op"].searchsorted(op)])
        by_flag.setdefault((counter, other), []).append(op)
    found = []
    for (_, other), ops in by_flag.items():
        more = f"; so do {len(ops) - 1} later sets of it" if len(ops) > 1 else ""
        found.append(
            Finding(
                code="PT-SCOPE",
                severity="warning",
                sentence=f"{naming.op(ops[0])} sets an id of its source that is pending as "
                f"{naming.counter(other)}{more}",
                operations=tuple(ops),
                evidence="wrong where ids belong to the source alone and not to the pair of pipes",
                mend="use another id for one of the two destinations",
            )
        )
    return found


def _barriers(program: Program, naming: Naming, order: Order) -> list[Finding]:
    """Return a finding for every barrier that some thread never comes to, or that cannot be."""
    ledger, sync, counters = order.ledger, order.sync, order.tables["counter"]
    found = []
    named = np.array(["barrier" in text for text in program.names] + [False])
    waits = np.flatnonzero(order.surplus & (ledger.wait_test == Test.REACH))
    waits = waits[named[counters["src"][ledger.wait_counter[waits]]]]
    for counter in np.unique(ledger.wait_counter[waits]).tolist():
        mine = waits[ledger.wait_counter[waits] == counter]
        ops = sorted(sync.row["op"][sync.wait_row[mine]].tolist())
        come, wanted = int(ledger.list_sum[LISTS * counter + ADDS]), int(ledger.wait_amount[mine].max())
        found.append(
            Finding(
                code="PT-BARRIER",
                severity="error",
                sentence=f"{naming.ops(ops)}: {wanted} threads must come to {naming.counter(counter)}, "
                f"{come} do",
                operations=tuple(ops),
                grade="hang",
                mend="let every thread of the barrier come to it, equally often",
            )
        )
    return found + _refused_barriers(program, naming, order, named)


def _refused_barriers(program: Program, naming: Naming, order: Order, named: np.ndarray) -> list[Finding]:
    """Return a finding for every barrier of a thread that has none."""
    refused = set(program.parameters.get("no_barrier", ()))
    if not refused:
        return []
    ops = order.tables["op"]
    barriers = np.flatnonzero((ops["kind"] == Kind.SYNC) & named[ops["opcode"]]).tolist()
    return [
        Finding(
            code="PT-BARRIER",
            severity="error",
            sentence=f"{naming.op(op)}: {naming.thread(op)} has no barrier, the hardware refuses it",
            operations=(op,),
            mend="leave it out: the scalar unit runs in order",
        )
        for op in barriers
        if naming.thread(op) in refused and naming.opcode(op) == "pipe_barrier"
    ]
