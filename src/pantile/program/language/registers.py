"""Copies without a state: one register per place, operand and level, overwritten by the next tile.

Where nothing says when a copy is born and dies, the next tile of the same kind takes its bytes.

Source: tile-language.md section 5 (``reuse``); the registers are this project's reading of copies that no
statement of section 6 names, as in the nest without overlap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pantile.program.language.index import TileIndex, dense, tile_index

if TYPE_CHECKING:
    from pantile.program.language.geometry import Geometry, Ints
    from pantile.program.language.moves import Moves


@dataclass(frozen=True, slots=True, eq=False)
class Registers:
    """The loads of registers, and what is found in them.

    Attributes:
        tiles: The operand tiles loaded, by place.
        register: Register of every load.
        generation: How many loads of the same register come before each.
        sizes: Bytes of each register: those of the largest tile.
        place: Where each register is.
        op: Operation of each load.
        operand: Its operand.
        order: Loads sorted by tile, then operation.
        sorted_tiles: Tile of each, so sorted.
        sorted_ops: Operation of each, so sorted.
        threads: Thread of every operation.
        depth: Depth of the tile of every load.
    """

    tiles: TileIndex
    register: Ints
    generation: Ints
    sizes: Ints
    place: Ints
    op: Ints
    operand: Ints
    order: Ints
    sorted_tiles: Ints
    sorted_ops: Ints
    threads: Ints
    depth: Ints

    def own(self, operand: int, ops: Ints) -> tuple[Ints, Ints]:
        """Return the loads of one operand that *ops* are themselves, and the depth of their tiles."""
        mine = np.flatnonzero(self.operand == operand)
        load = mine[np.searchsorted(self.op[mine], ops)]
        return load, self.depth[load]

    def find(self, operand: int, tiles: Ints, places: Ints, ops: Ints) -> tuple[Ints, Ints]:
        """Return the load that each operation reads an operand from, and the depth of its tile; -1 for none.

        It is the latest load, by the same thread before the operation, of the nearest containing tile; where
        that thread loads none, the first by any.
        """
        load = np.full(len(tiles), -1, np.int64)
        depth = np.full(len(tiles), -1, np.int64)
        kinds = [at for kind, at in self.tiles.tables if kind == operand]
        for at in sorted(kinds, reverse=True):
            rest = np.flatnonzero(load < 0)
            number = self.tiles.exact(operand, tiles[rest], at, places[rest])
            rest, number = rest[number >= 0], number[number >= 0]
            load[rest] = self._latest(number, ops[rest])
            depth[rest] = at
        return load, depth

    def overwritten_by(self, register: Ints, generation: Ints, ops: Ints) -> Ints:
        """Return the load by which an operation's own thread has overwritten what it reads, or -1.

        Args:
            register: The register that each of *ops* reads.
            generation: Which of its loads is meant.
            ops: The operations.
        """
        span = len(self.threads) + 1
        slots = self.register * (int(self.threads.max(initial=0)) + 1) + self.threads[self.op]
        order = np.lexsort((self.op, slots))
        wanted = register * (int(self.threads.max(initial=0)) + 1) + self.threads[ops]
        before = np.searchsorted(slots[order] * span + self.op[order], wanted * span + ops) - 1
        load = order[np.maximum(before, 0)] if len(order) else np.zeros(len(ops), np.int64)
        later = (before >= 0) & (slots[load] == wanted) if len(order) else np.zeros(len(ops), bool)
        later[later] = self.generation[load[later]] > generation[later]
        return np.where(later, load, -1)

    def _latest(self, number: Ints, op: Ints) -> Ints:
        span = len(self.threads) + 1
        keys = self.sorted_tiles * span + self.sorted_ops
        before = np.searchsorted(keys, number * span + op) - 1
        safe = np.maximum(before, 0)
        mine = (before >= 0) & (self.sorted_tiles[safe] == number)
        mine &= self.threads[self.sorted_ops[safe]] == self.threads[op]
        first = np.searchsorted(keys, number * span)
        return np.asarray(self.order[np.where(mine, before, first)])


def registers_of(geometry: Geometry, loads: Moves, threads: Ints) -> Registers:
    """Return the registers that *loads* fill."""
    depth = geometry.depth[loads.tile]
    tiles = tile_index(geometry, loads.operand, loads.tile, depth, loads.dst)
    span = len(geometry.operands.names) * (len(geometry.tiling.levels) + 1)
    kinds, register = dense(loads.dst * span + loads.operand * (len(geometry.tiling.levels) + 1) + depth)
    sizes = np.zeros(len(kinds), np.int64)
    for operand in np.unique(loads.operand).tolist():
        mine = loads.operand == operand
        np.maximum.at(sizes, register[mine], geometry.sizes(operand, loads.tile[mine], depth[mine]))
    order = np.argsort(tiles.ids, kind="stable")
    return Registers(
        tiles,
        register,
        _rank_in_group(register),
        sizes,
        kinds // span,
        loads.op,
        loads.operand,
        order,
        tiles.ids[order],
        loads.op[order],
        threads,
        depth,
    )


def _rank_in_group(group: Ints) -> Ints:
    """Return how many earlier rows belong to the same group."""
    order = np.argsort(group, kind="stable")
    first = np.searchsorted(group[order], group[order])
    rank = np.empty(len(group), np.int64)
    rank[order] = np.arange(len(group)) - first
    return rank


def already_there(geometry: Geometry, loads: Moves, threads: Ints) -> np.ndarray:
    """Whether each load may be left out: its register holds that tile since its thread's load before."""
    depth = geometry.depth[loads.tile]
    tiles = tile_index(geometry, loads.operand, loads.tile, depth, loads.dst).ids
    order = np.lexsort((loads.op, threads[loads.op], depth, loads.operand, loads.dst))
    same = np.zeros(len(loads), bool)
    here, before = order[1:], order[:-1]
    same[here] = (tiles[here] == tiles[before]) & (threads[loads.op[here]] == threads[loads.op[before]])
    return np.asarray(same & loads.reuse)
