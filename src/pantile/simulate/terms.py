"""Where the time went: every tick of every engine has a class, and the classes sum to the total."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pantile.program.tables import Kind, ResourceKind
from pantile.simulate.classes import COMPUTE, DRAIN, IDLE, STORE, TERMS, thread_segments
from pantile.simulate.spans import length, merged, ticks_before

if TYPE_CHECKING:
    from pantile.simulate.bound import BoundProgram, Ints, Rows
    from pantile.simulate.classes import Classes


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """One engine, or a thread that computes or does anything at all without one.

    Attributes:
        name: Its name.
        starts: When it begins to work, in order.
        stops: When it can begin with the next; spans of work are disjoint.
        finishes: When the last result of each has left.
        threads: Which thread brings each; where there is no work, the thread that the unit is.
        last: When it had anything to do for the last time.
    """

    name: str
    starts: Ints
    stops: Ints
    finishes: Ints
    threads: Ints
    last: int

    @property
    def busy(self) -> int:
        """Ticks in which it works."""
        return int((self.stops - self.starts).sum())


def units_of(bound: BoundProgram, times: Rows) -> list[Unit]:
    """Return the engines that compute; threads that compute without one; if none computes, all threads."""
    ops, use = bound.tables["op"], bound.use
    done = times["finish"] >= 0
    kinds = bound.resources["kind"][use["resource"]]
    serves = (kinds == ResourceKind.ENGINE) & (ops["kind"][use["op"]] == Kind.COMPUTE) & done[use["op"]]
    units = [
        _engine(bound, times, int(resource), np.flatnonzero(serves & (use["resource"] == resource)))
        for resource in np.unique(use["resource"][serves])
    ]
    alone = (ops["kind"] == Kind.COMPUTE) & done
    alone[use["op"][serves]] = False
    if not units and not alone.any():
        alone = done
    units += [
        _thread(bound, times, int(thread), np.flatnonzero(alone & (ops["thread"] == thread)))
        for thread in np.unique(ops["thread"][alone])
    ]
    return units


def _engine(bound: BoundProgram, times: Rows, resource: int, uses: Ints) -> Unit:
    uses = uses[np.argsort(times["order"][bound.use["op"][uses]], kind="stable")]
    ops = bound.use["op"][uses]
    starts, finishes, threads = times["start"][ops], times["finish"][ops], bound.tables["op"]["thread"][ops]
    stops = starts + bound.use_ticks[uses]
    return Unit(bound.resource_names[resource], starts, stops, finishes, threads, int(finishes.max()))


def _thread(bound: BoundProgram, times: Rows, thread: int, ops: Ints) -> Unit:
    """A thread as a unit; where it is pipelined its computes may overlap."""
    name = bound.program.text(int(bound.tables["thread"]["name"][thread])) or str(thread)
    last = int(times["finish"][ops].max())
    ops = ops[bound.tables["op"]["kind"][ops] == Kind.COMPUTE]
    starts, stops = merged(times["start"][ops], times["finish"][ops])
    return Unit(name, starts, stops, stops, np.full(max(len(starts), 1), thread), last)


def terms_of(bound: BoundProgram, classes: Classes, times: Rows, unit: Unit, total: int) -> dict[str, int]:
    """Return the ticks of each class of *unit*; they sum to *total*.

    Between two operations a unit first drains; the rest is what the thread that brings the next operation
    did meanwhile. After the last one it waits for stores under way, or idles.
    """
    if not len(unit.starts):
        return _thread_terms(bound, classes, times, int(unit.threads[0]), total)
    drained = np.minimum(np.maximum.accumulate(unit.finishes), np.append(unit.starts[1:], total))
    free = np.maximum(drained, unit.stops)
    sums = np.zeros(len(TERMS), np.int64)
    sums[COMPUTE], sums[DRAIN] = unit.busy, (free - unit.stops).sum()
    begins = np.append(0, free[:-1])
    for thread in np.unique(unit.threads):
        here = unit.threads == thread
        gaps = begins[here], unit.starts[here]
        sums += _clipped(thread_segments(bound, classes, times, int(thread)), gaps)
    stores = (bound.tables["op"]["kind"] == Kind.MOVE) & (classes.move == STORE)
    last = int(free[-1])
    sums[STORE] += length(np.maximum(times["start"][stores], last), times["finish"][stores])
    sums[IDLE] += total - sums.sum()
    return dict(zip(TERMS, sums.tolist(), strict=True))


def _thread_terms(
    bound: BoundProgram, classes: Classes, times: Rows, thread: int, total: int
) -> dict[str, int]:
    """Return the ticks of each class of a thread that computes nothing; they sum to *total*."""
    segments = thread_segments(bound, classes, times, thread)
    sums = _clipped(segments, (np.array([0]), np.array([total])))
    sums[IDLE] += total - sums.sum()
    return dict(zip(TERMS, sums.tolist(), strict=True))


def _clipped(segments: tuple[Ints, Ints, Ints], gaps: tuple[Ints, Ints]) -> Ints:
    """Ticks of each class that *segments* spend inside of *gaps*, which are in order and disjoint."""
    starts, stops, classes = segments
    spent = ticks_before(stops, *gaps) - ticks_before(starts, *gaps)
    return np.bincount(classes, spent, len(TERMS)).astype(np.int64)
