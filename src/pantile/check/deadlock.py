"""Deadlock: threads that wait for ever, under every timing or under some.

What happens-before forces already tells whether a program without choices stops. Where there are choices, or
one-bit flags that can lose a post, all interleavings are walked through, up to a budget of states.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from pantile.check.explore import Outcome, Stop, explore
from pantile.check.naming import Naming
from pantile.check.report import Finding, Report
from pantile.check.steps import Processes, processes_of
from pantile.program.tables import Overflow, Test

if TYPE_CHECKING:
    from pantile.check.order import Order
    from pantile.program.program import Program

Verdict = Literal["never", "schedule-dependent", "always", "undecided"]

_SHOWN_STEPS, _SHOWN_THREADS = 12, 8
_ONE_BIT = " with one-bit flags"


@dataclass(frozen=True, slots=True)
class Deadlock:
    """Whether a program stops, and where.

    Attributes:
        verdict: Whether it does under every timing, some, or none.
        heads: The operations at which its threads stand then.
        reached: By operation: whether it has started then.
        value: By counter: what it holds then; where it was not walked through, that follows from *reached*.
        path: Operations in an order that leads there, where not every order does.
        states: States that were walked through; 0 where none had to be.
    """

    verdict: Verdict
    heads: tuple[int, ...] = ()
    reached: np.ndarray | None = None
    value: tuple[int, ...] = ()
    path: tuple[int, ...] = ()
    states: int = 0


def deadlock_of(order: Order, budget: int, *, one_bit: bool = False) -> Deadlock:
    """Return whether the program of *order* stops before its end.

    Args:
        order: Its happens-before.
        budget: States that may be walked through.
        one_bit: Whether posts to flags that are up are lost.
    """
    if order.stuck and order.exact:
        return Deadlock("always", tuple(order.heads.tolist()), order.reached)
    if not order.stuck and not one_bit and not order.hindered.any():
        return Deadlock("never")
    processes = processes_of(order.tables, posts_hold_up=order.posts_hold_up, one_bit=one_bit)
    found = explore(processes, budget)
    verdict = "always" if order.stuck else _verdict(found)
    if found.dead is None and order.stuck:
        return Deadlock("always", tuple(order.heads.tolist()), order.reached, states=found.states)
    if found.dead is None:
        return Deadlock(verdict, states=found.states)
    heads, reached = _standing(order, processes, found.dead)
    path = found.dead.path if verdict != "always" else ()
    return Deadlock(verdict, heads, reached, found.dead.value, path, found.states)


def _verdict(found: Outcome) -> Verdict:
    if found.dead is not None and (found.complete is not None or not found.finished):
        return "schedule-dependent"
    if not found.finished:
        return "undecided"
    return "never" if found.dead is None else "always"


def _standing(order: Order, processes: Processes, stop: Stop) -> tuple[tuple[int, ...], np.ndarray]:
    """Return where threads stand in a state, and what has started by then."""
    chains = order.chains
    reached = np.ones(len(chains), bool)
    heads = []
    for steps, at in zip(processes.steps, stop.at, strict=True):
        if at < len(steps):
            head = steps[at].op
            heads.append(head)
            chain = chains.chain[head]
            rest = chains.order[chains.first[chain] + chains.position[head] : chains.first[chain + 1]]
            reached[rest] = False
    return tuple(heads), reached


def check_deadlock(program: Program, order: Order, budget: int, *, one_bit: bool = False) -> Report:
    """Report whether threads wait for ever: each operation, what it waits for, and who would post it.

    Args:
        program: What runs.
        order: Its happens-before.
        budget: States that may be walked through.
        one_bit: Whether posts to flags that are up are lost.
    """
    found = deadlock_of(order, budget, one_bit=one_bit)
    flags = _ONE_BIT if one_bit else ""
    if found.verdict == "never":
        how = f" in any of the {found.states} states with a choice" if found.states else ""
        return Report(proved=(f"deadlock{flags}: no thread waits for ever{how}",))
    if found.verdict == "undecided":
        sentence = (
            f"whether the program can stop{flags} was not decided: more than {budget} states with a choice"
        )
        mend = "raise the budget, or let one thread alone take from each buffer"
        return Report(
            (
                Finding(
                    code="PT-UNDECIDED", severity="warning", sentence=sentence, grade="undecided", mend=mend
                ),
            )
        )
    return Report((_finding(program, order, found, one_bit=one_bit),))


def _finding(program: Program, order: Order, found: Deadlock, *, one_bit: bool) -> Finding:
    naming, flags = Naming(program), _ONE_BIT if one_bit else ""
    assert found.reached is not None
    waits = _waits(order, found)
    threads = dict.fromkeys(naming.thread(op) for op in waits)
    when = "under some timings" if found.path else "whatever the timing"
    count = f"{len(threads)} thread{'s' if len(threads) > 1 else ''}"
    shown = list(waits.items())[:_SHOWN_THREADS]
    more = [f"and {len(waits) - len(shown)} more"] if len(waits) > len(shown) else []
    heads = "; ".join([*(f"{naming.op(op)} for {_wanted(naming, wanted)}" for op, wanted in shown), *more])
    evidence = [_who_would(naming, order, found, op, wanted) for op, wanted in shown]
    cycle = _cycle(naming, order, found, waits)
    if cycle:
        evidence.append("cycle of waits: " + " → ".join(cycle))
    if found.path:
        last = found.path[-_SHOWN_STEPS:]
        skipped = len(found.path) - len(last)
        after = f"after {skipped} steps, " if skipped else ""
        evidence.append(f"{after}in the order {', '.join(map(str, last))}")
    return Finding(
        code="PT-DEADLOCK",
        severity="error",
        sentence=f"{count} wait{'s' if len(threads) == 1 else ''} for ever{flags}, {when}: {heads}",
        operations=tuple(waits),
        evidence="; ".join(evidence),
        grade="hang",
        mend=_mend(naming, order, found, waits, cycle=bool(cycle), one_bit=one_bit),
    )


def _waits(order: Order, found: Deadlock) -> dict[int, list[int]]:
    """Return what stands and waits: operations, and the counters of waits that do not hold."""
    ledger, sync = order.ledger, order.sync
    value, ever = _values(order, found)
    waits: dict[int, list[int]] = {}
    for op in found.heads:
        for wait in range(int(ledger.wait_first[op]), int(ledger.wait_first[op + 1])):
            counter, amount = int(ledger.wait_counter[wait]), int(ledger.wait_amount[wait])
            test = int(sync.row["test"][sync.wait_row[wait]])
            holds = {
                int(Test.TAKE): value[counter] >= amount,
                int(Test.REACH): ever[counter] >= amount,
                int(Test.ZERO): value[counter] == 0,
            }[test]
            if not holds:
                waits.setdefault(op, []).append(counter)
    return dict(sorted(waits.items()))


def _values(order: Order, found: Deadlock) -> tuple[np.ndarray, np.ndarray]:
    """Return what every counter holds then, and what was ever added to it."""
    counters, rows = order.tables["counter"], order.sync.row
    assert found.reached is not None
    done = found.reached[rows["op"]]
    posts, takes = done & (rows["test"] == Test.POST), done & (rows["test"] == Test.TAKE)
    adds = posts & (rows["amount"] > 0)
    value = counters["initial"].astype(np.int64)
    np.add.at(value, order.sync.counter[posts], rows["amount"][posts])
    np.subtract.at(value, order.sync.counter[takes], rows["amount"][takes])
    if found.value:
        value = np.array(found.value, np.int64)
    ever = np.zeros(len(counters), np.int64)
    np.add.at(ever, order.sync.counter[adds], rows["amount"][adds])
    return value, ever


def _wanted(naming: Naming, counters: list[int]) -> str:
    return " and ".join(dict.fromkeys(naming.wanted(counter) for counter in counters))


def _posters(order: Order, found: Deadlock, op: int, counter: int) -> list[int]:
    """Return the first operation of every thread that would still post what *op* waits for."""
    rows, ledger = order.sync.row, order.ledger
    assert found.reached is not None
    zero = any(
        ledger.wait_test[wait] == Test.ZERO and ledger.wait_counter[wait] == counter
        for wait in range(int(ledger.wait_first[op]), int(ledger.wait_first[op + 1]))
    )
    posts = (rows["test"] == Test.POST) & (order.sync.counter == counter)
    posts &= (rows["amount"] < 0) if zero else (rows["amount"] > 0)
    posts &= ~found.reached[rows["op"]] & (rows["op"] != op)
    ops = np.sort(rows["op"][posts])
    _, first = np.unique(order.chains.thread[ops], return_index=True)
    return [int(ops[at]) for at in first]


def _who_would(naming: Naming, order: Order, found: Deadlock, op: int, counters: list[int]) -> str:
    parts = []
    for counter in counters:
        posters = _posters(order, found, op, counter)
        by = f"is up to {naming.ops(posters)}" if posters else "is up to nobody any more"
        parts.append(f"{naming.wanted(counter)} {by}")
    return f"{naming.thread(op)}: {' and '.join(dict.fromkeys(parts))}"


def _cycle(naming: Naming, order: Order, found: Deadlock, waits: dict[int, list[int]]) -> list[str]:
    """Return threads each of which waits for the next, the first of them again at the end."""
    thread = order.chains.thread
    standing = {int(thread[op]): op for op in waits}
    goes = {
        at: [
            int(thread[poster])
            for counter in waits[op]
            for poster in _posters(order, found, op, counter)
            if int(thread[poster]) in standing
        ]
        for at, op in standing.items()
    }
    for start in sorted(standing):
        trail = [start]
        while goes[trail[-1]]:
            following = goes[trail[-1]][0]
            if following in trail:
                ring = [*trail[trail.index(following) :], following]
                return [naming.thread(standing[each]) for each in ring]
            trail.append(following)
    return []


def _mend(
    naming: Naming,
    order: Order,
    found: Deadlock,
    waits: dict[int, list[int]],
    *,
    cycle: bool,
    one_bit: bool,
) -> str:
    counters = order.tables["counter"]
    starved = [
        counter
        for op, wanted in waits.items()
        for counter in wanted
        if not _posters(order, found, op, counter)
    ]
    for counter in starved:
        if counters["overflow"][counter] == Overflow.ERROR:
            buffer = naming.program.text(int(counters["dst"][counter]))
            return f"release every slot of {buffer} that is acquired"
    if starved and one_bit and not order.surplus.any():
        return (
            f"a set of {naming.wanted(starved[0])} is lost while it is up: use an id for each half or stage, "
            "or let the source wait until the flag was taken"
        )
    if starved:
        return f"see to {naming.wanted(starved[0])} once for every wait, or drop the wait"
    if cycle:
        return "let one of them post before it waits"
    return "give what they wait for an order: one thread that takes, one that posts"
