"""Tiles that chiplets hand on to one another: copies at several places, an array of buffers, two readers."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from pantile.language import (
    DDR,
    SRAM,
    Buffer,
    Chiplet,
    Compute,
    Core,
    Program,
    Thread,
    Tile,
    Tiling,
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

GRID = Chiplet(1, 2)
WEST, EAST = GRID
DDR0 = DDR(0)
STEPS = 3


def ring(slots: int) -> Program:
    """West loads X and hands it on; both multiply it by weights of their own, for half the outputs each."""
    tiling = Tiling("ti,oi->to", total=(4, 4, 4 * STEPS), D=(1, 2, STEPS), S=(4, 2, 4))
    inputs = Buffer(slots=slots, array=GRID, name="inputs")
    threads: list[Thread] = []

    @thread(core=WEST)
    def load() -> None:
        for i in range(STEPS):
            x = Tile(tiling, (0, 0, i), location=WEST).X
            inputs[WEST].acquire()
            start_writing(x)
            load_store(src=DDR0, dst=SRAM(WEST), tile=x)
            finish_writing(x)

    @thread(core=WEST)
    def hand_on() -> None:
        for i in range(STEPS):
            here, there = (Tile(tiling, (0, 0, i), location=core).X for core in GRID)
            inputs[EAST].acquire()
            start_reading(here)
            start_writing(there)
            load_store(src=SRAM(WEST), dst=SRAM(EAST), tile=here)
            finish_writing(there)
            finish_reading(here)
            barrier(hand_on, threads[2])  # both have read what west has

    threads += [load, hand_on, *(multiplier(tiling, core, inputs, threads) for core in GRID)]
    return Program(tiling, *threads, dtype="int32", grid=GRID)


def multiplier(tiling: object, core: Core, inputs: Buffer, threads: list[Thread]) -> Thread:
    @thread(name=f"multiply at {core.at[1]}", core=core)
    def multiply() -> None:
        for i in range(STEPS):
            tile = Tile(tiling, (0, core.at[1], i), location=core)  # type: ignore[arg-type]
            start_writing(tile.W)
            load_store(src=DDR0, dst=SRAM(core), tile=tile.W)
            finish_writing(tile.W)
            start_reading(tile)
            load_store(src=SRAM(core), dst=Compute(core), tile=tile)
            compute(tile)
            finish_reading(tile)
            if core == WEST:
                barrier(threads[1], threads[2])
            destroy(tile.X)
            destroy(tile.W)
            inputs[core].release()
            load_store(src=SRAM(core), dst=DDR0, tile=tile)

    return multiply


@pytest.mark.parametrize("slots", [1, 2, 3])
def test_the_output_is_that_of_numpy(kit: SimpleNamespace, slots: int) -> None:
    got, expected = kit.execute(ring(slots))
    assert np.array_equal(got, expected)


def test_every_element_of_the_input_leaves_the_memory_once() -> None:
    program = ring(2)
    spaces, access = program.parameters["spaces"], program.tables()["access"]
    outside = (access["space"] == spaces.index("ddr@0")) & (access["mode"] == 0)
    moved = [
        int((access["length"] * access["rows"])[outside & (access["operand"] == o)].sum()) for o in (0, 1)
    ]
    assert moved == [4 * 12 * 4, 4 * 12 * 4]  # X once although two cores use it, W once


def test_a_read_waits_for_the_inputs_of_the_tile_wherever_they_came_from(kit: SimpleNamespace) -> None:
    program = ring(2)
    reads = [op for op in program.tables()["op"] if program.text(op["opcode"]) == "start_reading"]
    east = next(
        op for op in reads if program.text(program.tables()["thread"]["name"][op["thread"]]).endswith("1")
    )
    assert [wait for wait in kit.waits(program, east["id"]) if "reach" in wait] == [
        "before_start: reach 1 ready of X D(0,0) at sram@(0,1) group 0",
        "before_start: reach 1 ready of W D(1,0) at sram@(0,1) group 0",
    ]


def test_slots_of_every_member_are_in_its_own_memory() -> None:
    program = ring(2)
    spaces = program.parameters["spaces"]
    for core in ("sram@(0,0)", "sram@(0,1)"):
        lives = [
            life for life in program.parameters["lives"] if life[0] == spaces.index(core) and life[2] == 64
        ]
        assert [life[1] for life in lives] == [0, 64, 0]
    assert program.parameters["slot_order"] == "program"


def test_threads_know_their_cores() -> None:
    program = ring(1)
    cores = [program.parameters["cores"][core] for core in program.tables()["thread"]["core"]]
    assert cores == [[0, 0], [0, 0], [0, 0], [0, 1]]
