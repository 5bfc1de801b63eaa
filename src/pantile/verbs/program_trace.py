"""A run of a program as a trace file for ui.perfetto.dev."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pantile.errors import UsageError
from pantile.program.tables import Kind, ReleasedBy
from pantile.verbs.timing import cores_of_threads
from pantile.view.trace import Slice

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pantile.simulate.timeline import Timeline

TRACED_OPERATIONS = 500_000
"""Operations that a trace holds at most."""


def slices_of_program(timeline: Timeline) -> Iterator[Slice]:
    """Yield one slice per move, per compute and per wait that took time, thread by thread.

    Raises:
        UsageError: If the program is too long.
    """
    _require_traceable(timeline.bound.operations, "the program")
    yield from _slices(timeline)


def slices_of_layers(layers: Mapping[str, Timeline], core: int | None = None) -> Iterator[Slice]:
    """Yield the slices of a planned network's layers, by name, which run one after the other.

    Args:
        layers: Their runs, in order.
        core: The core to draw; ``None`` draws all.

    Raises:
        UsageError: If the run is too long.
    """
    _require_traceable(sum(each.bound.operations for each in layers.values()), "the run")
    begins = 0
    for node, timeline in layers.items():
        for each in _slices(timeline):
            if core is None or each.core == core:
                yield replace(
                    each,
                    start_ps=begins + each.start_ps,
                    finish_ps=begins + each.finish_ps,
                    details={"node": node, **each.details},
                )
        begins += timeline.total


def _require_traceable(operations: int, what: str) -> None:
    if operations > TRACED_OPERATIONS:
        raise UsageError(
            f"a trace holds {TRACED_OPERATIONS} operations at most, {what} has {operations}",
            mend="trace a smaller product",
        )


def _slices(timeline: Timeline) -> Iterator[Slice]:
    bound = timeline.bound
    ops, threads, program = bound.tables["op"], bound.tables["thread"], bound.program
    cores = cores_of_threads(timeline)
    for op in np.flatnonzero(timeline.times["asked"] >= 0).tolist():
        row, time = ops[op], timeline.times[op]
        thread = threads[int(row["thread"])]
        unit = program.text(int(thread["name"])) or str(int(thread["id"]))
        name, works = program.text(int(row["opcode"])), row["kind"] in (Kind.MOVE, Kind.COMPUTE)
        details = _details(timeline, op)
        start = int(time["start"]) if time["start"] >= 0 else timeline.total
        core = cores[int(row["thread"])]
        if start > time["asked"]:
            yield Slice(
                core=core,
                unit=unit,
                name=f"wait: {name}",
                start_ps=int(time["asked"]),
                finish_ps=start,
                details=details,
            )
        if works and time["start"] >= 0:
            finish = int(time["finish"]) if time["finish"] >= 0 else timeline.total
            yield Slice(core=core, unit=unit, name=name, start_ps=start, finish_ps=finish, details=details)


def _details(timeline: Timeline, op: int) -> dict[str, int | str]:
    """What is shown of an operation when its bar is selected."""
    bound, time = timeline.bound, timeline.times[op]
    row, place = bound.tables["op"][op], bound.place(op)
    return {
        "operation": op,
        "bytes": int(row["bytes"]),
        "macs": int(row["macs"]),
        "released_by": ReleasedBy(int(time["released_by"])).name.lower(),
        "releaser": int(time["releaser"]),
        "source": str(place) if place else "",
    }
