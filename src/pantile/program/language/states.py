"""Which physical copies have a state of their own, and which copies every statement about a state means.

A copy is born by a ``start_writing`` of its tile at its place. A statement on a tile that has none there
means the nearest containing one that has: for a compute tile its bundle, or the copies of all its inputs.

Source: tile-language.md sections 3 and 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pantile.program.language.faults import UNBORN, Fault, fault
from pantile.program.language.geometry import ALL
from pantile.program.language.index import TileIndex, tile_index
from pantile.program.language.recorder import (
    DESTROY,
    FINISH_READING,
    FINISH_WRITING,
    START_READING,
    START_UPDATE,
    START_WRITING,
    STATEMENTS,
)

if TYPE_CHECKING:
    from pantile.program.language.geometry import Geometry, Ints
    from pantile.program.language.names import Names
    from pantile.program.language.ops import Ops


@dataclass(frozen=True, slots=True, eq=False)
class Copies:
    """Copies that have a state.

    Attributes:
        index: Finds them from tiles.
        operand: The operand of each, or ``ALL`` for a bundle.
        depth: Depth of its tile.
        tile: A tile whose path begins with its own.
        place: Where it is.
        geometry: Boxes of the tiles.
    """

    index: TileIndex
    operand: Ints
    depth: Ints
    tile: Ints
    place: Ints
    geometry: Geometry

    def __len__(self) -> int:
        return len(self.operand)

    def holding(
        self, operand: int, tiles: Ints, places: Ints, ops: Ints | None = None, events: Events | None = None
    ) -> Ints:
        """Return the copy that holds one operand of each tile at its place, or -1.

        A copy of that operand alone goes before a bundle. An operand tile may lie in several bundles: then it
        is the one that the thread of the operation named last, if *ops* and *events* tell.
        """
        found = self.index.nearest(operand, tiles, places)
        if operand == self.geometry.operands.output or not (self.operand == ALL).any():
            return found
        rest = np.flatnonzero(found < 0)
        whole = self.geometry.operand[tiles[rest]] == ALL
        mine = rest[whole]
        found[mine] = self.index.nearest(ALL, tiles[mine], places[mine])
        rest = rest[~whole]
        if ops is not None and events is not None and len(rest):
            found[rest] = self._named_last(operand, tiles[rest], places[rest], ops[rest], events)
            rest = rest[found[rest] < 0]
        for row in rest.tolist():
            bundles = self.bundles_around(operand, int(tiles[row]), int(places[row]))
            if len(bundles) == 1:
                found[row] = bundles[0]
            elif len(bundles) > 1 and ops is not None and events is not None:
                found[row] = events.latest(bundles, int(ops[row]))
        return found

    def _named_last(self, operand: int, tiles: Ints, places: Ints, ops: Ints, events: Events) -> Ints:
        """Return the bundle that each operation's thread named last at a place, if it holds the operand tile.

        -1 where it does not, or where bundles of several levels leave it open which is meant.
        """
        found = np.full(len(tiles), -1, np.int64)
        if len(np.unique(self.depth[self.operand == ALL])) != 1:
            return found
        for place in np.unique(places).tolist():
            rows = np.flatnonzero(places == place)
            about = np.flatnonzero((self.operand[events.copy] == ALL) & (self.place[events.copy] == place))
            at = np.searchsorted(events.op[about], ops[rows]) - 1
            rows, at = rows[at >= 0], at[at >= 0]
            bundle = events.copy[about[at]]
            holds = events.thread[about[at]] == events.threads_of(ops[rows])
            holds &= self.depth[bundle] <= self.geometry.depth[tiles[rows]]
            for axis in self.geometry.operands.axes[operand]:
                lo, depth = self.geometry.lo, self.depth[bundle]
                holds &= lo[depth, axis, self.tile[bundle]] == lo[depth, axis, tiles[rows]]
            found[rows[holds]] = bundle[holds]
        return found

    def bundles_around(self, operand: int, tile: int, place: int) -> list[int]:
        """Return the deepest bundles at a place whose tile of one operand contains an operand tile."""
        geometry = self.geometry
        axes = list(geometry.operands.axes[operand])
        here = np.flatnonzero(
            (self.operand == ALL) & (self.place == place) & (self.depth <= geometry.depth[tile])
        )
        lo = geometry.lo[self.depth[here][:, None], axes, self.tile[here][:, None]]
        around = here[(lo == geometry.lo[self.depth[here][:, None], axes, tile]).all(axis=1)]
        deepest = self.depth[around] == self.depth[around].max(initial=0)
        return [int(each) for each in around[deepest]]


def copies_of(ops: Ops, geometry: Geometry) -> Copies:
    """Return every copy that some thread begins to write."""
    tile = ops.tile[ops.of(START_WRITING, START_UPDATE)]
    tile = tile[geometry.place[tile] >= 0]
    index = tile_index(geometry, geometry.operand[tile], tile, geometry.depth[tile], geometry.place[tile])
    tile = tile[index.rows]
    return Copies(index, geometry.operand[tile], geometry.depth[tile], tile, geometry.place[tile], geometry)


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """What every statement does to every copy that it means: one row each, in order of operations.

    Attributes:
        op: The operation.
        code: Which statement it is.
        copy: Number of the copy.
        thread: Its thread.
        destroys: How often its thread has destroyed the copy before.
        generation: Which generation of the copy is meant, as far as program order tells.
        ambiguous: Whether program order does not tell for some copy.
        starts: First operation of each thread, and the count of all.
    """

    op: Ints
    code: Ints
    copy: Ints
    thread: Ints
    destroys: Ints
    generation: Ints
    ambiguous: bool
    starts: Ints

    def latest(self, copies: list[int], op: int) -> int:
        """Return which of *copies* the thread of operation *op* named last before it, or -1."""
        mine = self.thread == self.threads_of(np.array([op]))[0]
        rows = np.flatnonzero((self.op < op) & mine & np.isin(self.copy, copies))
        return int(self.copy[rows[-1]]) if len(rows) else -1

    def threads_of(self, ops: Ints) -> Ints:
        """Return the thread of each operation."""
        return np.asarray(np.searchsorted(self.starts, ops, side="right") - 1)


def events_of(ops: Ops, copies: Copies, places: Ints, names: Names) -> tuple[Events, list[Fault]]:
    """Return what the statements about states mean, and which of them are misused.

    Args:
        ops: All operations.
        copies: The copies that have a state.
        places: Place that each operation's tile means.
        names: For the messages.
    """
    rows = np.flatnonzero((ops.code <= DESTROY) & (places >= 0))
    faults: list[Fault] = []
    op, copy = _meant(ops, copies, places, rows)
    lost = np.setdiff1d(rows, op)
    faults += [_homeless(ops, copies, names, each, int(places[each])) for each in lost.tolist()]
    code, thread = ops.code[op], ops.thread[op]
    order = np.lexsort((op, copy))
    group = _groups(copy[order], thread[order])
    history = {
        each: _before(code[order] == each, group)[np.argsort(order)]
        for each in (START_WRITING, START_UPDATE, FINISH_WRITING, START_READING, FINISH_READING, DESTROY)
    }
    faults += _unstarted(ops, copies, names, op, copy, history)
    generation, ambiguous = _generations(code, copy, thread, history, len(copies))
    return Events(op, code, copy, thread, history[DESTROY], generation, ambiguous, ops.starts), faults


def _homeless(ops: Ops, copies: Copies, names: Names, op: int, place: int) -> Fault:
    """Return the fault of a statement that means no copy, or does not say which."""
    tile = int(ops.tile[op])
    what = f"{STATEMENTS[ops.code[op]]} of {names.tile(tile)} at {names.place(place)}"
    operand = int(copies.geometry.operand[tile])
    if operand != ALL and len(copies.bundles_around(operand, tile, place)) > 1:
        return fault(ops, op, f"{what}, which lies in several bundles there", "name the compute tile of one")
    mend = "begin it with start_writing of this tile or of one that contains it"
    return fault(ops, op, f"{what}, {UNBORN}", mend)


def _meant(ops: Ops, copies: Copies, places: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Return operations and copies: one row per copy that a statement means."""
    geometry = copies.geometry
    parts: list[tuple[Ints, Ints]] = []
    tiles = ops.tile[rows]
    for operand in (ALL, *range(len(geometry.operands.names))):
        mine = np.flatnonzero(geometry.operand[tiles] == operand)
        tile, place = tiles[mine], places[rows[mine]]
        if operand != ALL:
            parts.append((rows[mine], copies.holding(operand, tile, place)))
            continue
        own = np.full(len(mine), -1, np.int64)
        for depth in np.unique(geometry.depth[tile]).tolist():
            there = np.flatnonzero(geometry.depth[tile] == depth)
            own[there] = copies.index.exact(ALL, tile[there], depth, place[there])
        parts.append((rows[mine], own))
        rest = np.flatnonzero(own < 0)
        held = [copies.holding(each, tile[rest], place[rest]) for each in geometry.operands.inputs]
        complete = np.all([each >= 0 for each in held], axis=0)
        parts += [(rows[mine[rest[complete]]], each[complete]) for each in held]
    op = np.concatenate([part[0] for part in parts])
    copy = np.concatenate([part[1] for part in parts])
    op, copy = op[copy >= 0], copy[copy >= 0]
    pairs = np.unique(op * (len(copies) + 1) + copy)  # a bundle that holds two inputs is meant once
    return pairs // (len(copies) + 1), pairs % (len(copies) + 1)


