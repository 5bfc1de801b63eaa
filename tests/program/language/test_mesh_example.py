"""The worked example 4 of tile-language.md section 11, as it ships."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pantile.errors import ManyProblems
from pantile.language import Program, load_store
from pantile.program.language.load import load_program
from pantile.simulate.execute import execute
from pantile.targets.mesh.routes import topology_of
from pantile.targets.mesh.traffic import departures, traffic_of
from pantile.verbs.arguments import PlanOptions, machine_of
from pantile.verbs.sessions import planned

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "tile_language" / "04_mesh.py"
VARIANTS = ["Cannon", "Summa", "Direct", "Central"]


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "example"}
    exec(compile(EXAMPLE.read_text(encoding="utf-8"), str(EXAMPLE), "exec"), namespace)
    return namespace


def made(example: dict[str, Any], how: str, side: int, total: tuple[int, int, int], slots: int) -> Program:
    mesh: Callable[..., Program] = example["mesh"]
    return mesh(example[how](side), total, slots)


@pytest.mark.parametrize("how", VARIANTS)
@pytest.mark.parametrize(("side", "total"), [(2, (6, 4, 8)), (3, (6, 9, 3)), (4, (4, 8, 8))])
def test_every_variant_computes_what_numpy_does(
    example: dict[str, Any], how: str, side: int, total: tuple[int, int, int]
) -> None:
    program, (m, n, k) = made(example, how, side, total, 2), total
    random = np.random.default_rng(3)
    x, w = random.integers(-9, 10, (m, k)), random.integers(-9, 10, (k, n))
    timeline = program.simulate(f"mesh-{side}x{side}").timeline if side != 3 else None
    assert np.array_equal(execute(program, {"x": x, "w": w}, timeline)["Y"], x @ w)
    report = program.check()
    assert report.ok, str(report)
    assert not [each for each in report.findings if each.severity == "warning"]


@pytest.mark.parametrize(("how", "least"), [("Cannon", 2), ("Summa", 1), ("Direct", 1)])
@pytest.mark.parametrize("side", [2, 3, 4])
def test_the_smallest_safe_slot_count(example: dict[str, Any], how: str, least: int, side: int) -> None:
    reports = [made(example, how, side, (12, 12, 12), slots).check() for slots in (1, 2, 3)]
    assert [report.ok for report in reports] == [slots >= least for slots in (1, 2, 3)]
    proved = [any("no thread waits for ever" in each for each in report.proved) for report in reports]
    assert proved == [report.ok for report in reports]


@pytest.mark.parametrize(("how", "times"), [("Cannon", 1), ("Summa", 1), ("Direct", 4)])
def test_how_often_each_element_leaves_a_memory(example: dict[str, Any], how: str, times: int) -> None:
    program = made(example, how, 4, (8, 8, 8), 2)
    for operand in "XW":
        assert np.all(departures(program, operand) == times)


def test_exchange_loads_only_from_the_memory_that_owns_the_shard(example: dict[str, Any]) -> None:
    program = made(example, "Cannon", 3, (6, 6, 6), 2)
    tables = program.tables()
    spaces, box = program.parameters["spaces"], tables["access"]
    loads = box[(box["mode"] == 0) & np.isin(box["space"], [spaces.index(f"ddr@{i}") for i in range(9)])]
    assert len(loads) == 2 * 9
    for row in loads:
        operand = program.operands[int(row["operand"])]
        at = (int(row["lo"]) - operand.base) // operand.element_bytes
        block = (at // 6 // 2, at % 6 // 2)
        assert spaces[int(row["space"])] == f"ddr@{block[0] * 3 + block[1]}"


@pytest.mark.parametrize("planner", ["cannon", "summa"])
@pytest.mark.parametrize("side", [2, 4])
def test_the_planner_s_program_takes_the_same_time(example: dict[str, Any], planner: str, side: int) -> None:
    name = f"mesh-{side}x{side}"
    (session,) = planned("gemm:m=64,n=64,k=64", name, PlanOptions(planner=planner), complete=True)
    (layer,) = session.layers()
    mine = made(example, planner.title(), side, (64, 64, 64), 2)
    topology = topology_of(machine_of(name))
    assert traffic_of(mine, topology) == traffic_of(layer.program, topology)
    run = session.simulation(lambda: None)
    assert run.to_json()["total_cycles"] == mine.simulate(name).timeline.cycles


def test_a_loader_that_skips_a_tile_when_its_buffer_is_full_loses_work() -> None:
    """What the seed writes: ``if not buffer.full()``. Its tiles are never born, and that is refused."""
    from pantile.language import (
        DDR,
        SRAM,
        Buffer,
        Core,
        Range,
        Tile,
        Tiling,
        compute,
        destroy,
        finish_reading,
        finish_writing,
        start_reading,
        start_writing,
        thread,
    )

    tiling, core = Tiling("ti,oi->to", total=(4, 4, 12), D=(1, 1, 3), S=(4, 4, 4)), Core(0, 0)
    buffer = Buffer(slots=1)

    @thread
    def load() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=core)
            if not buffer.full:
                buffer.increase()
                start_writing(tile)
                load_store(src=DDR(0), dst=SRAM(core), tile=tile)
                finish_writing(tile)

    @thread
    def multiply() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=core)
            start_reading(tile)
            compute(tile)
            finish_reading(tile)
            destroy(tile)
            buffer.decrease()
        load_store(src=SRAM(core), dst=DDR(0), tile=tile)

    with pytest.raises(ManyProblems) as caught:
        Program(tiling, load, multiply, dynamic=True).timeline()
    lost = [str(each) for each in caught.value.problems if "start_reading" in each.problem]
    assert len(lost) == 2
    assert "start_reading of D(0,0,1) at sram@(0,0), where no copy of it is ever born" in lost[0]


def test_a_slot_that_is_never_given_back_is_found(example: dict[str, Any]) -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    line = "                    buffers[name, how.lane(how.source(name, core, step))][core].release()\n"
    assert line in text
    namespace: dict[str, Any] = {"__name__": "example"}
    head = text.replace(line, "").split("cannon, summa, direct = (")[0]
    exec(compile(head, str(EXAMPLE), "exec"), namespace)
    report = made(namespace, "Cannon", 3, (6, 6, 6), 2).check()
    assert [each.code for each in report.findings if each.severity == "error"] == ["PT-DEADLOCK"]


def test_programs_of_the_file_are_chosen_by_name() -> None:
    program = load_program(f"{EXAMPLE}:summa_4x4")
    assert program.name == "summa 4x4"
    x = np.arange(64 * 64, dtype=np.float32).reshape(64, 64) % 5
    assert np.array_equal(execute(program, {"x": x, "w": x})["Y"], x @ x)


@pytest.mark.slow
def test_the_docs_show_what_the_figures_print() -> None:
    script = EXAMPLE.with_name("04_mesh_figures.py")
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=True, timeout=120, cwd=ROOT
    )
    page = (ROOT / "docs" / "mesh.md").read_text(encoding="utf-8")
    shown = [line.strip() for line in page.splitlines()]
    missing = [line for line in done.stdout.splitlines() if line.strip() not in shown]
    assert done.stdout.count("\n") > 25
    assert missing == []
