"""From a mesh plan to its program, written in the statements of the tile language.

Every chiplet has threads that fetch its shards of a and of b (for ``summa`` two each: what it owns, and what
it is passed), and one that multiplies and stores. A fetch takes a slot, then the shard: from a memory off
chip, or from a neighbour's copy. A copy is destroyed when its chiplet has multiplied it and every neighbour
that takes it has it, which a barrier of just these threads sees to. So a full buffer makes a fetch wait, and
nobody skips a tile.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

from pantile.program.language.buffers import Buffer
from pantile.program.language.lower import lower as lower_recording
from pantile.program.language.places import DDR, SRAM, Core
from pantile.program.language.places import Chiplet as Grid
from pantile.program.language.run import record
from pantile.program.language.statements import (
    barrier,
    compute,
    destroy,
    finish_reading,
    finish_writing,
    load_store,
    start_reading,
    start_writing,
)
from pantile.program.language.threads import Thread
from pantile.targets.mesh.schedule import Schedule
from pantile.tiling.tile import Tile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pantile.program.program import Program
    from pantile.targets.mesh.schedule import Chiplet, Input
    from pantile.tiling.operand import OperandTile
    from pantile.tiling.plan import Plan
    from pantile.tiling.tiling import Tiling

SOURCE = "pantile/targets/mesh/lower.py"
"""The file that operations come from, as it is called wherever the package is installed."""

INPUTS: tuple[Input, Input] = ("a", "b")
_NAMES = {"a": "X", "b": "W"}
"""The tile language's names of the inputs."""


@dataclass(frozen=True)
class Work:
    """What the threads of one program share.

    Attributes:
        tiling: Cuts b, m, n and k into pieces.
        schedule: The steps of a round.
        rounds: Products, rounds along m and rounds along n.
        columns: Columns of the whole grid, of which the schedule's may be a corner.
        slots: Slots of every chiplet for either input.
    """

    tiling: Tiling
    schedule: Schedule
    rounds: tuple[int, int, int]
    columns: int
    slots: int

    def ddr(self, chiplet: Chiplet) -> DDR:
        """Return the memory that is wired to *chiplet*."""
        return DDR(chiplet[0] * self.columns + chiplet[1])

    def blocks(self) -> Iterator[tuple[int, int, int]]:
        """Yield the rounds in order: product, rows, columns."""
        batches, rows, columns = self.rounds
        return product(range(batches), range(rows), range(columns))

    def tile(self, chiplet: Chiplet, block: tuple[int, int, int], step: int) -> Tile:
        """Return the tile that *chiplet* computes in one step of one round."""
        batch, rows, columns = block
        row = rows * self.schedule.rows + chiplet[0]
        column = columns * self.schedule.columns + chiplet[1]
        piece = self.schedule.piece(chiplet, step)
        return Tile(self.tiling, ((batch, row, column, piece),), location=Core(*chiplet))

    def shard(self, operand: Input, chiplet: Chiplet, block: tuple[int, int, int], step: int) -> OperandTile:
        """Return the shard of one input that *chiplet* needs in one step of one round."""
        return self.tile(chiplet, block, step).operand(_NAMES[operand])

    @cached_property
    def buffers(self) -> dict[tuple[Input, str], Buffer]:
        """Slots of every chiplet, by input and lane."""
        return {
            (operand, lane): Buffer(slots=self.slots, array=list(self.schedule), name=_named(operand, lane))
            for operand in INPUTS
            for lane in self.schedule.lanes
        }

    @cached_property
    def fetchers(self) -> dict[tuple[Input, str, Chiplet], Thread]:
        """The threads that bring shards, by input, lane and chiplet."""
        return {
            (operand, lane, chiplet): _fetcher(self, operand, lane, chiplet)
            for chiplet in self.schedule
            for operand in INPUTS
            for lane in self.schedule.lanes
        }

    @cached_property
    def multipliers(self) -> dict[Chiplet, Thread]:
        """The threads that multiply, by chiplet."""
        return {chiplet: _multiplier(self, chiplet) for chiplet in self.schedule}

    def handed_on(self, operand: Input, giver: Chiplet, step: int) -> None:
        """Meet, in a thread of *giver* or of a taker: the shard that *giver* got for *step* is used up."""
        takers = self.schedule.takers(operand, giver, step)
        if takers:
            lane = self.schedule.lanes[-1]
            barrier(self.multipliers[giver], *(self.fetchers[operand, lane, each] for each in takers))

    def round_over(self, operand: Input, giver: Chiplet) -> None:
        """Meet, in a thread of *giver* or of a taker: the shards that *giver* got in a round are destroyed.

        A shard may come again in the next round: whoever takes it must not take the old one.
        """
        takers = {
            each for step in range(self.schedule.steps) for each in self.schedule.takers(operand, giver, step)
        }
        if takers:
            lane = self.schedule.lanes[-1]
            barrier(self.multipliers[giver], *(self.fetchers[operand, lane, each] for each in sorted(takers)))