def _groups(copy: Ints, thread: Ints) -> Ints:
    """Number runs of equal copy and thread."""
    change = (copy[1:] != copy[:-1]) | (thread[1:] != thread[:-1])
    return np.concatenate([np.zeros(min(1, len(copy)), np.int64), np.cumsum(change)])


def _before(flag: np.ndarray, group: Ints) -> Ints:
    """Return for each row how many earlier rows of its group are flagged."""
    total = np.cumsum(flag) - flag
    first = np.concatenate([[True], group[1:] != group[:-1]])[: len(group)]
    return np.asarray(total - total[first][group] if len(group) else total)


def _unstarted(
    ops: Ops, copies: Copies, names: Names, op: Ints, copy: Ints, history: dict[int, Ints]
) -> list[Fault]:
    """Return a fault for every finish whose start its thread has not made."""
    found: dict[int, Fault] = {}
    code = ops.code[op]
    for finish, starts, verb in (
        (FINISH_WRITING, (START_WRITING, START_UPDATE), "start_writing"),
        (FINISH_READING, (START_READING,), "start_reading"),
    ):
        opened = sum(history[start] for start in starts) - history[finish]
        suspects = np.flatnonzero((code == finish) & (opened <= 0))
        for row in _never_opened(code, copy, ops.thread[op], starts, finish, suspects):
            at = int(op[row])
            others = np.isin(code, starts) & (copy == copy[row]) & (ops.thread[op] != ops.thread[at])
            by = f"; another thread starts it, at {ops.place(int(op[others][0]))}" if others.any() else ""
            tile, place = int(ops.tile[at]), int(copies.place[copy[row]])
            found[at] = fault(
                ops,
                at,
                f"{STATEMENTS[finish]} of {names.tile(tile)} at {names.place(place)} without a {verb} "
                f"of this thread before it{by}",
                f"call {verb} first, in the same thread",
            )
    return [found[at] for at in sorted(found)]


