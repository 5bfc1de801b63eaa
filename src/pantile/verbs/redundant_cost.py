"""What time synchronisation costs that orders nothing: the run without it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from pantile.program.piece import Piece
from pantile.program.tables import Edge, Overflow, Test
from pantile.simulate.engine import run
from pantile.simulate.timeline import Timeline

if TYPE_CHECKING:
    from pantile.program.program import Program

MOST_SIMULATED = 1_000_000
"""Operations that one check simulates again in all."""


@dataclass(eq=False)
class RedundantCost:
    """Says what redundant waits cost on a machine; a :data:`~pantile.check.redundant.Cost`.

    Attributes:
        timeline: The run with all of them.
        simulated: Operations simulated again so far.
    """

    timeline: Timeline
    simulated: int = field(default=0, init=False)

    def __call__(self, operations: tuple[int, ...]) -> str:
        """Return what the waits of *operations* cost together, in words; empty if that is not known."""
        bound = self.timeline.bound
        machine = bound.machine
        if machine is None or not self.timeline.finished:
            return ""
        if self.simulated + bound.operations > MOST_SIMULATED:
            return "what it costs was not simulated: the program is too long"
        self.simulated += bound.operations
        program = without_waits(bound.program, operations)
        freed = replace(bound, program=program, tables=program.tables())
        found = Timeline(freed, run(freed))
        if not found.finished:
            return ""
        before, after = self.timeline.cycles, found.cycles
        if before == after:
            return f"it costs no time on {machine.name}: {before} cycles without it, too"
        change = (
            f"it costs {before - after} cycles" if after < before else f"it saves {after - before} cycles"
        )
        return f"{change} on {machine.name}: {before} with it, {after} without"


def without_waits(program: Program, operations: tuple[int, ...]) -> Program:
    """Return a literal program in which *operations* wait for nothing.

    What they took from counters is still taken, as a post below zero: so every other wait waits for the same
    post as before.
    """
    tables = program.tables()
    sync = tables["sync"].copy()
    mine = np.isin(sync["op"], operations) & (sync["test"] != Test.POST)
    takes = mine & (sync["test"] == Test.TAKE)
    sync["test"][takes] = Test.POST
    sync["amount"][takes] *= -1
    sync["edge"][takes] = Edge.BEFORE_START
    sync["group"][takes] = -1
    counters = tables["counter"].copy()
    counters["overflow"][np.isin(counters["id"], sync["counter"][takes])] = Overflow.NONE
    changed = {**tables, "sync": sync[~mine | takes], "counter": counters}
    return replace_tables(program, changed)


def replace_tables(program: Program, tables: dict[str, np.ndarray]) -> Program:
    """Return a literal program with other tables."""
    from pantile.program.program import Program as Tables

    fields = {name: getattr(program, name) for name in Tables.__dataclass_fields__}
    return Tables(**{**fields, "pieces": (Piece(tables),)})
