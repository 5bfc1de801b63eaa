"""Rows of the tables ``sync`` and ``counter`` for a whole recording."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pantile.program.language.faults import Fault, fault
from pantile.program.language.ops import BARRIER_LEAVE, OPCODES
from pantile.program.language.recorder import ACQUIRE, BARRIER, RELEASE, START_UPDATE
from pantile.program.language.sync import INITIAL, ROLES, ROWS, SLOT_ROWS
from pantile.program.tables import COUNTER, SYNC, Edge, Overflow, Test

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pantile.program.language.geometry import Ints
    from pantile.program.language.ops import Ops
    from pantile.program.language.recorder import Recording
    from pantile.program.language.states import Events

    NameOf = Callable[[str], int]
    """Numbers a text among the program's names."""


@dataclass(frozen=True, slots=True, eq=False)
class Buffers:
    """Members of buffers that a recording acquires or releases.

    Attributes:
        names: Name of each member.
        slots: Slots of each.
        at: Coordinates of each; ``None`` for a buffer that is no array.
        op: Acquires and releases, one row per member.
        member: The member of each row.
    """

    names: tuple[str, ...]
    slots: tuple[int, ...]
    at: tuple[tuple[int, ...] | None, ...]
    op: Ints
    member: Ints


def buffers_of(recording: Recording, ops: Ops) -> Buffers:
    """Return the members that *recording* names, in order of first mention, and who acquires them."""
    numbers: dict[tuple[int, object], int] = {}
    labels: dict[int, str] = {}
    names: list[str] = []
    slots: list[int] = []
    at: list[tuple[int, ...] | None] = []
    sets: list[list[int]] = []
    for each in recording.slot_sets:
        buffer = each.buffer
        if id(buffer) not in labels:
            label = buffer.label or f"buffer{len(labels)}"
            taken = sum(label == other for other in labels.values())
            labels[id(buffer)] = f"{label}#{taken + 1}" if taken else label
        for member in each.members:
            key = (id(buffer), member)
            if key not in numbers:
                numbers[key] = len(names)
                index = "" if member is None else f"[{','.join(map(str, member))}]"
                names.append(labels[id(buffer)] + index)
                slots.append(buffer.slots)
                at.append(member)
        sets.append([numbers[id(buffer), member] for member in each.members])
    rows = ops.of(ACQUIRE, RELEASE)
    lengths = np.array([len(each) for each in sets], np.int64)[ops.first[rows]] if len(rows) else rows
    members = [np.array(sets[first], np.int64) for first in ops.first[rows].tolist()]
    return Buffers(
        tuple(names),
        tuple(slots),
        tuple(at),
        np.repeat(rows, lengths),
        np.concatenate([np.zeros(0, np.int64), *members]),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Barriers:
    """Barriers that threads come to.

    Attributes:
        names: Name of each.
        members: How many threads each waits for.
        op: Arrivals and departures.
        barrier: The barrier of each row.
    """

    names: tuple[str, ...]
    members: tuple[int, ...]
    op: Ints
    barrier: Ints


def barriers_of(recording: Recording, ops: Ops) -> tuple[Barriers, list[Fault]]:
    """Return the barriers: a thread's k-th with the same participants is theirs k-th, too."""
    faults: list[Fault] = []
    numbers: dict[tuple[int, int], int] = {}
    names: list[str] = []
    members: list[int] = []
    seen: dict[tuple[int, int], int] = {}
    threads = [log.thread for log in recording.logs]
    rows = ops.of(BARRIER, BARRIER_LEAVE)
    found = []
    for op in rows.tolist():
        which, leaving = int(ops.first[op]), ops.code[op] == BARRIER_LEAVE
        visitor = (int(ops.thread[op]), which)
        turn = seen.get(visitor, 0)
        seen[visitor] = turn + leaving
        participants = recording.barriers[which] or tuple(threads)
        if (which, turn) not in numbers:
            numbers[which, turn] = len(names)
            who = ", ".join(each.name for each in participants)
            names.append(f"{who}, number {turn + 1}")
            members.append(len(participants))
            absent = [each.name for each in participants if each not in threads]
            if absent:
                sentence = f"the barrier waits for {', '.join(absent)}, not a thread of this program"
                faults.append(fault(ops, op, sentence, "hand the thread to Program, or leave it out"))
        found.append(numbers[which, turn])
    return Barriers(tuple(names), tuple(members), rows, np.array(found, np.int64)), faults


def sync_rows(
    ops: Ops, events: Events, buffers: Buffers, barriers: Barriers, copies: int, name: NameOf
) -> np.ndarray:
    """Return the table ``sync``, in order of operations.

    Args:
        ops: All operations.
        events: What they do to copies.
        buffers: What they do to buffers.
        barriers: What they do to barriers.
        copies: How many copies there are; their counters come first, then the buffers', then the barriers'.
        name: Numbers a text.
    """
    parts = []
    for code, template in ROWS.items():
        mine = np.flatnonzero(events.code == code)
        shown = name(OPCODES[code] + ("(update)" if code == START_UPDATE else ""))
        for row in template:
            amount = events.destroys[mine] + 1 if row.amount is None else row.amount
            counter = 4 * events.copy[mine] + row.role
            parts.append(_part(events.op[mine], row.edge, counter, row.test, amount, row.group, shown))
    sets = np.bincount(buffers.op, minlength=len(ops))[buffers.op]
    for code, row in SLOT_ROWS.items():
        mine = np.flatnonzero(ops.code[buffers.op] == code)
        group = np.where((sets[mine] > 1) & (row.test != Test.POST), 0, -1)
        counter = 4 * copies + buffers.member[mine]
        parts.append(_part(buffers.op[mine], row.edge, counter, row.test, 1, group, name(OPCODES[code])))
    base = 4 * copies + len(buffers.names)
    members = np.array(barriers.members, np.int64)
    comes, goes = (BARRIER, Edge.AFTER_FINISH, Test.POST), (BARRIER_LEAVE, Edge.BEFORE_START, Test.REACH)
    for code, edge, test in (comes, goes):
        mine = np.flatnonzero(ops.code[barriers.op] == code)
        which = barriers.barrier[mine]
        amount = members[which] if test == Test.REACH else 1
        parts.append(_part(barriers.op[mine], edge, base + which, test, amount, -1, name("barrier")))
    rows = np.concatenate([np.zeros(0, SYNC), *parts])
    return rows[np.argsort(rows["op"], kind="stable")]


def _part(
    op: Ints, edge: Edge, counter: Ints, test: Test, amount: Ints | int, group: Ints | int, shown: int
) -> np.ndarray:
    rows = np.zeros(len(op), SYNC)
    rows["op"], rows["edge"], rows["counter"], rows["test"] = op, edge, counter, test
    rows["amount"], rows["group"], rows["shown_as"] = amount, group, shown
    return rows


def counter_rows(copies: Sequence[str], buffers: Buffers, barriers: Barriers, name: NameOf) -> np.ndarray:
    """Return the table ``counter``.

    ``src`` names what a counter counts, ``dst`` of what; ``key`` is the copy, member or barrier.

    Args:
        copies: Name of each copy.
        buffers: The members of buffers.
        barriers: The barriers.
        name: Numbers a text.
    """
    rows = np.zeros(4 * len(copies) + len(buffers.names) + len(barriers.names), COUNTER)
    rows["id"] = np.arange(len(rows))
    rows["overflow"] = Overflow.NONE
    mine, rest = rows[: 4 * len(copies)], rows[4 * len(copies) :]
    mine["src"] = np.tile([name(role) for role in ROLES], len(copies))
    mine["dst"] = np.repeat(np.array([name(each) for each in copies], np.int64), 4)
    mine["key"] = np.repeat(np.arange(len(copies)), 4)
    mine["initial"] = np.tile(INITIAL, len(copies))
    slots, meetings = rest[: len(buffers.names)], rest[len(buffers.names) :]
    slots["src"], slots["dst"] = name("free slots"), [name(each) for each in buffers.names]
    slots["initial"] = slots["capacity"] = buffers.slots
    slots["overflow"] = Overflow.ERROR
    meetings["src"], meetings["dst"] = name("barrier"), [name(each) for each in barriers.names]
    for part in (slots, meetings):
        part["key"] = np.arange(len(part))
    return rows
