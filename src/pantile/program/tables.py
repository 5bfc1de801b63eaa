"""The columns that every notation fills, and the words that stand for their codes.

A table is a NumPy structured array; its row types are listed in :data:`TABLES`. Columns that hold
text hold an index into the program's ``names``; -1 means none.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

MAX_AXES = 7
"""Dimensions of the largest iteration space: a convolution's n, q, p, m, s, r, c."""


class Kind(IntEnum):
    """What an operation does."""

    MOVE = 0
    COMPUTE = 1
    SYNC = 2
    CONTROL = 3


class Mode(IntEnum):
    """How an access touches its bytes; an update reads and writes."""

    READ = 0
    WRITE = 1
    UPDATE = 2


class Edge(IntEnum):
    """When, relative to its operation, a synchronisation happens."""

    BEFORE_START = 0
    AFTER_FINISH = 1
    ALONG = 2


class Test(IntEnum):
    """What a synchronisation does to its counter, or waits for."""

    POST = 0
    TAKE = 1
    REACH = 2
    ZERO = 3

    __test__ = False


class Completes(IntEnum):
    """In which order the operations of a thread finish."""

    IN_ORDER = 0
    PIPELINED = 1


class SlotRule(IntEnum):
    """How a task's slot follows from that of the task before it on its core."""

    ALTERNATE = 0
    ALTERNATE_UNLESS_ACCUMULATING = 1
    CIRCULAR = 2
    FIXED = 3


class ArbiterPolicy(IntEnum):
    """Which of several ready threads may issue."""

    FIXED = 0
    ROUND_ROBIN_STICKY = 1


class Overflow(IntEnum):
    """What happens when a post would raise a counter above its capacity."""

    ERROR = 0
    SATURATE = 1
    NONE = 2


class ResourceKind(IntEnum):
    """What a resource is."""

    ENGINE = 0
    LINK = 1
    PORT = 2
    CACHE = 3


class Sharing(IntEnum):
    """Whether several operations may use a resource at once."""

    EXCLUSIVE = 0
    SHARED = 1


class ReleasedBy(IntEnum):
    """What an operation waited for last."""

    PROGRAM = 0
    COUNTER = 1
    SLOT = 2
    ARBITER = 3
    RESOURCE = 4
    CACHE = 5


THREAD = np.dtype(
    [("id", "i8"), ("name", "i4"), ("core", "i4"), ("completes", "u1"), ("arbiter", "i4"), ("task", "i8")]
)
"""An in-order issue stream: a pipe, a tile-language thread, one resident tile."""

ARBITER = np.dtype([("id", "i4"), ("policy", "u1"), ("issues_per_tick", "i4")])

TASK = np.dtype([("id", "i8"), ("tile", "i8"), ("queue", "i4"), ("resident_limit", "i4")])
"""Work that a core takes when it has room; ``queue`` -1 is decided when layers are distributed."""

SLOT = np.dtype([("task", "i8"), ("memory", "i4"), ("rule", "u1")])

OP = np.dtype(
    [
        ("id", "i8"),
        ("thread", "i8"),
        ("engine", "i4"),
        ("listing_index", "i8"),
        ("kind", "u1"),
        ("opcode", "i4"),
        ("tile", "i8"),
        ("count", "i4"),
        ("bytes", "i8"),
        ("macs", "i8"),
        ("duration_model", "i4"),
        ("line", "i4"),
    ]
)
"""One row per run of ``count`` operations that differ only in their box along one axis; ``bytes`` and
``macs`` are those of the whole run, ``bytes`` counted in elements' bytes, not in requests."""

BOX = np.dtype(
    [("op", "i8"), ("axis", "i1"), ("step", "i4"), ("lo", "i8", MAX_AXES), ("length", "i8", MAX_AXES)]
)
"""Element range of a row of :data:`OP` in the iteration space; length 0 on axes the operand lacks.

A run of ``count`` operations walks ``axis`` in pieces of ``step`` elements, the last one clipped."""

USE = np.dtype([("op", "i8"), ("resource", "i4"), ("position", "i4"), ("amount", "i8")])

ACCESS = np.dtype(
    [
        ("op", "i8"),
        ("mode", "u1"),
        ("space", "i4"),
        ("lo", "i8"),
        ("length", "i8"),
        ("rows", "i8"),
        ("pitch", "i8"),
        ("operand", "i4"),
        ("location", "i4"),
        ("generation", "i4"),
    ]
)
"""Bytes that an operation touches: ``rows`` ranges of ``length`` bytes, ``pitch`` apart, from ``lo``.

In a memory of entries (``space`` names it) ``lo`` is the entry's key and ``length`` its nominal bytes.
``operand``, ``location`` and ``generation`` name the physical copy."""

SYNC = np.dtype(
    [
        ("op", "i8"),
        ("edge", "u1"),
        ("counter", "i8"),
        ("test", "u1"),
        ("amount", "i8"),
        ("group", "i4"),
        ("shown_as", "i4"),
    ]
)

COUNTER = np.dtype(
    [
        ("id", "i8"),
        ("src", "i4"),
        ("dst", "i4"),
        ("key", "i8"),
        ("initial", "i8"),
        ("capacity", "i8"),
        ("overflow", "u1"),
    ]
)
"""``src`` and ``dst`` name what the counter orders (pipes, or a memory and -1), ``key`` its id there."""

RESOURCE = np.dtype(
    [
        ("id", "i4"),
        ("name", "i4"),
        ("kind", "u1"),
        ("policy", "u1"),
        ("rate", "i8"),
        ("latency", "i8"),
        ("quantum", "i8"),
        ("state_model", "i4"),
    ]
)

TIMELINE = np.dtype(
    [
        ("op", "i8"),
        ("ready", "i8"),
        ("issue", "i8"),
        ("start", "i8"),
        ("finish", "i8"),
        ("released_by", "u1"),
        ("releaser", "i8"),
        ("class", "u1"),
    ]
)

TABLES = {
    "thread": THREAD,
    "arbiter": ARBITER,
    "task": TASK,
    "slot": SLOT,
    "op": OP,
    "box": BOX,
    "use": USE,
    "access": ACCESS,
    "sync": SYNC,
    "counter": COUNTER,
    "resource": RESOURCE,
}
"""Row type of every table of a piece, by name."""


def empty_tables() -> dict[str, np.ndarray]:
    """Return every table of :data:`TABLES` with no rows."""
    return {name: np.zeros(0, row) for name, row in TABLES.items()}
