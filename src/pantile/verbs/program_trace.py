"""A run of a program as a trace file for ui.perfetto.dev."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.errors import UsageError
from pantile.program.tables import Kind, ReleasedBy
from pantile.view.trace import Slice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pantile.simulate.timeline import Timeline

TRACED_OPERATIONS = 500_000
"""Operations that a trace holds at most."""


def slices_of_program(timeline: Timeline) -> Iterator[Slice]:
    """Yield one slice per move, per compute and per wait that took time, thread by thread.

    Raises:
        UsageError: If the program is too long.
    """
    bound = timeline.bound
    if bound.operations > TRACED_OPERATIONS:
        raise UsageError(
            f"a trace holds {TRACED_OPERATIONS} operations at most, the program has {bound.operations}",
            mend="trace a smaller product",
        )
    ops, threads, program = bound.tables["op"], bound.tables["thread"], bound.program
    for op in np.flatnonzero(timeline.times["asked"] >= 0).tolist():
        row, time = ops[op], timeline.times[op]
        thread = threads[int(row["thread"])]
        unit = program.text(int(thread["name"])) or str(int(thread["id"]))
        name, works = program.text(int(row["opcode"])), row["kind"] in (Kind.MOVE, Kind.COMPUTE)
        place = bound.place(op)
        details: dict[str, int | str] = {
            "operation": op,
            "bytes": int(row["bytes"]),
            "macs": int(row["macs"]),
            "released_by": ReleasedBy(int(time["released_by"])).name.lower(),
            "releaser": int(time["releaser"]),
            "source": str(place) if place else "",
        }
        start = int(time["start"]) if time["start"] >= 0 else timeline.total
        core = max(0, int(thread["core"]))
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
