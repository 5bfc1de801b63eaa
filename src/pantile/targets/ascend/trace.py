"""From a trace of instructions to a literal program: pipes as threads, flags as counters, byte ranges.

Every pipe is an in-order issue stream. A flag is a counter per source, destination and id. A barrier of a
pipe is an arrival and a departure in its thread, one of all pipes in every thread. A wait of the scalar unit
stops the walk through the program: what other pipes are issued later is held until it has passed. What the
unit flag hands over is a counter per instruction that hands over.

Source: ascend-core.md sections 1.2 to 1.5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pantile.errors import Place, ProgramError, raise_all
from pantile.program.piece import Piece
from pantile.program.program import Program
from pantile.program.tables import TABLES, Completes, Edge, Kind, Mode, Overflow, Test, empty_tables
from pantile.targets.ascend.hand_over import (
    CHECK,
    MATRIX,
    OUT,
    Touch,
    blocks_between,
    blocks_of,
    hand_overs,
    mode_of,
)
from pantile.targets.ascend.mma_tile import HF32_BIT
from pantile.targets.ascend.pipes import ALL, EVENT_IDS, PIPELINED, PIPES, SCALAR, pipe_of
from pantile.targets.ascend.ranges import Range, Registers, UnsetRegister, mad_forwards, ranges_of
from pantile.targets.ascend.work import Work, access_work, without_last, work_of

FAMILY = "ascend"

PRIVATE_BUFFERS = ("GM_C",)
"""Buffers in which nothing conflicts: every copy out has a range of its own."""

ARRIVE, LEAVE = "pipe_barrier arrive", "pipe_barrier leave"
RESUME, HELD = "walk on", "not issued before"


FIRST_BLOCKS = "until the last block"
"""Opcode of what comes before the last block of a copy that the unit flag lets follow the cube."""

UNIT_FLAG = "unit flag"


def program_of_trace(
    trace: Sequence[Mapping[str, Any]],
    name: str = "trace",
    *,
    lines: Sequence[int] | None = None,
) -> Program:
    """Return the literal program of a trace.

    Args:
        trace: Instructions in program order: objects of ``op`` and ``args``, as recorded cases write them.
        name: What messages call it.
        lines: The line of each instruction; by default its place in the trace, from 1.

    Raises:
        ProgramError: If an instruction is not known, lacks an argument, or names no pipe; all of them.
    """
    return program_and_operations(trace, name, lines)[0]


def program_and_operations(
    trace: Sequence[Mapping[str, Any]], name: str, lines: Sequence[int] | None = None
) -> tuple[Program, tuple[int, ...]]:
    """Return the program of a trace, and by instruction the first operation that it became.

    Raises:
        ProgramError: As :func:`program_of_trace`.
    """
    maker = _Maker(name, _last_issues(trace), lines or range(1, len(trace) + 1))
    problems, firsts = [], []
    for position, entry in enumerate(trace):
        firsts.append(len(maker.rows["op"]))
        try:
            maker.add(position, entry)
        except ProgramError as error:
            problems.append(error)
    raise_all(problems)
    return maker.program(), tuple(firsts)


def _last_issues(trace: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return every pipe that something is issued to, and the place of the last such instruction."""
    last: dict[str, int] = {}
    for position, entry in enumerate(trace):
        pipe = _pipe(entry)
        if pipe in PIPES:
            last[pipe] = position
    return last


def _pipe(entry: object) -> str | None:
    """Return the pipe whose queue an instruction belongs to; ``None`` if that cannot be told."""
    if not isinstance(entry, Mapping):
        return None
    op, args = entry.get("op"), entry.get("args", {})
    key = {"access": "pipe", "set_flag": "src_pipe", "wait_flag": "dst_pipe", "pipe_barrier": "pipe"}
    if not isinstance(op, str) or not isinstance(args, Mapping):
        return None
    return args.get(key[op]) if op in key else pipe_of(op)


