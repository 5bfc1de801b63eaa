"""Programs that ask at run time whether a buffer is full: carried out statement by statement."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pantile.errors import PantileError, ProgramError
from pantile.errors import Place as SourcePlace
from pantile.program.tables import Kind
from pantile.simulate.bind import bind
from pantile.simulate.bound import unit_time
from pantile.simulate.dynamic import AsksWithoutEnd, DynamicExecutor
from pantile.simulate.engine import run as run_static
from pantile.simulate.outcome import Run, blank_times
from pantile.simulate.resources import Resources
from pantile.simulate.running import ThreadSource
from pantile.simulate.statement import CounterSpec, ResourceSpec, Statement, Sync, Use
from pantile.simulate.timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Hashable

    from pantile.machine import Machine
    from pantile.program.language.dynamic import DynamicRun, DynamicSource
    from pantile.program.language.plain import Step
    from pantile.program.program import Program
    from pantile.simulate.bound import BoundProgram, Rows
    from pantile.simulate.links import Route


def simulate_dynamic(
    source: DynamicSource, machine: Machine | None = None, *, route: Route | None = None
) -> Timeline:
    """Return when everything of a dynamic program happens on *machine*; its program is what was recorded.

    Args:
        source: The program, whose threads may ask.
        machine: What it runs on; without one every move and compute takes one tick and nothing is shared.
        route: Links between memories that the machine's paths alone do not give.

    Raises:
        ProgramError: If a statement is misused, or the machine lacks a place or a way.
    """
    resources = Resources(machine, route) if machine else None
    with source.start() as run:
        threads = [
            ThreadSource(_statements(run, number, resources), log.thread.pipelined)
            for number, log in enumerate(run.recording.logs)
        ]
        executor = DynamicExecutor(threads, _counters(run), _resources(resources))
        try:
            outcome = executor.run()
        except AsksWithoutEnd as error:
            error.place = run.asks_at(error.thread)
            raise
        program = run.program()
    bound = bind(program, machine, route=route) if machine else unit_time(program)
    if outcome.stuck or outcome.fault:  # say what it waits for as the recorded program has it
        again = run_static(bound)
        return Timeline(replace(bound, program=_reached(program, again)), again)
    return Timeline(bound, Run(_renumbered(executor, outcome.times, bound)))


def _reached(program: Program, run: Run) -> Program:
    """Return *program* without the misuses that *run* did not reach: what they lack was still to be made."""
    faults = program.parameters.get("faults", ())
    reached = [fault for fault in faults if run.times["order"][fault["op"]] >= 0]
    parameters = {name: value for name, value in program.parameters.items() if name != "faults"}
    return replace(program, parameters=parameters | ({"faults": reached} if reached else {}))


def _counters(run: DynamicRun) -> Callable[[Hashable], CounterSpec]:
    def spec(key: Hashable) -> CounterSpec:
        start = run.counter(key)
        return CounterSpec(start.initial, start.capacity, start.overflow)

    return spec


def _resources(resources: Resources | None) -> Callable[[Hashable], ResourceSpec]:
    def spec(key: Hashable) -> ResourceSpec:
        assert resources is not None
        assert isinstance(key, int)
        link = resources.links[resources.names[key]]
        return ResourceSpec(link.sharing, link.rate_bytes_per_second, link.latency_ticks, link.quantum_bytes)

    return spec


def _statements(
    run: DynamicRun, thread: int, resources: Resources | None
) -> Generator[Statement, int | None, None]:
    """Yield the statements of a thread, and hand it the answers to its queries."""
    steps = run.steps(thread)
    answer: int | None = None
    while True:
        try:
            step = steps.send(answer)
        except StopIteration:
            return
        try:
            statement = _statement(step, resources)
        except PantileError as error:
            place = SourcePlace(run.recording.logs[thread].thread.place.path, step.line)
            raise ProgramError(error.problem, place=place, mend=error.mend) from None
        answer = yield statement


def _statement(step: Step, resources: Resources | None) -> Statement:
    timed = step.kind in (Kind.MOVE, Kind.COMPUTE)
    return Statement(
        kind=Kind.CONTROL if step.query is not None else step.kind,
        opcode=step.opcode,
        syncs=tuple(
            Sync(each.counter, each.test, each.amount, each.edge, each.group, each.shown_as)
            for each in step.syncs
        ),
        uses=_uses(step, resources) if resources else (),
        ticks=int(timed and resources is None),
        query=step.query,
    )


def _uses(step: Step, resources: Resources) -> tuple[Use, ...]:
    """What a step takes, in route order: as :func:`~pantile.simulate.bind.bind` says it of its rows."""
    if step.kind == Kind.COMPUTE:
        engine, name = resources.engine(step.engine)
        if step.cycles is not None:
            return tuple(Use(*each) for each in resources.run_of_array(engine, name, *step.cycles))
        return (Use(resources.occupied(engine, name), resources.ticks(engine, step.macs)),)
    transfers = [(move.operand, move.src, move.dst, move.bytes) for move in step.moves]
    return tuple(Use(link, amount) for link, amount in resources.carry(transfers))


def _renumbered(executor: DynamicExecutor, times: Rows, bound: BoundProgram) -> Rows:
    """Return *times*, which are numbered as statements were reached, by operation of the recorded program."""
    operations = bound.tables["op"]["thread"].tolist()
    queues: dict[int, list[int]] = {}
    for number, (thread, statement) in sorted(executor.statements.items()):
        if statement.query is None:
            queues.setdefault(thread, []).append(number)
    numbers = {number: op for op, number in enumerate(_in_turn(queues, operations))}
    found = blank_times(len(operations))
    for number, op in numbers.items():
        row = times[number].copy()
        releaser = int(row["releaser"])
        while releaser >= 0 and releaser not in numbers:  # a query was let go by what came before it
            releaser = int(times["releaser"][releaser])
        row["releaser"] = numbers.get(releaser, -1)
        found[op] = row
    started = np.flatnonzero(found["order"] >= 0)
    ranks = np.argsort(found["order"][started], kind="stable")
    found["order"][started[ranks]] = np.arange(len(ranks))
    return found


def _in_turn(queues: dict[int, list[int]], threads: list[int]) -> list[int]:
    iterators = {thread: iter(numbers) for thread, numbers in queues.items()}
    return [next(iterators[thread]) for thread in threads]
