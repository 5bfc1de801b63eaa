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

from pantile.errors import Place, ProgramError, raise_all
from pantile.program.piece import Piece
from pantile.program.program import Program
from pantile.program.tables import Kind, Overflow, Test
from pantile.targets.ascend.hand_over import (
    CHECK,
    MATRIX,
    OUT,
    Touch,
    blocks_between,
    blocks_of,
    mode_of,
)
from pantile.targets.ascend.mma_tile import HF32_BIT
from pantile.targets.ascend.pipes import (
    ALL,
    EVENT_IDS,
    PIPELINED,
    PIPES,
    REGISTER_WRITES,
    SCALAR,
    pipe_of,
)
from pantile.targets.ascend.ranges import Registers, UnsetRegister, ranges_of, ranges_of_access, sum_of
from pantile.targets.ascend.trace_rows import LAST_BYTE, Rows
from pantile.targets.ascend.well_formed import wrong_arguments
from pantile.targets.ascend.work import Work, access_work, without_last, work_of

FAMILY = "ascend"

PRIVATE_BUFFERS = ("GM_C",)
"""Buffers in which nothing conflicts: every copy out has a range of its own."""

ARRIVE, LEAVE = "pipe_barrier arrive", "pipe_barrier leave"
RESUME, HELD = "walk on", "not issued before"

FIRST_BLOCKS = "until the last block"
"""Opcode of what comes before the last block of a copy that the unit flag lets follow the cube."""


def program_of_trace(
    trace: Sequence[Mapping[str, Any]],
    name: str = "trace",
    *,
    lines: Sequence[int] | None = None,
    unit_flags: bool = False,
    as_recorded: bool = False,
) -> Program:
    """Return the literal program of a trace.

    Its parameters keep the trace: ``stream``, the ``lines`` of instructions, and ``starts``, the first
    operation that each of them became.

    Args:
        trace: Instructions in program order: objects of ``op`` and ``args``, as recorded cases write them.
        name: What messages call it.
        lines: Line of each instruction; without them, its place in the trace, from 1.
        unit_flags: Whether M and FIX wait for one another as unit flags say. Nothing begins before the whole
            of what it waits for was handed over; timing lets it go block by block.
        as_recorded: Whether instructions touch the bytes that the recorded synchronisation cases say, where
            that is not what they do; see :func:`~pantile.targets.ascend.ranges.ranges_of`.

    Raises:
        ProgramError: If an instruction is not known, lacks an argument, or names no pipe; all of them.
    """
    places = range(1, len(trace) + 1) if lines is None else lines
    maker = _Maker(name, trace, places, unit_flags, as_recorded)
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


