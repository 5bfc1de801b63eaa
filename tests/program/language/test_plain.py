"""Statement by statement: the same as in columns, for every kind of statement."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any as Anything

import pytest

from pantile.errors import ProgramError
from pantile.language import (
    DDR,
    SRAM,
    Any,
    Buffer,
    Chiplet,
    Compute,
    Core,
    Program,
    Range,
    Tile,
    barrier,
    compute,
    destroy,
    finish_reading,
    finish_writing,
    load_store,
    start_reading,
    start_writing,
    thread,
)

GRID = Chiplet(2, 2)


def exchange(tiling: Anything) -> list[Anything]:
    """One chiplet loads and hands on to another, with an array of buffers and barriers."""
    buffers = Buffer(slots=2, array=GRID, name="ring")
    west, east = GRID[0, 0], GRID[0, 1]

    @thread
    def load() -> None:
        for d in Range(tiling.D):
            buffers[{west, east}].acquire()
            tile = Tile(tiling, d)
            start_writing(tile.at(west))
            load_store(src=DDR(0), dst=SRAM(west), tile=tile)
            finish_writing(tile.at(west))
            start_writing(tile.at(east).X)
            load_store(src=SRAM(west), dst=SRAM(east), tile=tile.X)
            finish_writing(tile.at(east).X)
            barrier(load, use)

    @thread(core=east)
    def use() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=Any)
            start_reading(tile.X)
            compute(tile.at(west))
            finish_reading(tile.X)
            barrier(load, use)
            destroy(tile.at(west))
            destroy(tile.at(east).X)
            buffers[west].release()
            buffers[east].release()

    return [load, use]


def updates(tiling: Anything) -> list[Anything]:
    """An output with a state of its own, updated step by step, and weights that are kept."""
    core = Core(0, 0)
    sram = SRAM(core)

    @thread
    def run() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=core)
            start_writing(tile.X)
            load_store(src=DDR(0), dst=sram, tile=tile.X, reuse=True)
            load_store(src=DDR(0), dst=sram, tile=tile.X, reuse=True)
            finish_writing(tile.X)
            if d.first("t") and d.first("o"):
                start_writing(tile.W)
                load_store(src=DDR(0), dst=sram, tile=tile, reuse=True)
                finish_writing(tile.W)
            start_reading(tile.X)
            start_writing(tile.Y, update=not d.first("i"))
            load_store(src=sram, dst=Compute(core), tile=tile.X)
            finish_writing(tile.Y)
            finish_reading(tile.X)
            destroy(tile.X)
            load_store(src=DDR(0), dst=sram, tile=tile.Y)
            load_store(src=sram, dst=DDR(0), tile=tile, spill=True)

    return [run]


def bundle_parts(tiling: Anything) -> list[Anything]:
    """Operands of bundles, addressed alone while the bundle is the one named last."""
    core = Core(0, 0)

    @thread
    def run() -> None:
        for o in (0, 1):
            tile = Tile(tiling, (0, o, 0), location=core)
            start_writing(tile)
            load_store(src=DDR(0), dst=SRAM(core), tile=tile.X)
            load_store(src=DDR(0), dst=SRAM(core), tile=tile.W, reuse=True)
            load_store(src=DDR(0), dst=SRAM(core), tile=tile.X, reuse=True)
            finish_writing(tile)

    return [run]


@pytest.mark.parametrize("threads", [exchange, updates, bundle_parts])
def test_statement_by_statement_it_means_the_same_as_in_columns(
    kit: SimpleNamespace, threads: Callable[[Anything], list[Anything]]
) -> None:
    tiling = kit.tiling()
    made = threads(tiling)
    static = Program(tiling, *made, grid=GRID)
    with Program(tiling, *made, grid=GRID, dynamic=True).start() as run:
        for number in range(len(made)):
            assert kit.step_words(static, list(run.steps(number)), run.counter) == kit.row_words(
                static, number
            )


def test_any_without_a_grid_must_be_named(kit: SimpleNamespace) -> None:
    tiling = kit.tiling()
    tile = Tile(tiling, (0, 0, 0))

    @thread
    def run_it() -> None:
        for core in GRID:
            start_writing(tile.at(core))
        start_reading(tile.at(Any))

    with Program(tiling, run_it, dynamic=True).start() as run:
        steps = run.steps(0)
        for _ in GRID:
            next(steps)
        with pytest.raises(
            ProgramError, match=r"at Any: the places that have a copy are sram@\(0,0\), sram@"
        ):
            next(steps)


def test_without_a_copy_on_chip_the_only_memory_is_read(kit: SimpleNamespace) -> None:
    tiling = kit.tiling()
    tile = Tile(tiling, (0, 0, 0))

    @thread
    def run_it() -> None:
        load_store(src=DDR(0), dst=SRAM(), tile=Tile(tiling, (0, 0, 1)))
        load_store(src=Any, dst=SRAM(), tile=tile)

    with Program(tiling, run_it, dynamic=True).start() as run:
        assert [move.src for step in run.steps(0) for move in step.moves] == ["ddr@0"] * 4
