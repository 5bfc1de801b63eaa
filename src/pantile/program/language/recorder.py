"""Recording: what the threads of a program call, as columns.

A statement costs three numbers: what it is and which places it names (packed), its tile, its line. Tiles,
places and buffers are kept once each, in the order in which they first occur.
"""

from __future__ import annotations

from array import array
from contextvars import ContextVar
from sys import _getframe
from typing import TYPE_CHECKING, NamedTuple

from pantile.errors import Place as SourcePlace
from pantile.errors import ProgramError, UsageError
from pantile.program.language.places import IN_ENGINE, Place
from pantile.tiling.operand import OperandTile
from pantile.tiling.tile import Tile

if TYPE_CHECKING:
    from collections.abc import Hashable
    from types import FrameType

    from pantile.program.language.buffers import Slots
    from pantile.program.language.threads import Thread
    from pantile.tiling.tiling import Tiling

(
    START_WRITING,
    START_UPDATE,
    FINISH_WRITING,
    START_READING,
    FINISH_READING,
    DESTROY,
    ACQUIRE,
    RELEASE,
    BARRIER,
    LOAD_STORE,
    COMPUTE,
) = range(11)

STATEMENTS = (
    "start_writing",
    "start_writing",
    "finish_writing",
    "start_reading",
    "finish_reading",
    "destroy",
    "acquire",
    "release",
    "barrier",
    "load_store",
    "compute",
)
"""What each code is called in messages and listings."""

WRITES = (START_WRITING, START_UPDATE, FINISH_WRITING, DESTROY)
"""Statements on states that change the copy itself."""

UNSAID = ("which copy would change is not said", "name the place; only reading from Any is possible")
"""What is wrong with writing to ``Any``, and the mend."""

FULL, EMPTY = "full", "empty"

REUSE, SPILL = 1, 2
"""Flags of a load_store."""

FLAG_SHIFT, FIRST_SHIFT, SECOND_SHIFT = 4, 8, 32
"""Where the flags and the two indices stand in a packed statement."""

INDEX_MASK = (1 << 24) - 1


class Statement(NamedTuple):
    """One recorded statement, unpacked.

    Attributes:
        code: Which statement.
        flags: Of a load_store.
        first: Its source place, buffer members or barrier, by number.
        second: Its destination place, by number.
        tile: Its tile, by number, or -1.
        line: Line of the call.
    """

    code: int
    flags: int
    first: int
    second: int
    tile: int
    line: int


class Log:
    """The statements of one thread."""

    __slots__ = ("file", "last", "last_number", "line", "places", "recording", "thread", "tile", "what")

    def __init__(self, recording: Recording, thread: Thread) -> None:
        self.recording, self.thread = recording, thread
        self.what, self.tile, self.line = array("q"), array("i"), array("i")
        self.file = thread.place.path
        """The file that its lines are of."""
        self.places = recording.place_ids
        self.last: object = None
        self.last_number = -1
        """The tile that was named last: the next statement is often on the same."""

    def add(self, what: int, tile: Tile | OperandTile | None, frame: FrameType) -> None:
        """Append one packed statement, called from *frame*."""
        if tile is not self.last:
            self.last_number = -1 if tile is None else self.recording.tile(tile)
            self.last = tile
        self.what.append(what)
        self.tile.append(self.last_number)
        if frame.f_code.co_filename == self.file:
            self.line.append(frame.f_lineno)
        else:
            self.line.append(self._line(frame))

    def _line(self, frame: FrameType) -> int:
        """Return the line at which the thread's own file called for a statement of another file."""
        outer: FrameType | None = frame
        while outer is not None and outer.f_code.co_filename != self.file:
            outer = outer.f_back
        return (outer or frame).f_lineno

    def computes_at(self) -> int:
        """Return the unit that computes a tile without a location: that of the latest move to an engine.

        Before any it is the thread's own core; -1 if it has none.
        """
        for what in reversed(self.what):
            second = what >> SECOND_SHIFT
            if what & 15 == LOAD_STORE and self.recording.places[second].level >= IN_ENGINE:
                return second
        return -1 if self.thread.core is None else self.recording.place(self.thread.core)

    def add_slots(self, code: int, slots: Slots) -> None:
        """Append the acquire or release that the caller's caller called."""
        self.add(code | self.recording.slots(slots) << FIRST_SHIFT, None, _getframe(2))

    def ask(self, query: str, slots: Slots) -> bool:
        """Refuse a query: its answer is known only at run time.

        Raises:
            ProgramError: Always; dynamic programs have a log of their own.
        """
        raise ProgramError(
            f"{query!r} of {slots.buffer.name} is known only when the program runs",
            place=place_of(_getframe(2)),
            mend="record it with Program(..., dynamic=True), or acquire() and wait",
        )

    def __len__(self) -> int:
        return len(self.what)

    def __getitem__(self, index: int) -> Statement:
        what = self.what[index]
        return Statement(
            what & 15,
            what >> FLAG_SHIFT & 15,
            what >> FIRST_SHIFT & INDEX_MASK,
            what >> SECOND_SHIFT,
            self.tile[index],
            self.line[index],
        )

    def place(self, index: int) -> SourcePlace:
        """Return where statement *index* was called."""
        return SourcePlace(self.file, self.line[index])


