"""What a thread does or waits for at every instant, as one of the classes of time.

Design section 3, ``terms``. An operation's time falls into: waiting for counters (asked to ready), for its
arbiter (ready to issue), for resources (issue to start), and being carried out (start to finish).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pantile.program.tables import Completes, Kind, ReleasedBy, Test
from pantile.simulate.moves import move_kinds, transfers_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pantile.simulate.bound import BoundProgram, Ints, Rows

TERMS = ("compute", "drain", "fill", "wait-load", "wait-store", "wait-slot", "wait-flag", "issue", "idle")
"""Classes of time, in the order in which they are tried."""

COMPUTE, DRAIN, _FILL, LOAD, STORE, _SLOT, _FLAG, ISSUE, IDLE = range(9)

PARTS = 4
"""Parts of an operation's time, see :func:`thread_segments`; the last is being carried out."""

_WAITS = {
    "acquire": _SLOT,
    "increase": _SLOT,
    "start_writing": _SLOT,
    "destroy": _SLOT,
    "destory": _SLOT,
    "start_reading": LOAD,
}
"""What a wait is for, by the primitive that the user wrote; any other is for a flag or a barrier."""


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """What each operation counts as.

    Attributes:
        move: Carrying it out, of a move: a load, toward an engine, or a store.
        wait: Waiting for its counters, by the last of its waits.
        carried: Carrying it out.
        only_posts: Whether it is a synchronisation without any wait.
    """

    move: Ints
    wait: Ints
    carried: Ints
    only_posts: npt.NDArray[np.bool_]


def classes_of(bound: BoundProgram) -> Classes:
    """Return what each operation of *bound* counts as."""
    sync, kinds = bound.tables["sync"], bound.tables["op"]["kind"]
    move, only_posts = _move_class(bound), kinds == Kind.SYNC
    only_posts[sync["op"][sync["test"] != Test.POST]] = False
    return Classes(move, _wait_class(bound), np.choose(kinds, [move, COMPUTE, ISSUE, ISSUE]), only_posts)


def _move_class(bound: BoundProgram) -> Ints:
    """Whether each operation is a load or a store; a load, if it is no move.

    A memory is as far from the engines as the moves between it and a memory that computes access; a move
    away from them is a store.
    """
    kinds = move_kinds(bound.tables)
    moved = [transfers_of(bound.tables["access"][start:stop]) for start, stop in kinds.rows.tolist()]
    ends = [[(each.source, each.target) for each in transfers] for transfers in moved]
    levels = _levels(bound.tables, [pair for pairs in ends for pair in pairs])
    away = [any(levels.get(target, 0) > levels.get(source, 0) for source, target in pairs) for pairs in ends]
    found = np.full(bound.operations, LOAD, np.int64)
    found[kinds.ops[np.array(away, bool)[kinds.kind]]] = STORE
    return found


def _levels(tables: dict[str, Rows], ways: Sequence[tuple[int, int]]) -> dict[int, int]:
    """Moves between each space and one that an engine accesses."""
    access = tables["access"]
    computing = tables["op"]["kind"][access["op"]] == Kind.COMPUTE
    levels = dict.fromkeys(np.unique(access["space"][computing]).tolist(), 0)
    front = list(levels)
    while front:
        reached = []
        for source, target in ways:
            for near, far in ((source, target), (target, source)):
                if near in front and far not in levels:
                    levels[far] = levels[near] + 1
                    reached.append(far)
        front = reached
    return levels


def _wait_class(bound: BoundProgram) -> Ints:
    sync = bound.tables["sync"]
    waits = sync[sync["test"] != Test.POST]
    by_name = np.array([_WAITS.get(name, _FLAG) for name in bound.program.names] + [_FLAG], np.int64)
    found = np.full(bound.operations, _FLAG, np.int64)
    found[waits["op"]] = by_name[waits["shown_as"]]
    return found


def delay_class(bound: BoundProgram, classes: Classes, released_by: Ints) -> Ints:
    """Return what the last thing that kept each operation back counts as."""
    kinds = bound.tables["op"]["kind"]
    resource = np.where(kinds == Kind.COMPUTE, COMPUTE, classes.move)
    choices = {ReleasedBy.COUNTER: classes.wait, ReleasedBy.RESOURCE: resource}
    found = np.full(bound.operations, ISSUE, np.int64)
    for cause, what in choices.items():
        found = np.where(released_by == cause, what, found)
    return found


def thread_segments(
    bound: BoundProgram, classes: Classes, times: Rows, thread: int
) -> tuple[Ints, Ints, Ints]:
    """Return starts, stops and classes of what a thread does, in order and without a gap until its end.

    Every operation has :data:`PARTS` of them: waiting for counters, for the arbiter, for resources, and being
    carried out. A pipelined thread turns to its next operation when one has started. Operations that did
    not happen are left out.
    """
    ops = np.flatnonzero((bound.tables["op"]["thread"] == thread) & (times["start"] >= 0))
    kinds, rows = bound.tables["op"]["kind"][ops], times[ops]
    pipelined = bound.tables["thread"]["completes"][thread] == Completes.PIPELINED
    if pipelined:  # operations that only post hold nothing up
        passed = classes.only_posts[ops]
        ops, kinds, rows = ops[~passed], kinds[~passed], rows[~passed]
    ends = np.maximum(rows["finish"], rows["start"])  # a fault may have ended the run in between
    if pipelined and len(rows):
        ends[:-1] = np.minimum(ends[:-1], rows["asked"][1:])
    edges = np.stack([rows["asked"], rows["ready"], rows["issue"], rows["start"], ends], axis=1)
    taking = np.where(kinds == Kind.MOVE, classes.move[ops], ISSUE)
    carried = classes.carried[ops]
    parts = np.stack([classes.wait[ops], np.full(len(ops), ISSUE), taking, carried], axis=1)
    return edges[:, :-1].ravel(), edges[:, 1:].ravel(), parts.ravel()
