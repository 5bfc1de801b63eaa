"""Inputs that broke other tools (docs/bug-inputs.md), written in the tile language.

Each is proved right and executes to NumPy's product, or is reported with its two numbers. Shapes are
(M, N, K), which the tile language calls (t, o, i).
"""

from __future__ import annotations

from math import prod
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from pantile.check.program import check_program
from pantile.check.report import Report
from pantile.errors import PantileError, ProgramError
from pantile.language import (
    DDR,
    SRAM,
    Buffer,
    Compute,
    Core,
    Program,
    Range,
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
from pantile.tiling.cut import ceil_div

Shape = tuple[int, int, int]
DDR0, CORE0 = DDR(0), Core(0, 0)
SIZES = [1, 2, 3, 5, 7, 8, 15, 16, 17, 27, 31, 33, 63, 65, 72, 100, 127, 129, 200, 257, 320, 584, 1152, 1752]
CORES = [1, 2, 4, 6, 7, 8, 13, 24]


def worker(tiling: Any, core: Core, blocks: list[tuple[int, int]], slots: int) -> list[Thread]:
    """The loader and the multiplier of one core, which computes some blocks of the output."""
    buffer, sram = Buffer(slots=slots), SRAM(core)

    def tiles() -> Any:
        for t, o in blocks:
            for (i,) in Range(tiling.D.i):
                yield Tile(tiling, (t, o, i), location=core)

    @thread(name=f"load{core.at}", core=core)
    def load() -> None:
        for tile in tiles():
            buffer.acquire()
            start_writing(tile)
            load_store(src=DDR0, dst=sram, tile=tile)
            finish_writing(tile)

    @thread(name=f"multiply{core.at}", core=core)
    def multiply() -> None:
        for tile in tiles():
            start_reading(tile)
            compute(tile)
            finish_reading(tile)
            load_store(src=sram, dst=DDR0, tile=tile)
            destroy(tile)
            buffer.release()

    return [load, multiply]


def product(
    shape: Shape, tile: Shape, *, cores: int = 1, slots: int = 2, dtype: Any = "fp32", blocks: Any = None
) -> Program:
    """Ping-pong on every core; blocks of the output go to the cores in turn, or as *blocks* chooses."""
    counts = [ceil_div(size, part) for size, part in zip(shape, tile, strict=True)]
    tiling = Tiling("ti,oi->to", total=shape, D=counts, S=tile)
    chosen = blocks or [(t, o) for t in range(counts[0]) for o in range(counts[1])]
    threads = []
    for number in range(cores):
        threads += worker(tiling, Core(0, number), chosen[number::cores], slots)
    return Program(tiling, *threads, dtype=dtype)


def proved(report: Report, shape: Shape) -> bool:
    """Whether all is proved: no deadlock, no race, every MAC once and every output stored once."""
    said = set(report.proved)
    return (
        all(each.severity == "note" for each in report.findings)  # such as slots that nobody needs
        and f"coverage: {prod(shape)} MACs, each computed exactly once" in said
        and f"coverage: {shape[0] * shape[1]} outputs, each stored exactly once" in said
        and any(each.startswith("deadlock: ") for each in said)
        and any(each.startswith("races: ") for each in said)
    )


def is_right(program: Program) -> bool:
    """Whether the program computes NumPy's product."""
    rng = np.random.default_rng(5)
    t, o, i = program.extents
    x, w = rng.integers(-4, 5, (t, i)).astype(np.float32), rng.integers(-4, 5, (o, i)).astype(np.float32)
    return np.array_equal(program.execute(x=x, w=w), x @ w.T)


ROWS = [
    ("A09", (7, 5, 3), (4, 2, 2), 1),
    ("A21", (5, 256, 128), (16, 64, 64), 1),
    ("A21", (8, 256, 128), (16, 64, 64), 1),
    ("A21", (16, 5, 128), (16, 16, 64), 1),
    ("A21", (16, 256, 100), (16, 64, 64), 1),
    ("A29", (1744, 472, 58), (128, 128, 64), 2),
    ("A29", (1752, 472, 58), (128, 128, 64), 2),
    ("A29", (1760, 472, 58), (128, 128, 64), 2),
    ("A37", (384, 64, 64), (192, 64, 64), 2),
    ("A37", (384, 64, 64), (192, 64, 16), 2),
    ("A37", (384, 64, 64), (96, 32, 32), 2),
    ("A41", (32, 32, 96), (32, 32, 32), 1),
    ("A41", (64, 64, 96), (32, 32, 32), 2),
    ("A41", (96, 64, 64), (32, 32, 32), 4),
    ("A43", (64, 64, 128), (32, 32, 32), 2),
    ("A43", (64, 64, 160), (32, 32, 32), 2),
]


@pytest.mark.parametrize(("row", "shape", "tile", "cores"), ROWS)
@pytest.mark.parametrize("slots", [1, 2, 3])
def test_rows_that_ran_wrong_are_proved_and_right(
    row: str, shape: Shape, tile: Shape, cores: int, slots: int
) -> None:
    program = product(shape, tile, cores=cores, slots=slots)
    assert proved(check_program(program), shape), row
    assert is_right(program)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.tuples(*[st.sampled_from(SIZES)] * 3),
    st.tuples(*[st.sampled_from([1, 3, 8, 16, 33, 64, 128, 320, 2048])] * 3),
    st.sampled_from(CORES),
    st.sampled_from([1, 2, 3, 4]),
)
@example((7, 1, 1), (4, 8, 2048), 13, 4)
@example((1, 1, 1), (64, 64, 64), 7, 1)
def test_shapes_tiles_cores_and_slots_of_all_kinds(shape: Shape, tile: Shape, cores: int, slots: int) -> None:
    """Tiles larger than the dimension, tails of every size, more cores than blocks, primes."""
    counts = [ceil_div(size, part) for size, part in zip(shape, tile, strict=True)]
    assume(prod(counts) <= 300)
    assume(prod(shape) <= 4_000_000)
    program = product(shape, tile, cores=cores, slots=slots)
    assert proved(check_program(program), shape)
    assert is_right(program)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.tuples(*[st.integers(1, 6)] * 3), st.integers(1, 4), st.sampled_from([1, 2, 4]), st.integers(0, 3))
