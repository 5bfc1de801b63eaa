"""Reading from ``Any`` (tile-language.md section 3)."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import pytest

from pantile.errors import ManyProblems, ProgramError
from pantile.language import (
    DDR,
    SRAM,
    Any,
    Chiplet,
    Core,
    Program,
    Tile,
    finish_reading,
    finish_writing,
    load_store,
    start_reading,
    start_writing,
    thread,
)

GRID = Chiplet(2, 2)
CORNER = Core(0, 0)
CORNERS = [Core(0, 1), Core(1, 0), Core(1, 1)]


def program(
    kit: SimpleNamespace, *cores: Core, grid: Chiplet | None = None, reader: Core | None = CORNER
) -> Program:
    """Copies at *cores*, read from ``Any`` by a thread of *reader* and moved to the corner."""
    tiling = kit.tiling()
    anywhere = Tile(tiling, (0, 0, 0), location=Any)

    @thread
    def write() -> None:
        for core in cores:
            start_writing(anywhere.at(core))
            load_store(src=DDR(0), dst=SRAM(core), tile=anywhere)
            finish_writing(anywhere.at(core))

    @thread(core=reader)
    def read() -> None:
        start_reading(anywhere)
        load_store(src=Any, dst=SRAM(Core(0, 0)), tile=anywhere)
        finish_reading(anywhere)

    return Program(tiling, write, read, grid=grid)


def chosen(kit: SimpleNamespace, made: Program, cores: int) -> list[str]:
    """What the reading thread waits for, reads, and leaves."""
    first = 3 * cores
    words = [kit.waits(made, first)[0].split()[-3], kit.touched(made, first + 1)[0].split()[2]]
    return [*words, kit.waits(made, first + 2)[0].split()[-1]]


def test_the_only_copy_is_read(kit: SimpleNamespace) -> None:
    assert chosen(kit, program(kit, Core(1, 1)), 1) == ["sram@(1,1)"] * 3


def test_the_nearest_copy_is_read_where_a_grid_tells(kit: SimpleNamespace) -> None:
    # (0, 1) and (1, 0) are one hop away: the lower coordinates win
    assert chosen(kit, program(kit, *CORNERS, grid=GRID), 3) == ["sram@(0,1)"] * 3
    assert chosen(kit, program(kit, Core(1, 1), Core(1, 0), grid=GRID), 2) == ["sram@(1,0)"] * 3


def test_of_several_copies_one_must_be_named_without_a_grid(kit: SimpleNamespace) -> None:
    with pytest.raises(ManyProblems) as caught:
        program(kit, *CORNERS[:2])
    assert [problem.problem for problem in caught.value.problems] == [
        f"{verb} of D(0,0,0) at Any, of which 2 places have a copy (sram@(0,1), sram@(1,0))"
        for verb in ("start_reading", "load_store", "finish_reading")
    ]


def test_a_copy_that_nobody_has_cannot_be_read(kit: SimpleNamespace) -> None:
    tile = Tile(kit.tiling(), (0, 0, 0), location=Any)
    with pytest.raises(ProgramError, match="at Any, of which no place has a copy"):
        kit.one_thread(partial(start_reading, tile))


def test_without_a_copy_on_chip_the_only_memory_is_read(kit: SimpleNamespace) -> None:
    tile = Tile(kit.tiling(), (0, 0, 0))
    other = Tile(kit.tiling(), (0, 0, 1))
    steps = [partial(load_store, src=DDR(0), dst=SRAM(), tile=other)]
    made = kit.one_thread(*steps, partial(load_store, src=Any, dst=SRAM(), tile=tile))
    assert kit.touched(made, 1)[0].split()[2] == "ddr@0"
    with pytest.raises(ProgramError, match=r"2 places have a copy \(ddr@0, ddr@1\)"):
        kit.one_thread(
            *steps,
            partial(load_store, src=DDR(1), dst=SRAM(), tile=other),
            partial(load_store, src=Any, dst=SRAM(), tile=tile),
        )


def test_a_thread_without_a_core_reads_from_the_only_unit_that_it_moves_to(kit: SimpleNamespace) -> None:
    assert chosen(kit, program(kit, *CORNERS, grid=GRID, reader=None), 3) == ["sram@(0,1)"] * 3
