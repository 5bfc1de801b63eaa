"""From a trace of instructions to a literal program: pipes as threads, flags as counters, byte ranges.

Every pipe is an in-order issue stream. A flag is a counter per source, destination and id. A barrier of a
pipe is an arrival and a departure in its thread, one of all pipes in every thread. A wait of the scalar unit
stops the walk through the program: what other pipes are issued later is held until it has passed. A unit flag
is two counters per address in L0C: how often M handed the block over, and how often FIX handed it back.

Source: ascend-core.md sections 1.2 to 1.5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pantile.errors import Place, ProgramError, raise_all
from pantile.program.piece import Piece
from pantile.program.program import Program
from pantile.program.tables import TABLES, Completes, Edge, Kind, Mode, Overflow, Test, empty_tables
from pantile.targets.ascend.pipes import ALL, EVENT_IDS, PIPELINED, PIPES, SCALAR, pipe_of
from pantile.targets.ascend.ranges import Range, Registers, UnsetRegister, mad_forwards, ranges_of
from pantile.targets.ascend.unit_flag import UnitFlag

FAMILY = "ascend"

PRIVATE_BUFFERS = ("GM_C",)
"""Buffers in which nothing conflicts: every copy out has a range of its own."""

LAST_BYTE = 1 << 48
"""What no address on a chip reaches."""

ARRIVE, LEAVE = "pipe_barrier arrive", "pipe_barrier leave"
RESUME, HELD = "walk on", "not issued before"
UNIT_FLAG = "unit flag"


def program_of_trace(
    trace: Sequence[Mapping[str, Any]],
    name: str = "trace",
    *,
    lines: Sequence[int] | None = None,
    unit_flags: bool = False,
) -> Program:
    """Return the literal program of a trace. Its parameters keep the trace: ``stream``, and ``lines``.

    Args:
        trace: Instructions in program order: objects of ``op`` and ``args``, as recorded cases write them.
        name: What messages call it.
        lines: Line of each instruction, rising; without them, its place in the trace, from 1.
        unit_flags: Whether M and FIX wait for one another as unit flags say. A copy is taken to begin after
            the ``mad`` that hands the block over has ended: the hand-over goes fractal by fractal, and what
            follows the copy comes after that end either way.

    Raises:
        ProgramError: If an instruction is not known, lacks an argument, or names no pipe; all of them.
    """
    places = range(1, len(trace) + 1) if lines is None else lines
    maker = _Maker(name, _last_issues(trace), places, unit_flags)
    problems = []
    for position, entry in enumerate(trace):
        try:
            maker.add(position, entry)
        except ProgramError as error:
            problems.append(error)
    raise_all(problems)
    return maker.program(trace)


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


@dataclass(slots=True)
class _Unit:
    """The unit flag of a block of L0C.

    Attributes:
        handed: Counter of how often M gave it to FIX; *returned* of how often FIX gave it back.
        returned: Counter of the way back.
        count: How often M gives it away up to here.
    """

    handed: int
    returned: int
    count: int = 0


class _Maker:
    """Rows of a program under construction."""

    def __init__(self, name: str, last: Mapping[str, int], lines: Sequence[int], unit_flags: bool) -> None:
        self.name, self.last, self.lines, self.unit_flags = name, last, lines, unit_flags
        self.units: dict[int, _Unit] = {}
        self.threads = {pipe: at for at, pipe in enumerate(each for each in PIPES if each in last)}
        self.names: dict[str, int] = {}
        self.spaces: dict[str, int] = {}
        self.flags: dict[tuple[str, str, int], int] = {}
        self.rows: dict[str, list[tuple[Any, ...]]] = {"op": [], "sync": [], "access": [], "counter": []}
        self.registers = Registers()
        self.forwarding: list[int] = []

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
        except (TypeError, ValueError, AttributeError, OverflowError) as error:
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
            number = self._op(position, pipe, args.get("label") or op, Kind.MOVE)
            for key, writes in (("reads", False), ("writes", True)):
                self._touch(number, [Range(at["buf"], at["lo"], at["hi"], writes) for at in args[key]])
        else:
            self._instruction(position, op, args, pipe)

    def _instruction(self, position: int, op: str, args: Mapping[str, Any], pipe: str) -> None:
        if pipe == SCALAR:
            self.registers.write(op, args)
            self._op(position, pipe, op, Kind.CONTROL)
            return
        touched = ranges_of(op, args, self.registers)
        computes = pipe == "PIPE_M"
        macs = int(args["m"]) * int(args["k"]) * int(args["n"]) if computes else 0
        if macs > LAST_BYTE:
            raise ValueError(f"{macs} multiplications are beyond every buffer")
        moved = 0 if computes else sum(each.hi - each.lo for each in touched if each.writes)
        number = self._op(position, pipe, op, Kind.COMPUTE if computes else Kind.MOVE, moved, macs)
        self._touch(number, touched)
        if computes and mad_forwards(args):
            self.forwarding.append(number)
        if self.unit_flags:
            self._hand_over(number, args)

    def _hand_over(self, op: int, args: Mapping[str, Any]) -> None:
        """Let a ``mad`` or a copy out of L0C wait for the block to be its own, and give it away."""
        computes = "src1" in args
        mode = int(args.get("unit_flag" if computes else "unit_flag_mode", UnitFlag.OFF))
        if mode not in (UnitFlag.CHECK, UnitFlag.HAND_OVER):
            return
        address = int(args["dst" if computes else "src"]["off"])
        if address not in self.units:
            ends = [f"L0C {address:#x} to {pipe}" for pipe in ("PIPE_FIX", "PIPE_M")]
            self.units[address] = _Unit(*(self._counter(UNIT_FLAG, end, 0, 0, Overflow.NONE) for end in ends))
        unit = self.units[address]
        gives = mode == UnitFlag.HAND_OVER
        if computes:
            if unit.count:
                self._sync(op, Edge.BEFORE_START, unit.returned, Test.REACH, unit.count, UNIT_FLAG)
            if gives:
                self._sync(op, Edge.AFTER_FINISH, unit.handed, Test.POST, 1, UNIT_FLAG)
                unit.count += 1
            return
        self._sync(op, Edge.BEFORE_START, unit.handed, Test.REACH, max(unit.count, 1), UNIT_FLAG)
        if gives:
            self._sync(op, Edge.AFTER_FINISH, unit.returned, Test.POST, 1, UNIT_FLAG)

    def _op(self, position: int, pipe: str, opcode: str, kind: Kind, moved: int = 0, macs: int = 0) -> int:
        ops = self.rows["op"]
        number = len(ops)
        thread, text = self.threads[pipe], self._text(opcode)
        ops.append((number, thread, -1, number, kind, text, -1, 1, moved, macs, -1, self.lines[position]))
        return number

    def _text(self, text: str) -> int:
        return self.names.setdefault(text, len(self.names))

    def _touch(self, op: int, ranges: Sequence[Range]) -> None:
        for each in ranges:
            if not 0 <= each.lo < each.hi <= LAST_BYTE:
                raise ValueError(f"bytes {each.lo} to {each.hi} of {each.buffer} are beyond every buffer")
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
        if abs(key[2]) > LAST_BYTE:
            raise ValueError(f"an id of {key[2]} is beyond every flag")
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

    def program(self, trace: Sequence[Mapping[str, Any]]) -> Program:
        """Return the program of all instructions added, which are those of *trace*."""
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
                "stream": list(trace),
                "lines": list(self.lines),
            },
        )


def _completes(pipe: str) -> Completes:
    return Completes.PIPELINED if pipe in PIPELINED else Completes.IN_ORDER