def test_the_peak_is_that_of_the_slots_and_no_more(counts: Shape, slots: int, width: int, short: int) -> None:
    """A tile of 8 x 8 x 16 takes 2 x 128 elements; beside the slots there are 64 results of one block."""
    dtype = {1: "int8", 2: "fp16", 4: "fp32"}[width]
    shape = (8 * counts[0], 8 * counts[1], 16 * counts[2])
    program = product(shape, (8, 8, 16), slots=slots, dtype=dtype)
    used = (min(slots, prod(counts)) * 256 + 64) * width
    capacities = {"sram@(0,0)": used - short}
    findings = check_program(program, capacities=capacities).findings
    codes = [each.code for each in findings if each.severity != "note"]
    assert codes == ["PT-CAPACITY"] * (short > 0)


def capacity_finding(program: Program, memory: str, capacity: int) -> str:
    (finding,) = check_program(program, capacities={memory: capacity}).findings
    assert (finding.code, finding.severity) == ("PT-CAPACITY", "error")
    return finding.sentence


def loaded_once(shape: Shape, dtype: Any) -> Program:
    """One tile of everything, moved to the engine as one copy."""
    tiling = Tiling("ti,oi->to", total=shape, D=(1, 1, 1), S=...)

    @thread
    def only() -> None:
        tile = Tile(tiling, (0, 0, 0), location=CORE0)
        start_writing(tile.W)
        load_store(src=DDR0, dst=SRAM(CORE0), tile=tile.W)
        finish_writing(tile.W)
        load_store(src=DDR0, dst=Compute(CORE0), tile=tile.X)
        start_reading(tile.W)
        compute(tile)
        finish_reading(tile.W)
        destroy(tile.W)
        load_store(src=Compute(CORE0), dst=DDR0, tile=tile.Y)

    return Program(tiling, only, dtype=dtype)


