"""Which slot a copy occupies, and the bytes of slots (tile-language.md section 7).

Bundles of the small space take 64 bytes: X in the first 32, W in the rest.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from pantile.errors import ProgramError
from pantile.language import (
    DDR,
    SRAM,
    Buffer,
    Chiplet,
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

DDR0, CORE0 = DDR(0), Core(0, 0)
SRAM0 = SRAM(CORE0)


def writes(kit: SimpleNamespace, program: Program, operand: str = "X") -> list[str]:
    """Where each move writes an operand, in order of operations."""
    return [
        text.removeprefix(f"write {operand} ")
        for op in range(program.operations)
        for text in kit.touched(program, op)
        if text.startswith(f"write {operand}")
    ]


def fill(tile: Tile, dst: SRAM = SRAM0) -> None:
    start_writing(tile)
    load_store(src=DDR0, dst=dst, tile=tile)
    finish_writing(tile)


def drain(tile: Tile) -> None:
    start_reading(tile)
    finish_reading(tile)
    destroy(tile)


@pytest.mark.parametrize(
    ("slots", "expected"), [(1, [0, 0, 0, 0]), (2, [0, 64, 0, 64]), (3, [0, 64, 128, 0])]
)
def test_slots_are_taken_in_circular_order(kit: SimpleNamespace, slots: int, expected: list[int]) -> None:
    tiling, buffer = kit.tiling(), Buffer(slots=slots)
    tiles = [Tile(tiling, d, location=CORE0) for d in list(Range(tiling.D))[:4]]

    @thread
    def load() -> None:
        for tile in tiles:
            buffer.acquire()
            fill(tile)

    @thread
    def use() -> None:
        for tile in tiles:
            drain(tile)
            buffer.release()

    program = Program(tiling, load, use)
    assert writes(kit, program) == [f"sram@(0,0) {at}+32" for at in expected]
    assert program.parameters["slot_order"] == "program"
    kit.order_of(program)


def test_what_is_written_between_two_acquires_shares_the_slot(kit: SimpleNamespace) -> None:
    tiling, buffer = kit.tiling(), Buffer(slots=2)
    tiles = [Tile(tiling, d, location=CORE0) for d in list(Range(tiling.D))[:3]]

    @thread
    def load() -> None:
        buffer.acquire()
        fill(tiles[0])
        fill(tiles[1])
        buffer.acquire()
        fill(tiles[2])

    program = Program(tiling, load)
    assert writes(kit, program) == ["sram@(0,0) 0+32", "sram@(0,0) 64+32", "sram@(0,0) 128+32"]


def test_a_slot_is_as_large_as_the_most_that_is_put_into_one(kit: SimpleNamespace) -> None:
    tiling, buffer = (
        kit.tiling(total=(3, 4, 8)),
        Buffer(slots=2),
    )  # the second row of tiles is one element high
    tiles = [Tile(tiling, (t, 0, 0), location=CORE0) for t in (1, 0)]

    @thread
    def load() -> None:
        for tile in tiles:
            buffer.acquire()
            fill(tile)

    program = Program(tiling, load)
    assert writes(kit, program) == ["sram@(0,0) 0+16", "sram@(0,0) 64+32"]


def test_what_is_written_before_any_acquire_has_a_range_of_its_own_behind_the_slots(
    kit: SimpleNamespace,
) -> None:
    tiling, buffer = kit.tiling(), Buffer(slots=2)
    first, second = (Tile(tiling, (0, 0, i), location=CORE0) for i in (0, 1))

    @thread
    def load() -> None:
        fill(first)
        buffer.acquire()
        fill(second)

    assert writes(kit, Program(tiling, load)) == ["sram@(0,0) 128+32", "sram@(0,0) 0+32"]


def test_copies_without_a_buffer_have_a_range_each_for_all_their_generations(kit: SimpleNamespace) -> None:
    tiling = kit.tiling()
    first, second = (Tile(tiling, (0, 0, i), location=CORE0) for i in (0, 1))

    @thread
    def load() -> None:
        for tile in (first, second, first):
            fill(tile)
            drain(tile)

    assert writes(kit, Program(tiling, load)) == [
        "sram@(0,0) 0+32",
        "sram@(0,0) 64+32",
        "sram@(0,0) 0+32 g1",
    ]


def test_a_generation_has_the_slot_of_its_own_acquire(kit: SimpleNamespace) -> None:
    tiling, buffer = kit.tiling(), Buffer(slots=2)
    tile, other = (Tile(tiling, (0, 0, i), location=CORE0) for i in (0, 1))
    sequence = (tile, other, other, tile)

    @thread
    def load() -> None:
        for each in sequence:
            buffer.acquire()
            fill(each)

    @thread
    def use() -> None:
        for each in sequence:
            start_reading(each)
            compute(each)
            finish_reading(each)
            destroy(each)
            buffer.release()

    program = Program(tiling, load, use)
    expected = ["sram@(0,0) 0+32", "sram@(0,0) 64+32", "sram@(0,0) 0+32 g1", "sram@(0,0) 64+32 g1"]
    assert writes(kit, program) == expected
    reads = [kit.touched(program, kit.op_of(program, "compute", each)["id"])[0] for each in range(4)]
    assert reads == [f"read X {each}" for each in expected]


def test_the_member_at_the_copys_place_holds_it(kit: SimpleNamespace) -> None:
    tiling, grid = kit.tiling(), Chiplet(1, 2)
    buffers = Buffer(slots=1, array=grid, name="ring")
    west, east = grid
    tiles = [Tile(tiling, (0, 0, 0), location=core) for core in (west, east)]

    @thread
    def load() -> None:
        buffers[{west, east}].acquire()
        fill(tiles[1], SRAM(east))
        fill(tiles[0], SRAM(west))

    program = Program(tiling, load)
    assert writes(kit, program) == ["sram@(0,1) 0+32", "sram@(0,0) 0+32"]

    @thread
    def load_one_by_one() -> None:
        buffers[west].acquire()
        buffers[east].acquire()
        fill(tiles[0], SRAM(west))
        fill(tiles[1], SRAM(east))

    program = Program(tiling, load_one_by_one)
    assert writes(kit, program) == ["sram@(0,0) 0+32", "sram@(0,1) 0+32"]


def test_two_buffers_in_one_memory_do_not_overlap(kit: SimpleNamespace) -> None:
    tiling = kit.tiling()
    inputs, weights = Buffer(slots=2), Buffer(slots=3)
    tile = Tile(tiling, (0, 0, 0), location=CORE0)

    @thread
    def load() -> None:
        inputs.acquire()
        start_writing(tile.X)
        load_store(src=DDR0, dst=SRAM0, tile=tile.X)
        weights.acquire()
        start_writing(tile.W)
        load_store(src=DDR0, dst=SRAM0, tile=tile.W)

    program = Program(tiling, load)
    assert writes(kit, program, "X") == ["sram@(0,0) 0+32"]
    assert writes(kit, program, "W") == ["sram@(0,0) 64+32"]


def test_several_acquiring_threads_take_turns_and_the_program_says_so(kit: SimpleNamespace) -> None:
    tiling, buffer = kit.tiling(), Buffer(slots=2)
    tiles = [Tile(tiling, d, location=CORE0) for d in list(Range(tiling.D))[:4]]

    def loader(mine: list[Tile]) -> object:
        def load() -> None:
            for tile in mine:
                buffer.acquire()
                fill(tile)

        return thread(load)

    @thread
    def use() -> None:
        for tile in (tiles[0], tiles[2], tiles[1], tiles[3]):
            drain(tile)
            buffer.release()

    program = Program(tiling, loader(tiles[:2]), loader(tiles[2:]), use)  # type: ignore[arg-type]
    assert program.parameters["slot_order"] == "canonical"
    # the first tiles of both loaders take slots 0 and 1; then slot 0 is the first to be free
    assert writes(kit, program) == [f"sram@(0,0) {at}+32" for at in (0, 0, 64, 64)]
    kit.order_of(program)


def test_a_reader_of_several_generations_means_the_one_that_it_meets(kit: SimpleNamespace) -> None:
    tiling, buffer = kit.tiling(), Buffer(slots=2)
    tile = Tile(tiling, (0, 0, 0), location=CORE0)

    @thread
    def load() -> None:
        for _ in range(2):
            buffer.acquire()
            fill(tile)

    @thread
    def look() -> None:
        for _ in range(2):
            start_reading(tile)
            compute(tile)
            finish_reading(tile)
            barrier(look, end)
            barrier(look, end)

    @thread
    def end() -> None:
        for _ in range(2):
            barrier(look, end)
            destroy(tile)
            buffer.release()
            barrier(look, end)

    program = Program(tiling, load, look, end)
    assert program.parameters["slot_order"] == "canonical"
    reads = [kit.touched(program, kit.op_of(program, "compute", each)["id"])[0] for each in range(2)]
    assert reads == ["read X sram@(0,0) 0+32", "read X sram@(0,0) 64+32 g1"]
    # what the thread's own order tells is only that some generation was born
    assert kit.waits(program, kit.op_of(program, "start_reading", 1)["id"])[0].startswith(
        "before_start: reach 1"
    )


def test_bytes_count_from_start_writing_to_destroy(kit: SimpleNamespace) -> None:
    tiling, buffer = kit.tiling(), Buffer(slots=2)
    tiles = [Tile(tiling, (0, 0, i), location=CORE0) for i in (0, 1)]

    @thread
    def run() -> None:
        for tile in tiles:
            buffer.acquire()
            fill(tile)
        drain(tiles[0])

    program = Program(tiling, run)
    space = program.parameters["spaces"].index("sram@(0,0)")
    begins = [int(kit.op_of(program, "start_writing", each)["id"]) for each in range(2)]
    end = int(kit.op_of(program, "destroy")["id"])
    assert program.parameters["lives"] == [[space, 0, 64, begins[0], end], [space, 64, 64, begins[1], -1]]


def test_registers_and_outputs_live_from_first_to_last_touch(kit: SimpleNamespace) -> None:
    tile = Tile(kit.tiling(), (0, 0, 1), location=CORE0)
    program = kit.one_thread(
        partial(load_store, src=DDR0, dst=SRAM0, tile=tile),
        partial(compute, tile),
        partial(load_store, src=SRAM0, dst=DDR0, tile=tile),
    )
    space = program.parameters["spaces"].index("sram@(0,0)")
    assert program.parameters["lives"] == [[space, 0, 32, 0, 1], [space, 32, 32, 0, 1], [space, 64, 16, 1, 2]]


def test_a_register_is_overwritten_by_the_next_tile_of_its_kind(kit: SimpleNamespace) -> None:
    tiling = kit.tiling()

    @thread
    def nest() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=CORE0)
            load_store(src=DDR0, dst=SRAM0, tile=tile)
            compute(tile)

    program = Program(tiling, nest)
    assert writes(kit, program) == [f"sram@(0,0) 0+32{f' g{each}' if each else ''}" for each in range(8)]
    outputs = {text.split("+")[0] for text in writes(kit, program, "Y")}
    assert outputs == {f"sram@(0,0) {at}" for at in (64, 80, 96, 112)}  # four output tiles, a range each


def test_a_stale_read_is_refused_and_names_the_generation_that_it_wants(kit: SimpleNamespace) -> None:
    tiling = kit.tiling()
    first, second = (Tile(tiling, (0, 0, i), location=CORE0) for i in (0, 1))
    steps = (
        partial(load_store, src=DDR0, dst=SRAM0, tile=first),
        partial(load_store, src=DDR0, dst=SRAM0, tile=second),
        partial(compute, first),
    )
    message = r"compute reads X D\(0,0\) at sram@\(0,0\), which line \d+ has overwritten with another tile"
    with pytest.raises(ProgramError, match=message):
        kit.one_thread(*steps)
    program = kit.one_thread(*steps, keep_faults=True)
    assert [fault["op"] for fault in program.parameters["faults"]] == [2]
    access = program.tables()["access"]
    assert access["generation"][(access["op"] == 2) & (access["operand"] == 0)].tolist() == [0]
    assert access["generation"][(access["op"] == 1) & (access["mode"] == 1)].tolist() == [1, 1]
    got, expected = kit.execute(
        kit.one_thread(partial(load_store, src=DDR0, dst=SRAM0, tile=first), dtype="int32")
    )
    assert not np.array_equal(got, expected)  # nothing was stored
