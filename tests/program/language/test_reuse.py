"""``reuse=True``: what is present at the destination is not moved again (tile-language.md section 5)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pantile.language import (
    DDR,
    SRAM,
    Core,
    Program,
    Range,
    Tile,
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


def bytes_moved(program: Program) -> list[int]:
    ops = program.tables()["op"]
    return [int(op["bytes"]) for op in ops if program.text(op["opcode"]) == "load_store"]


def nest(kit: SimpleNamespace, *loops: str, reuse: bool) -> Program:
    tiling = kit.tiling()
    level: Any = tiling.D

    @thread
    def run() -> None:
        for d in Range(*(level.index(name) for name in loops)):
            tile = Tile(tiling, d, location=CORE0)
            load_store(src=DDR0, dst=SRAM0, tile=tile, reuse=reuse)
            compute(tile)
            load_store(src=SRAM0, dst=DDR0, tile=tile)

    return Program(tiling, run, dtype="int32")


def test_consecutive_tiles_that_share_an_input_move_it_once(kit: SimpleNamespace) -> None:
    # i, o, t: every two tiles in a row share W; X changes each time
    program = nest(kit, "i", "o", "t", reuse=True)
    assert bytes_moved(program)[::2] == [64, 32] * 4
    got, expected = kit.execute(program)
    assert (got == expected).all()
    assert bytes_moved(nest(kit, "i", "o", "t", reuse=False))[::2] == [64] * 8


def test_a_register_holds_the_latest_tile_only(kit: SimpleNamespace) -> None:
    # t, o, i: X comes back after one other tile, which took its place
    assert bytes_moved(nest(kit, "t", "o", "i", reuse=True))[::2] == [64] * 8


def test_another_thread_does_not_know_what_a_register_holds(kit: SimpleNamespace) -> None:
    tiling = kit.tiling()
    tile = Tile(tiling, (0, 0, 0), location=CORE0)
    threads = []
    for _ in range(2):

        @thread
        def load() -> None:
            load_store(src=DDR0, dst=SRAM0, tile=tile, reuse=True)

        threads.append(load)
    assert bytes_moved(Program(tiling, *threads)) == [64, 64]


def test_a_weight_kept_with_a_state_of_its_own_is_present(kit: SimpleNamespace) -> None:
    tiling = kit.tiling(total=(4, 2, 4), D=(2, 1, 1), S=(2, 2, 4))

    @thread
    def run() -> None:
        kept = Tile(tiling, (0, 0, 0), location=CORE0)
        start_writing(kept.W)
        load_store(src=DDR0, dst=SRAM0, tile=kept.W)
        finish_writing(kept.W)
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=CORE0)
            start_writing(tile)
            load_store(src=DDR0, dst=SRAM0, tile=tile, reuse=True)
            finish_writing(tile)
            start_reading(tile)
            compute(tile)
            finish_reading(tile)
            load_store(src=SRAM0, dst=DDR0, tile=tile)
            destroy(tile)

    program = Program(tiling, run, dtype="int32")
    assert bytes_moved(program) == [32, 32, 16, 32, 16]
    sizes = [life[2] for life in program.parameters["lives"]]
    assert sizes[:3] == [32, 32, 32]  # W, and bundles that hold X alone
    got, expected = kit.execute(program)
    assert (got == expected).all()


def test_while_a_copy_is_written_its_tile_is_present_once_it_was_moved(kit: SimpleNamespace) -> None:
    tiling = kit.tiling()
    tile = Tile(tiling, (0, 0, 0), location=CORE0)

    @thread
    def run() -> None:
        for _ in range(2):
            start_writing(tile)
            load_store(src=DDR0, dst=SRAM0, tile=tile, reuse=True)
            load_store(src=DDR0, dst=SRAM0, tile=tile, reuse=True)
            finish_writing(tile)
            destroy(tile)

    assert bytes_moved(Program(tiling, run)) == [64, 0, 64, 0]


def test_what_is_moved_off_chip_is_never_present(kit: SimpleNamespace) -> None:
    tiling = kit.tiling()
    tile = Tile(tiling, (0, 0, 1), location=CORE0)

    @thread
    def run() -> None:
        load_store(src=DDR0, dst=SRAM0, tile=tile)
        compute(tile)
        for _ in range(2):
            load_store(src=SRAM0, dst=DDR0, tile=tile, reuse=True)

    assert bytes_moved(Program(tiling, run))[1:] == [16, 16]
