"""Which memory entries exist, since when, until when, and what they hold.

A program says which operation touches which tag in which slot, and which tile
takes which slot. From that follow the *entries*: one for each time that a tag
comes to life in a slot, dropped when a later tile takes the slot. A page draws
entries; it never has to work out when one was replaced.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pantile.view.columns import MODES, OPERANDS, Schema, Spec, Table, box_specs, table

if TYPE_CHECKING:
    from pantile.view.columns import Integers

A, B, C, BIAS = (OPERANDS.index(name) for name in ("a", "b", "c", "bias"))
READ, WRITE, UPDATE = (MODES.index(name) for name in ("read", "write", "update"))
AXES_OF = {A: "bmk", B: "bkn", C: "bmn", BIAS: "bn"}
"""The axes along which each operand extends."""

ENTRIES = Schema(
    name="entries",
    specs=(
        Spec(name="memory", unit="index of memories"),
        Spec(name="core", unit="core"),
        Spec(name="slot", unit="slot"),
        Spec(name="tag", unit="address"),
        Spec(name="operand", unit="index of OPERANDS"),
        Spec(name="tile", unit="row of tiles"),
        *box_specs("start size"),
        Spec(name="granules", unit="granules"),
        Spec(name="bytes", unit="B"),
        Spec(name="block", unit="row of blocks"),
        Spec(name="opened", unit="row of operations"),
        Spec(name="closed", unit="row of operations"),
        Spec(name="opened_cycle", unit="cycles"),
        Spec(name="closed_cycle", unit="cycles"),
    ),
)
"""One row per life of a tag in a slot, by opening.

