"""Which memory entries exist where operations touch ranges of bytes, and what each holds.

A memory is followed byte by byte: a write makes an entry of the bytes that it fills, and ends every entry
that it fills even in part; reads and additions belong to the entries whose bytes they touch. So an entry is
drawn as gone at the moment at which another one takes its place. Where entries are no tiles but mere bytes,
what is left of one lives on as an entry of its own, and what is read before it was filled was there before.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from pantile.view.columns import KINDS, Schema, Spec, Table, table
from pantile.view.residency import (
    READ,
    TOUCHES,
    UPDATE,
    WRITE,
    Entry,
    Residency,
    blocks_of,
    box_of,
    entries_table,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pantile.view.columns import Integers

RANGES = Schema(
    name="ranges",
    specs=(
        Spec(name="operation", unit="row of operations"),
        Spec(name="mode", unit="index of MODES"),
        Spec(name="operand", unit="index of OPERANDS"),
        Spec(name="memory", unit="index of memories"),
        Spec(name="slot", unit="slot"),
        Spec(name="lo", unit="B"),
        Spec(name="length", unit="B"),
        Spec(name="rows", unit="ranges", default=1),
        Spec(name="pitch", unit="B", default=0),
    ),
)
"""Bytes that operations touch, by operation: ``rows`` ranges of ``length``, ``pitch`` apart, from ``lo``."""

ENDINGS = Schema(
    name="endings",
    specs=(
        Spec(name="operation", unit="row of operations"),
        Spec(name="memory", unit="index of memories"),
        Spec(name="lo", unit="B"),
        Spec(name="length", unit="B"),
        Spec(name="first_tile", unit="row of tiles", default=-1),
        Spec(name="last_tile", unit="row of tiles", default=-1),
    ),
)
"""Bytes whose entries an operation ends, ordered by operation.

