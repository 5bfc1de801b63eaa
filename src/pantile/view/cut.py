"""A part of a program's tables, with what was there when the part begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pantile.view.columns import Table, table
from pantile.view.residency import Residency

if TYPE_CHECKING:
    import numpy.typing as npt

    from pantile.view.columns import Integers


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Tables of a page, of some of a program's operations."""

    operations: Table
    tiles: Table
    lives: Residency


def part_of(operations: Table, tiles: Table, lives: Residency, shown: range) -> Part:
    """Return the rows of *shown*, the entries that they meet or that are there meanwhile, and the tiles.

    An entry that was there before has been opened at -1.

    Args:
        operations: All operations; those after *shown* may lack texts.
        tiles: All tiles.
        lives: Who lives where, of all operations up to the end of *shown* at least.
        shown: Rows of operations.
    """
    first, last = shown.start, shown.stop
    entries, touches = lives.entries, lives.touches
    mine = (touches["operation"] >= first) & (touches["operation"] < last)
    kept = (entries["opened"] < last) & ((entries["closed"] < 0) | (entries["closed"] > first))
    kept[touches["entry"][mine]] = True
    blocks, block_rows = _used(lives.blocks, entries["block"][kept])
    own = operations["tile"][first:last]
    held, tile_rows = _used(tiles, np.concatenate([own, entries["tile"][kept]]))
    opened, closed = entries["opened"][kept], entries["closed"][kept]
    releaser = operations["releaser"][first:last]
    inside = (releaser >= first) & (releaser < last)
    return Part(
        operations=_with(
            operations,
            np.arange(first, last),
            tile=_renumbered(own, tile_rows),
            releaser=np.where(inside, releaser - first, -1),
        ),
        tiles=held,
        lives=Residency(
            entries=_with(
                entries,
                np.flatnonzero(kept),
                block=_renumbered(entries["block"][kept], block_rows),
                tile=_renumbered(entries["tile"][kept], tile_rows),
                opened=np.maximum(opened - first, -1),
                closed=np.where(closed < 0, -1, closed - first),
            ),
            blocks=blocks,
            touches=_with(
                touches,
                np.flatnonzero(mine),
                operation=touches["operation"][mine] - first,
                entry=(np.cumsum(kept) - 1)[touches["entry"][mine]],
            ),
        ),
    )


def _used(rows: Table, numbers: Integers) -> tuple[Table, Integers]:
    """Return the rows that *numbers* name, and the new number of every old one; -1 names none."""
    used = np.unique(numbers[numbers >= 0])
    new = np.full(rows.count, -1, np.int64)
    new[used] = np.arange(len(used))
    return _with(rows, used), new


def _renumbered(numbers: Integers, new: Integers) -> Integers:
    """Return *numbers* by their *new* ones; -1 stays."""
    found = np.full(len(numbers), -1, np.int64)
    found[numbers >= 0] = new[numbers[numbers >= 0]]
    return found


def _with(rows: Table, kept: Integers, **changed: npt.ArrayLike) -> Table:
    """Return the rows at *kept*, with some columns replaced."""
    columns = {name: column[kept] for name, column in rows.columns.items()}
    return table(rows.schema, **{**columns, **changed})
