"""How a run ended: when each operation happened, and what stopped it if it did not finish."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pantile.program.tables import ReleasedBy

NEVER = -1
"""The time of what did not happen."""

TIMES = np.dtype(
    [
        (name, "i8")
        for name in ("asked", "ready", "issue", "start", "finish", "releaser", "released_by", "order")
    ]
)
"""When an operation's turn came in its thread (``asked``), when its waits held (``ready``), when its arbiter
let it go (``issue``), when it began and ended; what it waited for last (a ``ReleasedBy``) and which operation
that was; its rank among all starts. Times of what did not happen are :data:`NEVER`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stuck:
    """A thread that cannot go on.

    Attributes:
        thread: Its place in the table of threads.
        op: The operation that it stands at.
        counter: The counter that the operation waits for, if it waits for one.
        value: That counter's value at the end.
        resource: The resource that it waits for, if it does.
        holder: The operation that has that resource.
    """

    thread: int
    op: int
    counter: Hashable | None = None
    value: int = 0
    resource: Hashable | None = None
    holder: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A post that took a counter out of its range, where that is an error.

    Attributes:
        op: The operation that posted.
        counter: The counter.
        value: What its value would have become.
        limit: Its capacity, or 0 where the value fell below that.
    """

    op: int
    counter: Hashable
    value: int
    limit: int


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Times of a run.

    Attributes:
        times: Rows of :data:`TIMES` by operation number; shape ``(operations,)``.
        stuck: Threads that wait for ever; empty if the run came to its end.
        fault: What stopped it early, if something did.
    """

    times: npt.NDArray[np.void]
    stuck: tuple[Stuck, ...] = ()
    fault: Fault | None = None


def blank_times(count: int) -> npt.NDArray[np.void]:
    """Return rows of :data:`TIMES` for *count* operations that have not happened."""
    times = np.full((count, len(TIMES.names or ())), NEVER, np.int64).view(TIMES).reshape(-1)
    times["released_by"] = ReleasedBy.PROGRAM
    return times
