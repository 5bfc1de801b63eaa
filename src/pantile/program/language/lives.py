"""How long everything takes up memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.program.language.recorder import DESTROY

if TYPE_CHECKING:
    from pantile.program.language.access import Touches
    from pantile.program.language.geometry import Ints
    from pantile.program.language.storage import Storage


def lives_of(storage: Storage, touches: list[Touches], spaces: Ints) -> list[list[int]]:
    """Return what takes up memory on chip: space, first byte, bytes, from which operation, until which.

    A generation of a copy lives from its ``start_writing`` to its ``destroy``, -1 if there is none. A
    register or an output tile without a state lives from the first operation that touches it to the last.

    Args:
        storage: What is stored, and where.
        touches: What is touched, found there.
        spaces: Number of the memory of every place; -1 for places that nothing touches.
    """
    held = storage.contents
    events, births = held.events, held.births
    copy, generation = events.copy[births.event], events.generation[births.event]
    keys = copy * storage.span + generation
    ends = np.flatnonzero(events.code == DESTROY)
    ended = np.full(len(keys), -1, np.int64)
    dead = events.copy[ends] * storage.span + events.generation[ends]
    order = np.argsort(dead, kind="stable")
    if len(dead):
        at = np.minimum(np.searchsorted(dead[order], keys), len(dead) - 1)
        ended = np.where(dead[order][at] == keys, events.op[ends[order[at]]], -1)
    columns = [
        spaces[held.copies.place[copy]],
        storage.base_of(copy, generation),
        held.bundles.size[copy],
        events.op[births.event],
        ended,
    ]
    first, last = _spans(touches, len(held.copies) + len(storage.registers) + len(storage.outputs))
    loose = slice(len(held.copies), None)
    others = [
        spaces[np.concatenate([held.registers.place, held.outputs.place])],
        np.concatenate([storage.registers, storage.outputs]),
        np.concatenate([held.registers.sizes, held.outputs.sizes]),
        first[loose],
        last[loose],
    ]
    rows = np.concatenate([np.stack(columns, axis=1), np.stack(others, axis=1)])
    return [list(row) for row in rows[rows[:, 0] >= 0].tolist()]


def _spans(touches: list[Touches], owners: int) -> tuple[Ints, Ints]:
    """Return the first and the last operation that touches each owner."""
    first = np.full(owners, np.iinfo(np.int64).max, np.int64)
    last = np.full(owners, -1, np.int64)
    for each in touches:
        mine = each.found.owner >= 0
        np.minimum.at(first, each.found.owner[mine], each.op[mine])
        np.maximum.at(last, each.found.owner[mine], each.op[mine])
    return first, last
