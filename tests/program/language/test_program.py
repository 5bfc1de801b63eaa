"""The program as a value: the ping-pong of tile-language.md section 8, and what it is made of."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pantile.language
from pantile.errors import UsageError
from pantile.language import DDR, Adjacent, Chiplet, Program, thread
from pantile.program.language.load import load_program
from pantile.program.tables import Kind

SPEC = """
from pantile.language import *

D, T, S = (2, 2, 4), (2, 2, 2), (8, 8, 16)
tiling = Tiling("ti,oi->to", total=(32, 32, 128), D=D, T=T, S=S)
core, ddr = Core(0, 1), DDR(0)
sram, buf = SRAM(core), Buffer(slots=2)

@thread
def load():
    for d in Range(tiling.D):
        tile = Tile(tiling, d, location=core)
        buf.acquire()
        start_writing(tile)
        load_store(src=ddr, dst=sram, tile=tile)
        finish_writing(tile)

@thread
def multiply():
    for d in Range(tiling.D):
        tile = Tile(tiling, d, location=core)
        start_reading(tile)
        for t in Range(tiling.T):
            child = tile.child(t)
            load_store(src=sram, dst=Compute(core), tile=child)
            compute(child)
        finish_reading(tile)
        if d.last("i"): load_store(src=sram, dst=ddr, tile=tile.Y)
        destroy(tile)
        buf.release()

program = Program(tiling, load, multiply)
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    path = tmp_path_factory.mktemp("spec") / "ping_pong.py"
    path.write_text(SPEC, encoding="utf-8")
    loaded = load_program(path)
    assert isinstance(loaded, Program)
    return loaded


def test_the_specs_ping_pong_is_recorded_as_it_stands(program: Program) -> None:
    ops = program.tables()["op"]
    # 16 tiles: load has 4 statements each; multiply start, 8 x 2, finish, destroy, release, and 4 stores
    assert program.operations == 16 * 4 + 16 * (1 + 16 + 3) + 4
    assert [program.text(name) for name in program.tables()["thread"]["name"]] == ["load", "multiply"]
    assert program.macs == 32 * 32 * 128
    moves = ops[ops["kind"] == Kind.MOVE]
    loads, feeds, stores = 16 * 4096, 16 * 8 * 1024, 4 * 1024
    assert int(moves["bytes"].sum()) == loads + feeds + stores
    assert program.parameters["spaces"] == ["ddr@0", "sram@(0,1)", "compute@(0,1)"]
    assert program.parameters["output"] == "Y"
    assert program.name == "ping_pong"


def test_it_computes_what_numpy_does(kit: SimpleNamespace, program: Program) -> None:
    got, expected = kit.execute(program)
    assert np.array_equal(got, expected)


def test_operands_are_stored_row_by_row_one_after_the_other(program: Program) -> None:
    assert [(o.name, o.dims, o.base, o.strides, o.element_bytes) for o in program.operands] == [
        ("X", (32, 128), 0, (128, 0, 1), 4),
        ("W", (32, 128), 16384, (0, 128, 1), 4),
        ("Y", (32, 32), 32768, (32, 1, 0), 4),
    ]
    assert [o.parameters["dtype"] for o in program.operands] == ["fp32"] * 3


def test_the_program_knows_its_space(program: Program) -> None:
    assert (program.axes, program.extents, program.reductions) == (("t", "o", "i"), (32, 32, 128), ("i",))
    assert len(program.pieces) == 1
    assert program.pieces[0].loops == ()
    assert (program.family, program.semantics) == ("tile-language", "static")


def test_a_fresh_recording_is_the_same_to_the_byte(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "ping_pong.py"
    path.write_text(SPEC, encoding="utf-8")
    again = load_program(path)
    assert again.pieces == program.pieces
    assert again.names == program.names


def test_a_program_prints_itself(program: Program) -> None:
    assert repr(program) == "<program ping_pong: 388 operations>"


def test_every_name_of_the_language_is_there() -> None:
    missing = [name for name in pantile.language.__all__ if not hasattr(pantile.language, name)]
    assert missing == []
    assert pantile.language.destory is pantile.language.destroy


def test_adjacent_means_the_programs_grid(kit: SimpleNamespace) -> None:
    found = []

    @thread
    def look() -> None:
        found.extend(Adjacent(DDR(1)))

    Program(kit.tiling(), look, grid=Chiplet(1, 2))
    assert [core.at for core in found] == [(0, 1)]
    with pytest.raises(UsageError, match="depends on the grid"):
        Program(kit.tiling(), look)


@pytest.mark.parametrize(("verb", "of"), [("check", "check_program"), ("show", "view_program")])
def test_verbs_are_loaded_when_asked_for(
    program: Program, monkeypatch: pytest.MonkeyPatch, verb: str, of: str
) -> None:
    asked = []

    def load(name: str) -> SimpleNamespace:
        asked.append(name)
        return SimpleNamespace(**{of: lambda program, *more, **options: (program, more, options)})

    monkeypatch.setattr(pantile.language, "import_module", load)
    assert getattr(program, verb)()[0] is program
    assert asked == ["pantile.verbs.program"]


def test_simulate_timeline_and_execute_hand_their_arguments_on(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    verbs = SimpleNamespace(
        simulate_program=lambda program, machine: SimpleNamespace(of=program, on=machine, timeline="rows"),
        execute_program=lambda program, arrays: (program, arrays),
    )
    monkeypatch.setattr(pantile.language, "import_module", lambda name: verbs)
    assert program.simulate("mesh-2x2").on == "mesh-2x2"
    assert program.timeline("mesh-2x2") == "rows"
    assert program.execute(x=1, w=2) == (program, {"x": 1, "w": 2})


def test_without_a_machine_the_timeline_counts_moves_and_computes(program: Program) -> None:
    # the first load alone, then 16 tiles of 8 x 2 steps, every fourth of which stores its output
    assert program.timeline().times["finish"].max() == 1 + 16 * 16 + 4
    dynamic = Program(*recorded(), dynamic=True)
    assert dynamic.timeline().times["finish"].tolist() == program.timeline().times["finish"].tolist()


def recorded() -> list[Any]:
    """The tiling and the threads of the specification's program."""
    namespace: dict[str, Any] = {}
    exec(compile(SPEC, "ping_pong.py", "exec"), namespace)
    return [namespace[name] for name in ("tiling", "load", "multiply")]
