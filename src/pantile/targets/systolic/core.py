"""One weight-stationary core, tick by tick.

Source: onnxim-model.md sections 5 to 8 and 11, onnxim-conv.md C5.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pantile.targets.systolic import faults
from pantile.targets.systolic.channels import channels_of
from pantile.targets.systolic.dram import Request
from pantile.targets.systolic.requests import box_requests
from pantile.targets.systolic.stream import (
    COMPUTE_START,
    COMPUTE_STOP,
    LOAD_START,
    LOAD_STOP,
    MOVE_ENTRY,
    MOVE_LENGTH,
    MOVE_LO,
    MOVE_OPERAND,
    MOVE_SPACE,
    OPERAND_WRAP,
    RUN_COUNT,
    RUN_DEPTH,
    RUN_DEST,
    RUN_FIRST,
    RUN_PRELOAD,
    RUN_ROWS,
    RUN_SECOND,
    RUN_SIZE,
    RUN_STEP,
    RUN_WIDTH,
    STORE_START,
    STORE_STOP,
    TILE_ACCUMULATES,
    TILE_KIND,
    TILE_LAYER,
    TILE_OP,
    TILE_REGION,
    TILE_STEP,
    Stream,
)

if TYPE_CHECKING:
    from pantile.targets.systolic.config import SystolicConfig

RESIDENT_LIMIT = 2
_LEAST_ROWS = 4  # a compute occupies the array for at least this many cycles
LOAD, COMPUTE, STORE = range(3)
TERM = {name: place for place, name in enumerate(("compute", "drain", "fill", "wait-load", "wait-store"))}
ISSUE, IDLE = 7, 8  # positions in result.TERMS


@dataclass(slots=True)
class Entry:
    """One on-chip block: *size* granules, *remaining* events outstanding."""

    size: int
    remaining: int
    valid: bool = False


@dataclass(slots=True)
class Half:
    """One half of a memory."""

    capacity: int
    used: int = 0
    entries: dict[int, Entry] = field(default_factory=dict)

    def flush(self) -> None:
        """Drop all entries."""
        self.entries.clear()
        self.used = 0

    def is_valid(self, entry: int) -> bool:
        """Whether an entry is there and nothing of it is outstanding."""
        found = self.entries.get(entry)
        return found is not None and found.valid

    def fill(self, entry: int) -> None:
        """Account for one finished event; an entry flushed meanwhile is gone."""
        found = self.entries.get(entry)
        if found is not None:
            found.remaining -= 1
            found.valid = found.valid or found.remaining == 0


@dataclass(slots=True)
class Operation:
    """One instruction of a resident tile."""

    number: int
    kind: int
    space: int = 0
    entry: int = 0
    addresses: list[int] = field(default_factory=list)
    sources: tuple[int, int] = (0, 0)
    preload: bool = False
    rows: int = 0
    size: int = 0
    macs: int = 0
    tile: ResidentTile | None = None
    last: bool = False


@dataclass(slots=True)
class ResidentTile:
    """A tile that a core holds."""

    position: int
    layer: int
    region: int
    halves: tuple[int, int]
    operations: deque[Operation]
    computes_left: int
    finished: bool = False


@dataclass(slots=True)
class InFlight:
    """A compute in the array's pipeline."""

    operation: Operation
    start: int
    finish: int