def _fetcher(work: Work, operand: Input, lane: str, chiplet: Chiplet) -> Thread:
    """The thread that fills one buffer of one input on one chiplet."""
    core, schedule = Core(*chiplet), work.schedule
    every = (schedule.giver(operand, chiplet, step) for step in range(schedule.steps))
    givers = sorted({giver for giver in every if giver is not None})

    def fetch() -> None:
        begun = None
        for block, step in product(work.blocks(), range(schedule.steps)):
            if schedule.lane(operand, chiplet, step) != lane:
                continue
            shard = work.shard(operand, chiplet, block, step)
            giver = schedule.giver(operand, chiplet, step)
            work.buffers[operand, lane][core].acquire()
            start_writing(shard)
            if giver is None:
                load_store(work.ddr(schedule.owner(operand, chiplet, step)), SRAM(core), shard)
                finish_writing(shard)
                continue
            if begun not in (None, block):
                for each in givers:
                    work.round_over(operand, each)
            begun = block
            theirs = work.shard(operand, giver, block, step - schedule.lag)
            start_reading(theirs)
            load_store(SRAM(Core(*giver)), SRAM(core), theirs)
            finish_reading(theirs)
            finish_writing(shard)
            work.handed_on(operand, giver, step - schedule.lag)

    return Thread(fetch, f"fetch {_named(operand, lane)} {_at(chiplet)}", core)


def _multiplier(work: Work, chiplet: Chiplet) -> Thread:
    """The thread that multiplies on one chiplet, and stores what it has computed."""
    core, schedule = Core(*chiplet), work.schedule

    *_, last = work.blocks()

    def multiply() -> None:
        for block, step in product(work.blocks(), range(schedule.steps)):
            tile = work.tile(chiplet, block, step)
            start_reading(tile)
            compute(tile)
            finish_reading(tile)
            for operand in INPUTS:
                work.handed_on(operand, chiplet, step)
                destroy(work.shard(operand, chiplet, block, step))
                work.buffers[operand, schedule.lane(operand, chiplet, step)][core].release()
            if step == schedule.steps - 1:
                load_store(SRAM(core), work.ddr(chiplet), tile.Y)
                if block != last:
                    for operand in INPUTS:
                        work.round_over(operand, chiplet)

    return Thread(multiply, f"multiply {_at(chiplet)}", core)


def _named(operand: Input, lane: str) -> str:
    return f"{operand} {lane}" if lane else operand


def _at(chiplet: Chiplet) -> str:
    return f"({chiplet[0]},{chiplet[1]})"


def lower(plan: Plan, *, name: str) -> Program:
    """Return the program of a feasible mesh plan.

    Args:
        plan: What ``plan_cannon`` or ``plan_summa`` returned.
        name: What listings call it.
    """
    assert plan.tiling is not None
    work = work_of(plan)
    threads = [*work.fetchers.values(), *work.multipliers.values()]
    grid = Grid(plan.parameters["machine_grid"][0], plan.parameters["machine_grid"][1])
    recording = record(plan.tiling, threads, grid=grid)
    dtypes = dict(zip(("X", "W", "Y"), plan.parameters["dtypes"], strict=True))
    program = lower_recording(recording, name=name, dtypes=dtypes, grid=grid)
    return replace(program, parameters={**program.parameters, "files": SOURCE})


def work_of(plan: Plan) -> Work:
    """Return what the threads of a plan's program share."""
    assert plan.tiling is not None
    figures = plan.parameters
    rows, columns = figures["grid"]
    batch, m, n, k = figures["pieces"]
    return Work(
        plan.tiling,
        Schedule(figures["exchange"], rows, columns, k),
        (batch, m // rows, n // columns),
        figures["machine_grid"][1],
        plan.buffering["sram"],
    )
