"""Stage 3: which core takes which block, and when.

Two ways: *linear* deals the blocks of all batches in one list; *batch_first* gives every batch a group of
cores of its own.

Source: asw-theory.md section 7; errata E-20 to E-24.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from pantile.planners.asw.block_order import BlockOrder, window_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pantile.planners.asw.problem import Problem

Assignment = Literal["linear", "batch_first"]
ASSIGNMENTS: tuple[Assignment, ...] = ("linear", "batch_first")


class Placed(NamedTuple):
    """One block, and where it runs.

    Attributes:
        core: The core that computes it.
        wave: How many blocks that core computes before it.
        batch: Its batch.
        row: Its row of blocks.
        column: Its column of blocks.
    """

    core: int
    wave: int
    batch: int
    row: int
    column: int


@dataclass(frozen=True, slots=True)
class Grid:
    """The blocks of a product.

    Attributes:
        batch: Batches.
        rows: Blocks of a batch along m.
        columns: Blocks of a batch along n.
        cores: Cores that there are.
    """

    batch: int
    rows: int
    columns: int
    cores: int

    @property
    def blocks(self) -> int:
        """Blocks of all batches."""
        return self.batch * self.rows * self.columns

    @property
    def used_cores(self) -> int:
        """Cores that get a block under ``linear``."""
        return min(self.blocks, self.cores)


def linear(grid: Grid, order: BlockOrder) -> Iterator[Placed]:
    """Yield every block: batch by batch in *order*, dealt to the cores in turn."""
    per_batch, used = grid.rows * grid.columns, grid.used_cores
    at = order.block_at(grid.rows, grid.columns)
    places = [at(position) for position in range(per_batch)]
    for index in range(grid.blocks):
        batch, position = divmod(index, per_batch)
        yield Placed(index % used, index // used, batch, *places[position])


def batch_first(grid: Grid, order: BlockOrder) -> Iterator[Placed]:
    """Yield every block, group by group: group g of G takes batches g, g + G, … on cores of its own.

    A group goes on with its next batch without waiting, and windows are as high as suits its cores.
    """
    groups = min(grid.batch, grid.cores)
    first = 0
    for group in range(groups):
        cores = group_cores(grid, group)
        at = replace(order, window=window_of(cores)).block_at(grid.rows, grid.columns)
        places = [at(position) for position in range(grid.rows * grid.columns)]
        for turn, batch in enumerate(range(group, grid.batch, groups)):
            for position, place in enumerate(places):
                wave, core = divmod(turn * len(places) + position, cores)
                yield Placed(first + core, wave, batch, *place)
        first += cores


def one_wave(grid: Grid, order: BlockOrder, assignment: Assignment, wave: int = 0) -> Iterator[Placed]:
    """Yield the blocks of a single wave, without going through the others."""
    per_batch = grid.rows * grid.columns
    if assignment == "linear":
        at, used = order.block_at(grid.rows, grid.columns), grid.used_cores
        for index in range(wave * used, min((wave + 1) * used, grid.blocks)):
            batch, position = divmod(index, per_batch)
            yield Placed(index % used, wave, batch, *at(position))
        return
    groups = min(grid.batch, grid.cores)
    first = 0
    known: dict[int, list[tuple[int, int, int]]] = {}  # groups of as many cores do alike
    for group in range(groups):
        cores = group_cores(grid, group)
        if cores not in known:
            at = replace(order, window=window_of(cores)).block_at(grid.rows, grid.columns)
            turns = (divmod(wave * cores + core, per_batch) for core in range(cores))
            known[cores] = [(turn, *at(position)) for turn, position in turns]
        batches = range(group, grid.batch, groups)
        for core, (turn, row, column) in enumerate(known[cores], first):
            if turn < len(batches):
                yield Placed(core, wave, batches[turn], row, column)
        first += cores


def group_cores(grid: Grid, group: int) -> int:
    """Return the cores of one group under ``batch_first``."""
    groups = min(grid.batch, grid.cores)
    return grid.cores // groups + (1 if group < grid.cores % groups else 0)


def rounds_of(grid: Grid, assignment: Assignment) -> tuple[int, int]:
    """Return the blocks of the busiest core, and the cores that have so many; 0 where all have."""
    if assignment == "linear":
        return -(-grid.blocks // grid.cores), grid.blocks % grid.cores
    groups = min(grid.batch, grid.cores)
    most = busy = 0
    for group in range(groups):
        cores = group_cores(grid, group)
        blocks = -(-(grid.batch - group) // groups) * grid.rows * grid.columns
        rounds = -(-blocks // cores)
        if rounds > most:
            most, busy = rounds, 0
        busy += (blocks - 1) % cores + 1 if rounds == most else 0
    return most, busy % grid.cores


def cores_in_use(grid: Grid, assignment: Assignment) -> int:
    """Return the cores that get a block."""
    if assignment == "linear":
        return grid.used_cores
    groups = min(grid.batch, grid.cores)
    per_batch = grid.rows * grid.columns
    return sum(
        min(group_cores(grid, group), -(-(grid.batch - group) // groups) * per_batch)
        for group in range(groups)
    )


def windows_of(grid: Grid, order: BlockOrder, assignment: Assignment) -> tuple[int, ...]:
    """Return the heights of windows: one, or under ``batch_first`` those of its larger and smaller groups."""
    if assignment == "linear":
        return (order.window,)
    groups = min(grid.batch, grid.cores)
    return tuple(dict.fromkeys(window_of(group_cores(grid, group)) for group in (0, groups - 1)))


def placed(grid: Grid, order: BlockOrder, assignment: Assignment) -> Iterator[Placed]:
    """Yield every block under one of the two ways."""
    return linear(grid, order) if assignment == "linear" else batch_first(grid, order)


def batches_at_once(grid: Grid) -> int:
    """Return the most batches that a wave touches under ``linear`` (E-22)."""
    per_batch = grid.rows * grid.columns
    return min(grid.batch, -(-(grid.used_cores - 1) // per_batch) + 1)


def grid_of(problem: Problem, rows: int, columns: int, cores: int) -> Grid:
    """Return the blocks of *problem* cut into so many rows and columns of them."""
    return Grid(problem.batch, rows, columns, cores)
