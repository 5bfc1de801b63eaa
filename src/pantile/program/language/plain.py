"""Statements one by one: what each waits for, posts and moves, as it is recorded.

This is what the dynamic executor needs, and the row-by-row version that the columns of
:mod:`pantile.program.language.lower` must agree with. It looks only at what was recorded so far, so a program
that queries means what the threads have said up to their next queries; a tile of which none has begun a copy
means its own.

Source: tile-language.md sections 3, 5, 6 and 7.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.errors import ProgramError
from pantile.program.language.anywhere import LOCATE
from pantile.program.language.arrays import array_at, run_of
from pantile.program.language.places import OFF_CHIP, Any, Compute, Core, Place, storage
from pantile.program.language.recorder import (
    BARRIER,
    COMPUTE,
    DESTROY,
    FINISH_READING,
    FINISH_WRITING,
    LOAD_STORE,
    REUSE,
    SPILL,
    START_READING,
    START_UPDATE,
    START_WRITING,
    STATEMENTS,
    UNSAID,
    WRITES,
)
from pantile.program.language.sync import INITIAL, ROLES, ROWS, SLOT_ROWS
from pantile.program.tables import Edge, Kind, Overflow, Test
from pantile.tiling.operand import OperandTile
from pantile.tiling.steps import begins_reduction, ends_reduction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pantile.errors import Place as SourcePlace
    from pantile.program.language.arrays import Arrays
    from pantile.program.language.buffers import Slots
    from pantile.program.language.geometry import Operands
    from pantile.program.language.places import Chiplet
    from pantile.program.language.recorder import Recording, Statement
    from pantile.tiling.tile import Tile

Path = tuple[tuple[int, ...], ...]

BUNDLE = ""
"""Stands for all inputs of a compute tile where an operand's name is expected."""


@dataclass(frozen=True, slots=True)
class StepSync:
    """One row of the table ``sync``, its counter by key."""

    counter: Hashable
    test: Test
    amount: int
    edge: Edge
    group: int
    shown_as: str


