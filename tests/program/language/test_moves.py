"""What a load_store moves, to the byte (tile-language.md section 5).

Tiles of the small space are 2 x 2 x 4 elements of 4 bytes: X and W 32 bytes, Y 16 bytes.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import pytest

from pantile.errors import ProgramError, UsageError
from pantile.language import (
    DDR,
    SRAM,
    Compute,
    Core,
    Domain,
    Memory,
    Program,
    Range,
    Tile,
    compute,
    load_store,
    thread,
)
from pantile.program.tables import Kind

DDR0 = DDR(0)
SRAM0 = SRAM(Core(0, 0))
ENGINE = Compute(Core(0, 0))
CORE0 = Core(0, 0)


def moved(kit: SimpleNamespace, program: Program, which: int = -1) -> list[str]:
    """Operands that a load_store moves, by default the last, with their bytes."""
    ops = program.tables()["op"]
    op = int(ops["id"][ops["kind"] == Kind.MOVE][which])
    writes = [text.split() for text in kit.touched(program, op) if text.startswith("write")]
    sizes = {}
    for _, operand, _, span, *rest in writes:
        rows = int(rest[0][1:].partition("/")[0]) if rest and rest[0].startswith("x") else 1
        sizes[operand] = sizes.get(operand, 0) + int(span.partition("+")[2]) * rows
    assert sum(sizes.values()) == ops["bytes"][op]
    return [f"{operand} {size}" for operand, size in sizes.items()]


def test_toward_compute_it_moves_the_inputs(kit: SimpleNamespace) -> None:
    tile = Tile(kit.tiling(), (0, 0, 0))
    assert moved(kit, kit.one_thread(partial(load_store, src=DDR0, dst=SRAM0, tile=tile))) == ["X 32", "W 32"]
    assert moved(kit, kit.one_thread(partial(load_store, src=DDR0, dst=ENGINE, tile=tile))) == [
        "X 32",
        "W 32",
    ]


def test_away_from_compute_it_moves_the_output_after_the_last_reduction_step(kit: SimpleNamespace) -> None:
    for step, expected in ((0, []), (1, ["Y 16"])):
        tile = Tile(kit.tiling(), (0, 0, step), location=CORE0)
        steps = (
            partial(load_store, src=DDR0, dst=SRAM0, tile=tile),
            partial(compute, tile),
            partial(load_store, src=SRAM0, dst=DDR0, tile=tile),
        )
        assert moved(kit, kit.one_thread(*steps)) == expected


def test_a_spill_moves_the_output_earlier_and_the_next_load_brings_it_back(kit: SimpleNamespace) -> None:
    tiling = kit.tiling()

    @thread
    def nest() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=CORE0)
            load_store(src=DDR0, dst=SRAM0, tile=tile)
            compute(tile)
            load_store(src=SRAM0, dst=DDR0, tile=tile, spill=True)

    program = Program(tiling, nest, dtype="int32")
    assert [moved(kit, program, which) for which in range(4)] == [
        ["X 32", "W 32"],  # the first reduction step: nothing to bring back
        ["Y 16"],
        ["X 32", "W 32", "Y 16"],
        ["Y 16"],
    ]
    got, expected = kit.execute(program)
    assert (got == expected).all()


def test_partial_sums_that_never_left_are_not_brought(kit: SimpleNamespace) -> None:
    tiling = kit.tiling()

    @thread
    def nest() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=CORE0)
            load_store(src=DDR0, dst=SRAM0, tile=tile)
            compute(tile)
            load_store(src=SRAM0, dst=DDR0, tile=tile)

    program = Program(tiling, nest)
    assert [moved(kit, program, which) for which in range(4)] == [
        ["X 32", "W 32"],
        [],
        ["X 32", "W 32"],
        ["Y 16"],
    ]


def test_an_output_stored_by_name_again_and_again_is_a_spill(kit: SimpleNamespace) -> None:
    tiling = kit.tiling()

    @thread
    def nest() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=CORE0)
            load_store(src=DDR0, dst=SRAM0, tile=tile)
            compute(tile)
            load_store(src=SRAM0, dst=DDR0, tile=tile.Y)

    program = Program(tiling, nest, dtype="int32")
    assert moved(kit, program, 2) == ["X 32", "W 32", "Y 16"]
    got, expected = kit.execute(program)
    assert (got == expected).all()


def test_partial_sums_spilled_in_parts_come_back_with_the_whole(kit: SimpleNamespace) -> None:
    tiling = kit.tiling(D=(1, 1, 2), T=(2, 2, 1), S=(2, 2, 4))

    @thread
    def nest() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=CORE0)
            load_store(src=DDR0, dst=SRAM0, tile=tile)
            for t in Range(tiling.T):
                compute(tile.child(t))
            for t in Range(tiling.T):
                load_store(src=SRAM0, dst=DDR0, tile=tile.child(t), spill=True)

    program = Program(tiling, nest, dtype="int32")
    assert moved(kit, program, 5) == ["X 64", "W 64", "Y 64"]
    got, expected = kit.execute(program)
    assert (got == expected).all()


@pytest.mark.parametrize("operand", ["X", "W", "Y"])
def test_a_named_operand_is_moved_alone_whatever_the_step(kit: SimpleNamespace, operand: str) -> None:
    tile = Tile(kit.tiling(), (0, 0, 0), location=CORE0)
    size = 16 if operand == "Y" else 32
    steps = [partial(load_store, src=DDR0, dst=SRAM0, tile=tile), partial(compute, tile)]
    for src, dst in ((DDR0, SRAM0), (SRAM0, DDR0)):
        program = kit.one_thread(*steps, partial(load_store, src=src, dst=dst, tile=getattr(tile, operand)))
        assert moved(kit, program) == [f"{operand} {size}"]
        assert program.tables()["box"]["length"][-1, :3].tolist() == [
            0 if operand == "W" else 2,
            0 if operand == "X" else 2,
            0 if operand == "Y" else 4,
        ]


def test_between_places_equally_near_it_moves_the_inputs(kit: SimpleNamespace) -> None:
    tile = Tile(kit.tiling(), (0, 0, 1))
    steps = (
        partial(load_store, src=DDR0, dst=SRAM0, tile=tile),
        partial(load_store, src=SRAM0, dst=SRAM(Core(0, 1)), tile=tile),
    )
    assert moved(kit, kit.one_thread(*steps)) == ["X 32", "W 32"]


def test_a_memory_between_sram_and_compute_is_toward_compute(kit: SimpleNamespace) -> None:
    tile, skew = Tile(kit.tiling(), (0, 0, 0), location=CORE0), Memory("skew", CORE0)
    program = kit.one_thread(
        partial(load_store, src=DDR0, dst=SRAM0, tile=tile),
        partial(load_store, src=SRAM0, dst=skew, tile=tile),
        partial(load_store, src=skew, dst=ENGINE, tile=tile),
        partial(compute, tile),
    )
    assert [moved(kit, program, which) for which in range(3)] == [["X 32", "W 32"]] * 3
    assert program.parameters["spaces"] == ["ddr@0", "sram@(0,0)", "skew@(0,0)", "compute@(0,0)"]


def test_tar_is_dst(kit: SimpleNamespace) -> None:
    tile = Tile(kit.tiling(), (0, 0, 0))
    programs = [
        kit.one_thread(partial(load_store, src=DDR0, tile=tile, **{word: SRAM0})) for word in ("dst", "tar")
    ]
    assert programs[0].tables()["access"].tolist() == programs[1].tables()["access"].tolist()


def test_something_missing_is_refused_with_its_line(kit: SimpleNamespace) -> None:
    tile = Tile(kit.tiling(), (0, 0, 0))
    for options in ({"tile": tile}, {"dst": SRAM0}, {}):
        with pytest.raises(
            UsageError, match=r"\.py:\d+: load_store needs a source, a destination and a tile"
        ):
            kit.one_thread(partial(load_store, DDR0, **options))


def test_an_operand_is_moved_at_its_levels_only(kit: SimpleNamespace) -> None:
    tiling = kit.tiling(D=(1, 2, 1), T=(2, 1, 2), S=(2, 2, 4), W=("D", "S"))
    tile = Tile(tiling, (0, 1, 0), location=CORE0)
    child = tile.child((1, 0, 1))

    @thread
    def run() -> None:
        load_store(src=DDR0, dst=SRAM0, tile=tile)
        load_store(src=SRAM0, dst=ENGINE, tile=tile)
        load_store(src=SRAM0, dst=ENGINE, tile=child)
        compute(child)

    program = Program(tiling, run)
    assert moved(kit, program, 1) == ["X 128", "W 64"]
    assert moved(kit, program, 2) == ["X 32"]
    assert kit.touched(program, 3) == [
        "read X compute@(0,0) 128+32",  # behind the 128 B that the tile of level D took
        "read W compute@(0,0) 176+16 x2/32",  # a part of that tile's 64 B
        "write Y sram@(0,0) 192+16",
    ]


# -- exact counts


def test_clipped_sizes_count(kit: SimpleNamespace) -> None:
    tiling = kit.tiling(total=(3, 4, 7))
    corner = Tile(tiling, (1, 1, 1), location=CORE0)

    @thread
    def run() -> None:
        load_store(src=DDR0, dst=SRAM0, tile=corner)
        compute(corner)
        load_store(src=SRAM0, dst=DDR0, tile=corner)

    program = Program(tiling, run, dtype={"X": "int8", "W": "int8", "Y": "int32"})
    ops = program.tables()["op"]
    assert ops["bytes"].tolist() == [1 * 3 + 2 * 3, 0, 1 * 2 * 4]
    assert ops["macs"].tolist() == [0, 1 * 2 * 3, 0]
    assert program.tables()["box"]["lo"][1, :3].tolist() == [2, 2, 4]
    assert program.tables()["box"]["length"][1, :3].tolist() == [1, 2, 3]


def test_macs_of_a_masked_tile_count_its_points_only(kit: SimpleNamespace) -> None:
    tiling = kit.tiling(domain=Domain("t >= o"))
    tile = Tile(tiling, (0, 0, 0), location=CORE0)
    program = Program(
        tiling, thread(lambda: (load_store(src=DDR0, dst=SRAM0, tile=tile), compute(tile))[0] and None)
    )
    assert program.tables()["op"]["macs"].tolist() == [0, 3 * 4]
    assert program.tables()["op"]["bytes"].tolist() == [64, 0]


def test_elements_have_whole_bytes(kit: SimpleNamespace) -> None:
    tile = Tile(kit.tiling(), (0, 0, 0))
    move = partial(load_store, src=DDR0, dst=SRAM0, tile=tile)
    with pytest.raises(ProgramError, match="W of dtype int4: elements of 4 bits share bytes"):
        kit.one_thread(move, dtype={"W": "int4"})
    with pytest.raises(ProgramError, match="a dtype for 'A', which is no operand; operands: X, W, Y"):
        kit.one_thread(move, dtype={"A": "int8"})
    assert kit.one_thread(move, dtype="fp64").tables()["op"]["bytes"].tolist() == [128]


# -- where it computes


def test_compute_reads_the_engine_if_its_tile_was_moved_there_and_its_memory_otherwise(
    kit: SimpleNamespace,
) -> None:
    tile = Tile(kit.tiling(), (0, 0, 0), location=CORE0)
    loads = partial(load_store, src=DDR0, dst=SRAM0, tile=tile)
    program = kit.one_thread(loads, partial(compute, tile))
    assert [text.split()[2] for text in kit.touched(program, 1)] == ["sram@(0,0)"] * 3
    program = kit.one_thread(
        loads, partial(load_store, src=SRAM0, dst=ENGINE, tile=tile.X), partial(compute, tile)
    )
    assert [text.split()[2] for text in kit.touched(program, 2)] == [
        "compute@(0,0)",
        "sram@(0,0)",
        "sram@(0,0)",
    ]


def test_compute_accumulates_in_the_engine_if_outputs_are_moved_out_of_it(kit: SimpleNamespace) -> None:
    tiling = kit.tiling()

    @thread
    def nest() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=CORE0)
            load_store(src=DDR0, dst=ENGINE, tile=tile)
            compute(tile)
            load_store(src=ENGINE, dst=DDR0, tile=tile)

    program = Program(tiling, nest, dtype="int32")
    assert program.parameters["spaces"] == ["ddr@0", "compute@(0,0)"]
    got, expected = kit.execute(program)
    assert (got == expected).all()


def test_the_engine_is_named(kit: SimpleNamespace) -> None:
    tile = Tile(kit.tiling(), (0, 0, 0), location=CORE0)
    program = kit.one_thread(partial(load_store, src=DDR0, dst=SRAM0, tile=tile), partial(compute, tile))
    assert [program.text(engine) for engine in program.tables()["op"]["engine"]] == ["", "compute@(0,0)"]


def test_a_tile_without_a_location_is_computed_where_it_was_moved_last_or_at_the_threads_core(
    kit: SimpleNamespace,
) -> None:
    tile = Tile(kit.tiling(), (0, 0, 0))

    def run() -> None:
        load_store(src=DDR0, dst=Compute(Core(0, 1)), tile=tile)
        compute(tile)

    program = Program(kit.tiling(), thread(run))
    assert kit.touched(program, 1)[0].split()[2] == "compute@(0,1)"

    def run_there() -> None:
        load_store(src=DDR0, dst=SRAM0, tile=tile)
        compute(tile)

    program = Program(kit.tiling(), thread(core=CORE0)(run_there))
    assert kit.touched(program, 1)[0].split()[2] == "sram@(0,0)"
    with pytest.raises(
        ProgramError, match="compute of a tile without a location, in a thread without a core"
    ):
        Program(kit.tiling(), thread(run_there))


def test_reading_what_was_never_moved_there_is_an_error(kit: SimpleNamespace) -> None:
    tile = Tile(kit.tiling(), (0, 0, 0), location=CORE0)
    with pytest.raises(
        ProgramError, match=r"compute reads X D\(0,0\) at sram@\(0,0\), where no copy of it is"
    ):
        kit.one_thread(partial(compute, tile))
    with pytest.raises(
        ProgramError, match=r"load_store reads Y D\(0,0\) at sram@\(0,0\), where no copy of it"
    ):
        kit.one_thread(partial(load_store, src=SRAM0, dst=DDR0, tile=tile.Y))