def _never_opened(
    code: Ints, copy: Ints, thread: Ints, starts: tuple[int, ...], finish: int, suspects: Ints
) -> list[int]:
    """Return the finishes with no open start, of copies and threads of *suspects*."""
    found = []
    for which, who in dict.fromkeys(zip(copy[suspects].tolist(), thread[suspects].tolist(), strict=True)):
        opened = 0
        for row in np.flatnonzero((copy == which) & (thread == who)).tolist():
            opened += code[row] in starts
            if code[row] == finish:
                if opened <= 0:
                    found.append(row)
                else:
                    opened -= 1
    return sorted(found)


def _generations(
    code: Ints, copy: Ints, thread: Ints, history: dict[int, Ints], count: int
) -> tuple[Ints, bool]:
    """Return the generation that each event means by the order of its thread, and whether that is a guess.

    A thread that writes a copy counts its own writes, one that destroys it its own destroys.
    """
    threads = int(thread.max()) + 1 if len(thread) else 1
    pair = copy * threads + thread
    writers, destroyers = np.unique(pair[code == START_WRITING]), np.unique(pair[code == DESTROY])
    writes, destroys = np.isin(pair, writers), np.isin(pair, destroyers)
    born = history[START_WRITING] + (code == START_WRITING) - 1
    generation = np.where(writes, np.maximum(born, 0), np.where(destroys, history[DESTROY], 0))
    generations = np.bincount(copy[code == START_WRITING], minlength=count)
    shared = (np.bincount(writers // threads, minlength=count) > 1) | (
        np.bincount(destroyers // threads, minlength=count) > 1
    )
    guessed = (generations[copy] > 1) & (shared[copy] | ~(writes | destroys))
    return generation, bool(guessed.any())


def generations_in(order: Ints, events: Events) -> Ints:
    """Return the generation of every event if operations happen in *order*.

    A reader means the generation that was born last when it starts, and finishes with the same.
    """
    rank = np.zeros(int(max(order.max(initial=0), events.op.max(initial=0))) + 1, np.int64)
    rank[order] = np.arange(len(order))
    by_time = np.lexsort((events.copy, rank[events.op]))
    born: dict[int, int] = {}
    reading: dict[tuple[int, int], int] = {}
    generation = np.zeros(len(events.op), np.int64)
    columns = (by_time, events.code[by_time], events.copy[by_time], events.thread[by_time])
    for row, code, copy, thread in zip(*(column.tolist() for column in columns), strict=True):
        if code == START_WRITING:
            born[copy] = born.get(copy, -1) + 1
        now = max(born.get(copy, 0), 0)
        if code == START_READING:
            reading[copy, thread] = now
        generation[row] = reading.get((copy, thread), now) if code == FINISH_READING else now
    return generation
