"""How the operands of a copy lie in its bytes, and which generation of a copy an operation means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pantile.program.language.geometry import ALL

if TYPE_CHECKING:
    from pantile.program.language.geometry import Ints
    from pantile.program.language.states import Copies, Events


@dataclass(frozen=True, slots=True, eq=False)
class Bundles:
    """Bytes of every copy that has a state.

    Attributes:
        offset: Where each operand begins in the copy; shape ``(copies, operands)``.
        size: Bytes of the copy.
    """

    offset: Ints
    size: Ints


def bundles_of(copies: Copies) -> Bundles:
    """Lay the operands of every copy one after the other.

    A bundle holds the inputs that have no copy of their own around it at that place.
    """
    geometry = copies.geometry
    operands = geometry.operands
    offset = np.zeros((len(copies), len(operands.names)), np.int64)
    size = np.zeros(len(copies), np.int64)
    for operand in range(len(operands.names)):
        holds = copies.operand == operand
        if operand != operands.output:
            alone = copies.index.nearest(operand, copies.tile, copies.place)
            holds |= (copies.operand == ALL) & (alone < 0)
        offset[:, operand] = size
        size = size + np.where(holds, geometry.sizes(operand, copies.tile, copies.depth), 0)
    return Bundles(offset, size)


def generation_at(events: Events, threads: Ints, op: Ints, copy: Ints) -> Ints:
    """Return which generation of a copy each operation means: that of its thread's latest statement on it.

    Where the thread has made none before, its first counts; where it makes none at all, generation 0.

    Args:
        events: Statements on copies, in order of operations.
        threads: Thread of every operation.
        op: The operations that access a copy.
        copy: The copy of each.
    """
    if not len(events.op):
        return np.zeros(len(op), np.int64)
    order = np.lexsort((events.op, events.copy))
    span = len(threads) + 1
    keys = events.copy[order] * span + events.op[order]
    after = np.searchsorted(keys, copy * span + op, side="right")
    generation = np.zeros(len(op), np.int64)
    for at in (np.minimum(after, len(keys) - 1), np.maximum(after - 1, 0)):
        event = order[at]
        mine = (events.copy[event] == copy) & (threads[events.op[event]] == threads[op])
        generation = np.where(mine, events.generation[event], generation)
    return generation
