"""Computes on systolic arrays: one operation per run, and worked example 2 as it ships."""

from __future__ import annotations

import doctest
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pantile.check.program import check_program
from pantile.errors import ProgramError
from pantile.language import (
    DDR,
    Compute,
    Core,
    Program,
    Range,
    SpatialMapping,
    StreamingEquation,
    SystolicArray,
    Tile,
    Tiling,
    compute,
    load_store,
    thread,
)
from pantile.machine import Clock, Engine, Grid, Machine, Memory, Table
from pantile.machine import Path as Way
from pantile.program.piece import Piece
from pantile.program.program import Program as Tables
from pantile.program.tables import Completes, Kind
from pantile.simulate.bind import bind
from pantile.simulate.engine import run_compiled
from pantile.simulate.execute import execute
from pantile.simulate.queries import simulate_dynamic
from pantile.simulate.timeline import simulate

EXAMPLE = Path(__file__).parents[3] / "examples" / "tile_language" / "02_systolic.py"
KINDS = ("output", "weight", "input")


@pytest.fixture(scope="module")
def example() -> SimpleNamespace:
    namespace: dict[str, Any] = {"__name__": "example"}
    exec(compile(EXAMPLE.read_text(encoding="utf-8"), str(EXAMPLE), "exec"), namespace)
    return SimpleNamespace(**namespace)


def machine(side: int = 4, rate: int = 10**15) -> Machine:
    """A core at 1 GHz with an array; links so fast that only the array takes time, unless *rate* is lower."""
    ways = (("ddr", "sram"), ("sram", "compute"), ("sram", "ddr"))
    return Machine(
        name="one-array",
        clocks=(Clock("core", 10**9),),
        memories=(
            Memory(name="ddr", scope="chip", granule_bytes=64),
            Memory(name="sram", scope="core", granule_bytes=64),
            Memory(name="compute", scope="core"),
        ),
        engines=(
            Engine(name="dma", scope="chip", completes="pipelined", duration="transfer"),
            Engine(
                name="compute",
                scope="core",
                completes="pipelined",
                duration="systolic",
                parameters=Table({"rows": side, "columns": side}),
            ),
        ),
        paths=tuple(
            Way(
                origin=origin,
                destination=destination,
                engine="dma",
                rate_bytes_per_second=rate,
                policy="shared",
            )
            for origin, destination in ways
        ),
        grid=Grid((1, 1)),
    )


def array_cycles(program: Program, timeline: Any) -> float:
    """Cycles from the start of the first compute to the end of the last."""
    computes = program.tables()["op"]["kind"] == Kind.COMPUTE
    times = timeline.times[computes]
    return float((times["finish"].max() - times["start"].min()) / 1000)


@pytest.mark.parametrize("kind", KINDS)
def test_one_description_gives_three_arrays_that_compute_the_product(example: Any, kind: str) -> None:
    array = getattr(example, f"{kind}_stationary")
    assert array.equation.dataflow == f"{kind} stationary"
    program = example.systolic(array)
    report = check_program(program)
    assert report.ok
    assert not report.findings
    assert "coverage: 2688 MACs, each computed exactly once" in report.proved
    rng = np.random.default_rng(3)
    x, w = (rng.integers(-9, 9, (rows, 12)).astype(np.float32) for rows in (16, 14))
    assert np.array_equal(program.execute(x=x, w=w), x @ w.T)
    overlapping = simulate(program, machine())  # runs start before the sums of those before have left
    assert np.array_equal(execute(program, {"x": x, "w": w}, overlapping)["Y"], x @ w.T)


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_is_one_operation_with_its_edge_injections(example: Any, kind: str) -> None:
    """What the program says enters in a run is what the seed's loop over set differences finds."""
    array = getattr(example, f"{kind}_stationary")
    program = example.systolic(array)
    ops = program.tables()["op"]
    computes = ops[ops["kind"] == Kind.COMPUTE]
    tiles = list(array.tiles())
    assert len(computes) == len(tiles)
    (described,) = program.parameters["arrays"]
    assert (described["engine"], described["sides"]) == ("compute@(0,0)", {"row": 4, "col": 4})
    runs = {run["duration"]: run for run in described["runs"]}
    for op, tile in zip(computes, tiles, strict=True):
        run = runs[int(op["duration_model"])]
        assert run["injections"] == example.injected(array, tile)
        assert op["macs"] == tile.volume
        held, total = program.parameters["durations"][int(op["duration_model"]) - 1]
        assert (held, total) == (array.run(tile).held, array.run(tile).total)


@pytest.mark.parametrize("kind", KINDS)
def test_alone_on_the_machine_runs_take_what_the_array_says(example: Any, kind: str) -> None:
    """Threads keep the array fed, so that the timeline is the closed form: with overlap and without."""
    array = getattr(example, f"{kind}_stationary")
    for each in (array, replace(array, overlap=False)):
        program = example.systolic(each)
        timeline = simulate(program, machine())
        assert array_cycles(program, timeline) == pytest.approx(each.steps(), abs=0.1)
        assert timeline.total >= max(timeline.lower_bounds.values())


def test_output_stationary_by_hand(example: Any) -> None:
    """16 runs of 12 reduction steps, 12 apart; the last is 4 x 2: 12 + 4 + 2 - 2 of work and 1 of drain.

    14 columns are 4 + 4 + 4 + 2. In turn a run takes 2 R + C + K - 2.
    """
    array = example.output_stationary
    assert array.steps() == 15 * 12 + (12 + 4 + 2 - 2) + 1
    assert replace(array, overlap=False).steps() == 12 * (2 * 4 + 4 + 12 - 2) + 4 * (2 * 4 + 2 + 12 - 2)


