"""Does every block hold what is read from it?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pantile.check.report import Finding
from pantile.program.tables import Kind, Mode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pantile.program.piece import Piece
    from pantile.program.program import Program


Rows = npt.NDArray[np.int64]


def contents_findings(program: Program, piece: Piece) -> list[Finding]:
    """Return what is read from a block of one kind of tile although the block holds something else.

    A block that a move fills must hold the elements of every compute that reads it; a block that a move
    stores must be what the computes of its tile made of it, if they made any. Whether a block is filled
    at all is not judged here.
    """
    access = piece.tables["access"]
    rows = np.searchsorted(piece.tables["op"]["id"], access["op"])
    computes = piece.tables["op"]["kind"][rows] == Kind.COMPUTE
    _, entries = np.unique(access[["space", "lo"]], return_inverse=True)
    entries = entries.reshape(-1)

    def pairs(mode: Mode, *, by_compute: bool) -> tuple[Rows, Rows]:
        """Entries, and rows of operations, of accesses to on-chip blocks."""
        chosen = (access["mode"] == mode) & (computes == by_compute) & (access["lo"] >= 0)
        return entries[chosen], rows[chosen]

    fills = pairs(Mode.WRITE, by_compute=False)
    reads, updates = pairs(Mode.READ, by_compute=True), pairs(Mode.UPDATE, by_compute=True)
    stores = pairs(Mode.READ, by_compute=False)
    kept = [axis for axis, name in enumerate(program.axes) if name not in program.reductions]
    found = [(read, fill, "reads", "loaded") for read, fill in _outside(piece, fills, reads)]
    found += [(store, made, "stores", "computed") for store, made in _unmade(piece, updates, stores, kept)]
    return [_finding(program, piece, *each) for each in found]


def _outside(piece: Piece, fills: tuple[Rows, Rows], reads: tuple[Rows, Rows]) -> list[tuple[int, int]]:
    """Rows that read, and rows that filled the block with a box that does not hold what they read."""
    order = np.argsort(fills[0], kind="stable")
    filled, by = fills[0][order], fills[1][order]
    at = np.searchsorted(filled, reads[0])
    known = at < len(filled)
    known[known] = filled[at[known]] == reads[0][known]
    fill, read = by[at[known]], reads[1][known]
    boxes = piece.tables["box"]
    first, stop = boxes["lo"], boxes["lo"] + boxes["length"]
    lacks = boxes["length"][fill] == 0
    inside = lacks | ((first[fill] <= first[read]) & (stop[read] <= stop[fill]))
    bad = ~inside.all(axis=1)
    return list(zip(read[bad].tolist(), fill[bad].tolist(), strict=True))


def _unmade(
    piece: Piece, updates: tuple[Rows, Rows], stores: tuple[Rows, Rows], kept: Sequence[int]
) -> list[tuple[int, int]]:
    """Rows that store a box of a block, and a row that made another box of it, if no row made theirs."""
    boxes = np.hstack([piece.tables["box"]["lo"][:, kept], piece.tables["box"]["length"][:, kept]])
    made: dict[int, dict[tuple[int, ...], int]] = {}
    for entry, row in zip(*(column.tolist() for column in updates), strict=True):
        made.setdefault(entry, {}).setdefault(tuple(boxes[row].tolist()), row)
    return [
        (row, next(iter(made[entry].values())))
        for entry, row in zip(*(column.tolist() for column in stores), strict=True)
        if entry in made and tuple(boxes[row].tolist()) not in made[entry]
    ]


def _finding(program: Program, piece: Piece, user: int, maker: int, verb: str, done: str) -> Finding:
    ids = piece.tables["op"]["id"]
    return Finding(
        code="PT-STATE",
        severity="error",
        sentence=f"operation {ids[user]} {verb} {_range(program, piece, user)} from a block into which "
        f"operation {ids[maker]} {done} {_range(program, piece, maker)}, in {piece.count} tiles of its kind",
        operations=(int(ids[maker]), int(ids[user])),
        grade="wrong value",
        mend="give both the same block of elements",
    )


def _range(program: Program, piece: Piece, row: int) -> str:
    box = piece.tables["box"][row]
    return ", ".join(
        f"{name} {box['lo'][axis]}:{box['lo'][axis] + box['length'][axis]}"
        for axis, name in enumerate(program.axes)
        if box["length"][axis]
    )
