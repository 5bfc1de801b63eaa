"""The statements of the tile language; each records itself in the thread that calls it.

Source: tile-language.md sections 5 to 7.
"""

from __future__ import annotations

from sys import _getframe
from typing import TYPE_CHECKING

from pantile.errors import ProgramError, UsageError
from pantile.program.language.places import Any
from pantile.program.language.recorder import (
    BARRIER,
    COMPUTE,
    CURRENT,
    DESTROY,
    FINISH_READING,
    FINISH_WRITING,
    FIRST_SHIFT,
    FLAG_SHIFT,
    LOAD_STORE,
    REUSE,
    SECOND_SHIFT,
    SPILL,
    START_READING,
    START_UPDATE,
    START_WRITING,
    STATEMENTS,
    UNSAID,
    log_of_caller,
    place_of_user,
)
from pantile.program.language.threads import Thread
from pantile.tiling.tile import Tile

if TYPE_CHECKING:
    from collections.abc import Hashable

    from pantile.program.language.places import Place
    from pantile.program.language.recorder import Log
    from pantile.tiling.operand import OperandTile


def start_writing(tile: Tile | OperandTile, *, update: bool = False) -> None:
    """Wait until the copy is unborn, or ready with ``update=True``, and begin to write it."""
    log = CURRENT.get()
    if log is None:
        log = log_of_caller()
    log.add(START_UPDATE if update else START_WRITING, tile, _getframe(1))


def finish_writing(tile: Tile | OperandTile) -> None:
    """Publish the copy that this thread writes: it becomes ready."""
    log = CURRENT.get()
    if log is None:
        log = log_of_caller()
    log.add(FINISH_WRITING, tile, _getframe(1))


def start_reading(tile: Tile | OperandTile) -> None:
    """Wait until the copy is ready and join its readers; any number may read at once."""
    log = CURRENT.get()
    if log is None:
        log = log_of_caller()
    log.add(START_READING, tile, _getframe(1))


def finish_reading(tile: Tile | OperandTile) -> None:
    """Leave the readers of the copy."""
    log = CURRENT.get()
    if log is None:
        log = log_of_caller()
    log.add(FINISH_READING, tile, _getframe(1))


def destroy(tile: Tile | OperandTile) -> None:
    """Wait until the copy is ready and nobody reads it, and end it."""
    log = CURRENT.get()
    if log is None:
        log = log_of_caller()
    log.add(DESTROY, tile, _getframe(1))


destory = destroy  # as the seed spells it


def load_store(
    src: Place,
    dst: Place | None = None,
    tile: Tile | OperandTile | None = None,
    *,
    tar: Place | None = None,
    reuse: bool = False,
    spill: bool = False,
) -> None:
    """Move what *tile* needs from one place to another.

    Toward compute that is the input operands, and the partial sums if they were spilled before; away from
    compute it is the output, after its last reduction step. A tile of one operand (``tile.X``) moves that
    operand alone, whatever the step.

    Args:
        src: Where the data is.
        dst: Where it goes; the seed's ``tar`` is the same.
        tile: What is moved.
        tar: The seed's name of *dst*.
        reuse: Leave out operand tiles that are present at *dst* already.
        spill: Move the output before its last reduction step, too.
    """
    log = CURRENT.get()
    if log is None:
        log = log_of_caller()
    dst = tar if dst is None else dst
    places = log.places
    try:
        what = LOAD_STORE | places[src] << FIRST_SHIFT | places[dst] << SECOND_SHIFT  # type: ignore[index]
    except (KeyError, TypeError):  # a place is new, or missing
        what = _load_store(log, src, dst)
    if dst is Any:
        raise _written_to_any(LOAD_STORE)
    if tile is None:
        raise _incomplete()
    if reuse or spill:
        what |= (REUSE * reuse | SPILL * spill) << FLAG_SHIFT
    log.add(what, tile, _getframe(1))


def _load_store(log: Log, src: Place, dst: Place | None) -> int:
    """Return the packed statement where a place is new, or missing."""
    if dst is None:
        raise _incomplete()
    first, second = log.recording.place(src), log.recording.place(dst)
    return LOAD_STORE | first << FIRST_SHIFT | second << SECOND_SHIFT


def _incomplete() -> UsageError:
    return UsageError(
        "load_store needs a source, a destination and a tile",
        place=place_of_user(),
        mend="write load_store(src=ddr, dst=sram, tile=tile)",
    )


def compute(tile: Tile | OperandTile) -> None:
    """Accumulate the product of *tile* into its output tile."""
    log = CURRENT.get()
    if log is None:
        log = log_of_caller()
    if type(tile) is not Tile:
        raise UsageError(
            f"expected a compute tile, got {tile}",
            place=place_of_user(),
            mend="compute(tile), not one operand of it",
        )
    location = tile.location
    at = log.places.get(location, -1)  # type: ignore[call-overload]  # None is looked up in vain
    if at < 0 or location is Any:
        at = _computes_at(log, location)
    log.add(COMPUTE | at << FIRST_SHIFT, tile, _getframe(1))


def _computes_at(log: Log, location: Hashable) -> int:
    """Return the number of the place where a tile is computed that names none, or a new one."""
    if location is Any:
        raise _written_to_any(COMPUTE)
    if location is not None:
        return log.recording.place(location)
    at = log.computes_at()
    if at < 0:
        raise ProgramError(
            "compute of a tile without a location, in a thread without a core",
            place=place_of_user(),
            mend="write Tile(..., location=core) or @thread(core=core)",
        )
    return at


def barrier(*threads: Thread) -> None:
    """Wait until every thread named, or every thread if none is, has come to this barrier."""
    log = log_of_caller()
    for thread in threads:
        if not isinstance(thread, Thread):
            raise UsageError(
                f"expected threads, got {thread!r}", place=place_of_user(), mend="mark the function @thread"
            )
    if threads and log.thread not in threads:
        raise ProgramError(
            f"thread {log.thread.name} comes to a barrier of {', '.join(each.name for each in threads)}",
            place=place_of_user(),
            mend="name the calling thread, too",
        )
    log.add(BARRIER | log.recording.barrier(threads) << FIRST_SHIFT, None, _getframe(1))


def _written_to_any(code: int) -> ProgramError:
    return ProgramError(f"{STATEMENTS[code]} at Any: {UNSAID[0]}", place=place_of_user(), mend=UNSAID[1])