def test_overlap_is_that_of_the_thread(example: Any) -> None:
    """A thread that completes in order waits for the last result of each run: 19 or 17 cycles, not 12."""
    program = example.systolic(example.output_stationary)
    completes = program.tables()["thread"]["completes"]
    assert [Completes(each).name for each in completes] == ["IN_ORDER", "IN_ORDER", "PIPELINED", "IN_ORDER"]
    tables = {name: rows.copy() for name, rows in program.pieces[0].tables.items()}
    tables["thread"]["completes"] = Completes.IN_ORDER
    in_turn = Program.of(replace_tables(program, tables))
    assert array_cycles(program, simulate(program, machine())) == pytest.approx(15 * 12 + 17, abs=0.1)
    assert array_cycles(in_turn, simulate(in_turn, machine())) == pytest.approx(12 * 19 + 4 * 17, abs=0.1)


def replace_tables(program: Program, tables: dict[str, np.ndarray]) -> Tables:
    fields = {name: getattr(program, name) for name in Tables.__dataclass_fields__}
    return Tables(**fields | {"pieces": (Piece(tables),)})


def test_a_slow_link_makes_the_array_wait(example: Any) -> None:
    program = example.systolic(example.output_stationary)
    slow, fast = (simulate(program, machine(rate=rate)) for rate in (10**10, 10**15))
    assert slow.total > fast.total
    assert slow.terms["wait-load"] > fast.terms["wait-load"]
    assert slow.total >= max(slow.lower_bounds.values())


@pytest.mark.parametrize("kind", KINDS)
def test_static_dynamic_and_compiled_give_the_same_times(
    example: Any, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    array = getattr(example, f"{kind}_stationary")
    static = simulate(example.systolic(array), machine(rate=3 * 10**10))
    made: Callable[..., Program] = Program

    def asking(*threads: Any, **options: Any) -> Program:
        return made(*threads, **options, dynamic=True)

    source = example.__dict__["systolic"].__globals__
    monkeypatch.setitem(source, "Program", asking)
    dynamic_source = example.systolic(array).source
    assert dynamic_source is not None
    dynamic = simulate_dynamic(dynamic_source, machine(rate=3 * 10**10))
    assert dynamic.bound.program.pieces == static.bound.program.pieces
    assert static.times.tolist() == dynamic.times.tolist()


@pytest.mark.slow
def test_the_compiled_engine_times_arrays_alike(example: Any) -> None:
    bound = bind(example.systolic(example.weight_stationary), machine(rate=3 * 10**10))
    assert (
        run_compiled(bound).times.tolist() == simulate(bound.program, machine(rate=3 * 10**10)).times.tolist()
    )


def test_an_array_larger_than_the_machine_s_is_refused(example: Any) -> None:
    program = example.systolic(example.output_stationary)
    message = "array of 4 x 4 units does not fit compute@.0,0. of machine 'one-array', which has 2 x 2"
    with pytest.raises(ProgramError, match=message):
        bind(program, machine(side=2))


def test_text_and_json_keep_arrays(example: Any) -> None:
    assert Program.from_text(example.program.to_text()) == example.program
    assert Program.from_json(example.program.to_json()) == example.program


CUT = Tiling("ti,oi->to", total=(8, 4, 4), C=(2, 1, 1), T=(1, 1, 4), S=(4, 4, 1))
CORE = Core(0, 0)
ARRAY = SystolicArray(
    StreamingEquation("tau = row + col + it", CUT, SpatialMapping("S.ts->row", "S.os->col"))
)


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_tile_that_the_array_cannot_take_at_once_is_named_with_its_line(dynamic: bool) -> None:
    @thread
    def only() -> None:
        tile = Tile(CUT, (), location=Compute(CORE))
        load_store(src=DDR(0), dst=Compute(CORE), tile=tile)
        compute(tile)

    def run() -> None:
        program = Program(CUT, only, arrays={CORE: ARRAY}, dynamic=dynamic)
        assert program.source is not None  # a static program is refused when it is made
        simulate_dynamic(program.source)

    with pytest.raises(ProgramError, match=r"test_arrays\.py:\d+: the array does 64 of the 128"):
        run()


@pytest.mark.parametrize(
    ("arrays", "problem"),
    [
        ([ARRAY], "expected arrays by core"),
        ({"core": ARRAY}, "expected a core that has the array, got 'core'"),
        ({CORE: "4 x 4"}, "expected a systolic array of core@.0,0., got '4 x 4'"),
    ],
)
def test_arrays_that_are_none_are_refused(arrays: Any, problem: str) -> None:
    @thread
    def only() -> None:
        for c in Range(CUT.C):
            compute(Tile(CUT, c, location=Compute(CORE)))

    with pytest.raises(ProgramError, match=problem):
        Program(CUT, only, arrays=arrays)
    other = Tiling("ti,oi->to", total=(8, 4, 8), C=(2, 1, 1), T=(1, 1, 8), S=(4, 4, 1))
    with pytest.raises(ProgramError, match=r"the array of core@.0,0. is of another tiling than the program"):
        Program(other, only, arrays={CORE: ARRAY})


def test_the_page_on_arrays_holds() -> None:
    page = Path(__file__).parents[3] / "docs" / "arrays.md"
    results = doctest.testfile(str(page), module_relative=False)
    assert results.attempted > 15
    assert results.failed == 0
