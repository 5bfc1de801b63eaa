"""Mutants of a program's synchronisation, and what becomes of each: for tests of any program.

    table = mutation.graded(program)             # what was done -> how it is reported -> how often
    print(mutation.rows_of(table))               # as a table of a page

Every row of the table ``sync`` is dropped, given another counter of its kind, or its operation is exchanged
with the one before or after it in its thread. A mutant without an error or a warning is *harmless*, proved
by the checker, and must execute to NumPy's product under random timings. Of any other the worst is told
that was shown: a witness or a run that executes to a wrong value, a run that stops. Nothing may be left
undecided, and no run may stop or go wrong without an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from pantile.check.order import Order
from pantile.check.program import check_program
from pantile.check.races import Race
from pantile.check.report import Grade, Report, Severity
from pantile.program.piece import Piece
from pantile.program.program import Program
from pantile.program.tables import Kind, Test
from pantile.simulate.bound import BoundProgram
from pantile.simulate.engine_plain import run_plain
from pantile.simulate.execute import execute, order_of
from pantile.simulate.timeline import Timeline

Table = Counter[tuple[str, str, str]]
HARMLESS, WRONG, EQUAL = "harmless", "wrong value", "equal bytes on this data"
HANGS, MAY_HANG = "hang", "hang under some timings"
TIMINGS = 3
"""Random timings under which a harmless mutant is executed."""


@dataclass(frozen=True)
class Mutant:
    """One change: ``drop post``, ``re-number wait``, ``swap post`` …, at an operation."""

    what: str
    op: int
    program: Program


def with_tables(program: Program, **tables: np.ndarray) -> Program:
    """The program with other tables."""
    fields = {name: getattr(program, name) for name in Program.__dataclass_fields__}
    return Program(**fields | {"pieces": (Piece({**program.pieces[0].tables, **tables}),)})


def mutants(program: Program) -> Iterator[Mutant]:
    """Drop and re-number every row of synchronisation; swap neighbours of a thread of which one has some."""
    tables = program.pieces[0].tables
    sync, counters, ops = tables["sync"], tables["counter"], tables["op"]
    for at, row in enumerate(sync):
        what, op = "post" if row["test"] == Test.POST else "wait", int(row["op"])
        yield Mutant(f"drop {what}", op, with_tables(program, sync=np.delete(sync, at)))
        alike = np.flatnonzero(counters["src"] == counters["src"][row["counter"]])
        if len(alike) > 1:
            other = sync.copy()
            other["counter"][at] = alike[(np.searchsorted(alike, row["counter"]) + 1) % len(alike)]
            yield Mutant(f"re-number {what}", op, with_tables(program, sync=other))
    waits = np.unique(sync["op"][sync["test"] != Test.POST])
    for thread in np.unique(ops["thread"]).tolist():
        mine = np.flatnonzero(ops["thread"] == thread)
        for pair in pairwise(mine.tolist()):
            found = [op for op in pair if op in sync["op"]]
            if found:
                what = "wait" if found[0] in waits else "post"
                yield Mutant(f"swap {what}", found[0], exchanged(program, *pair))


def exchanged(program: Program, one: int, other: int) -> Program:
    """The program in which two operations have changed places, with all that belongs to them."""
    tables = dict(program.pieces[0].tables)
    places = np.arange(len(tables["op"]))
    places[[one, other]] = other, one
    for name in ("sync", "access", "box"):
        rows = tables[name].copy()
        rows["op"] = places[rows["op"]]
        tables[name] = rows[np.argsort(rows["op"], kind="stable")]
    ops = tables["op"][places]
    ops["id"] = ops["listing_index"] = np.arange(len(ops))
    tables["op"] = ops
    moved = with_tables(program, **tables)
    lives = [
        [*life[:3], *(int(places[op]) if op >= 0 else op for op in life[3:])]
        for life in program.parameters.get("lives", ())
    ]
    forwarding = sorted(int(places[op]) for op in program.parameters.get("forwarding", ()))
    return replace_parameters(moved, lives=lives, forwarding=forwarding)


def replace_parameters(program: Program, **parameters: Any) -> Program:
    """The program with other parameters."""
    return replace(program, parameters={**program.parameters, **parameters})


@dataclass(frozen=True)
class Trial:
    """Arrays for a program and the product that it should give."""

    arrays: dict[str, np.ndarray]
    product: np.ndarray

    @classmethod
    def of(cls, program: Program, seed: int = 11) -> Trial:
        """Small whole numbers, so that every order of summation gives the same."""
        rng = np.random.default_rng(seed)
        inputs = {
            each.name.lower(): rng.integers(1, 9, each.dims).astype(np.float32)
            for each in program.operands
            if each.name != program.parameters["output"]
        }
        subscripts = program.parameters["tiling"]["subscripts"]
        return cls(inputs, np.einsum(subscripts, *inputs.values()))

    def is_right(self, program: Program, order: Any = None) -> bool:
        """Whether the program computes the product in that order."""
        return np.array_equal(next(iter(execute(program, self.arrays, order).values())), self.product)

    def judge(self, program: Program) -> Any:
        """What the checker asks what a witness does to the values."""

        def say(race: Race, order: Order) -> tuple[Grade, Severity, str]:
            if self.is_right(program, race.witness.tolist()):
                return "unordered, equal bytes on this data", "warning", "values are equal on this data"
            return "wrong value", "error", "executed in that order, values differ from NumPy's"

        return say


def timed(program: Program, seed: int) -> Timeline:
    """A run in which every move and compute takes a random time; runs of an array leave it in their order."""
    tables = program.tables()
    rng = np.random.default_rng(seed)
    works = (tables["op"]["kind"] == Kind.MOVE) | (tables["op"]["kind"] == Kind.COMPUTE)
    ticks = np.where(works, rng.integers(1, 50, len(works)), 0).astype(np.int64)
    ticks[list(program.parameters.get("forwarding", ()))] = rng.integers(1, 50)
    bound = BoundProgram(program, tables, ticks=ticks, arbiter_ticks=np.ones(0, np.int64))
    return Timeline(bound, run_plain(bound))


def told(report: Report) -> str:
    """The codes of a report, whose notes do not count."""
    found = {each.code for each in report.findings if each.severity != "note"}
    return ", ".join(sorted(found)) or HARMLESS


def grade(mutant: Mutant, trial: Trial) -> tuple[str, str]:
    """How a mutant is reported, and the worst that was shown; fails if a run contradicts the report."""
    program, name = mutant.program, (mutant.what, mutant.op)
    report = check_program(program, budget=20_000, judge=trial.judge(program))
    word = told(report)
    assert "PT-UNDECIDED" not in word, (name, str(report))
    runs = [timed(program, seed) for seed in range(TIMINGS)]
    stopped = [run for run in runs if not run.finished]
    right = [trial.is_right(program, order_of(run.times)) for run in runs if run.finished]
    if word == HARMLESS:
        assert all(right), name
        assert not stopped, name
        assert {"races", "deadlock"} <= {each.partition(":")[0] for each in report.proved}
        return word, "proved: every order gives the product"
    grades = {each.grade for each in report.findings}
    if stopped:
        assert {"PT-DEADLOCK", "PT-STATE", "PT-UNPAIRED"} & {each.code for each in report.findings}, name
    if "wrong value" in grades or not all(right):
        assert not report.ok, name
        return word, WRONG
    if "hang" in grades or stopped:
        return word, HANGS if len(stopped) == TIMINGS else MAY_HANG
    return word, "leak" if "leak" in grades else EQUAL


def graded(program: Program) -> Table:
    """How every mutant of a program is reported and what was shown, by what was done to it."""
    trial = Trial.of(program)
    assert told(check_program(program)) == HARMLESS
    assert trial.is_right(program)
    table: Table = Counter()
    for mutant in mutants(program):
        table[(mutant.what, *grade(mutant, trial))] += 1
    return table


def rows_of(table: Table) -> list[str]:
    """The rows of a table on a page."""
    return [
        f"| {what} | {count} | {word} | {shown} |" for (what, word, shown), count in sorted(table.items())
    ]
