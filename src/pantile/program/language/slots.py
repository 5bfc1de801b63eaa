"""Which slot of a buffer every written copy occupies.

Slots are taken in circular order. A copy that a thread writes between its ``acquire`` and its next one
occupies the slot taken; of an array of buffers it is the member at the copy's own place.

Source: tile-language.md section 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pantile.program.language.faults import Fault, fault
from pantile.program.language.recorder import ACQUIRE, RELEASE, START_WRITING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pantile.program.language.geometry import Ints
    from pantile.program.language.ops import Ops
    from pantile.program.language.states import Events
    from pantile.program.language.syncrows import Buffers


@dataclass(frozen=True, slots=True, eq=False)
class Births:
    """Generations of copies, and what they occupy; one row per ``start_writing``, in order of operations.

    Attributes:
        event: Row of the events.
        acquire: Row of the buffers' acquires that took the slot, or -1.
        member: The buffer's member, or -1.
        slot: The slot, or -1.
        slots: Slots that the member has.
    """

    event: Ints
    acquire: Ints
    member: Ints
    slot: Ints
    slots: Ints


def births_of(
    ops: Ops, events: Events, buffers: Buffers, turn: Ints, at: Sequence[tuple[int, ...]]
) -> Births:
    """Return the slot of every generation.

    Args:
        ops: All operations.
        events: What happens to copies.
        buffers: Acquires and releases.
        turn: For every acquire, how many of its member come before it.
        at: Coordinates of the place of each copy.
    """
    born = np.flatnonzero(events.code == START_WRITING)
    taken = np.flatnonzero(ops.code[buffers.op] == ACQUIRE)
    together = np.bincount(buffers.op, minlength=len(ops))
    step = np.concatenate([buffers.op[taken], events.op[born]])
    steps = np.lexsort((np.arange(len(step)) >= len(taken), step))
    rows, threads, alone = (
        np.concatenate([taken, born])[steps],
        ops.thread[step[steps]],
        together[step[steps]] == 1,
    )
    latest: dict[object, int] = {}
    acquires: list[int] = []
    last = -1
    for at_step, row, thread, single in zip(
        steps.tolist(), rows.tolist(), threads.tolist(), alone.tolist(), strict=True
    ):
        if thread != last:
            last, latest = thread, {}
        if at_step >= len(taken):
            found = max(latest.get(at[events.copy[row]], -1), latest.get(None, -1))
            acquires.append(latest.get("any", -1) if found < 0 else found)
            continue
        latest[buffers.at[buffers.member[row]]] = row
        if single:
            latest["any"] = row
    acquire = np.array(acquires, np.int64)
    if not len(taken):
        return Births(born, acquire, acquire, acquire, acquire)
    member = np.where(acquire < 0, -1, buffers.member[acquire])
    slots = np.array(buffers.slots)[member]
    return Births(born, acquire, member, np.where(acquire < 0, -1, turn[acquire] % slots), slots)


def turns_of(ops: Ops, buffers: Buffers, order: Ints | None) -> Ints:
    """Return for every row of *buffers* how many acquires of the same member come before it.

    Args:
        ops: All operations.
        buffers: Acquires and releases.
        order: Synchronising operations in the order in which they happen; by default that of the listing.
    """
    when = buffers.op
    if order is not None:
        rank = np.zeros(len(ops), np.int64)
        rank[order] = np.arange(len(order))
        when = rank[buffers.op]
    turn = np.zeros(len(buffers.op), np.int64)
    takes = np.flatnonzero(ops.code[buffers.op] == ACQUIRE)
    takes = takes[np.lexsort((when[takes], buffers.member[takes]))]
    first = np.searchsorted(buffers.member[takes], buffers.member[takes])
    turn[takes] = np.arange(len(takes)) - first
    return turn


def shared_members(ops: Ops, buffers: Buffers) -> bool:
    """Whether several threads acquire from one member, so that only the timing tells who gets which slot."""
    takes = ops.code[buffers.op] == ACQUIRE
    pairs = np.unique(np.stack([buffers.member[takes], ops.thread[buffers.op[takes]]], axis=1), axis=0)
    return bool((np.bincount(pairs[:, 0], minlength=1) > 1).any())


def surplus_releases(ops: Ops, buffers: Buffers) -> list[Fault]:
    """Return a fault for every member that is released more often than it was acquired.

    Where one thread alone uses the member the count is taken in its order, else over the whole program.
    """
    faults: dict[int, Fault] = {}
    order = np.argsort(buffers.member, kind="stable")
    ends = np.searchsorted(buffers.member[order], np.arange(1, len(buffers.names)))
    for name, mine in zip(buffers.names, np.split(order, ends), strict=False):
        rows = buffers.op[mine]
        taken = np.cumsum(np.where(ops.code[rows] == ACQUIRE, 1, -1))
        alone = len(np.unique(ops.thread[rows])) == 1
        if alone and (taken < 0).any():
            op = int(rows[np.argmax(taken < 0)])
        elif len(rows) and taken[-1] < 0:
            op = int(rows[ops.code[rows] == RELEASE][taken[-1]])
        else:
            continue
        acquires = int(np.count_nonzero(ops.code[rows] == ACQUIRE))
        sentence = (
            f"release of {name} without acquire: {acquires} acquired in all, {len(rows) - acquires} released"
        )
        faults.setdefault(op, fault(ops, op, sentence, "acquire a slot first, or leave the release out"))
    return [faults[op] for op in sorted(faults)]