@pytest.mark.parametrize(
    ("row", "shape", "dtype", "memory", "capacity", "needed"),
    [
        ("A15", (64, 512, 128), "fp16", "sram@(0,0)", 32768, 131072),
        ("A25", (16, 256, 256), "fp16", "sram@(0,0)", 65536, 131072),
        ("A23", (64, 1152, 16), {"X": "int8", "W": "int8", "Y": "int32"}, "compute@(0,0)", 262144, 295936),
        ("A39", (1, 38428, 160), "int8", "sram@(0,0)", 1499136, 6148480),
    ],
)
def test_a_tile_larger_than_its_memory_is_told_with_both_sizes(
    row: str, shape: Shape, dtype: Any, memory: str, capacity: int, needed: int
) -> None:
    said = capacity_finding(loaded_once(shape, dtype), memory, capacity)
    assert memory in said, row
    assert f"{needed} B" in said
    assert f"{capacity} B" in said


@pytest.mark.parametrize("columns", [1, 7, 9, 12, 20])
def test_a31_a_band_of_blocks_that_no_group_reaches_is_found(columns: int) -> None:
    """Groups of 8 columns of blocks; what fills no group is left out, and the coverage check says which."""
    every = [(t, o) for t in range(2) for o in range(columns)]
    reached = [(t, o) for t, o in every if o < columns // 8 * 8]
    shape = (2 * 4, columns * 4, 8)
    assert proved(check_program(product(shape, (4, 4, 4), blocks=every)), shape)
    if not reached:
        return
    report = check_program(product(shape, (4, 4, 4), blocks=reached))
    assert not report.ok
    assert {each.code for each in report.findings} == {"PT-COVERAGE"}
    missed = f"{columns // 8 * 32}:{columns * 4}"
    assert any(missed in each.sentence + each.evidence for each in report.findings)


def shared_operand(groups: int, *, back: bool) -> Program:
    """A loader fills one place for several groups, round by round; *back*: it waits until all have read."""
    tiling = Tiling("ti,oi->to", total=(4 * groups, 4, 12), D=(groups, 1, 3), S=...)
    sram = SRAM(CORE0)
    threads: list[Thread] = []

    @thread
    def load() -> None:
        for (i,) in Range(tiling.D.i):
            load_store(src=DDR0, dst=sram, tile=Tile(tiling, (0, 0, i), location=CORE0).W)
            barrier(load, *threads)
            if back:
                barrier(load, *threads)

    def group(number: int) -> Thread:
        @thread(name=f"group{number}", core=Core(0, number + 1))
        def use() -> None:
            for (i,) in Range(tiling.D.i):
                tile = Tile(tiling, (number, 0, i), location=Core(0, number + 1))
                load_store(src=DDR0, dst=SRAM(tile.location), tile=tile.X)
                barrier(load, *threads)
                load_store(src=sram, dst=SRAM(tile.location), tile=tile.W)
                compute(tile)
                if back:
                    barrier(load, *threads)
            load_store(src=SRAM(tile.location), dst=DDR0, tile=tile.Y)

        return use

    threads += [group(number) for number in range(groups)]
    return Program(tiling, load, *threads)


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_a33_the_barrier_back_to_the_loader_is_missed(mutation: ModuleType, groups: int) -> None:
    broken = shared_operand(groups, back=False)
    report = check_program(broken, judge=mutation.Trial.of(broken).judge(broken))
    races = [each for each in report.findings if each.code == "PT-RACE"]
    assert len(races) == groups
    assert all(each.sentence.startswith("WAR on sram@(0,0)") for each in races)
    assert all(each.grade == "wrong value" for each in races)  # executed: the next round's operand is read
    whole = shared_operand(groups, back=True)
    assert check_program(whole).ok
    assert is_right(whole)


@pytest.mark.slow
@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(1, 3))
def test_a35_pieces_of_any_size_have_one_source(tokens: list[int], slots: int) -> None:
    """Rows of several experts, cut where each ends: boxes, bytes, MACs and stores all follow the tiling."""
    total = sum(tokens)
    tiling = Tiling("ti,oi->to", total=(total, 3, 5), D=(list(np.cumsum(tokens)[:-1]) or 1, 1, 1), S=...)
    threads = worker(tiling, CORE0, [(expert, 0) for expert in range(len(tokens))], slots)
    program = Program(tiling, *threads)
    assert proved(check_program(program), (total, 3, 5))
    ops = program.tables()["op"]
    assert ops["macs"][ops["macs"] > 0].tolist() == [15 * each for each in tokens]
    assert is_right(program)


