"""The program of a core's stream, built in columns: equal to that of its instructions one by one.

Every distinct instruction is looked at once: its pipe, its work, the bytes that it touches, the flag that it
raises or waits for. Rows of all instructions are then gathered by their kinds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pantile.program.piece import Piece
from pantile.program.program import Program
from pantile.program.tables import (
    ACCESS,
    COUNTER,
    OP,
    SYNC,
    THREAD,
    Edge,
    Kind,
    Mode,
    Overflow,
    Test,
    empty_tables,
)
from pantile.targets.ascend.hand_over import MATRIX, OUT, blocks_of, mode_of
from pantile.targets.ascend.kernel_hand_over import TileHandOvers
from pantile.targets.ascend.mma_tile import HF32_BIT
from pantile.targets.ascend.pipes import EVENT_IDS, PIPES, SCALAR, pipe_of
from pantile.targets.ascend.ranges import ranges_of, sum_of
from pantile.targets.ascend.trace import ARRIVE, FAMILY, FIRST_BLOCKS, LEAVE, PRIVATE_BUFFERS
from pantile.targets.ascend.trace_rows import UNIT_FLAG, thread_rows
from pantile.targets.ascend.work import Work, without_last, work_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from pantile.targets.ascend.kernel_stream import CoreStream, Issued
    from pantile.targets.ascend.ranges import Range

    Ints = npt.NDArray[np.int64]

_PIPE_ARGUMENT = {"set_flag": "src_pipe", "wait_flag": "dst_pipe", "pipe_barrier": "pipe"}


class _Op(NamedTuple):
    """One operation of an instruction: a row but for its numbers."""

    opcode: str
    kind: Kind
    work: Work | None = None
    macs: int = 0


@dataclass(frozen=True)
class _Facts:
    """What is known of a distinct instruction.

    Attributes:
        pipe: The pipe whose queue it belongs to.
        ops: Its operations; a barrier has two, and so has a copy that follows the cube block by block.
        ranges: What its last operation touches, pointers into GM at 0.
        flag: The flag that it raises or waits for.
        blocks: Blocks of L0C that it touches under the unit flag, counted from the first.
        gives: Whether it hands them over.
        summed: The sum that it adds to, where another product of the same sum needs no barrier.
    """

    pipe: str
    ops: tuple[_Op, ...]
    ranges: tuple[Range, ...] = ()
    flag: tuple[str, str, int] | None = None
    blocks: int = 0
    gives: bool = False
    summed: tuple[Any, ...] | None = None


def program_of_core(stream: CoreStream, name: str) -> Program:
    """Return the program of a core's stream; its parameters are those of a trace's program.

    Unit flags must belong to kernels: all begin at the first block of L0C, and every tile is handed over
    and back.

    Args:
        stream: The stream.
        name: What messages call it.
    """
    return _Maker(stream, name).program()


def _facts(issued: Issued) -> _Facts:
    op, args = issued.instruction["op"], issued.instruction["args"]
    if op in _PIPE_ARGUMENT:
        pipe = str(args[_PIPE_ARGUMENT[op]])
        if op == "pipe_barrier":
            return _Facts(pipe, (_Op(ARRIVE, Kind.SYNC), _Op(LEAVE, Kind.SYNC)))
        flag = (args["src_pipe"], args["dst_pipe"], int(args["event_id"]))
        return _Facts(pipe, (_Op(op, Kind.SYNC),), flag=flag)
    pipe = str(pipe_of(op))
    if pipe == SCALAR:
        return _Facts(pipe, (_Op(op, Kind.CONTROL),))
    computes, mode = pipe == MATRIX, mode_of(op, args)
    blocks = len(blocks_of(op, args)) if mode else 0
    work = work_of(op, args, hf32=bool(issued.registers.ctrl & HF32_BIT))
    macs = int(args["m"]) * int(args["k"]) * int(args["n"]) if computes else 0
    ops: tuple[_Op, ...] = ()
    if pipe == OUT and blocks > 1:
        early, work = without_last(work, blocks)
        ops = (_Op(FIRST_BLOCKS, Kind.MOVE, early),)
    ops = (*ops, _Op(op, Kind.COMPUTE if computes else Kind.MOVE, work, macs))
    ranges = tuple(ranges_of(op, args, issued.registers))
    summed = sum_of(args) if computes else None
    return _Facts(pipe, ops, ranges, blocks=blocks, gives=mode == 3, summed=summed)


class _Texts(dict[str, int]):
    """Texts by their number."""

    def number(self, text: str) -> int:
        return self.setdefault(text, len(self))


class _Maker:
    """A program under construction; columns are by instruction unless said otherwise."""

    def __init__(self, stream: CoreStream, name: str) -> None:
        self.stream, self.name, self.names = stream, name, _Texts()
        self.facts = [_facts(each) for each in stream.kinds]
        self.sizes = np.array([len(each.ops) for each in self.facts], np.int64)
        present = {each.pipe for each in self.facts}
        self.threads = {pipe: at for at, pipe in enumerate(each for each in PIPES if each in present)}
        self.works = _Works()
        self.spaces = _Texts()
        counts = self.sizes[stream.which]
        self.starts = np.cumsum(counts) - counts
        self.last = self.starts + counts - 1
        self.count = int(counts.sum())

    def _by_kind(self, values: list[Any], dtype: Any = np.int64) -> npt.NDArray[Any]:
        """Return a value per instruction from one per kind."""
        return np.array(values, dtype)[self.stream.which]

    def _ops(self) -> npt.NDArray[np.void]:
        rows = []
        for fact in self.facts:
            for each in fact.ops:
                moved = each.work.amount if each.work and ">" in each.work.kind else 0
                model = self.works.number(each.work) if each.work else -1
                opcode = self.names.number(each.opcode)
                of = (0, self.threads[fact.pipe], -1, 0, each.kind, opcode, -1, 1)
                rows.append((*of, moved, each.macs, model, 0))
        first = np.cumsum(self.sizes) - self.sizes
        ops = np.array(rows, OP)[self._spread(first, self.sizes)]
        ops["id"] = ops["listing_index"] = np.arange(self.count)
        ops["line"] = np.repeat(np.arange(len(self.stream)) + 1, self.sizes[self.stream.which])
        return ops

    def _spread(self, first: Ints, sizes: Ints) -> Ints:
        """Return rows of kinds, kind after kind, as rows of instructions."""
        counts = sizes[self.stream.which]
        ends = np.cumsum(counts)
        rows: Ints = np.arange(int(counts.sum())) + np.repeat(
            first[self.stream.which] - (ends - counts), counts
        )
        return rows

    def _accesses(self) -> npt.NDArray[np.void]:
        rows, sizes, in_gm = [], [], []
        for fact in self.facts:
            sizes.append(len(fact.ranges))
            for each in fact.ranges:
                space = self.spaces.number(each.buffer)
                mode = Mode.WRITE if each.writes else Mode.READ
                rows.append((0, mode, space, each.lo, each.hi - each.lo, 1, 0, -1, space, 0))
                in_gm.append(each.buffer.startswith("GM"))
        counts = np.array(sizes, np.int64)
        at = self._spread(np.cumsum(counts) - counts, counts)
        access = np.array(rows, ACCESS)[at]
        repeat = counts[self.stream.which]
        access["op"] = np.repeat(self.last, repeat)
        access["lo"] += np.where(np.array(in_gm, bool)[at], np.repeat(self.stream.moved, repeat), 0)
        return access

    def _counters(self) -> tuple[list[tuple[Any, ...]], npt.NDArray[np.void]]:
        """Return counters of flags and barriers, numbered as they first come, and what is done with them."""
        which = self.stream.which
        flags: dict[tuple[str, str, int], int] = {}
        flagged = self._flag_numbers(flags)[which]
        used = np.flatnonzero(flagged >= 0)
        firsts = np.full(len(flags), len(which))
        np.minimum.at(firsts, flagged[used], used)
        barriers = np.flatnonzero(self._by_kind([each.ops[0].opcode == ARRIVE for each in self.facts], bool))
        order = np.argsort(np.concatenate([firsts, barriers]), kind="stable")
        number = np.empty(len(order), np.int64)
        number[order] = np.arange(len(order))
        counters: list[tuple[Any, ...]] = []
        shown, keys = self.names.number("pipe_barrier"), list(flags)
        pipes = [self.names.number(each.pipe) for each in self.facts]
        for at in order.tolist():
            if at < len(flags):
                src, dst, key = keys[at]
                row = (self.names.number(src), self.names.number(dst), key, 0, 1, Overflow.SATURATE)
            else:
                place = int(barriers[at - len(flags)])
                row = (shown, pipes[which[place]], place, 0, 0, Overflow.NONE)
            counters.append((len(counters), *row))
        posts = self._by_kind([each.ops[0].opcode == "set_flag" for each in self.facts], bool)[used]
        set_text, wait_text = self.names.number("set_flag"), self.names.number("wait_flag")
        sync = np.zeros(len(used) + 2 * len(barriers), SYNC)
        part = sync[: len(used)]
        part["op"], part["counter"] = self.starts[used], number[flagged[used]]
        part["edge"] = np.where(posts, Edge.AFTER_FINISH, Edge.BEFORE_START)
        part["test"] = np.where(posts, Test.POST, Test.TAKE)
        part["shown_as"] = np.where(posts, set_text, wait_text)
        for place, (edge, test) in enumerate(
            ((Edge.AFTER_FINISH, Test.POST), (Edge.BEFORE_START, Test.REACH))
        ):
            part = sync[len(used) + place * len(barriers) :][: len(barriers)]
            part["op"], part["counter"] = self.starts[barriers] + place, number[len(flags) :]
            part["edge"], part["test"], part["shown_as"] = edge, test, shown
        sync["amount"], sync["group"] = 1, -1
        return counters, sync

    def _flag_numbers(self, flags: dict[tuple[str, str, int], int]) -> Ints:
        numbers = [flags.setdefault(fact.flag, len(flags)) if fact.flag else -1 for fact in self.facts]
        return np.array(numbers, np.int64)

    def program(self) -> Program:
        """Return the program."""
        ops, access = self._ops(), self._accesses()
        counters, sync = self._counters()
        table = np.array(counters, COUNTER) if counters else np.zeros(0, COUNTER)
        flagged: dict[str, Any] = {}
        if any(each.blocks for each in self.facts):
            more, rows, along = self._unit_flags(len(table))
            table, sync = np.concatenate([table, more]), np.concatenate([sync, rows])
            flagged = {"unit_flags": {"along": along, "kept": []}}
        sync = sync[np.argsort(sync["op"], kind="stable")]
        threads = thread_rows(self.threads, self.names.number)
        tables = empty_tables() | {
            "op": ops,
            "access": access,
            "sync": sync,
            "counter": table,
            "thread": np.array(threads, THREAD),
        }
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
                "accumulating": self._accumulating(),
                "event_ids": EVENT_IDS,
                "no_barrier": [SCALAR],
                "works": [list(work) for work in self.works.numbers],
                "stream": self.stream,
                "lines": range(1, len(self.stream) + 1),
                "starts": self.starts,
                **flagged,
            },
        )

    def _accumulating(self) -> Ints:
        """Return pairs of a product and the number of its sum, as sums first come."""
        keys: dict[tuple[Any, ...], int] = {}
        kinds = [keys.setdefault(fact.summed, len(keys)) if fact.summed else -1 for fact in self.facts]
        sums = self._by_kind(kinds)
        products = np.flatnonzero(sums >= 0)
        firsts, number = np.full(len(keys), len(sums)), np.empty(len(keys), np.int64)
        np.minimum.at(firsts, sums[products], products)
        number[np.argsort(firsts, kind="stable")] = np.arange(len(keys))
        return np.stack([self.last[products], number[sums[products]]], axis=1)

    def _unit_flags(
        self, counters: int
    ) -> tuple[npt.NDArray[np.void], npt.NDArray[np.void], npt.NDArray[np.int64]]:
        """Return counters and rows of hand-overs, and how each wait goes block by block."""
        touches = np.flatnonzero(self._by_kind([each.blocks > 0 for each in self.facts], bool))
        given = TileHandOvers(
            out=self._by_kind([each.pipe == OUT for each in self.facts], bool)[touches],
            gives=self._by_kind([each.gives for each in self.facts], bool)[touches],
            blocks=self._by_kind([each.blocks for each in self.facts])[touches],
        )
        ops, last, shown = self.starts[touches], self.last[touches], self.names.number(UNIT_FLAG)
        givers = np.flatnonzero(given.gives)
        number = np.full(len(touches), -1)
        number[givers] = counters + np.arange(len(givers))
        names = {
            (pipe, blocks): self.names.number(f"blocks 0 to {blocks - 1} from {pipe}")
            for pipe in (MATRIX, OUT)
            for blocks in np.unique(given.blocks).tolist()
        }
        rows = []
        for at in givers.tolist():
            name = names[OUT if given.out[at] else MATRIX, int(given.blocks[at])]
            rows.append((int(number[at]), shown, name, at, 0, 0, Overflow.NONE))
        posts = np.zeros(len(givers), SYNC)
        posts["op"], posts["counter"], posts["amount"] = last[givers], number[givers], given.blocks[givers]
        posts["edge"], posts["test"] = Edge.AFTER_FINISH, Test.POST
        waiter, giver, first, every = given.waits()
        twice = ops[waiter] != last[waiter]  # the blocks before the last one wait as well
        repeat = 1 + twice.astype(np.int64)
        wait = np.repeat(np.arange(len(waiter)), repeat)
        is_last = np.ones(len(wait), bool)
        is_last[(np.cumsum(repeat) - repeat)[twice]] = False
        waits = np.zeros(len(wait), SYNC)
        waits["op"] = np.where(is_last, last[waiter[wait]], ops[waiter[wait]])
        waits["counter"], waits["amount"] = number[giver[wait]], given.blocks[giver[wait]]
        waits["edge"], waits["test"] = Edge.BEFORE_START, Test.REACH
        sync = np.concatenate([posts, waits])
        sync["group"], sync["shown_as"] = -1, shown
        early = np.where(is_last, every[wait], first[wait])
        along = np.stack([waits["op"], waits["counter"], early], axis=1)
        return np.array(rows, COUNTER), sync, along


class _Works:
    """Amounts of work by their number, from 1."""

    def __init__(self) -> None:
        self.numbers: dict[Work, int] = {}

    def number(self, work: Work) -> int:
        return self.numbers.setdefault(work, len(self.numbers) + 1)
