"""Which computes begin an output tile and which add to what is there.

An output is born at the first compute that accumulates into it, and ends when it is stored; partial sums
that are brought back are added to.

Source: tile-language.md section 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.program.language.index import tile_index

if TYPE_CHECKING:
    from pantile.program.language.geometry import Geometry, Ints

COMPUTES, BRINGS, STORES = range(3)
"""What an operation does to an output tile."""


def begins(geometry: Geometry, op: Ints, what: Ints, tile: Ints, holder: Ints, threads: Ints) -> np.ndarray:
    """Return for every operation on an output whether it is a compute that begins its output tile.

    Args:
        geometry: Boxes of the tiles.
        op: The operations.
        what: What each does: :data:`COMPUTES`, :data:`BRINGS` or :data:`STORES`.
        tile: The tile whose output it is.
        holder: Number of the copy and generation that holds it.
        threads: Thread of every operation of the program.
    """
    output = geometry.operands.output
    depth = geometry.depth[tile]
    computes = np.flatnonzero(what == COMPUTES)
    first = np.zeros(len(op), bool)
    ids = tile_index(geometry, np.full(len(tile), output), tile, depth, np.zeros_like(tile)).ids
    mine = computes[np.lexsort((op[computes], holder[computes], ids[computes]))]
    if len(mine):
        change = (ids[mine][1:] != ids[mine][:-1]) | (holder[mine][1:] != holder[mine][:-1])
        first[mine[np.concatenate([[True], change])]] = True
    for each in _returning(op, what, holder, threads).tolist():
        rows = np.flatnonzero(holder == each)
        rows = rows[np.argsort(op[rows], kind="stable")]
        hands = threads[op[rows[what[rows] == COMPUTES]]]
        if len(np.unique(threads[op[rows[what[rows] != STORES]]])) == 1 and len(hands):
            first[rows] = _walk(geometry, what[rows], tile[rows])
        else:  # who brings is not who computes: only the place of the tile tells
            first[rows] = (what[rows] == COMPUTES) & geometry.first_step(tile[rows])
    return first


def _returning(op: Ints, what: Ints, holder: Ints, threads: Ints) -> Ints:
    """Return the holders to which partial sums are brought, or that are computed into after a store."""
    brought = np.unique(holder[what == BRINGS])
    last = np.full(int(holder.max(initial=-1)) + 1, -1, np.int64)
    computes, stores = what == COMPUTES, what == STORES
    np.maximum.at(last, holder[computes], op[computes])
    later = stores & (op < last[holder]) & (threads[op] == threads[np.maximum(last[holder], 0)])
    return np.union1d(brought, holder[later])


def _walk(geometry: Geometry, what: Ints, tile: Ints) -> np.ndarray:
    """Decide one operation after the other, in program order."""
    output = geometry.operands.output
    axes = list(geometry.operands.axes[output])
    paths = [
        [tuple(geometry.lo[at, axes, each].tolist()) for at in range(int(geometry.depth[each]) + 1)]
        for each in tile.tolist()
    ]
    alive: set[tuple[tuple[int, ...], ...]] = set()
    first = np.zeros(len(what), bool)
    for row, (does, path) in enumerate(zip(what.tolist(), paths, strict=True)):
        key = tuple(path)
        if does == STORES:
            alive = {each for each in alive if each[: len(key)] != key}
            continue
        known = any(key[:end] in alive for end in range(1, len(key) + 1))
        first[row] = does == COMPUTES and not known
        if not known:
            alive.add(key)
    return first