@dataclass(frozen=True, slots=True)
class Transfer:
    """One operand tile that a load_store moves; places are named as in ``parameters["spaces"]``."""

    operand: str
    src: str
    dst: str
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One operation of a thread, or a query.

    Attributes:
        kind: What it does.
        opcode: Its name.
        line: Line of the call.
        syncs: What it waits for and posts.
        moves: What it moves.
        engine: Where it computes, e.g. ``"compute@(0,1)"``.
        macs: Multiply-accumulates.
        cycles: Of a compute on an array, after how many it takes the next, and how many it takes in all.
        query: A counter whose present value the thread is sent; such a step does nothing else.
    """

    kind: Kind = Kind.SYNC
    opcode: str = ""
    line: int = 0
    syncs: tuple[StepSync, ...] = ()
    moves: tuple[Transfer, ...] = ()
    engine: str = ""
    macs: int = 0
    cycles: tuple[int, int] | None = None
    query: Hashable | None = None

    @property
    def bytes(self) -> int:
        """Bytes that it moves."""
        return sum(each.bytes for each in self.moves)


@dataclass(frozen=True, slots=True)
class CounterStart:
    """A counter before anything happened; columns of the table ``counter``."""

    initial: int
    capacity: int = 0
    overflow: Overflow = Overflow.NONE


@dataclass(frozen=True, slots=True)
class Copy:
    """A physical copy that has a state: operand, or :data:`BUNDLE`, path of its tile, and place."""

    operand: str
    path: Path
    place: Place


class PlainLowering:
    """Lowers statements in the order in which threads reach them.

    Args:
        recording: Where the statements are; it may grow meanwhile.
        operands: The tensors.
        grid: Says which place is nearest where ``Any`` is read.
        arrays: The systolic arrays of cores that have one.
    """

    def __init__(
        self,
        recording: Recording,
        operands: Operands,
        grid: Chiplet | None = None,
        arrays: Arrays | None = None,
    ) -> None:
        self.recording, self.operands, self.grid, self.arrays = recording, operands, grid, arrays or {}
        self.counters: dict[Hashable, CounterStart] = {}
        self._copies: dict[Copy, None] = {}
        self._spills: set[tuple[Path, Place, Place]] = set()
        self._stored: dict[tuple[Path, Place, Place], int] = {}
        self._others = 0
        self._open: dict[tuple[int, Copy, bool], int] = defaultdict(int)
        self._destroyed: dict[tuple[int, Copy], int] = defaultdict(int)
        self._loaded: dict[tuple[int, Place, str, int], Path] = {}
        self._moved: dict[tuple[int, Copy], set[tuple[str, Path]]] = defaultdict(set)
        self._bundles: dict[Copy, dict[Copy, None]] = defaultdict(dict)
        self._named: dict[int, dict[Copy, None]] = defaultdict(dict)
        self._turns: dict[tuple[int, int], int] = defaultdict(int)

    def learn(self, thread: int, first: int, end: int) -> None:
        """Take note of statements that were recorded, before any of them is carried out."""
        log = self.recording.logs[thread]
        for at in range(first, end):
            statement = log[at]
            if statement.code in (START_WRITING, START_UPDATE):
                tile = self.recording.tiles[statement.tile]
                if isinstance(tile.location, Place) and tile.location != Any:
                    self._learn_copy(tile, storage(tile.location))
            if statement.code == LOAD_STORE:
                self._learn_move(statement)
            else:
                self._others += 1

    def _learn_copy(self, tile: Tile | OperandTile, place: Place) -> None:
        copy = Copy(_operand(tile), tile.path, place)
        if copy in self._copies:
            return
        self._copies[copy] = None
        if not isinstance(tile, OperandTile):
            for name in self.operands.names[:-1]:
                self._bundles[Copy(name, tile.operand(name).path, place)][copy] = None

    def _learn_move(self, statement: Statement) -> None:
        """Remember outputs that leave before they are complete."""
        src, dst = self._ends(statement)
        tile = self.recording.tiles[statement.tile]
        if dst is Any or src is Any or dst.level >= src.level:
            return
        output = self.operands.names[-1]
        if isinstance(tile, OperandTile):
            if tile.operand == output:
                self._learn_store((tile.path, src, dst))
        elif statement.flags & SPILL and not self._ends_reduction(tile):
            self._spills.add((tile.operand(output).path, src, dst))
        elif statement.flags & SPILL or self._ends_reduction(tile):
            self._learn_store((tile.operand(output).path, src, dst))

    def _learn_store(self, key: tuple[Path, Place, Place]) -> None:
        """Remember a store that may be the last of its tile; one that is repeated at once is no spill."""
        if self._stored.setdefault(key, self._others) < self._others:
            self._spills.add(key)
        self._stored[key] = self._others

    def steps(self, thread: int, at: int) -> tuple[Step, ...]:
        """Return the operations of statement *at* of a thread: one, or two for a barrier.

        Raises:
            ProgramError: If the statement is misused.
        """
        log = self.recording.logs[thread]
        statement = log[at]
        where = log.place(at)
        if statement.code <= DESTROY:
            return (self._state(thread, statement, where),)
        if statement.code == BARRIER:
            return self._barrier(thread, statement)
        if statement.code == LOAD_STORE:
            moves = tuple(self._moves(thread, statement, where))
            return (Step(kind=Kind.MOVE, opcode="load_store", line=statement.line, moves=moves),)
        if statement.code == COMPUTE:
            return (self._compute(statement, where),)
        return (self._slots(statement),)

    # -- states

    def _state(self, thread: int, statement: Statement, where: SourcePlace) -> Step:
        code = statement.code
        tile = self.recording.tiles[statement.tile]
        if not isinstance(tile.location, Place):
            what = f"{STATEMENTS[code]} of {tile}, a tile without a location"
            raise ProgramError(what, place=where, mend=LOCATE)
        place = storage(tile.location)
        if place == Any and code in WRITES:
            raise ProgramError(f"{STATEMENTS[code]} of {tile}: {UNSAID[0]}", place=where, mend=UNSAID[1])
        if place == Any:
            place = self._resolve(thread, tile, self._own_place(thread), where, STATEMENTS[code])
        copies = self._meant(thread, tile, place)
        if not copies:  # its birth is not recorded yet: that of the tile itself is waited for
            copies = [Copy(_operand(tile), tile.path, place)]
        syncs = []
        for row in ROWS[code]:
            for copy in copies:
                amount = row.amount
                if amount is None:
                    amount = self._destroyed[thread, copy] + 1
                key = self._counter((copy, ROLES[row.role]), CounterStart(INITIAL[row.role]))
                shown = "start_writing(update)" if code == START_UPDATE else STATEMENTS[code]
                syncs.append(StepSync(key, row.test, amount, row.edge, row.group, shown))
        for copy in copies:
            self._track(thread, copy, code, where, tile)
            self._named[thread].pop(copy, None)
            self._named[thread][copy] = None  # the latest last
        return Step(opcode=STATEMENTS[code], line=statement.line, syncs=tuple(syncs))

    def _track(
        self, thread: int, copy: Copy, code: int, where: SourcePlace, tile: Tile | OperandTile
    ) -> None:
        """Keep count of what the thread has open, and refuse what it has not."""
        writes = code in (START_WRITING, START_UPDATE, FINISH_WRITING)
        if code in (START_WRITING, START_UPDATE, START_READING):
            self._open[thread, copy, writes] += 1
            if writes:
                self._moved[thread, copy].clear()
        elif code in (FINISH_WRITING, FINISH_READING):
            if not self._open[thread, copy, writes]:
                verb = "start_writing" if writes else "start_reading"
                raise ProgramError(
                    f"{STATEMENTS[code]} of {tile} without a {verb} of this thread before it",
                    place=where,
                    mend=f"call {verb} first, in the same thread",
                )
            self._open[thread, copy, writes] -= 1
        elif code == DESTROY:
            self._destroyed[thread, copy] += 1

    def _meant(self, thread: int, tile: Tile | OperandTile, place: Place) -> list[Copy]:
        """Return the copies that a tile means at a place: its own, its inputs', or none."""
        if isinstance(tile, OperandTile):
            held = self._holding(thread, tile.operand, tile, place)
            return [] if held is None else [held]
        own = Copy(BUNDLE, tile.path, place)
        if own in self._copies:
            return [own]
        found = [self._holding(thread, name, tile, place) for name in self.operands.names[:-1]]
        return [] if None in found else sorted({each for each in found if each}, key=list(self._copies).index)

    def _holding(self, thread: int, operand: str, tile: Tile | OperandTile, place: Place) -> Copy | None:
        """Return the copy that holds an operand of a tile: one of its own around it, else a bundle."""
        path = tile.path if isinstance(tile, OperandTile) else tile.operand(operand).path
        for end in range(len(path), -1, -1):
            if Copy(operand, path[:end], place) in self._copies:
                return Copy(operand, path[:end], place)
        if operand == self.operands.names[-1]:
            return None
        for end in range(len(path), -1, -1):
            if isinstance(tile, OperandTile):
                bundles = self._bundles.get(Copy(operand, path[:end], place), {})
            else:
                own = Copy(BUNDLE, tile.path[:end], place)
                bundles = {own: None} if own in self._copies else {}
            if len(bundles) > 1:
                return next((each for each in reversed(self._named[thread]) if each in bundles), None)
            if bundles:
                return next(iter(bundles))
        return None

    def _resolve(
        self, thread: int, tile: Tile | OperandTile, reader: Place | None, where: SourcePlace, verb: str
    ) -> Place:
        """Return the place that ``Any`` means.

        Raises:
            ProgramError: If no place has a copy, or several and none is nearest.
        """
        places = list(dict.fromkeys(copy.place for copy in self._copies))
        names = [tile.operand] if isinstance(tile, OperandTile) else self.operands.names[:-1]
        having = [
            place for place in places if all(self._holding(thread, name, tile, place) for name in names)
        ]
        if verb == "load_store":
            outside = [place for place in self.recording.places if place.level == OFF_CHIP]
            having = [place for place in having if place != reader] or outside
        if len(having) > 1 and reader is not None and self.grid is not None:
            having = [self.grid.nearest(reader, having)]
        if len(having) == 1:
            return having[0]
        listed = ", ".join(place.name for place in having) or "none"
        raise ProgramError(
            f"{verb} of {tile} at Any: the places that have a copy are {listed}",
            place=where,
            mend="name the place, or give the program its grid and the thread its core",
        )

    def _own_place(self, thread: int) -> Place | None:
        log = self.recording.logs[thread]
        if log.thread.core is not None:
            return log.thread.core
        moves = [self._ends(log[at]) for at in range(len(log)) if log[at].code == LOAD_STORE]
        units = {place.at: place for ends in moves for place in ends if place.level != OFF_CHIP and place.at}
        return next(iter(units.values())) if len(units) == 1 else None

    # -- moves and computes

    def _ends(self, statement: Statement) -> tuple[Place, Place]:
        src, dst = (self.recording.places[at] for at in (statement.first, statement.second))
        return storage(src), storage(dst)

    def _moves(self, thread: int, statement: Statement, where: SourcePlace) -> Iterator[Transfer]:
        src, dst = self._ends(statement)
        tile = self.recording.tiles[statement.tile]
        if src == Any:
            src = self._resolve(thread, tile, dst, where, "load_store")
        for operand in self._operands_moved(tile, statement.flags, src, dst):
            piece = tile if isinstance(tile, OperandTile) else tile.operand(operand)
            if self._present(thread, operand, tile, piece, dst) and statement.flags & REUSE:
                continue
            width = self.operands.element_bytes[self.operands.names.index(operand)]
            yield Transfer(operand, src.name, dst.name, piece.elements * width)

    def _operands_moved(self, tile: Tile | OperandTile, flags: int, src: Place, dst: Place) -> Iterator[str]:
        if isinstance(tile, OperandTile):
            yield tile.operand
            return
        *inputs, output = self.operands.names
        tiling = self.recording.tiling
        if dst.level >= src.level:
            yield from (name for name in inputs if not tile.path or tiling.moves_at(name, tile.level))
        leaves = dst.level < src.level and (flags & SPILL or self._ends_reduction(tile))
        if leaves and (not tile.path or tiling.moves_at(output, tile.level)):
            yield output
        returns = dst.level > src.level and not self._begins_reduction(tile)
        if returns and self._was_spilled(tile.operand(output).path, dst, src):
            yield output

    def _was_spilled(self, path: Path, src: Place, dst: Place) -> bool:
        """Whether partial sums of an output tile, or of one around or inside it, were moved that way."""
        return any(
            (src, dst) == (start, end) and (path[: len(other)] == other or other[: len(path)] == path)
            for other, start, end in self._spills
        )

    def _begins_reduction(self, tile: Tile) -> bool:
        return begins_reduction(self.recording.tiling, tile.start, tile.stop)

    def _ends_reduction(self, tile: Tile) -> bool:
        return ends_reduction(self.recording.tiling, tile.start, tile.stop)

    def _present(
        self, thread: int, operand: str, tile: Tile | OperandTile, piece: OperandTile, dst: Place
    ) -> bool:
        """Whether an operand tile is at its destination already; if not it is from now on."""
        if dst.level == OFF_CHIP or operand == self.operands.names[-1]:
            return False
        held = self._holding(thread, operand, tile, dst)
        if held is not None:
            moved = self._moved[thread, held]
            there = not self._open[thread, held, True] or (operand, piece.path) in moved
            moved.add((operand, piece.path))
            return there
        register = (thread, dst, operand, len(piece.path))
        there = self._loaded.get(register) == piece.path
        self._loaded[register] = piece.path
        return there

    def _compute(self, statement: Statement, where: SourcePlace) -> Step:
        tile = self.recording.tiles[statement.tile]
        at = self.recording.places[statement.first]
        assert not isinstance(tile, OperandTile)
        engine = "" if at.level == OFF_CHIP else Compute(Core(*at.at)).name
        found = array_at(self.arrays, at)
        cycles = None
        if found is not None:
            run = run_of(found[1], tile, where)
            cycles = run.held, run.total
        return Step(
            kind=Kind.COMPUTE,
            opcode="compute",
            line=statement.line,
            engine=engine,
            macs=tile.volume,
            cycles=cycles,
        )

    # -- buffers and barriers

    def _slots(self, statement: Statement) -> Step:
        slots = self.recording.slot_sets[statement.first]
        row = SLOT_ROWS[statement.code]
        group = 0 if len(slots.members) > 1 and row.test != Test.POST else -1
        verb = STATEMENTS[statement.code]
        syncs = tuple(StepSync(key, row.test, 1, row.edge, group, verb) for key in self.slot_counters(slots))
        return Step(opcode=verb, line=statement.line, syncs=syncs)

    def slot_counters(self, slots: Slots) -> tuple[Hashable, ...]:
        """Return the counters of free slots of a buffer's members."""
        start = CounterStart(slots.buffer.slots, slots.buffer.slots, Overflow.ERROR)
        return tuple(self._counter(("free slots", slots.buffer, member), start) for member in slots.members)

    def _barrier(self, thread: int, statement: Statement) -> tuple[Step, ...]:
        which = statement.first
        turn = self._turns[thread, which]
        self._turns[thread, which] += 1
        participants = self.recording.barriers[which] or tuple(log.thread for log in self.recording.logs)
        key = self._counter(("barrier", which, turn), CounterStart(0))
        arrive = StepSync(key, Test.POST, 1, Edge.AFTER_FINISH, -1, "barrier")
        leave = StepSync(key, Test.REACH, len(participants), Edge.BEFORE_START, -1, "barrier")
        return (
            Step(opcode="barrier arrive", line=statement.line, syncs=(arrive,)),
            Step(opcode="barrier leave", line=statement.line, syncs=(leave,)),
        )

    def _counter(self, key: Hashable, start: CounterStart) -> Hashable:
        self.counters.setdefault(key, start)
        return key


def _operand(tile: Tile | OperandTile) -> str:
    return tile.operand if isinstance(tile, OperandTile) else BUNDLE