class _Maker:
    """Rows of a program under construction."""

    def __init__(self, name: str, last: Mapping[str, int], lines: Sequence[int]) -> None:
        self.name, self.last, self.lines = name, last, lines
        self.threads = {pipe: at for at, pipe in enumerate(each for each in PIPES if each in last)}
        self.names: dict[str, int] = {}
        self.spaces: dict[str, int] = {}
        self.flags: dict[tuple[str, str, int], int] = {}
        self.rows: dict[str, list[tuple[Any, ...]]] = {"op": [], "sync": [], "access": [], "counter": []}
        self.registers = Registers()
        self.forwarding: list[int] = []
        self.works: dict[Work, int] = {}
        self.touches: list[Touch] = []

    def add(self, position: int, entry: Mapping[str, Any]) -> None:
        """Add one instruction.

        Raises:
            ProgramError: If it is not known, or lacks an argument.
        """
        place = Place(self.name, self.lines[position])
        if not isinstance(entry, Mapping):
            raise ProgramError(f"expected an instruction, got {entry!r}", place=place)
        op, args, pipe = entry.get("op"), entry.get("args", {}), _pipe(entry)
        if pipe not in PIPES and not (op == "pipe_barrier" and pipe == ALL):
            what = "an instruction" if pipe is None else "a pipe"
            raise ProgramError(f"expected {what} of a cube core, got {pipe or op!r}", place=place)
        try:
            self._add(position, str(op), args, str(pipe))
        except KeyError as error:
            raise ProgramError(f"{op} lacks {error.args[0]!r}, or does not know it", place=place) from None
        except (TypeError, ValueError, AttributeError) as error:
            raise ProgramError(f"{op} has an argument of another type: {error}", place=place) from None
        except UnsetRegister as error:
            mend = f"set it before, with {error}"
            raise ProgramError(f"{op} reads a register never written", place=place, mend=mend) from None

    def _add(self, position: int, op: str, args: Mapping[str, Any], pipe: str) -> None:
        if op in ("set_flag", "wait_flag"):
            self._flag(position, op, args, pipe)
        elif op == "pipe_barrier":
            self._barrier(position, pipe)
        elif op == "access":
            self._access(position, args, pipe)
        else:
            self._instruction(position, op, args, pipe)

    def _access(self, position: int, args: Mapping[str, Any], pipe: str) -> None:
        ranges = [
            Range(at["buf"], at["lo"], at["hi"], writes)
            for key, writes in (("reads", False), ("writes", True))
            for at in args[key]
        ]
        sums = blocks_between([(each.lo, each.hi) for each in ranges if each.buffer == "L0C"])
        work = access_work(pipe, ranges, args.get("cycles"))
        mode, kind = int(args.get("unit_flag", 0)), Kind.COMPUTE if pipe in PIPELINED else Kind.MOVE
        number = self._timed(position, pipe, args.get("label") or "access", kind, work, (mode, sums))
        self._touch(number, ranges)

    def _instruction(self, position: int, op: str, args: Mapping[str, Any], pipe: str) -> None:
        if pipe == SCALAR:
            self.registers.write(op, args)
            self._op(position, pipe, op, Kind.CONTROL)
            return
        touched = ranges_of(op, args, self.registers)
        computes = pipe == MATRIX
        macs = int(args["m"]) * int(args["k"]) * int(args["n"]) if computes else 0
        kind = Kind.COMPUTE if computes else Kind.MOVE
        mode = mode_of(op, args)
        flagged = (mode, blocks_of(op, args) if mode else ())
        work = work_of(op, args, hf32=bool(self.registers.ctrl & HF32_BIT))
        number = self._timed(position, pipe, op, kind, work, flagged, macs)
        self._touch(number, touched)
        if computes and mad_forwards(args):
            self.forwarding.append(number)

    def _timed(
        self,
        position: int,
        pipe: str,
        opcode: str,
        kind: Kind,
        work: Work,
        flagged: tuple[int, tuple[int, ...]],
        macs: int = 0,
    ) -> int:
        """Add what takes time; a copy that follows the cube block by block is two operations."""
        mode, blocks = flagged
        checks = mode >= CHECK and pipe in (MATRIX, OUT) and len(blocks) > 0
        first = -1
        if checks and pipe == OUT and len(blocks) > 1:
            early, work = without_last(work, len(blocks))
            first = self._op(position, pipe, FIRST_BLOCKS, Kind.MOVE, early)
        number = self._op(position, pipe, opcode, kind, work, macs)
        if checks:
            self.touches.append(Touch(first if first >= 0 else number, number, pipe, mode, blocks))
        return number

    def _op(
        self, position: int, pipe: str, opcode: str, kind: Kind, work: Work | None = None, macs: int = 0
    ) -> int:
        ops = self.rows["op"]
        number = len(ops)
        thread, text = self.threads[pipe], self._text(opcode)
        model = -1 if work is None else self.works.setdefault(work, len(self.works) + 1)
        moved = work.amount if work is not None and ">" in work.kind else 0
        ops.append((number, thread, -1, number, kind, text, -1, 1, moved, macs, model, self.lines[position]))
        return number

    def _text(self, text: str) -> int:
        return self.names.setdefault(text, len(self.names))

    def _touch(self, op: int, ranges: Sequence[Range]) -> None:
        for each in ranges:
            space = self.spaces.setdefault(each.buffer, len(self.spaces))
            mode = Mode.WRITE if each.writes else Mode.READ
            self.rows["access"].append((op, mode, space, each.lo, each.hi - each.lo, 1, 0, -1, space, 0))

    def _counter(self, src: str, dst: str, key: int, capacity: int, overflow: Overflow) -> int:
        counters = self.rows["counter"]
        counters.append((len(counters), self._text(src), self._text(dst), key, 0, capacity, overflow))
        return len(counters) - 1

    def _sync(self, op: int, edge: Edge, counter: int, test: Test, amount: int, shown: str) -> None:
        self.rows["sync"].append((op, edge, counter, test, amount, -1, self._text(shown)))

    def _flag(self, position: int, op: str, args: Mapping[str, Any], pipe: str) -> None:
        key = (args["src_pipe"], args["dst_pipe"], int(args["event_id"]))
        for end in key[:2]:
            if end not in PIPES:
                raise ValueError(f"{end!r} is no pipe")
        if key not in self.flags:
            self.flags[key] = self._counter(*key, 1, Overflow.SATURATE)
        number = self._op(position, pipe, op, Kind.SYNC)
        if op == "set_flag":
            self._sync(number, Edge.AFTER_FINISH, self.flags[key], Test.POST, 1, op)
            return
        self._sync(number, Edge.BEFORE_START, self.flags[key], Test.TAKE, 1, op)
        held = [each for each, last in self.last.items() if each != SCALAR and last > position]
        if pipe == SCALAR and held:
            self._meet(position, [SCALAR], held, (RESUME, HELD), "wait_flag")

    def _barrier(self, position: int, pipe: str) -> None:
        if pipe == SCALAR:  # a hardware error, which orders nothing
            self._op(position, pipe, "pipe_barrier", Kind.SYNC)
            return
        pipes = list(self.threads) if pipe == ALL else [pipe]
        self._meet(position, pipes, pipes, (ARRIVE, LEAVE), "pipe_barrier")

    def _meet(
        self, position: int, comes: list[str], goes: list[str], opcodes: tuple[str, str], shown: str
    ) -> None:
        """Let all pipes of *goes* wait for all of *comes*."""
        counter = self._counter(shown, comes[0] if len(comes) == 1 else ALL, position, 0, Overflow.NONE)
        for pipe in comes:
            number = self._op(position, pipe, opcodes[0], Kind.SYNC)
            self._sync(number, Edge.AFTER_FINISH, counter, Test.POST, 1, shown)
        for pipe in goes:
            number = self._op(position, pipe, opcodes[1], Kind.SYNC)
            self._sync(number, Edge.BEFORE_START, counter, Test.REACH, len(comes), shown)

    def _hand_over(self) -> dict[str, Any]:
        """Add what the unit flags order; return how it goes block by block, which timing takes up.

        Here a hand-over is one event at the end of its instruction, and what needs it begins after. That
        orders no bytes otherwise than block by block would: who gives and who takes touch the blocks in the
        same order, and FIX, which alone may begin early, completes in order.
        """
        found = hand_overs(self.touches)
        counters: dict[int, int] = {}
        for number, touch in enumerate(self.touches):
            if touch.gives:
                name = f"blocks {touch.blocks[0]} to {touch.blocks[-1]} from {touch.pipe}"
                counters[number] = self._counter(UNIT_FLAG, name, number, 0, Overflow.NONE)
                count = len(touch.blocks)
                self._sync(touch.last, Edge.AFTER_FINISH, counters[number], Test.POST, count, UNIT_FLAG)
        along = []
        for wait in found.waits:
            touch = self.touches[wait.touch]
            counter = counters.get(wait.giver, -1)
            if counter < 0:
                name = f"L0C from {OUT if touch.pipe == MATRIX else MATRIX}"
                counter = self._counter(UNIT_FLAG, name, wait.touch, 0, Overflow.NONE)
            count = len(self.touches[wait.giver].blocks) if wait.giver >= 0 else 1
            for op, early in {touch.op: wait.first, touch.last: wait.every}.items():
                self._sync(op, Edge.BEFORE_START, counter, Test.REACH, count, UNIT_FLAG)
                along.append([op, counter, early])
        self.rows["sync"].sort(key=lambda row: row[0])
        kept = [[self.touches[number].last, count] for number, count in found.kept]
        return {"along": along, "kept": kept}

    def program(self) -> Program:
        """Return the program of all instructions added."""
        unit_flags = self._hand_over() if self.touches else {}
        tables = empty_tables()
        self.rows["thread"] = [
            (at, self._text(pipe), 0, _completes(pipe), -1, -1) for pipe, at in self.threads.items()
        ]
        for table, rows in self.rows.items():
            tables[table] = np.array(rows, TABLES[table])
        return Program(
            name=self.name,
            family=FAMILY,
            semantics="",
            axes=(),
            extents=(),
            loops=(),
            reductions=(),
            names=tuple(self.names),
            operands=(),
            pieces=(Piece(tables),),
            parameters={
                "files": self.name,
                "spaces": list(self.spaces),
                "private": [self.spaces[name] for name in PRIVATE_BUFFERS if name in self.spaces],
                "forwarding": self.forwarding,
                "event_ids": EVENT_IDS,
                "no_barrier": [SCALAR],
                "works": [list(work) for work in self.works],
                **({"unit_flags": unit_flags} if unit_flags else {}),
            },
        )


def _completes(pipe: str) -> Completes:
    return Completes.PIPELINED if pipe in PIPELINED else Completes.IN_ORDER
