"""Where the time went: every tick of every engine has a class, and the classes sum to the total."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pantile.program.tables import Kind, ResourceKind
from pantile.simulate.classes import COMPUTE, DRAIN, IDLE, STORE, TERMS, thread_segments
from pantile.simulate.spans import length, ticks_before

if TYPE_CHECKING:
    from pantile.simulate.bound import BoundProgram, Ints, Rows
    from pantile.simulate.classes import Classes


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """One engine, or a thread that computes or does anything at all without one.

    Attributes:
        name: Its name.
        ops: Operations that it carries out, by start.
        ticks: Ticks for which each of them keeps others out.
    """

    name: str
    ops: Ints
    ticks: Ints


def units_of(bound: BoundProgram, times: Rows) -> list[Unit]:
    """Return the engines that compute; threads that compute without one; if none computes, all threads."""
    ops, use = bound.tables["op"], bound.use
    done = times["finish"] >= 0
    kinds = bound.resources["kind"][use["resource"]]
    serves = (kinds == ResourceKind.ENGINE) & (ops["kind"][use["op"]] == Kind.COMPUTE) & done[use["op"]]
    units = []
    for resource in np.unique(use["resource"][serves]):
        mine = np.flatnonzero(serves & (use["resource"] == resource))
        mine = mine[np.argsort(times["order"][use["op"][mine]], kind="stable")]
        units.append(Unit(bound.resource_names[resource], use["op"][mine], bound.use_ticks[mine]))
    alone = (ops["kind"] == Kind.COMPUTE) & done
    alone[use["op"][serves]] = False
    if not units and not alone.any():
        alone = done.copy()
    for thread in np.unique(ops["thread"][alone]):
        mine = np.flatnonzero(alone & (ops["thread"] == thread))
        name = bound.program.text(int(bound.tables["thread"]["name"][thread]))
        computing = ops["kind"][mine] == Kind.COMPUTE
        length = np.where(computing, times["finish"][mine] - times["start"][mine], 0)
        units.append(Unit(name, mine, length))
    return units


def terms_of(bound: BoundProgram, classes: Classes, times: Rows, unit: Unit, total: int) -> dict[str, int]:
    """Return the ticks of each class of *unit*; they sum to *total*.

    Between two operations a unit first drains; the rest is what the thread that brings the next operation
    did meanwhile. After the last one it waits for stores under way, or idles.
    """
    starts, finishes = times["start"][unit.ops], times["finish"][unit.ops]
    stops = starts + unit.ticks
    drained = np.minimum(np.maximum.accumulate(finishes), np.append(starts[1:], total))
    sums = np.zeros(len(TERMS), np.int64)
    sums[COMPUTE] = unit.ticks.sum()
    sums[DRAIN] = np.maximum(drained - stops, 0).sum() if unit.ticks.any() else 0
    begins = np.append(0, np.maximum(drained, stops)[:-1]) if unit.ticks.any() else np.zeros(0, np.int64)
    threads = bound.tables["op"]["thread"][unit.ops]
    for thread in np.unique(threads):
        here = threads == thread
        gaps = (begins[here], starts[here]) if unit.ticks.any() else (np.array([0]), np.array([total]))
        segments = thread_segments(bound, classes, times, int(thread))
        sums += _clipped(segments, gaps)
    if unit.ticks.any():
        last = int(max(drained[-1], stops[-1])) if len(stops) else 0
        sums[STORE] += _stores_after(bound, classes, times, last)
    sums[IDLE] += total - sums.sum()
    return dict(zip(TERMS, sums.tolist(), strict=True))


def _clipped(segments: tuple[Ints, Ints, Ints], gaps: tuple[Ints, Ints]) -> Ints:
    """Ticks of each class that *segments* spend inside of *gaps*, which are in order and disjoint."""
    starts, stops, classes = segments
    spent = ticks_before(stops, *gaps) - ticks_before(starts, *gaps)
    return np.bincount(classes, spent, len(TERMS)).astype(np.int64)


def _stores_after(bound: BoundProgram, classes: Classes, times: Rows, moment: int) -> int:
    """Ticks after *moment* in which a store is under way."""
    stores = (bound.tables["op"]["kind"] == Kind.MOVE) & (classes.move == STORE)
    return length(np.maximum(times["start"][stores], moment), times["finish"][stores])