Those end that the tile filled for which the bytes were first, or last, used; all, where either is -1. What a
race put there too early, for yet another tile, stays.
"""

MOST_CELLS = 1 << 25
"""Cells, of as many bytes as divide every range, that are followed at most."""

_NOBODY, _COMPUTE = -1, KINDS.index("compute")


@dataclass(slots=True)
class _Memory:
    """Who owns each cell of one memory, and the bytes of a cell."""

    cell_bytes: int
    owner: Integers


@dataclass(slots=True)
class _Walk:
    """Entries and touches so far."""

    operations: Table
    memories: dict[int, _Memory]
    remainders: bool
    entries: list[Entry] = field(default_factory=list)
    filled: list[Integers] = field(default_factory=list)
    touches: dict[str, list[int]] = field(
        default_factory=lambda: {
            name: [] for name in ("operation", "mode", "entry", "pending", "lo", "length")
        }
    )

    def end(
        self,
        op: int,
        memory: int,
        cells: Integers,
        *,
        tiles: tuple[int, ...] = (_NOBODY,),
        after: bool = False,
    ) -> None:
        """End the entries that own some of *cells*, at *op* or *after* it; of *tiles*, if all are some."""
        owner = self.memories[memory].owner
        cycle = self.operations["finish_cycle" if after else "start_cycle"][op]
        for number in _owners(owner[cells]):
            entry, mine = self.entries[number], self.filled[number]
            if min(*tiles, entry.tile) >= 0 and entry.tile not in tiles:
                continue
            entry.closed, entry.closed_cycle = op + after, int(cycle)
            held = mine[owner[mine] == number]
            owner[held] = _NOBODY
            if self.remainders:
                self._remain(entry, np.setdiff1d(held, cells))

    def _remain(self, entry: Entry, cells: Integers) -> None:
        """Let the runs of *cells* live on that an entry was left with when it ended."""
        memory = self.memories[entry.memory]
        for run in np.split(cells, np.flatnonzero(np.diff(cells) != 1) + 1):
            if not len(run):
                continue
            memory.owner[run] = len(self.entries)
            self.filled.append(run)
            self.entries.append(
                replace(
                    entry,
                    tag=int(run[0]) * memory.cell_bytes,
                    bytes=len(run) * memory.cell_bytes,
                    opened=entry.closed,
                    opened_cycle=entry.closed_cycle,
                    closed=-1,
                    closed_cycle=-1,
                )
            )

    def touch(self, op: int, row: dict[str, int], cells: Integers) -> None:
        """Let an operation read, fill or add to *cells*; what a compute fills is its first contribution."""
        owner, mode = self.memories[row["memory"]].owner, row["mode"]
        found = list(_owners(owner[cells]))
        whole = len(found) == 1 and bool((owner[cells] == found[0]).all())
        if mode == WRITE or (mode == UPDATE and not whole):
            self.end(op, row["memory"], cells)
            found = []
        if not found:
            found = [len(self.entries)]
            before = self.remainders and mode == READ  # nothing has filled these bytes so far
            self.entries.append(self._opened(op, row, before=before))
            self.filled.append(cells)
            owner[cells] = found[0]
        adds = mode == WRITE and row["operand"] and self.operations["kind"][op] == _COMPUTE
        values = {"operation": op, "mode": UPDATE if adds else mode, "pending": int(mode != READ)}
        values |= {"lo": row["lo"], "length": row["length"]} if row["rows"] == 1 else {"lo": -1, "length": 0}
        for number in found:
            values["entry"] = number
            for name, value in values.items():
                self.touches[name].append(value)

    def _opened(self, op: int, row: dict[str, int], *, before: bool) -> Entry:
        box = box_of(self.operations, op, row["operand"])
        return Entry(
            memory=row["memory"],
            core=0,
            slot=row["slot"],
            tag=row["lo"],
            operand=row["operand"],
            tile=int(self.operations["tile"][op]),
            box=box,
            opened=-1 if before else op,
            opened_cycle=-1 if before else int(self.operations["start_cycle"][op]),
            bytes=row["length"] * row["rows"],
        )


def byte_residency(
    operations: Table, ranges: Table, endings: Table, *, remainders: bool = False
) -> Residency | None:
    """Return who lives where and when; ``None`` where memories are too large to be followed.

    All entries belong to core 0: each memory is an instance of its own.

    Args:
        operations: Rows of ``OPERATIONS`` in the order in which they are shown.
        ranges: Rows of :data:`RANGES`.
        endings: Rows of :data:`ENDINGS`; what an operation touches ends after it.
        remainders: Whether entries are mere bytes: those live on that an entry keeps when others of it are
            filled, and what is read before it was filled was there before the first operation.
    """
    memories = _memories(ranges, endings)
    if memories is None:
        return None
    walk = _Walk(operations, memories, remainders)
    stops = _rows_by_operation(endings)
    starts = _rows_by_operation(ranges)
    for op in sorted({*stops, *starts}):
        for row in starts.get(op, ()):
            walk.touch(op, row, _cells(row, memories))
        for row in (each for each in stops.get(op, ()) if each["memory"] in memories):
            cells = _cells({**row, "rows": 1, "pitch": 0}, memories)
            tiles = (row["first_tile"], row["last_tile"])
            walk.end(op, row["memory"], cells, tiles=tiles, after=op in starts)
    blocks, block_of_entry = blocks_of(walk.entries)
    return Residency(
        entries=entries_table(walk.entries, block_of_entry),
        blocks=blocks,
        touches=table(TOUCHES, **walk.touches),
    )


def _owners(cells: Integers) -> Iterator[int]:
    """Entries that own some of *cells*, lowest first."""
    return (number for number in np.unique(cells).tolist() if number != _NOBODY)


def _memories(ranges: Table, endings: Table) -> dict[int, _Memory] | None:
    """Return every memory that is touched, with nobody in it; ``None`` if that takes too many cells."""
    found: dict[int, _Memory] = {}
    total = 0
    for memory in np.unique(ranges["memory"]).tolist():
        mine, ends = ranges["memory"] == memory, endings["memory"] == memory
        columns = [ranges[name][mine] for name in ("lo", "length", "pitch")]
        columns += [endings[name][ends] for name in ("lo", "length")]
        cell = max(1, int(np.gcd.reduce(np.concatenate(columns))))
        reach = ranges["lo"] + (ranges["rows"] - 1) * ranges["pitch"] + ranges["length"]
        end = max(int(reach[mine].max()), int((endings["lo"] + endings["length"])[ends].max(initial=0)))
        total += end // cell
        if total > MOST_CELLS:
            return None
        found[memory] = _Memory(cell, np.full(end // cell, _NOBODY, np.int64))
    return found


def _cells(row: dict[str, int], memories: dict[int, _Memory]) -> Integers:
    """Cells of a row of ranges."""
    cell = memories[row["memory"]].cell_bytes
    starts = (row["lo"] + np.arange(row["rows"], dtype=np.int64) * row["pitch"]) // cell
    cells: Integers = (starts[:, None] + np.arange(row["length"] // cell, dtype=np.int64)).ravel()
    return cells


def _rows_by_operation(rows: Table) -> dict[int, list[dict[str, int]]]:
    names = [spec.name for spec in rows.schema.specs]
    found: dict[int, list[dict[str, int]]] = {}
    for values in zip(*(rows[name].tolist() for name in names), strict=True):
        row = dict(zip(names, values, strict=True))
        found.setdefault(row["operation"], []).append(row)
    return found
