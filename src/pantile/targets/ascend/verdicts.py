"""Verdicts on the synchronisation of a trace, in the terms of the recorded cases: places in the trace, pipes.

The recorded cases take every queue literally in order: what follows a ``set_flag`` in its queue starts after
it, so that a set orders its queue as a barrier does. Elsewhere a set holds up nothing (ascend-core.md 1.3,
rule 3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pantile.check.chains import literal_tables
from pantile.check.conflicts import KINDS, conflicts_of, exemptions_of
from pantile.check.explore import Stop, explore
from pantile.check.limits import overflows_of
from pantile.check.order import Order, happens_before
from pantile.check.pairing import source_conflicts, surplus_of
from pantile.check.steps import processes_of
from pantile.program.program import Program
from pantile.program.tables import Kind, Overflow
from pantile.targets.ascend.pipes import EVENT_IDS
from pantile.targets.ascend.trace import HELD, RESUME

BUDGET = 200_000
"""States of one-bit flags that are walked through."""


@dataclass(frozen=True, slots=True)
class _Trace:
    """A program made of a trace, and where its operations stand there."""

    program: Program
    order: Order
    place: np.ndarray

    def places(self, ops: Sequence[int] | np.ndarray) -> list[int]:
        return sorted({int(self.place[op]) for op in ops})

    def flag(self, counter: int) -> dict[str, Any]:
        """Return the key of a flag."""
        row = self.order.tables["counter"][counter]
        src, dst = self.program.text(int(row["src"])), self.program.text(int(row["dst"]))
        return {"src_pipe": src, "dst_pipe": dst, "event_id": int(row["key"])}


def verdicts_on(program: Program, budget: int = BUDGET) -> dict[str, Any]:
    """Return the verdicts on the program of a trace, by the names of the recorded cases.

    Where the interleavings of one-bit flags are more than *budget*, ``deadlock_bit`` is ``"undecided"``.
    """
    tables = literal_tables(program)
    order = happens_before(program, posts_hold_up=True)
    trace = _Trace(program, order, tables["op"]["line"] - 1)
    ran = explore(processes_of(tables, posts_hold_up=True), budget)
    end = ran.complete or ran.dead
    assert end is not None
    races, same_pipe = _conflicts(trace)
    surplus_waits, surplus_sets = surplus_of(order)
    return {
        "races": None if ran.dead else races,
        "double_set": _double_sets(trace),
        "unmatched_wait": trace.places(surplus_waits),
        "unmatched_set": trace.places(surplus_sets),
        "deadlock_counter": ran.dead is not None,
        "stuck_ops": _stuck(trace, ran.dead),
        "deadlock_bit": _one_bit(tables, budget),
        "flags_left_set": _left(trace, end),
        "source_scope_conflicts": trace.places([int(op) for op, _ in source_conflicts(tables)]),
        "id_out_of_range": _wrong_ids(trace),
        "same_pipe": None if ran.dead else same_pipe,
    }


def _conflicts(trace: _Trace) -> tuple[list[dict[str, Any]], list[list[int]]]:
    parameters = trace.program.parameters
    rows = conflicts_of(trace.order, **exemptions_of(trace.program))
    races = [
        (KINDS[kind], parameters["spaces"][space], lo, hi, int(trace.place[a]), int(trace.place[b]))
        for kind, space, lo, hi, a, b, same in rows.tolist()
        if not same
    ]
    names = ("kind", "buf", "lo", "hi", "first", "second")
    same = rows[rows["same_thread"]]
    pairs = {
        (int(trace.place[a]), int(trace.place[b])) for a, b in zip(same["first"], same["second"], strict=True)
    }
    return [dict(zip(names, race, strict=True)) for race in sorted(races)], [
        list(pair) for pair in sorted(pairs)
    ]


def _double_sets(trace: _Trace) -> list[dict[str, Any]]:
    """Return the sets that can find their flag up, by flag in the order of first sets."""
    rows = overflows_of(trace.order)
    flags = trace.order.tables["counter"]["overflow"][rows["counter"]] == Overflow.SATURATE
    first = _first_sets(trace)
    found = sorted(
        (first[counter], int(trace.place[op]), counter) for op, counter, _, _ in rows[flags].tolist()
    )
    return [{**trace.flag(counter), "op": op} for _, op, counter in found]


def _first_sets(trace: _Trace) -> dict[int, int]:
    """Return every flag that is set, and the first operation that sets it."""
    ledger = trace.order.ledger
    firsts: dict[int, int] = {}
    adds = np.flatnonzero(ledger.entry_list % 3 == 0)
    for entry in adds.tolist():
        counter, op = int(ledger.entry_list[entry]) // 3, int(ledger.entry_op[entry])
        firsts[counter] = min(firsts.get(counter, op), op)
    return firsts


def _stuck(trace: _Trace, dead: Stop | None) -> list[int]:
    """Return what stands at the head of every queue that does not empty."""
    if dead is None:
        return []
    steps = processes_of(trace.order.tables, posts_hold_up=True).steps
    heads = [each[at].op for each, at in zip(steps, dead.at, strict=True) if at < len(each)]
    opcode = trace.order.tables["op"]["opcode"]
    return trace.places([op for op in heads if trace.program.text(int(opcode[op])) not in (RESUME, HELD)])


def _one_bit(tables: Mapping[str, np.ndarray], budget: int) -> str:
    found = explore(processes_of(dict(tables), posts_hold_up=True, one_bit=True), budget)
    if found.dead is not None and found.complete is not None:
        return "schedule-dependent"
    if not found.finished:
        return "undecided"
    return "never" if found.dead is None else "always"


def _left(trace: _Trace, end: Stop) -> list[dict[str, Any]]:
    """Return the flags that are up at the end, and how often they were set and not taken."""
    counters = trace.order.tables["counter"]
    first = _first_sets(trace)
    up = [
        counter
        for counter in np.flatnonzero(counters["overflow"] == Overflow.SATURATE).tolist()
        if end.value[counter] > 0
    ]
    return [{**trace.flag(at), "count": end.value[at]} for at in sorted(up, key=lambda each: first[each])]


def _wrong_ids(trace: _Trace) -> list[int]:
    tables = trace.order.tables
    sync, counters = tables["sync"], tables["counter"]
    flags = counters[sync["counter"]]
    wrong = (flags["overflow"] == Overflow.SATURATE) & ((flags["key"] < 0) | (flags["key"] >= EVENT_IDS))
    wrong &= tables["op"]["kind"][sync["op"]] == Kind.SYNC
    return trace.places(sync["op"][wrong])