class Core:
    """State of one core; :meth:`tick` is one of its cycles."""

    def __init__(self, number: int, stream: Stream, config: SystolicConfig, times: np.ndarray, first: int):
        self.number, self.stream, self.config = number, stream, config
        self.height, self.width = config.heights[number], config.widths[number]
        self.cycle = 0
        self.tiles: list[ResidentTile] = []
        self.finished: deque[ResidentTile] = deque()
        self.fifo: deque[Request] = deque()
        self.sent: list[Request] = []
        self.halves = [
            [Half(config.scratchpad_bytes[number] // 2) for _ in range(2)],
            [Half(config.accumulator_bytes[number] // 2) for _ in range(2)],
        ]
        self.load_queue: deque[Operation] = deque()
        self.execute: Operation | None = None
        self.store_queue: deque[Operation] = deque()
        self.pipeline: deque[InFlight] = deque()
        self.reads_out = self.writes_out = self.turn = 0
        self.last_layer = -1
        self.counts = dict.fromkeys(
            (
                "matmul_active_cycle",
                "memory_idle_cycle",
                "systolic_bubble_cycle",
                "core_idle_cycle",
                "systolic_active_cycle",
                "read_responses",
                "write_responses",
                "systolic_inst_issue_count",
                "systolic_preload_issue_count",
            ),
            0,
        )
        self.terms = [[0] * 9 for _ in stream.layers]
        self.layer = 0
        self.progress = False
        self._times, self._first = times, first
        self.tile_rows: dict[int, list[int]] = {}

    # -- tiles ---------------------------------------------------------------------------------------

    def has_room(self) -> bool:
        """Whether the core takes another tile."""
        return len(self.tiles) < RESIDENT_LIMIT

    def issue_tile(self, position: int) -> None:
        """Take the tile at *position* of the stream."""
        row = self.stream.tiles[position]
        layer = int(row[TILE_LAYER])
        pad, acc = self.tiles[0].halves if len(self.tiles) == 1 else (0, 0)
        pad = 1 - pad
        self.halves[0][pad].flush()
        if not row[TILE_ACCUMULATES] or layer != self.last_layer:
            acc = 1 - acc
            self.halves[1][acc].flush()
        self.last_layer = layer
        operations = self._expand(position) if row[TILE_KIND] >= 0 else deque()
        computes = sum(operation.kind == COMPUTE for operation in operations)
        tile = ResidentTile(position, layer, int(row[TILE_REGION]), (pad, acc), operations, computes)
        for operation in operations:
            operation.tile = tile
        if operations:
            operations[-1].last = True
        reads, writes = (
            sum(len(o.addresses) for o in operations if o.kind == kind) for kind in (LOAD, STORE)
        )
        self.tile_rows[position] = [self.number, self.cycle, -1, pad, acc, reads, writes, 0]
        self.progress = True
        if row[TILE_KIND] < 0:
            self._finish_tile(tile)
        else:
            self.tiles.append(tile)

    def _finish_tile(self, tile: ResidentTile) -> None:
        self.tile_rows[tile.position][2] = self.cycle
        self.finished.append(tile)
        self.progress = True

    def _expand(self, position: int) -> deque[Operation]:
        stream, row = self.stream, self.stream.tiles[position]
        kind = stream.kinds[row[TILE_KIND]]
        step = row[TILE_STEP:]
        number = int(row[TILE_OP])
        operations: deque[Operation] = deque()
        for which, table, start, stop in (
            (LOAD, stream.loads, kind[LOAD_START], kind[LOAD_STOP]),
            (COMPUTE, stream.computes, kind[COMPUTE_START], kind[COMPUTE_STOP]),
            (STORE, stream.stores, kind[STORE_START], kind[STORE_STOP]),
        ):
            for at in range(start, stop):
                for operation in (
                    self._compute_run(table[at]) if which == COMPUTE else [self._move(table[at], step)]
                ):
                    operation.number, operation.kind = number, which
                    operations.append(operation)
                    number += 1
        return operations

    def _move(self, row: np.ndarray, step: np.ndarray) -> Operation:
        length = row[MOVE_LENGTH:]
        lo = row[MOVE_LO:MOVE_LENGTH] + step * (length > 0)
        operand = int(row[MOVE_OPERAND])
        addresses = box_requests(
            self.stream.tensors[operand],
            lo.tolist(),
            length.tolist(),
            self.config.request_bytes,
            wrap=bool(self.stream.operands[operand, OPERAND_WRAP]),
        )
        return Operation(0, LOAD, int(row[MOVE_SPACE]), int(row[MOVE_ENTRY]), addresses.tolist())

    @staticmethod
    def _compute_run(row: np.ndarray) -> list[Operation]:
        count, depth, step = int(row[RUN_COUNT]), int(row[RUN_DEPTH]), int(row[RUN_STEP])
        return [
            Operation(
                0,
                COMPUTE,
                1,
                int(row[RUN_DEST]),
                sources=(int(row[RUN_FIRST]), int(row[RUN_SECOND])),
                preload=bool(row[RUN_PRELOAD]),
                rows=int(row[RUN_ROWS]),
                size=int(row[RUN_SIZE]),
                macs=int(row[RUN_WIDTH] * row[RUN_ROWS]) * min(step, depth - at * step),
            )
            for at in range(count)
        ]

    # -- one cycle -----------------------------------------------------------------------------------

    def is_running(self) -> bool:
        """Whether the run cannot end because of this core (section 6)."""
        queues = self.load_queue or self.store_queue or self.execute
        return bool(self.tiles or self.pipeline or self.writes_out or queues)

    def tick(self) -> None:
        """One cycle: steps 1 to 9 of section 7."""
        self._retire()
        self._load()
        self._execute()
        self._store()
        self._sample()
        self.cycle += 1
        self._issue()
        for tile in self.tiles:
            if not tile.operations and tile.finished:
                self.tiles.remove(tile)
                self._finish_tile(tile)
                break

    def _retire(self) -> None:
        if not self.pipeline or self.pipeline[0].finish > self.cycle:
            return
        operation = self.pipeline.popleft().operation
        assert operation.tile is not None
        self.halves[1][operation.tile.halves[1]].fill(operation.entry)
        self.counts["matmul_active_cycle"] += operation.macs // (self.height * self.width)
        if operation.last:
            operation.tile.finished = True

    def _load(self) -> None:
        if not self.load_queue:
            return
        operation = self.load_queue.popleft()
        half = self._half(operation)
        count = len(operation.addresses)
        half.entries[operation.entry] = Entry(count, count)
        half.used += count
        self._send(operation, write=False)
        self.reads_out += count
        if not count:
            self._record(operation, "finish", -1)

    def _execute(self) -> None:
        operation = self.execute
        if operation is None or not self._can_compute(operation):
            return
        assert operation.tile is not None
        half = self.halves[1][operation.tile.halves[1]]
        entry = half.entries.get(operation.entry)
        if entry is None:
            self._require_room(operation, half, operation.size)
            half.entries[operation.entry] = Entry(operation.size, 1)
            half.used += operation.size
        else:
            entry.remaining += 1
            entry.valid = False
        self._enter(operation)
        self.execute = None

    def _enter(self, operation: Operation) -> None:
        t, height = self.cycle, self.height
        if not self.pipeline:
            start = t + (2 * height - 1 if operation.preload else 0)
        else:
            youngest = self.pipeline[-1]
            gap = max(youngest.operation.rows, _LEAST_ROWS, height if operation.preload else 0)
            start = youngest.start + gap
            if start < t:
                # The sign of the gap is the original's (Q23).
                self.counts["systolic_bubble_cycle"] += t - youngest.start + gap
                start = t
        finish = start + height + self.width - 2 + max(operation.rows, _LEAST_ROWS)
        self.pipeline.append(InFlight(operation, start, finish))
        self.counts["systolic_inst_issue_count"] += 1
        self.counts["systolic_preload_issue_count"] += operation.preload
        self._record(operation, "enter", t)
        self._record(operation, "start", start)
        self._record(operation, "finish", finish)

    def _store(self) -> None:
        if not self.store_queue or not self._half(self.store_queue[0]).is_valid(self.store_queue[0].entry):
            return
        operation = self.store_queue.popleft()
        assert operation.tile is not None
        self._send(operation, write=True)
        self.writes_out += len(operation.addresses)
        if operation.last:
            operation.tile.finished = True

    def _send(self, operation: Operation, *, write: bool) -> None:
        """Append the operation's requests to the FIFO."""
        config = self.config
        numbers = np.array(operation.addresses, np.int64) // config.request_bytes
        half = self._half_number(operation)
        for address, channel in zip(
            operation.addresses, channels_of(numbers, config.channels).tolist(), strict=True
        ):
            request = Request(
                operation.number,
                address,
                write,
                self.number,
                operation.space,
                half,
                operation.entry,
                channel,
                self.cycle,
            )
            self.fifo.append(request)
            self.sent.append(request)
        self._record(operation, "enter", self.cycle)
        self._record(operation, "start", self.cycle)

    def _sample(self) -> None:
        t, counts = self.cycle, self.counts
        running = self.is_running()
        active = bool(self.pipeline) and self.pipeline[0].start <= t
        counts["systolic_active_cycle"] += active
        counts["memory_idle_cycle"] += not self.fifo
        counts["core_idle_cycle"] += not running
        if active:
            term = TERM["compute" if t < self.pipeline[-1].start + self.height else "drain"]
        elif self.pipeline:
            term = TERM["fill"]
        elif self.reads_out:
            term = TERM["wait-load"]
        elif self.writes_out:
            term = TERM["wait-store"]
        else:
            term = ISSUE if running else IDLE
        self.terms[self.layer][term] += 1

    def _issue(self) -> None:
        count = len(self.tiles)
        for step in range(count):
            at = (step + self.turn) % count
            tile = self.tiles[at]
            if not tile.operations or not self._can_issue(tile.operations[0]):
                continue
            operation = tile.operations.popleft()
            if operation.kind == LOAD:
                self.load_queue.append(operation)
            elif operation.kind == STORE:
                self.store_queue.append(operation)
                self._note_overtaking(tile)
            else:
                self.execute = operation
                tile.computes_left -= 1
            self._record(operation, "issue", self.cycle)
            self.turn = at
            self.progress = True
            return

    def _can_issue(self, operation: Operation) -> bool:
        if operation.kind == LOAD:
            half = self._half(operation)
            if operation.entry in half.entries:
                assert operation.tile is not None
                faults.allocated_twice(operation.tile.layer, operation.tile.position, operation.space)
            self._require_room(operation, half, len(operation.addresses))
            return True
        if operation.kind == STORE:
            return self._half(operation).is_valid(operation.entry)
        return self.execute is None and self._can_compute(operation)

    def _can_compute(self, operation: Operation) -> bool:
        assert operation.tile is not None
        half = self.halves[0][operation.tile.halves[0]]
        return len(self.pipeline) < self.height and all(map(half.is_valid, operation.sources))

    def _require_room(self, operation: Operation, half: Half, size: int) -> None:
        needed = (half.used + size) * self.config.request_bytes
        if needed > half.capacity:
            assert operation.tile is not None
            tile = operation.tile
            faults.does_not_fit(tile.layer, tile.position, operation.space, needed, half.capacity)

    def _note_overtaking(self, tile: ResidentTile) -> None:
        for other in self.tiles:
            same = other.layer == tile.layer and other.region == tile.region
            if other is not tile and same and other.position < tile.position and other.computes_left:
                self.tile_rows[tile.position][-1] += 1

    # -- memory --------------------------------------------------------------------------------------

    def respond(self, request: Request) -> None:
        """Take one response from the network."""
        request.response_cycle = self.cycle
        if request.write:
            self.writes_out -= 1
            self.counts["write_responses"] += 1
        else:
            self.reads_out -= 1
            self.counts["read_responses"] += 1
            self.halves[request.space][request.half].fill(request.entry)
        at = request.op - self._first
        if 0 <= at < len(self._times):
            self._times["finish"][at] = self.cycle

    def _half(self, operation: Operation) -> Half:
        space = 1 if operation.kind == STORE else operation.space
        return self.halves[space][self._half_number(operation)]

    def _half_number(self, operation: Operation) -> int:
        assert operation.tile is not None
        return operation.tile.halves[1 if operation.kind == STORE else operation.space]

    def _record(self, operation: Operation, column: str, value: int) -> None:
        at = operation.number - self._first
        if 0 <= at < len(self._times):
            self._times[column][at] = value