@pytest.mark.parametrize("splits", [1, 2, 3])
def test_a27_a_reduction_split_over_threads_is_free_of_deadlock(splits: int) -> None:
    """Every core multiplies its share of K and stores it; nobody waits, and what that loses is told."""
    tiling = Tiling("ti,oi->to", total=(4, 4, 8 * splits), D=(1, 1, 2 * splits), S=...)
    shares = [[i for i in range(2 * splits) if i % splits == number] for number in range(splits)]

    def share(number: int) -> Thread:
        core = Core(0, number)

        @thread(name=f"share{number}", core=core)
        def add() -> None:
            for i in shares[number]:
                tile = Tile(tiling, (0, 0, i), location=core)
                load_store(src=DDR0, dst=SRAM(core), tile=tile)
                compute(tile)
            load_store(src=SRAM(core), dst=DDR0, tile=tile.Y)

        return add

    program = Program(tiling, *[share(number) for number in range(splits)])
    report = check_program(program)
    assert "deadlock: no thread waits for ever" in report.proved
    if splits > 1:  # every share is stored over the others: that is no sum, and it is said
        assert not report.ok
        assert {"PT-RACE", "PT-COVERAGE"} <= {each.code for each in report.findings}
    else:
        assert report.ok


@pytest.mark.parametrize(("slots", "fits"), [(1, True), (2, False)])
def test_a49_one_buffer_may_use_the_whole_memory(slots: int, fits: bool) -> None:
    """512 x 512 x 512 int8 in tiles of 128 x 128 x 512: 131072 B, the whole of a memory of as much."""
    tiling = Tiling("ti,oi->to", total=(512, 512, 512), D=(4, 4, 1), S=...)
    buffer, sram = Buffer(slots=slots), SRAM(CORE0)

    @thread
    def load() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=CORE0)
            buffer.acquire()
            start_writing(tile)
            load_store(src=DDR0, dst=sram, tile=tile)
            finish_writing(tile)

    @thread
    def multiply() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=CORE0)
            start_reading(tile)
            load_store(src=sram, dst=Compute(CORE0), tile=tile)
            compute(tile)
            finish_reading(tile)
            load_store(src=Compute(CORE0), dst=DDR0, tile=tile)
            destroy(tile)
            buffer.release()

    report = check_program(
        Program(tiling, load, multiply, dtype="int8"), capacities={"sram@(0,0)": 2 * 128 * 512}
    )
    assert [each.code for each in report.findings] == ([] if fits else ["PT-CAPACITY"])


def test_a37_half_bytes_are_refused() -> None:
    with pytest.raises(ProgramError, match="elements of 4 bits share bytes"):
        product((384, 64, 64), (192, 64, 64), cores=2, dtype="int4")


def test_a_negative_dimension_is_refused() -> None:
    with pytest.raises(PantileError, match="total must not be negative, got t=4, o=-1, i=4"):
        Tiling("ti,oi->to", total=(4, -1, 4), D=(1, 1, 1), S=...)
