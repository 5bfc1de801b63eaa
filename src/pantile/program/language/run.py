"""Static recording: every thread is run once, and its statements are kept.

Source: tile-language.md section 8.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pantile.errors import ProgramError
from pantile.program.language.places import GRID
from pantile.program.language.recorder import CURRENT, Log, Recording

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pantile.program.language.places import Chiplet
    from pantile.program.language.threads import Thread
    from pantile.tiling.tiling import Tiling


def record(tiling: Tiling, threads: Iterable[Thread], *, grid: Chiplet | None = None) -> Recording:
    """Return what *threads* call, each run to its end in order of declaration.

    Raises:
        ProgramError: If there is no thread, one is handed in twice, or one is no thread.
        PantileError: If a statement cannot be recorded.
    """
    recording = Recording(tiling)
    chosen = checked(threads)
    outer = GRID.set(grid)
    try:
        with uncollected():
            for thread in chosen:
                log = Log(recording, thread)
                recording.logs.append(log)
                current = CURRENT.set(log)
                try:
                    thread.run()
                finally:
                    CURRENT.reset(current)
    finally:
        GRID.reset(outer)
    return recording


@contextmanager
def uncollected() -> Iterator[None]:
    """Keep Python from looking for garbage: what recording makes stays, and is looked through in vain.

    That takes a third of the time of a long recording.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def checked(threads: Iterable[Thread]) -> tuple[Thread, ...]:
    """Return *threads* if a program can be made of them.

    Raises:
        ProgramError: If there is none, one is handed in twice, or one is no thread.
    """
    from pantile.program.language.threads import Thread

    chosen = tuple(threads)
    if not chosen:
        raise ProgramError(
            "a program needs at least one thread", mend="write Program(tiling, load, multiply)"
        )
    for thread in chosen:
        if not isinstance(thread, Thread):
            raise ProgramError(f"expected a thread, got {thread!r}", mend="mark the function @thread")
        if sum(each is thread for each in chosen) > 1:
            raise ProgramError(
                f"thread {thread.name} is handed in twice", mend="make a thread of its own for every unit"
            )
    return chosen
