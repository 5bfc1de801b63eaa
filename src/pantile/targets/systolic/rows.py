"""The rows of one tile: its loads, computes and stores, as table rows of a program.

The rows of an operation's accesses stand in one order, which the expansion relies on: a MOVIN reads
its operand and writes its entry; a compute reads its activation and its weight entry and updates its
output entry; a MOVOUT reads its entry and writes its operand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pantile.program.tables import (
    ACCESS,
    BOX,
    COUNTER,
    MAX_AXES,
    OP,
    SLOT,
    SYNC,
    TASK,
    THREAD,
    Completes,
    Edge,
    Kind,
    Mode,
    Overflow,
    SlotRule,
    Test,
    empty_tables,
)

if TYPE_CHECKING:
    from pantile.program.program import Operand

NAMES = (
    "MOVIN",
    "GEMM_PRELOAD",
    "GEMM",
    "MOVOUT",
    "load queue",
    "array",
    "store queue",
    "scratchpad",
    "accumulator",
    "dram",
    "entry count",
)
MOVIN, GEMM_PRELOAD, GEMM, MOVOUT = range(4)
LOAD_QUEUE, ARRAY, STORE_QUEUE = range(4, 7)
SCRATCHPAD, ACCUMULATOR, DRAM = range(7, 10)
_ENTRY_COUNT = 10

RESIDENT_LIMIT = 2
"""Tiles that one core holds at once (onnxim-model.md section 5)."""

Box = dict[int, tuple[int, int]]
"""First element and element count, by axis."""


@dataclass
class Entries:
    """Ids of the on-chip entries of one layer, in order of first use, and their nominal bytes."""

    ids: dict[tuple[int, int], int] = field(default_factory=dict)

    def id(self, space: int, key: int) -> int:
        """Return the id of entry *key* of memory *space*."""
        return self.ids.setdefault((space, key), len(self.ids))


@dataclass
class TileRows:
    """Collects the rows of one tile in program order.

    Attributes:
        entries: Shared by all tiles of the layer.
        operands: Positions of the operands by name, and their element widths.
    """

    entries: Entries
    operands: dict[str, tuple[int, int]]
    op: list[tuple[Any, ...]] = field(default_factory=list)
    box: list[tuple[Any, ...]] = field(default_factory=list)
    access: list[tuple[Any, ...]] = field(default_factory=list)
    sync: list[tuple[Any, ...]] = field(default_factory=list)
    used: dict[int, tuple[int, int]] = field(default_factory=dict)
    length: int = 0

    @classmethod
    def of(cls, operands: tuple[Operand, ...], entries: Entries) -> TileRows:
        """Return an empty tile of a layer with these operands."""
        return cls(entries, {o.name: (place, o.element_bytes) for place, o in enumerate(operands)})

    def load(self, operand: str, space: int, key: int, box: Box, elements: int | None = None) -> None:
        """Add a MOVIN of *box* of an operand into entry *key* of *space*."""
        place, width = self.operands[operand]
        size = (prod(n for _, n in box.values()) if elements is None else elements) * width
        op = self._operation(MOVIN, LOAD_QUEUE, Kind.MOVE, size, 0, 1, box)
        counter = self._counter(space, key)
        self._access(op, Mode.READ, DRAM, -1, size, place)
        self._access(op, Mode.WRITE, space, key, size, place)
        self._post(op, counter, completes=size > 0)

    def compute(
        self, opcode: int, sources: tuple[int, int], dest: int, box: Box, *, axis: int, step: int, count: int
    ) -> None:
        """Add *count* computes that walk *axis* of *box* in pieces of *step* elements."""
        macs = prod(n for _, n in box.values())
        op = self._operation(opcode, ARRAY, Kind.COMPUTE, 0, macs, count, box, axis, step)
        for name, key in zip(("a", "b"), sources, strict=True):
            self._access(op, Mode.READ, SCRATCHPAD, key, 0, self.operands[name][0])
            self._wait(op, self._counter(SCRATCHPAD, key), group=0)
        self._access(op, Mode.UPDATE, ACCUMULATOR, dest, 0, self.operands["c"][0])
        self._post(op, self._counter(ACCUMULATOR, dest))

    def store(self, key: int, box: Box) -> None:
        """Add a MOVOUT of accumulator entry *key* to *box* of the result."""
        place, width = self.operands["c"]
        size = prod(n for _, n in box.values()) * width
        op = self._operation(MOVOUT, STORE_QUEUE, Kind.MOVE, size, 0, 1, box)
        self._access(op, Mode.READ, ACCUMULATOR, key, size, place)
        self._access(op, Mode.WRITE, DRAM, -1, size, place)
        self._wait(op, self._counter(ACCUMULATOR, key), group=0)

    def tables(self, first_op: int, tile: int, *, accumulates: bool) -> dict[str, np.ndarray]:
        """Return the tile's tables, with operations numbered from *first_op*."""
        tables = empty_tables()
        tables["op"] = np.array(self.op, OP)
        tables["box"] = np.array(self.box, BOX)
        tables["access"] = np.array(self.access, ACCESS)
        tables["sync"] = np.array(self.sync, SYNC)
        for name, column in (
            ("op", "id"),
            ("op", "listing_index"),
            ("box", "op"),
            ("access", "op"),
            ("sync", "op"),
        ):
            tables[name][column] += first_op
        tables["op"]["thread"] = tables["op"]["tile"] = tile
        tables["thread"] = np.array([(tile, -1, -1, Completes.PIPELINED, 0, tile)], THREAD)
        tables["task"] = np.array([(tile, tile, -1, RESIDENT_LIMIT)], TASK)
        rule = SlotRule.ALTERNATE_UNLESS_ACCUMULATING if accumulates else SlotRule.ALTERNATE
        tables["slot"] = np.array([(tile, SCRATCHPAD, SlotRule.ALTERNATE), (tile, ACCUMULATOR, rule)], SLOT)
        tables["counter"] = np.array(
            [
                (counter, space, -1, key, 0, np.iinfo("i8").max, Overflow.NONE)
                for counter, (space, key) in sorted(self.used.items())
            ],
            COUNTER,
        )
        return tables

    def _operation(
        self,
        opcode: int,
        engine: int,
        kind: int,
        size: int,
        macs: int,
        count: int,
        box: Box,
        axis: int = -1,
        step: int = 0,
    ) -> int:
        op = self.length
        self.op.append((op, 0, engine, op, kind, opcode, 0, count, size, macs, engine, -1))
        lo, length = [0] * MAX_AXES, [0] * MAX_AXES
        for place, (first, elements) in box.items():
            lo[place], length[place] = first, elements
        self.box.append((op, axis, step, tuple(lo), tuple(length)))
        self.length += count
        return op

    def _access(self, op: int, mode: int, space: int, lo: int, length: int, operand: int) -> None:
        self.access.append((op, mode, space, lo, length, 1, 0, operand, -1, 0))

    def _counter(self, space: int, key: int) -> int:
        counter = self.entries.id(space, key)
        self.used[counter] = (space, key)
        return counter

    def _wait(self, op: int, counter: int, group: int) -> None:
        # A block is valid when something was ever registered and nothing of it is outstanding.
        self.sync.append((op, Edge.BEFORE_START, counter, Test.REACH, 1, group, _ENTRY_COUNT))
        self.sync.append((op, Edge.BEFORE_START, counter, Test.ZERO, 0, group, _ENTRY_COUNT))

    def _post(self, op: int, counter: int, *, completes: bool = True) -> None:
        self.sync.append((op, Edge.BEFORE_START, counter, Test.POST, 1, -1, _ENTRY_COUNT))
        if completes:  # no response ever makes a block valid that no request was made for (CV11)
            self.sync.append((op, Edge.AFTER_FINISH, counter, Test.POST, -1, -1, _ENTRY_COUNT))
