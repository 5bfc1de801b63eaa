"""A run as text: one line per thread over time, and why it ended where it did."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.program.tables import Kind, Test
from pantile.simulate.classes import COMPUTE, ISSUE, LOAD, PARTS, STORE, thread_segments
from pantile.simulate.spans import merged, ticks_before

if TYPE_CHECKING:
    from pantile.simulate.bound import BoundProgram, Ints, Rows
    from pantile.simulate.classes import Classes
    from pantile.simulate.outcome import Run, Stuck

_MARKS = {COMPUTE: "#", LOAD: "<", STORE: ">", ISSUE: ":"}
"""What stands for an operation under way, by class; ``.`` stands for every wait."""

LEGEND = "# compute   < load   > store   : other   . waits"


def lanes(bound: BoundProgram, classes: Classes, times: Rows, total: int, width: int = 72) -> list[str]:
    """Return one line per thread: what it did most of in each of *width* equal spans of time."""
    names = [bound.program.text(int(row["name"])) or str(row["id"]) for row in bound.tables["thread"]]
    label = max((len(name) for name in names), default=0)
    edges = np.arange(width + 1) * total // width
    drawn = [_lane(bound, classes, times, thread, edges) for thread in range(len(names))]
    return [f"{name:<{label}} |{lane}|" for name, lane in zip(names, drawn, strict=True)]


def _lane(bound: BoundProgram, classes: Classes, times: Rows, thread: int, edges: Ints) -> str:
    """The mark of what a thread does most of between every two of *edges*."""
    ops = np.flatnonzero((bound.tables["op"]["thread"] == thread) & (times["finish"] >= 0))
    carried = classes.carried[ops]
    spent = []
    for each in _MARKS:
        mine = ops[carried == each]
        spent.append(np.diff(ticks_before(edges, *merged(times["start"][mine], times["finish"][mine]))))
    starts, stops, _ = thread_segments(bound, classes, times, thread)
    waits = np.arange(len(starts)) % PARTS < PARTS - 1
    left = np.maximum(np.diff(edges) - sum(spent), 0)
    waited = np.minimum(np.diff(ticks_before(edges, starts[waits], stops[waits])), left)
    best = np.stack([*spent, waited, left - waited]).argmax(axis=0)
    return "".join([*_MARKS.values(), ".", " "][each] for each in best)


_WORDS = {Test.TAKE: "take", Test.REACH: "reach"}


def counter_name(bound: BoundProgram, counter: int) -> str:
    """Return how messages call a counter: by what it orders, and its key where that is not all."""
    row = bound.tables["counter"][counter]
    ends = [bound.program.text(int(row[end])) for end in ("src", "dst") if row[end] >= 0]
    return f"{' > '.join(ends)} {row['key']}".strip() if ends else f"counter {row['key']}"


def operation_name(bound: BoundProgram, op: int) -> str:
    """Return how messages call an operation: its number, opcode and line."""
    place = bound.place(op)
    opcode = (
        bound.program.text(int(bound.tables["op"]["opcode"][op]))
        or Kind(bound.tables["op"]["kind"][op]).name.lower()
    )
    return f"operation {op} ({opcode}{f' at {place}' if place else ''})"


def stuck_sentence(bound: BoundProgram, stuck: Stuck) -> str:
    """Return why a thread cannot go on."""
    thread = bound.program.text(int(bound.tables["thread"]["name"][stuck.thread])) or str(stuck.thread)
    head = f"thread {thread} stands at {operation_name(bound, stuck.op)}"
    if isinstance(stuck.resource, int):
        held = operation_name(bound, stuck.holder)
        return f"{head}: waits for {bound.resource_names[stuck.resource]}, which {held} holds"
    assert isinstance(stuck.counter, int)
    sync = bound.tables["sync"]
    rows = sync[(sync["op"] == stuck.op) & (sync["counter"] == stuck.counter) & (sync["test"] != Test.POST)]
    wants = ["zero" if row["test"] == Test.ZERO else f"{_WORDS[row['test']]} {row['amount']}" for row in rows]
    name = counter_name(bound, stuck.counter)
    return f"{head}: waits for {' and '.join(wants)} of {name}, which is {stuck.value}"


def end_sentences(bound: BoundProgram, run: Run) -> list[str]:
    """Return what stopped a run that did not come to its end."""
    lines = [stuck_sentence(bound, stuck) for stuck in run.stuck]
    if run.fault and isinstance(run.fault.counter, int):
        fault = run.fault
        over = f"above its capacity of {fault.limit}" if fault.value > 0 else "below 0"
        name = counter_name(bound, run.fault.counter)
        lines.append(f"{operation_name(bound, fault.op)} takes {name} to {fault.value}, {over}")
    return lines