def _is_queued(entry: object) -> bool:
    """Whether an instruction stands in its pipe's queue; a register write is done where it is issued."""
    op = entry.get("op") if isinstance(entry, Mapping) else None
    return not isinstance(op, str) or op not in REGISTER_WRITES


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
    """A program under construction."""

    def __init__(
        self,
        name: str,
        trace: Sequence[Mapping[str, Any]],
        lines: Sequence[int],
        unit_flags: bool,
        as_recorded: bool,
    ) -> None:
        self.name, self.lines = name, lines
        self.unit_flags, self.as_recorded = unit_flags, as_recorded
        self.last = _last_issues(trace)
        self.queues = {pipe for pipe in map(_pipe, filter(_is_queued, trace)) if pipe in PIPES}
        self.rows = Rows({pipe: at for at, pipe in enumerate(each for each in PIPES if each in self.last)})
        self.flags: dict[tuple[str, str, int], int] = {}
        self.registers = Registers()
        self.sums: dict[tuple[Any, ...], int] = {}
        self.accumulating: list[list[int]] = []
        self.touches: list[Touch] = []
        self.starts: list[int] = []

    def add(self, position: int, entry: Mapping[str, Any]) -> None:
        """Add one instruction.

        Raises:
            ProgramError: If it is not known, or lacks an argument.
        """
        self.starts.append(self.rows.operations)
        place = Place(self.name, self.lines[position])
        if not isinstance(entry, Mapping):
            raise ProgramError(f"expected an instruction, got {entry!r}", place=place)
        op, args, pipe = entry.get("op"), entry.get("args", {}), _pipe(entry)
        if pipe not in PIPES and not (op == "pipe_barrier" and pipe == ALL):
            what = "an instruction" if pipe is None else "a pipe"
            raise ProgramError(f"expected {what} of a cube core, got {pipe or op!r}", place=place)
        wrong = wrong_arguments(str(op), args)
        if wrong:
            raise ProgramError(f"{op}: {'; '.join(wrong)}", place=place)
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
            self._access(position, args, pipe)
        else:
            self._instruction(position, op, args, pipe)

    def _access(self, position: int, args: Mapping[str, Any], pipe: str) -> None:
        ranges = ranges_of_access(args)
        sums = blocks_between([(each.lo, each.hi) for each in ranges if each.buffer == "L0C"])
        work = access_work(pipe, ranges, args.get("cycles"))
        mode, kind = int(args.get("unit_flag", 0)), Kind.COMPUTE if pipe in PIPELINED else Kind.MOVE
        number = self._timed(position, pipe, args.get("label") or "access", kind, work, (mode, sums))
        self.rows.touch(number, ranges)

    def _instruction(self, position: int, op: str, args: Mapping[str, Any], pipe: str) -> None:
        if pipe == SCALAR:
            self.registers.write(op, args)
            self._op(position, pipe, op, Kind.CONTROL)
            return
        touched = ranges_of(op, args, self.registers, as_recorded=self.as_recorded)
        computes = pipe == MATRIX
        macs = int(args["m"]) * int(args["k"]) * int(args["n"]) if computes else 0
        kind = Kind.COMPUTE if computes else Kind.MOVE
        if macs > LAST_BYTE:
            raise ValueError(f"{macs} multiplications are beyond every buffer")
        mode = mode_of(op, args)
        flagged = (mode, blocks_of(op, args) if mode else ())
        work = work_of(op, args, hf32=bool(self.registers.ctrl & HF32_BIT))
        number = self._timed(position, pipe, op, kind, work, flagged, macs)
        self.rows.touch(number, touched)
        summed = sum_of(args) if computes else None
        if summed is not None:
            self.accumulating.append([number, self.sums.setdefault(summed, len(self.sums))])

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
        checks = self.unit_flags and mode >= CHECK and pipe in (MATRIX, OUT) and len(blocks) > 0
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
        return self.rows.op(self.lines[position], pipe, opcode, kind, work, macs)

    def _flag(self, position: int, op: str, args: Mapping[str, Any], pipe: str) -> None:
        key = (args["src_pipe"], args["dst_pipe"], int(args["event_id"]))
        for end in key[:2]:
            if end not in PIPES:
                raise ValueError(f"{end!r} is no pipe")
        if abs(key[2]) > LAST_BYTE:
            raise ValueError(f"an id of {key[2]} is beyond every flag")
        if key not in self.flags:
            self.flags[key] = self.rows.counter(*key, 1, Overflow.SATURATE)
        number = self._op(position, pipe, op, Kind.SYNC)
        if op == "set_flag":
            self.rows.post(number, self.flags[key], op)
            return
        self.rows.wait(number, self.flags[key], Test.TAKE, op)
        held = [each for each, last in self.last.items() if each != SCALAR and last > position]
        if pipe == SCALAR and held:
            self._meet(position, [SCALAR], held, (RESUME, HELD), "wait_flag")

    def _barrier(self, position: int, pipe: str) -> None:
        if pipe == SCALAR:  # a hardware error, which orders nothing
            self._op(position, pipe, "pipe_barrier", Kind.SYNC)
            return
        pipes = [each for each in self.rows.threads if each in self.queues] if pipe == ALL else [pipe]
        self._meet(position, pipes, pipes, (ARRIVE, LEAVE), "pipe_barrier")

    def _meet(
        self, position: int, comes: list[str], goes: list[str], opcodes: tuple[str, str], shown: str
    ) -> None:
        """Let all pipes of *goes* wait for all of *comes*."""
        pipe = comes[0] if len(comes) == 1 else ALL
        counter = self.rows.counter(shown, pipe, position, 0, Overflow.NONE)
        for pipe in comes:
            self.rows.post(self._op(position, pipe, opcodes[0], Kind.SYNC), counter, shown)
        for pipe in goes:
            number = self._op(position, pipe, opcodes[1], Kind.SYNC)
            self.rows.wait(number, counter, Test.REACH, shown, len(comes))

    def program(self, trace: Sequence[Mapping[str, Any]]) -> Program:
        """Return the program of all instructions added, which are those of *trace*."""
        flagged = {"unit_flags": self.rows.hand_over(self.touches)} if self.touches else {}
        tables, spaces = self.rows.tables(), self.rows.spaces
        return Program(
            name=self.name,
            family=FAMILY,
            semantics="",
            axes=(),
            extents=(),
            loops=(),
            reductions=(),
            names=tuple(self.rows.names),
            operands=(),
            pieces=(Piece(tables),),
            parameters={
                "files": self.name,
                "spaces": list(spaces),
                "private": [spaces[name] for name in PRIVATE_BUFFERS if name in spaces],
                "accumulating": self.accumulating,
                "event_ids": EVENT_IDS,
                "no_barrier": [SCALAR],
                "works": [list(work) for work in self.rows.works],
                "stream": list(trace),
                "lines": list(self.lines),
                "starts": self.starts,
                **flagged,
            },
        )
