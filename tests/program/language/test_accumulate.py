"""Outputs: born at the first compute, added to afterwards (tile-language.md section 3)."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from pantile.language import (
    DDR,
    SRAM,
    Buffer,
    Core,
    Program,
    Range,
    Tile,
    compute,
    destroy,
    finish_writing,
    load_store,
    start_writing,
    thread,
)

DDR0, CORE0 = DDR(0), Core(0, 0)
SRAM0 = SRAM(CORE0)


def modes(kit: SimpleNamespace, program: Program) -> list[str]:
    """How each compute touches its output."""
    return [
        text.split()[0]
        for op in program.tables()["op"]
        if program.text(op["opcode"]) == "compute"
        for text in kit.touched(program, op["id"])
        if " Y " in text
    ]


def test_the_first_compute_writes_and_the_others_add(kit: SimpleNamespace) -> None:
    tiling = kit.tiling()

    @thread
    def nest() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=CORE0)
            load_store(src=DDR0, dst=SRAM0, tile=tile)
            compute(tile)

    assert modes(kit, Program(tiling, nest)) == ["write", "update"] * 4


def test_first_is_what_comes_first_not_what_has_the_first_index(kit: SimpleNamespace) -> None:
    tiling = kit.tiling()

    @thread
    def nest() -> None:
        for i in (1, 0):
            tile = Tile(tiling, (0, 0, i), location=CORE0)
            load_store(src=DDR0, dst=SRAM0, tile=tile)
            compute(tile)

    assert modes(kit, Program(tiling, nest)) == ["write", "update"]


def test_an_output_ends_when_it_is_stored(kit: SimpleNamespace) -> None:
    tiling = kit.tiling()

    @thread
    def nest() -> None:
        tile = Tile(tiling, (0, 0, 0), location=CORE0)
        load_store(src=DDR0, dst=SRAM0, tile=tile)
        for _ in range(2):
            compute(tile)
            compute(tile)
            load_store(src=SRAM0, dst=DDR0, tile=tile.Y)

    assert modes(kit, Program(tiling, nest)) == ["write", "update", "write", "update"]


def test_of_two_threads_the_first_in_the_listing_begins(kit: SimpleNamespace) -> None:
    tiling = kit.tiling()
    threads = []
    for i in (0, 1):

        @thread
        def half(i: int = i) -> None:
            tile = Tile(tiling, (0, 0, i), location=CORE0)
            load_store(src=DDR0, dst=SRAM0, tile=tile)
            compute(tile)

        threads.append(half)
    assert modes(kit, Program(tiling, *threads)) == ["write", "update"]


def test_outputs_at_two_cores_are_two(kit: SimpleNamespace) -> None:
    tiling = kit.tiling()

    @thread
    def both() -> None:
        for core in (Core(0, 0), Core(0, 1)):
            tile = Tile(tiling, (0, 0, 0), location=core)
            load_store(src=DDR0, dst=SRAM(core), tile=tile)
            compute(tile)

    assert modes(kit, Program(tiling, both)) == ["write", "write"]


def test_where_another_thread_brings_partial_sums_the_first_reduction_step_begins(
    kit: SimpleNamespace,
) -> None:
    tiling = kit.tiling()
    turn = Buffer(slots=1)

    @thread
    def load() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=CORE0)
            turn.acquire()
            start_writing(tile)
            load_store(src=DDR0, dst=SRAM0, tile=tile)
            finish_writing(tile)

    @thread
    def use() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=CORE0)
            compute(tile)
            load_store(src=SRAM0, dst=DDR0, tile=tile, spill=True)
            destroy(tile)
            turn.release()

    assert modes(kit, Program(tiling, load, use)) == ["write", "update"] * 4


@pytest.mark.parametrize("generations", [1, 2])
def test_an_output_with_a_state_begins_with_every_generation(kit: SimpleNamespace, generations: int) -> None:
    tiling = kit.tiling()

    @thread
    def nest() -> None:
        for _ in range(generations):
            for i in (0, 1):
                tile = Tile(tiling, (0, 0, i), location=CORE0)
                load_store(src=DDR0, dst=SRAM0, tile=tile)
                start_writing(tile.Y, update=i > 0)
                compute(tile)
                finish_writing(tile.Y)
            destroy(tile.Y)

    program = Program(tiling, nest)
    assert modes(kit, program) == ["write", "update"] * generations
    kit.order_of(program)
