"""Programs built row by row, as the tables of the general engine have them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from pantile.machine import Clock, Engine, Grid, Machine, Memory, Path, Table
from pantile.program.piece import Piece
from pantile.program.program import Operand, Program
from pantile.program.tables import (
    TABLES,
    Completes,
    Edge,
    Kind,
    Overflow,
    ResourceKind,
    Sharing,
    Test,
    empty_tables,
)
from pantile.simulate.bound import BoundProgram

BEFORE, AFTER, ALONG = Edge
POST, TAKE, REACH, ZERO = Test


class Builder:
    """Collects rows; ids are positions, and operations are listed as they are added."""

    def __init__(self) -> None:
        self.rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in TABLES}
        self.ticks: list[int] = []
        self.names: list[str] = []
        self.operands: list[Operand] = []
        self.arbiter_ticks: list[int] = []
        self.parameters: dict[str, Any] = {"spaces": []}

    def name(self, text: str) -> int:
        if text not in self.names:
            self.names.append(text)
        return self.names.index(text)

    def space(self, name: str) -> int:
        spaces = self.parameters["spaces"]
        if name not in spaces:
            spaces.append(name)
        return int(spaces.index(name))

    def thread(self, name: str = "t", pipelined: bool = False, arbiter: int = -1) -> int:
        number = len(self.rows["thread"])
        completes = Completes.PIPELINED if pipelined else Completes.IN_ORDER
        self.rows["thread"].append((number, self.name(name), 0, completes, arbiter, -1))
        return number

    def arbiter(self, policy: int, issues: int = 1, ticks: int = 1) -> int:
        self.rows["arbiter"].append((len(self.rows["arbiter"]), policy, issues))
        self.arbiter_ticks.append(ticks)
        return len(self.rows["arbiter"]) - 1

    def counter(self, initial: int = 0, capacity: int = 0, overflow: Overflow = Overflow.NONE) -> int:
        number = len(self.rows["counter"])
        self.rows["counter"].append((number, -1, -1, number, initial, capacity, overflow))
        return number

    def buffer(self, slots: int) -> int:
        return self.counter(slots, slots, Overflow.ERROR)

    def resource(self, rate: int, shared: bool = False, latency: int = 0, quantum: int = 1) -> int:
        number = len(self.rows["resource"])
        policy = Sharing.SHARED if shared else Sharing.EXCLUSIVE
        self.rows["resource"].append(
            (number, self.name(f"r{number}"), ResourceKind.LINK, policy, rate, latency, quantum, 0)
        )
        return number

    def op(
        self,
        thread: int,
        syncs: Sequence[tuple[Any, ...]] = (),
        uses: Sequence[tuple[int, int]] = (),
        *,
        kind: Kind | None = None,
        ticks: int = 0,
        opcode: str = "",
        engine: str = "",
        macs: int = 0,
        nbytes: int = 0,
        line: int = 0,
        duration: int = 0,
        access: Sequence[tuple[Any, ...]] = (),
        box: Sequence[tuple[int, int]] = (),
    ) -> int:
        """Add an operation; syncs are (edge, counter, test, amount[, group[, shown_as]])."""
        number = len(self.rows["op"])
        kind = (Kind.MOVE if uses or ticks else Kind.SYNC) if kind is None else kind
        self.ticks.append(ticks)
        code = self.name(opcode or kind.name.lower())
        unit = self.name(engine) if engine else -1
        self.rows["op"].append(
            (number, thread, unit, number, kind, code, -1, 1, nbytes, macs, duration, line)
        )
        for edge, counter, test, amount, *rest in syncs:
            group, shown = (*rest, *(-1, "sync")[len(rest) :])
            self.rows["sync"].append((number, edge, counter, test, amount, group, self.name(shown)))
        for position, (resource, amount) in enumerate(uses):
            self.rows["use"].append((number, resource, position, amount))
        for mode, space, lo, length, *rest in access:
            rows, pitch, operand = (*rest, *(1, 0, 0)[len(rest) :])
            self.rows["access"].append(
                (number, mode, self.space(space), lo, length, rows, pitch, operand, 0, 0)
            )
        if box:
            lo = [first for first, _ in box] + [0] * (7 - len(box))
            size = [length for _, length in box] + [0] * (7 - len(box))
            self.rows["box"].append((number, 0, 0, lo, size))
        return number

    def program(self, **changes: Any) -> Program:
        tables = empty_tables()
        for name, rows in self.rows.items():
            if rows:
                tables[name] = np.array(rows, TABLES[name])
        fields: dict[str, Any] = {
            "name": "test",
            "family": "tile",
            "semantics": "",
            "axes": (),
            "extents": (),
            "loops": (),
            "reductions": (),
            "names": tuple(self.names),
            "operands": tuple(self.operands),
            "pieces": (Piece(tables),),
            "parameters": self.parameters,
        }
        return Program(**{**fields, **changes})

    def bound(self) -> BoundProgram:
        program = self.program()
        tables = program.tables()
        return BoundProgram(
            program,
            tables,
            resources=tables["resource"],
            resource_names=tuple(f"r{i}" for i in range(len(tables["resource"]))),
            use=tables["use"],
            ticks=np.array(self.ticks, np.int64),
            arbiter_ticks=np.array(self.arbiter_ticks, np.int64),
        )


@pytest.fixture(scope="session")
def builder() -> Callable[[], Builder]:
    """What begins an empty program."""
    return Builder


@pytest.fixture(scope="session")
def ping_pong() -> Callable[..., Builder]:
    """A loader and a multiplier of *n* tiles, with a buffer of *slots*: section 8 of the tile language."""

    def build(n: int, slots: int, loads: Sequence[int], computes: Sequence[int]) -> Builder:
        b = Builder()
        load, multiply = b.thread("load"), b.thread("multiply")
        buffer = b.buffer(slots)
        unborn, busy = [[b.counter(1) for _ in range(n)] for _ in range(2)]
        ready, readers = [[b.counter(0) for _ in range(n)] for _ in range(2)]
        for i in range(n):
            b.op(load, [(BEFORE, buffer, TAKE, 1, -1, "acquire")], opcode="acquire")
            b.op(load, [(BEFORE, unborn[i], TAKE, 1, -1, "start_writing")], opcode="start_writing")
            b.op(load, ticks=loads[i % len(loads)], opcode="load_store")
            b.op(load, [(AFTER, busy[i], POST, -1), (AFTER, ready[i], POST, 1)], opcode="finish_writing")
        for i in range(n):
            is_ready = (BEFORE, ready[i], REACH, 1, 0, "start_reading")
            is_idle = (BEFORE, busy[i], ZERO, 0, 0, "start_reading")
            unread = (BEFORE, readers[i], ZERO, 0, 0, "destroy")
            b.op(multiply, [is_ready, is_idle, (BEFORE, readers[i], POST, 1)], opcode="start_reading")
            b.op(multiply, ticks=computes[i % len(computes)], kind=Kind.COMPUTE, opcode="compute")
            b.op(multiply, [(AFTER, readers[i], POST, -1)], opcode="finish_reading")
            b.op(
                multiply,
                [is_ready, is_idle, unread, (BEFORE, busy[i], POST, 1), (BEFORE, unborn[i], POST, 1)],
                opcode="destroy",
            )
            b.op(multiply, [(AFTER, buffer, POST, 1, -1, "release")], opcode="release")
        return b

    return build


@pytest.fixture(scope="session")
def machine() -> Callable[..., Machine]:
    """What makes a machine of DDR, SRAM and an 8 x 8 array per core, at 1 GHz; parts can be changed."""

    def make(shape: tuple[int, ...] = (2, 2), engine: dict[str, Any] | None = None, **path: Any) -> Machine:
        array = Table({"rows": 8, "columns": 8})
        computing = {"completes": "pipelined", "duration": "systolic", "parameters": array}
        ways = [("ddr", "sram"), ("sram", "ddr"), ("sram", "compute"), ("compute", "sram"), ("sram", "sram")]
        defaults = {"rate_bytes_per_second": 10**12, "policy": "exclusive"}
        return Machine(
            name="mini",
            clocks=(Clock("core", 10**9),),
            memories=(
                Memory(name="ddr", scope="chip", granule_bytes=64),
                Memory(name="sram", scope="core", granule_bytes=32),
                Memory(name="compute", scope="core"),
            ),
            engines=(
                Engine(name="dma", scope="chip", completes="pipelined", duration="transfer"),
                Engine(name="feed", scope="core", completes="in_order", duration="transfer"),
                Engine(name="compute", scope="core", **{**computing, **(engine or {})}),
            ),
            paths=tuple(
                Path(
                    origin=origin,
                    destination=destination,
                    engine="dma" if "ddr" in (origin, destination) else "feed",
                    **{**defaults, **path},
                )
                for origin, destination in ways
            ),
            grid=Grid(shape),
        )

    return make
