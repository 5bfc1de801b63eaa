"""Which operand tiles are present already where a ``load_store(reuse=True)`` would move them.

Source: tile-language.md section 5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.program.language.index import tile_index
from pantile.program.language.places import OFF_CHIP
from pantile.program.language.recorder import FINISH_WRITING, START_UPDATE, START_WRITING
from pantile.program.language.registers import already_there

if TYPE_CHECKING:
    from pantile.program.language.geometry import Ints
    from pantile.program.language.moves import Moves
    from pantile.program.language.states import Copies, Events


def present(moves: Moves, copies: Copies, events: Events, threads: Ints, levels: Ints) -> np.ndarray:
    """Whether each move may be left out.

    A copy with a state has its tile, except while the thread that writes it has not moved it yet. A register
    has the tile that its thread loaded last.

    Args:
        moves: All moves, in order of operations.
        copies: Copies with a state.
        events: Statements on them.
        threads: Thread of every operation.
        levels: How near to compute each place is.
    """
    geometry = copies.geometry
    output = geometry.operands.output
    there = np.zeros(len(moves), bool)
    if not moves.reuse.any():
        return there
    inward = (levels[moves.dst] != OFF_CHIP) & (moves.operand != output)
    copy = np.full(len(moves), -1, np.int64)
    for operand in geometry.operands.inputs:
        mine = np.flatnonzero(inward & (moves.operand == operand))
        copy[mine] = copies.holding(operand, moves.tile[mine], moves.dst[mine], moves.op[mine], events)
    loose = np.flatnonzero(inward & (copy < 0))
    there[loose] = already_there(geometry, moves.where(loose), threads)
    held = np.flatnonzero(copy >= 0)
    since = _writing_since(events, threads, moves.op[held], copy[held])
    there[held] = moves.reuse[held] & (
        (since < 0) | _repeated(moves.where(held), copies, copy[held], threads, since)
    )
    return there


def _writing_since(events: Events, threads: Ints, op: Ints, copy: Ints) -> Ints:
    """Return the start_writing that each operation's thread has open on the copy, or -1."""
    writes = np.flatnonzero(np.isin(events.code, (START_WRITING, START_UPDATE, FINISH_WRITING)))
    writes = writes[np.lexsort((events.op[writes], events.copy[writes]))]
    since = np.full(len(op), -1, np.int64)
    if not len(writes):
        return since
    span = len(threads) + 1
    keys = events.copy[writes] * span + events.op[writes]
    before = writes[np.maximum(np.searchsorted(keys, copy * span + op) - 1, 0)]
    mine = (events.copy[before] == copy) & (events.op[before] < op)
    mine &= (threads[events.op[before]] == threads[op]) & (events.code[before] != FINISH_WRITING)
    return np.where(mine, events.op[before], since)


def _repeated(moves: Moves, copies: Copies, copy: Ints, threads: Ints, since: Ints) -> np.ndarray:
    """Whether the thread has moved the same operand tile into the copy since it began to write."""
    depth = copies.geometry.depth[moves.tile]
    tiles = tile_index(copies.geometry, moves.operand, moves.tile, depth, moves.dst).ids
    order = np.lexsort((moves.op, threads[moves.op], tiles, copy))
    here, before = order[1:], order[:-1]
    same = np.zeros(len(moves), bool)
    same[here] = (
        (tiles[here] == tiles[before])
        & (copy[here] == copy[before])
        & (threads[moves.op[here]] == threads[moves.op[before]])
        & (moves.op[before] > since[here])
    )
    return same
