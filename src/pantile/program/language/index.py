"""Operand tiles at places, numbered in order of first mention, and found again from the tiles inside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pantile.program.language.geometry import Geometry, Ints


@dataclass(frozen=True, slots=True, eq=False)
class TileIndex:
    """Some operand tiles at some places.

    Attributes:
        geometry: Boxes of the tiles.
        ids: Number of the operand tile of every row that it was made from.
        rows: First row of each operand tile; shape ``(count,)``.
        tables: Sorted keys, and the number that each stands for, by operand and depth.
    """

    geometry: Geometry
    ids: Ints
    rows: Ints
    tables: dict[tuple[int, int], tuple[Ints, Ints]]

    def __len__(self) -> int:
        return len(self.rows)

    def exact(self, operand: int, tiles: Ints, depth: int, places: Ints) -> Ints:
        """Return the number of the operand tile at *depth* that contains each tile, or -1."""
        found = np.full(len(tiles), -1, np.int64)
        table = self.tables.get((operand, depth))
        if table is None:
            return found
        deep = np.flatnonzero(self.geometry.depth[tiles] >= depth)
        keys = self.geometry.keys(operand, tiles[deep], depth, places[deep])
        at = np.minimum(np.searchsorted(table[0], keys), len(table[0]) - 1)
        found[deep] = np.where(table[0][at] == keys, table[1][at], -1)
        return found

    def nearest(self, operand: int, tiles: Ints, places: Ints) -> Ints:
        """Return the number of the deepest operand tile that contains each tile, or -1."""
        return self._search(operand, tiles, places, sorted(self._depths(operand), reverse=True))

    def outermost(self, operand: int, tiles: Ints, places: Ints) -> Ints:
        """Return the number of the shallowest operand tile that contains each tile, or -1."""
        return self._search(operand, tiles, places, sorted(self._depths(operand)))

    def _depths(self, operand: int) -> Iterable[int]:
        return [depth for kind, depth in self.tables if kind == operand]

    def _search(self, operand: int, tiles: Ints, places: Ints, depths: list[int]) -> Ints:
        found = np.full(len(tiles), -1, np.int64)
        for depth in depths:
            open_rows = np.flatnonzero(found < 0)
            found[open_rows] = self.exact(operand, tiles[open_rows], depth, places[open_rows])
        return found


def tile_index(geometry: Geometry, operands: Ints, tiles: Ints, depths: Ints, places: Ints) -> TileIndex:
    """Number the operand tiles at *depths* that contain *tiles*, one row each, equal ones alike."""
    ids = np.full(len(tiles), -1, np.int64)
    firsts: list[Ints] = []
    parts: list[tuple[tuple[int, int], Ints, Ints]] = []
    count = 0
    for operand, depth in sorted(set(zip(operands.tolist(), depths.tolist(), strict=True))):
        chosen = np.flatnonzero((operands == operand) & (depths == depth))
        keys = geometry.keys(operand, tiles[chosen], depth, places[chosen])
        unique, first, back = np.unique(keys, return_index=True, return_inverse=True)
        parts.append(((operand, depth), unique, count + np.arange(len(unique))))
        firsts.append(chosen[first])
        ids[chosen] = count + back.reshape(-1)
        count += len(unique)
    rows = np.concatenate([np.zeros(0, np.int64), *firsts])
    order = np.argsort(rows, kind="stable")
    rank = np.empty(count, np.int64)
    rank[order] = np.arange(count)
    tables = {key: (unique, rank[numbers]) for key, unique, numbers in parts}
    return TileIndex(geometry, rank[ids] if count else ids, rows[order], tables)


def dense(keys: Ints) -> tuple[Ints, Ints]:
    """Return the distinct keys in rising order, and the position of every key among them.

    Keys are at least 0; where they are few numbers they are counted, not sorted.
    """
    span = int(keys.max(initial=-1)) + 1
    if span > 4 * len(keys) + 1024:
        distinct, back = np.unique(keys, return_inverse=True)
        return distinct, back.reshape(-1)
    distinct = np.flatnonzero(np.bincount(keys, minlength=span))
    rank = np.zeros(span, np.int64)
    rank[distinct] = np.arange(len(distinct))
    return distinct, rank[keys]