``opened`` -1 is before the first operation of the table, ``closed`` -1 is never.
"""

BLOCKS = Schema(
    name="blocks", specs=(Spec(name="operand", unit="index of OPERANDS"), *box_specs("start size"))
)
"""The distinct regions of the three matrices that entries hold, by operand and position."""

TOUCHES = Schema(
    name="touches",
    specs=(
        Spec(name="operation", unit="row of operations"),
        Spec(name="mode", unit="index of MODES"),
        Spec(name="entry", unit="row of entries"),
        Spec(name="pending", unit="completions"),
        Spec(name="lo", unit="B", default=-1),
        Spec(name="length", unit="B", default=0),
    ),
)
"""The accesses once more, each with the entry that it meets; and its bytes, where it is one range of them."""

Box = tuple[tuple[int, int], ...]
"""(start, size) along b, m, n, k; (0, 0) where the operand does not extend."""


@dataclass(slots=True)
class Entry:
    """An entry while it is being followed."""

    memory: int
    core: int
    slot: int
    tag: int
    operand: int
    tile: int
    box: Box
    opened: int
    opened_cycle: int
    granules: int = 0
    bytes: int = 0
    closed: int = -1
    closed_cycle: int = -1
    filled: bool = False
    updated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Residency:
    """Entries, blocks and touches of a program, as tables of the schemas above."""

    entries: Table
    blocks: Table
    touches: Table


def residency(
    operations: Table, accesses: Table, bindings: Table, tiles: Table, *, windowed: bool = False
) -> Residency:
    """Return who lives where and when.

    Walks the accesses in program order. A tag that is not in its slot comes to
    life with its first access; where the tables are the window of a longer
    program (*windowed*) and that access reads or continues a reduction, the
    entry was there before. A tile's first operation drops the entries of every
    slot that the tile takes and does not keep.
    """
    takes = _takes_by_tile(bindings)
    open_entries: dict[tuple[int, int, int], dict[int, int]] = {}
    entries: list[Entry] = []
    entry_of_access: list[int] = []
    first = np.searchsorted(accesses["operation"], np.arange(operations.count + 1))
    for op in range(operations.count):
        tile = int(operations["tile"][op])
        core = int(tiles["core"][tile]) if tile >= 0 else 0
        for memory, slot in takes.pop(tile, ()):  # at the tile's first operation only
            for row in open_entries.pop((core, memory, slot), {}).values():
                entries[row].closed, entries[row].closed_cycle = op, int(tiles["issue_cycle"][tile])
        for row in range(int(first[op]), int(first[op + 1])):
            place = (core, int(accesses["memory"][row]), int(accesses["slot"][row]))
            live = open_entries.setdefault(place, {})
            tag = int(accesses["tag"][row])
            if tag not in live:
                live[tag] = len(entries)
                entries.append(_opened(operations, accesses, row, core, windowed))
            entry_of_access.append(live[tag])
            _touch(entries[live[tag]], operations, accesses, row)
    blocks, block_of_entry = blocks_of(entries)
    touches = table(
        TOUCHES,
        operation=accesses["operation"],
        mode=accesses["mode"],
        entry=entry_of_access,
        pending=accesses["pending"],
    )
    return Residency(entries=entries_table(entries, block_of_entry), blocks=blocks, touches=touches)


def contributions(operations: Table) -> tuple[Integers, Integers]:
    """Return the columns ``stage`` and ``stage_count`` of a whole program.

    Every compute operation adds one contribution to the output block of its
    box; *stage* counts those before it, *stage_count* all of them. Operations
    of other kinds get -1 and 0.
    """
    stage = np.full(operations.count, -1, dtype=np.int64)
    total = np.zeros(operations.count, dtype=np.int64)
    rows = np.flatnonzero(operations["kind"] == 1)
    names = [f"{axis}_{part}" for axis in AXES_OF[C] for part in ("start", "size")]
    boxes = np.stack([operations[name][rows] for name in names], axis=1)
    _, block, counts = np.unique(boxes, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(block, kind="stable")
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    stage[rows[order]] = np.arange(len(rows)) - starts
    total[rows] = counts[block]
    return stage, total


def _takes_by_tile(bindings: Table) -> dict[int, list[tuple[int, int]]]:
    """Return the (memory, slot) pairs that each tile empties."""
    takes: dict[int, list[tuple[int, int]]] = {}
    rows = zip(*(bindings[name].tolist() for name in ("tile", "memory", "slot", "keeps")), strict=True)
    for tile, memory, slot, keeps in rows:
        if not keeps:
            takes.setdefault(tile, []).append((memory, slot))
    return takes


def box_of(operations: Table, op: int, operand: int) -> Box:
    """Return the box of operation *op* along the axes of *operand*."""
    return tuple(
        (int(operations[f"{axis}_start"][op]), int(operations[f"{axis}_size"][op]))
        if axis in AXES_OF.get(operand, "")
        else (0, 0)
        for axis in "bmnk"
    )


def _opened(operations: Table, accesses: Table, row: int, core: int, windowed: bool) -> Entry:
    """Return the entry that access *row* brings to life."""
    op, mode, operand = (int(accesses[name][row]) for name in ("operation", "mode", "operand"))
    before = windowed and (mode == READ or (mode == UPDATE and operations["stage"][op] > 0))
    return Entry(
        memory=int(accesses["memory"][row]),
        core=core,
        slot=int(accesses["slot"][row]),
        tag=int(accesses["tag"][row]),
        operand=operand,
        tile=int(operations["tile"][op]),
        box=box_of(operations, op, operand),
        opened=-1 if before else op,
        opened_cycle=-1 if before else int(operations["issue_cycle"][op]),
    )


def _touch(entry: Entry, operations: Table, accesses: Table, row: int) -> None:
    """Let *entry* take part in access *row*."""
    op, mode, operand = (int(accesses[name][row]) for name in ("operation", "mode", "operand"))
    entry.granules = max(entry.granules, int(accesses["granules"][row]))
    entry.bytes = max(entry.bytes, int(accesses["bytes"][row]))
    if mode == UPDATE and not entry.updated:  # a bias row that becomes an output block takes that block's box
        entry.updated, entry.operand, entry.box = True, operand, box_of(operations, op, operand)
    elif mode == READ and not entry.filled:  # never seen filled: it holds at least what its readers use
        entry.box = _hull(entry.box, box_of(operations, op, entry.operand))
    entry.filled = entry.filled or mode != READ


def _hull(one: Box, other: Box) -> Box:
    """Return the smallest box around both."""
    sides = []
    for (start, size), (start_too, size_too) in zip(one, other, strict=True):
        low = min(start, start_too)
        sides.append((low, max(start + size, start_too + size_too) - low))
    return tuple(sides)


def blocks_of(entries: list[Entry]) -> tuple[Table, list[int]]:
    """Return the table of distinct regions, and the row of each entry's region (-1: no matrix)."""
    keys = [(entry.operand, entry.box) for entry in entries]
    distinct = sorted({key for key in keys if key[0] in (A, B, C)})
    rows = {key: row for row, key in enumerate(distinct)}
    columns: dict[str, list[int]] = {"operand": [operand for operand, _ in distinct]}
    for position, axis in enumerate("bmnk"):
        columns[f"{axis}_start"] = [box[position][0] for _, box in distinct]
        columns[f"{axis}_size"] = [box[position][1] for _, box in distinct]
    return table(BLOCKS, **columns), [rows.get(key, -1) for key in keys]


def entries_table(entries: list[Entry], block_of_entry: list[int]) -> Table:
    """Return *entries* as columns."""
    columns: dict[str, list[int]] = {"block": block_of_entry}
    for position, axis in enumerate("bmnk"):
        columns[f"{axis}_start"] = [entry.box[position][0] for entry in entries]
        columns[f"{axis}_size"] = [entry.box[position][1] for entry in entries]
    for spec in ENTRIES.specs:
        if spec.name not in columns:
            columns[spec.name] = [getattr(entry, spec.name) for entry in entries]
    return table(ENTRIES, **columns)
