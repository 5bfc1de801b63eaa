"""The operations of a recording, as columns: thread by thread, a barrier as two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pantile.errors import Place as SourcePlace
from pantile.program.language.recorder import (
    BARRIER,
    COMPUTE,
    FIRST_SHIFT,
    FLAG_SHIFT,
    INDEX_MASK,
    LOAD_STORE,
    SECOND_SHIFT,
    STATEMENTS,
)

if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence

    from pantile.program.language.geometry import Ints
    from pantile.program.language.recorder import Recording

BARRIER_LEAVE = COMPUTE + 1
"""Code of the second operation of a barrier; its first keeps the statement's own."""


@dataclass(frozen=True, slots=True, eq=False)
class Ops:
    """One row per operation; the columns of :class:`~pantile.program.language.recorder.Statement`.

    Attributes:
        code: Which statement.
        flags: Of a load_store.
        first: Its source place, buffer members or barrier, by number.
        second: Its destination place, by number.
        tile: Its tile, by number, or -1.
        line: Line of the call.
        thread: Number of its thread.
        starts: First operation of each thread, and the count of all; shape ``(threads + 1,)``.
        files: The file of each thread's lines.
    """

    code: Ints
    flags: Ints
    first: Ints
    second: Ints
    tile: Ints
    line: Ints
    thread: Ints
    starts: Ints
    files: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.code)

    def of(self, *codes: int) -> Ints:
        """Return the operations that are one of *codes*."""
        wanted = np.zeros(BARRIER_LEAVE + 1, bool)
        wanted[list(codes)] = True
        return np.flatnonzero(wanted[self.code])

    def place(self, op: int) -> SourcePlace:
        """Return where the statement of *op* was called."""
        return SourcePlace(self.files[self.thread[op]], int(self.line[op]))


def ops_of(recording: Recording) -> Ops:
    """Return the operations of every thread of *recording*, in order of declaration."""
    logs = recording.logs
    what, tile, line = (_column([getattr(log, name) for log in logs]) for name in ("what", "tile", "line"))
    counts = np.array([len(log) for log in logs], np.int64)
    thread = np.repeat(np.arange(len(logs)), counts)
    code = what & 15
    copies = np.where(code == BARRIER, 2, 1)
    position = np.concatenate([[0], np.cumsum(copies)])
    repeated = np.repeat(np.arange(len(what)), copies)
    code = code[repeated]
    leaves = np.concatenate([[False], repeated[1:] == repeated[:-1]])[: len(code)]
    begins = np.concatenate([[0], np.cumsum(counts)])
    what = what[repeated]
    return Ops(
        np.where(leaves, BARRIER_LEAVE, code),
        what >> FLAG_SHIFT & 15,
        what >> FIRST_SHIFT & INDEX_MASK,
        what >> SECOND_SHIFT,
        tile[repeated],
        line[repeated],
        thread[repeated],
        position[begins],
        tuple(log.file for log in logs),
    )


OPCODES = (*STATEMENTS[:BARRIER], "barrier arrive", *STATEMENTS[LOAD_STORE:], "barrier leave")
"""Name of each operation by code."""


def _column(parts: Sequence[array[int]]) -> Ints:
    """Return arrays one after the other."""
    return np.concatenate([np.zeros(0, np.int64), *(np.frombuffer(part, part.typecode) for part in parts)])
