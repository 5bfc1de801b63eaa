"""The static engine in plain Python: the rows of a bound program as statements, for the dynamic executor."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from pantile.program.tables import ArbiterPolicy, Completes, Edge, Kind, Overflow, Sharing, Test
from pantile.simulate.dynamic import DynamicExecutor
from pantile.simulate.outcome import Run, blank_times
from pantile.simulate.running import ArbiterSpec, ThreadSource
from pantile.simulate.statement import CounterSpec, ResourceSpec, Statement, Sync, Use

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from pantile.simulate.bound import BoundProgram, Ints, Rows


def run_plain(bound: BoundProgram) -> Run:
    """Run *bound* without compiling anything; counters, resources and threads are known by position."""
    places = {int(each): place for place, each in enumerate(bound.tables["arbiter"]["id"])}
    executor = DynamicExecutor(
        [
            ThreadSource(
                iter(statements), row["completes"] == Completes.PIPELINED, places.get(int(row["arbiter"]), -1)
            )
            for row, statements in zip(bound.tables["thread"], thread_statements(bound), strict=True)
        ],
        counter_specs(bound),
        resource_specs(bound),
        [
            ArbiterSpec(ArbiterPolicy(row["policy"]), int(row["issues_per_tick"]), int(ticks))
            for row, ticks in zip(bound.tables["arbiter"], bound.arbiter_ticks, strict=True)
        ],
    )
    run = executor.run()
    times = blank_times(bound.operations)  # those that no thread came to included
    times[: len(run.times)] = run.times
    return Run(times, run.stuck, run.fault)


def thread_statements(bound: BoundProgram) -> list[Iterator[Statement]]:
    """Return the operations of every thread as statements, made as they are asked for."""
    ops, count = bound.tables["op"], bound.operations
    order = np.argsort(ops["thread"], kind="stable")
    edges = np.searchsorted(ops["thread"][order], np.arange(len(bound.tables["thread"]) + 1))
    sync_starts = np.searchsorted(bound.tables["sync"]["op"], np.arange(count + 1))
    use_starts = np.searchsorted(bound.use["op"], np.arange(count + 1))
    return [_statements(bound, order[start:stop], sync_starts, use_starts) for start, stop in pairwise(edges)]


def _statements(bound: BoundProgram, ops: Ints, syncs: Ints, uses: Ints) -> Iterator[Statement]:
    kinds, opcodes = bound.tables["op"]["kind"], bound.tables["op"]["opcode"]
    for op in ops.tolist():
        yield Statement(
            kind=Kind(kinds[op]),
            opcode=bound.program.text(opcodes[op]),
            syncs=_syncs(bound.tables["sync"][syncs[op] : syncs[op + 1]]),
            uses=tuple(
                Use(resource, amount)
                for _, resource, _, amount in bound.use[uses[op] : uses[op + 1]].tolist()
            ),
            ticks=int(bound.ticks[op]),
            number=op,
        )


def _syncs(rows: Rows) -> tuple[Sync, ...]:
    return tuple(
        Sync(counter=counter, test=Test(test), amount=amount, edge=Edge(edge), group=group)
        for _, edge, counter, test, amount, group, _ in rows.tolist()
    )


def counter_specs(bound: BoundProgram) -> Callable[[Hashable], CounterSpec]:
    """Return what says how a counter begins, by its position."""
    specs = {
        number: CounterSpec(initial, capacity, Overflow(overflow))
        for number, _, _, _, initial, capacity, overflow in bound.tables["counter"].tolist()
    }
    return lambda key: specs[key]


def resource_specs(bound: BoundProgram) -> Callable[[Hashable], ResourceSpec]:
    """Return what says what a resource is, by its position."""
    specs = {
        number: ResourceSpec(Sharing(policy), rate, latency, quantum)
        for number, _, _, policy, rate, latency, quantum, _ in bound.resources.tolist()
    }
    return lambda key: specs[key]