class Recording:
    """What the threads of one program name: tiles, places, buffers, barriers.

    Tiles are kept as columns, each once per location and operand; the objects themselves only where *keeps*.

    Attributes:
        tiling: The tiling that every tile belongs to.
        logs: One per thread, in order of declaration.
        paths: Path of each tile; of an operand tile, over the operand's dimensions.
        operand: Position of the operand that a tile names alone among the tiling's, or -1.
        location: Number of each tile's location.
        locations: Each location once; ``None`` where none is said.
        tiles: Each tile, if they are kept.
        places: Each place once.
        slot_sets: The buffer and members of every acquire and release, each once.
        barriers: The participants of every barrier, each set once; ``None`` for all threads.
    """

    def __init__(self, tiling: Tiling, *, keeps: bool = False) -> None:
        self.tiling, self.keeps = tiling, keeps
        self.logs: list[Log] = []
        self.paths: list[tuple[tuple[int, ...], ...]] = []
        self.operand, self.location = array("b"), array("i")
        self.locations: list[Hashable] = []
        self.tiles: list[Tile | OperandTile] = []
        self.places: list[Place] = []
        self.slot_sets: list[Slots] = []
        self.barriers: list[tuple[Thread, ...] | None] = []
        self.place_ids: dict[Place, int] = {}
        self._numbers: dict[Hashable, tuple[int, dict[object, int]]] = {}
        self._last: Hashable = self  # no location
        self._here: dict[object, int] = {}
        self._slot_ids: dict[object, int] = {}
        self._barrier_ids: dict[object, int] = {}

    def tile(self, tile: Tile | OperandTile) -> int:
        """Return the number of *tile* at its location.

        Raises:
            UsageError: If it is no tile of the program's tiling.
        """
        if type(tile) is not Tile and type(tile) is not OperandTile:
            raise UsageError(f"expected a tile, got {tile!r}", place=place_of_user())
        location = tile.location
        if location is not self._last:
            self._here = self._table(location)
            self._last = location
        key: object = tile.path if type(tile) is Tile else (tile.operand, tile.path)
        number = self._here.get(key, -1)
        return number if number >= 0 else self._new_tile(tile, key)

    def _table(self, location: Hashable) -> dict[object, int]:
        """Return the tiles at a location by their path."""
        known = self._numbers.get(location)
        if known is None:
            if location is not None and not isinstance(location, Place):
                raise UsageError(f"expected a place as location, got {location!r}", place=place_of_user())
            known = self._numbers[location] = (len(self.locations), {})
            self.locations.append(location)
        return known[1]

    def _new_tile(self, tile: Tile | OperandTile, key: object) -> int:
        if tile.tiling is not self.tiling and tile.tiling != self.tiling:
            raise UsageError("the tile belongs to another tiling than the program", place=place_of_user())
        number = self._here[key] = len(self.paths)
        self.paths.append(tile.path)
        self.operand.append(-1 if type(tile) is Tile else list(self.tiling.operands).index(tile.operand))  # type: ignore[arg-type]
        self.location.append(self._numbers[tile.location][0])
        if self.keeps:
            self.tiles.append(tile)
        return number

    def place(self, place: Hashable) -> int:
        """Return the number of *place*.

        Raises:
            UsageError: If it is no place.
        """
        try:
            return self.place_ids[place]  # type: ignore[index]  # what is none is not found
        except (KeyError, TypeError):  # a list cannot be looked up
            pass
        if not isinstance(place, Place):
            raise UsageError(
                f"expected a place such as DDR(0) or SRAM(core), got {place!r}", place=place_of_user()
            )
        number = self.place_ids[place] = len(self.places)
        self.places.append(place)
        return number

    def slots(self, slots: Slots) -> int:
        """Return the number of a buffer or its members."""
        key = (id(slots.buffer), slots.members)
        number = self._slot_ids.get(key)
        if number is None:
            number = self._slot_ids[key] = len(self.slot_sets)
            self.slot_sets.append(slots)  # kept, so that no other buffer gets its id
        return number

    def barrier(self, threads: tuple[Thread, ...]) -> int:
        """Return the number of a barrier's set of participants."""
        key = frozenset(map(id, threads))
        number = self._barrier_ids.get(key)
        if number is None:
            number = self._barrier_ids[key] = len(self.barriers)
            self.barriers.append(threads or None)
        return number


CURRENT: ContextVar[Log | None] = ContextVar("log", default=None)
"""The log of the thread that is being recorded."""


def log_of_caller() -> Log:
    """Return the log that a statement called now belongs to.

    Raises:
        UsageError: If no thread is being recorded.
    """
    log = CURRENT.get()
    if log is None:
        raise UsageError(
            "a statement outside of a thread",
            place=place_of_user(),
            mend="call it in a function marked @thread, and hand that to Program",
        )
    return log


def place_of(frame: FrameType) -> SourcePlace:
    """Return file and line that *frame* stands at."""
    return SourcePlace(frame.f_code.co_filename, frame.f_lineno)


def place_of_user() -> SourcePlace:
    """Return file and line of the innermost caller outside of this package."""
    frame: FrameType | None = _getframe(1)
    here = __name__.rpartition(".")[0]
    while frame is not None and frame.f_globals.get("__name__", "").startswith(here):
        frame = frame.f_back
    assert frame is not None
    return place_of(frame)
