"""A bound program laid out in the compiled engine's memory, and its result read from there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.program.tables import Completes, Edge, Sharing
from pantile.simulate import layout as at
from pantile.simulate.outcome import TIMES, Fault, Run, Stuck, blank_times
from pantile.simulate.service import ratio

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.simulate.bound import BoundProgram, Ints, Rows


def lay_out(bound: BoundProgram, fill: Callable[..., None]) -> Ints:
    """Return the memory of *bound* before the first instant, the operations written by *fill*."""
    tables, ops = bound.tables, bound.operations
    shared = bound.resources["policy"][bound.use["resource"]] == Sharing.SHARED
    transfers = int((shared & (bound.use["amount"] > 0)).sum())
    chunks = np.abs(tables["sync"]["amount"][tables["sync"]["edge"] == Edge.ALONG])
    sizes = {
        at.THREADS: len(tables["thread"]) * at.THREAD_WIDTH,
        at.THREADS_END: 0,
        at.COUNTERS: len(tables["counter"]) * at.COUNTER_WIDTH,
        at.RESOURCES: len(bound.resources) * at.RESOURCE_WIDTH,
        at.ARBITERS: len(tables["arbiter"]) * at.ARBITER_WIDTH,
        "order": ops,
        at.OPS: (ops + 1) * at.OP_WIDTH,
        "rows": len(tables["sync"]) * at.ROW_WIDTH,
        "exclusive": len(bound.use) - int(shared.sum()),
        "shared": transfers * at.TRANSFER_WIDTH,
        "along": int(chunks.sum()) + len(chunks) * at.REACHED,
        **_heap_sizes(bound, transfers, int(chunks.sum())),
    }
    starts = np.cumsum([at.HEAD_WIDTH, *sizes.values()]).tolist()
    places = dict(zip(sizes, starts[:-1], strict=True))
    memory = np.empty(starts[-1], np.int64)
    memory[: at.HEAD_WIDTH], memory[at.HEAD_WIDTH : places["order"]] = 0, at.NONE
    memory[at.FAULT_OP] = memory[at.FIRST_RANK] = at.NONE
    memory[at.SPREAD] = len(chunks)
    for name, place in places.items():
        if isinstance(name, int):
            memory[name] = place
    _fill_threads(memory, bound, places["order"])
    _fill_counters(memory, tables["counter"])
    _fill_resources(memory, bound)
    _fill_arbiters(memory, bound)
    memory[places["order"] : places["order"] + ops] = memory[at.OPS] + _order(tables["op"]) * at.OP_WIDTH
    columns = (tables["op"], tables["sync"], bound.use, bound.resources, bound.ticks, bound.use_ticks)
    hanging = tuple(places[name] for name in ("rows", "exclusive", "shared", "along"))
    fill(memory, hanging, *map(_frozen, columns))
    return memory


def _order(ops: Rows) -> Ints:
    """Operations thread by thread; most programs list them so."""
    threads = np.ascontiguousarray(ops["thread"])
    if np.all(threads[1:] >= threads[:-1]):
        return np.arange(len(ops))
    return np.argsort(threads, kind="stable")


def _frozen(array: np.ndarray) -> np.ndarray:
    """Return *array* read-only and contiguous: what is compiled is compiled for that alone."""
    view = np.ascontiguousarray(array).view()
    view.setflags(write=False)
    return view


def read_run(memory: Ints, bound: BoundProgram) -> Run:
    """Return what the memory says after the last instant."""
    first = int(memory[at.OPS])
    table = _records(memory, at.OPS, bound.operations, at.OP_WIDTH)
    times = np.ascontiguousarray(table[:, at.FIRST_TIME :]).view(TIMES).reshape(-1)
    for row in _records(memory, at.THREADS, len(bound.tables["thread"]), at.THREAD_WIDTH):
        never = (memory[row[at.POSITION] : row[at.STOP]] - first) // at.OP_WIDTH  # its turn never came
        times[never] = blank_times(len(never))
    waiting = np.flatnonzero((times["finish"] < 0) & (times["releaser"] >= 0))  # by address until they finish
    times["releaser"][waiting] = (times["releaser"][waiting] - first) // at.OP_WIDTH
    if memory[at.FAULT_OP] < 0:
        return Run(times, _stuck(memory, bound))
    counter = (int(memory[at.FAULT_COUNTER]) - int(memory[at.COUNTERS])) // at.COUNTER_WIDTH
    fault = Fault(
        op=(int(memory[at.FAULT_OP]) - first) // at.OP_WIDTH,
        counter=counter,
        value=int(memory[at.FAULT_VALUE]),
        limit=int(memory[at.FAULT_LIMIT]),
    )
    return Run(times, (), fault)


def _stuck(memory: Ints, bound: BoundProgram) -> tuple[Stuck, ...]:
    found = []
    first = int(memory[at.OPS])
    for place, row in enumerate(_records(memory, at.THREADS, len(bound.tables["thread"]), at.THREAD_WIDTH)):
        watched, awaits = int(row[at.WATCHED]), int(row[at.AWAITS])
        if row[at.HEAD] < 0 or (watched < 0 and awaits < 0):
            continue
        counter = (watched - int(memory[at.COUNTERS])) // at.COUNTER_WIDTH if watched >= 0 else None
        resource = (awaits - int(memory[at.RESOURCES])) // at.RESOURCE_WIDTH if awaits >= 0 else None
        holder = (int(memory[awaits + at.HOLDER]) - first) // at.OP_WIDTH if awaits >= 0 else -1
        found.append(
            Stuck(
                thread=place,
                op=(int(row[at.HEAD]) - first) // at.OP_WIDTH,
                counter=counter,
                value=int(memory[watched + at.VALUE]) if watched >= 0 else 0,
                resource=resource,
                holder=holder,
            )
        )
    return tuple(found)


def _records(memory: Ints, kind: int, count: int, width: int) -> Ints:
    """The *count* records of a kind as a table; a view."""
    start = int(memory[kind])
    return memory[start : start + count * width].reshape(count, width)


def _heap_sizes(bound: BoundProgram, transfers: int, chunks: int) -> dict[int | str, int]:
    """Room for all that can be planned or pending at once, two numbers each; unused pages cost nothing."""
    threads, turns = len(bound.tables["thread"]), len(bound.tables["arbiter"])
    pipelined = bound.tables["thread"]["completes"] == Completes.PIPELINED
    # Of an in-order thread one operation at a time is under way; of a pipelined one, any number.
    many = int(pipelined[bound.tables["op"]["thread"]].sum()) if pipelined.any() else 0
    events = 2 * (threads + many + transfers + chunks) + turns + 8
    pending = 4 * threads + 2 * many + chunks + turns + 8
    return {at.EVENT_HEAP: 2 * events, at.PENDING_HEAP: 2 * pending}


def _fill_threads(memory: Ints, bound: BoundProgram, order: int) -> None:
    rows = bound.tables["thread"]
    thread = _records(memory, at.THREADS, len(rows), at.THREAD_WIDTH)
    counts = np.bincount(bound.tables["op"]["thread"], minlength=len(rows))
    edges = order + np.concatenate([[0], np.cumsum(counts)])
    thread[:, at.POSITION] = thread[:, at.PREFIX] = edges[:-1]
    thread[:, at.STOP] = edges[1:]
    thread[:, at.PIPELINED] = rows["completes"] == Completes.PIPELINED
    first = int(memory[at.ARBITERS])
    ids = bound.tables["arbiter"]["id"].tolist()
    addresses = {number: first + place * at.ARBITER_WIDTH for place, number in enumerate(ids)}
    thread[:, at.ARBITER] = [addresses.get(number, at.NONE) for number in rows["arbiter"].tolist()]
    thread[:, at.CANDIDATE] = 0


def _fill_counters(memory: Ints, rows: Rows) -> None:
    counter = _records(memory, at.COUNTERS, len(rows), at.COUNTER_WIDTH)
    counter[:, at.VALUE], counter[:, at.POSTED] = rows["initial"], 0
    counter[:, at.CAPACITY], counter[:, at.OVERFLOW] = rows["capacity"], rows["overflow"]


def _fill_resources(memory: Ints, bound: BoundProgram) -> None:
    table = _records(memory, at.RESOURCES, len(bound.resources), at.RESOURCE_WIDTH)
    for row, resource in zip(table, bound.resources, strict=True):
        row[at.HELD] = resource["rate"] == 0
        if resource["policy"] == Sharing.SHARED:
            row[at.NUMERATOR], row[at.DENOMINATOR] = ratio(int(resource["rate"]))
            row[at.SAFE] = (np.iinfo(np.int64).max - row[at.DENOMINATOR]) // row[at.NUMERATOR]
            row[at.QUANTUM] = resource["quantum"]


def _fill_arbiters(memory: Ints, bound: BoundProgram) -> None:
    rows = bound.tables["arbiter"]
    table = _records(memory, at.ARBITERS, len(rows), at.ARBITER_WIDTH)
    table[:, at.POLICY], table[:, at.ISSUES] = rows["policy"], rows["issues_per_tick"]
    table[:, at.TICKS] = bound.arbiter_ticks
    table[:, [at.ISSUED, at.AWAKE, at.WAITING]] = 0
