"""What every statement waits for and posts, as rows of the tables ``sync`` and ``counter``.

A copy has four counters: ``unborn`` (1 while it can be born), ``busy`` (above 0 while unborn or being
written), ``ready`` (posts count its births) and ``readers``. A slot of a buffer is a unit of the buffer's
counter; a barrier counts who has come.

Source: tile-language.md sections 6 and 7.
"""

from __future__ import annotations

from typing import NamedTuple

from pantile.program.language.recorder import (
    ACQUIRE,
    DESTROY,
    FINISH_READING,
    FINISH_WRITING,
    RELEASE,
    START_READING,
    START_UPDATE,
    START_WRITING,
)
from pantile.program.tables import Edge, Test

UNBORN, BUSY, READY, READERS = range(4)

ROLES = ("unborn", "busy", "ready", "readers")
"""What the four counters of a copy are called."""

INITIAL = (1, 1, 0, 0)
"""Their values before anything happened: nobody has written the copy yet."""


class Row(NamedTuple):
    """One synchronisation of a statement.

    Attributes:
        role: Which of the counters.
        test: What it does to the counter.
        amount: How much; ``None`` for the generation that the order of the thread tells.
        edge: When.
        group: Rows of one group hold together.
    """

    role: int
    test: Test
    amount: int | None
    edge: Edge = Edge.BEFORE_START
    group: int = -1


_READABLE = (Row(READY, Test.REACH, None, group=0), Row(BUSY, Test.ZERO, 0, group=0))
_UNREAD = (*_READABLE, Row(READERS, Test.ZERO, 0, group=0))

ROWS = {
    START_WRITING: (Row(UNBORN, Test.TAKE, 1),),
    START_UPDATE: (*_UNREAD, Row(BUSY, Test.POST, 1)),
    FINISH_WRITING: (
        Row(BUSY, Test.POST, -1, Edge.AFTER_FINISH),
        Row(READY, Test.POST, 1, Edge.AFTER_FINISH),
    ),
    START_READING: (*_READABLE, Row(READERS, Test.POST, 1)),
    FINISH_READING: (Row(READERS, Test.POST, -1, Edge.AFTER_FINISH),),
    DESTROY: (*_UNREAD, Row(BUSY, Test.POST, 1), Row(UNBORN, Test.POST, 1)),
}
"""What a statement does to each copy that it means."""

SLOT_ROWS = {
    ACQUIRE: Row(0, Test.TAKE, 1),
    RELEASE: Row(0, Test.POST, 1, Edge.AFTER_FINISH),
}
"""What a statement does to each buffer that it names."""
