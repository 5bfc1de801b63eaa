"""What is a program, and which family a text belongs to."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import pantile.ascend
from pantile.errors import ManyProblems, OutsideModelError, PantileError, ProgramError
from pantile.language import Program
from pantile.verbs.program_check import check_program
from pantile.verbs.programfile import (
    dynamic_source,
    is_program,
    program_of,
    read_listing,
    refuse_for_programs,
    refuse_for_workloads,
    refuse_other_json,
    refuse_programs,
)

MAKES = """\
from pantile.language import *
tiling = Tiling("ti,oi->to", total=(4, 4, 8), D=(2, 2, 2), S=(2, 2, 4))
tile = Tile(tiling, (0, 0, 0), location=Core(0, 0))

@thread
def load():
    start_writing(tile)

program = Program(tiling, load)
"""


@pytest.fixture
def files(tmp_path: Path) -> SimpleNamespace:
    """The same program as Python, listing and JSON; and a plan."""
    source = tmp_path / "made.py"
    source.write_text(MAKES)
    program = program_of(source)
    assert isinstance(program, Program)
    (tmp_path / "made.txt").write_text(program.to_text())
    (tmp_path / "made.json").write_text(json.dumps(program.to_json()))
    (tmp_path / "plan.json").write_text(json.dumps({"schema": "pantile/plan/1"}))
    (tmp_path / "odd.json").write_text(json.dumps({"schema": "pantile/lower/1"}))
    (tmp_path / "none.json").write_text("{}")
    return SimpleNamespace(folder=tmp_path, program=program)


@pytest.mark.parametrize("name", ["made.py", "made.py:program", "made.txt", "made.json"])
def test_files_of_programs(name: str, files: SimpleNamespace) -> None:
    path = str(files.folder / name)
    assert is_program(path)
    assert program_of(path).pieces == files.program.pieces
    assert dynamic_source(program_of(path)) is None


def test_values_and_paths(files: SimpleNamespace) -> None:
    assert is_program(files.program)
    assert program_of(files.program) is files.program
    assert is_program(files.folder / "made.py")


@pytest.mark.parametrize(
    "value", ["gemm:m=8,n=8,k=8", "net.onnx#node", "t.csv", "plan.json", "odd.json", "none.json", ".", "", 5]
)
def test_what_is_left_to_others(value: object, files: SimpleNamespace) -> None:
    named = isinstance(value, str) and value.endswith(".json")
    assert not is_program(str(files.folder / str(value)) if named else value)


def test_the_family_of_a_text() -> None:
    with pytest.raises(ProgramError) as caught:
        read_listing("\n\nMTE2 copy\n", "some.txt")
    assert str(caught.value) == (
        "some.txt:3: expected 'pantile program 1' (a listing of the tile language) or a call "
        "'NAME(ARGUMENT, …)' (a printed trace of an Ascend core), got 'MTE2 copy' [PT-PROGRAM]"
    )
    assert read_listing("\n// a kernel\ntrap()\n", "some.txt").family == "ascend"
    with pytest.raises(ProgramError, match=r"^some.txt:1: .* got ''"):
        read_listing("", "some.txt")
    with pytest.raises(ProgramError, match=r"got 'x{60}…'"):
        read_listing("x" * 80, "some.txt")


def test_json_that_is_neither_plan_nor_program(files: SimpleNamespace) -> None:
    refuse_other_json(str(files.folder / "plan.json"))
    refuse_other_json("gemm:m=8,n=8,k=8")
    with pytest.raises(
        PantileError, match=r"expected a plan \('pantile/plan/1'\) or a program .*got 'pantile/lower/1'"
    ):
        refuse_other_json(files.folder / "odd.json")
    with pytest.raises(PantileError, match=r"or a program \('pantile/program/1'\), got 'no schema'"):
        refuse_other_json(files.folder / "none.json")


def test_options_of_the_other_kind_are_one_line_each() -> None:
    refuse_for_programs(planner=None, mapping=None, dim={})
    with pytest.raises(ManyProblems) as caught:
        refuse_for_programs(mapping="x", dim={"a": 1}, core=0)
    assert str(caught.value).splitlines() == [
        f"{name}: means nothing for a program, which is planned already; leave it out [PT-USAGE]"
        for name in ("--mapping", "--dim", "--core")
    ]
    with pytest.raises(PantileError, match=r"^--what-if: only programs have it; leave it out"):
        refuse_for_workloads(what_if=(("a=1%",), "only programs have it"))


def test_verbs_that_take_no_programs_say_so(files: SimpleNamespace) -> None:
    refuse_programs("gemm:m=8,n=8,k=8", "plan")
    for value in (files.program, str(files.folder / "made.py")):
        with pytest.raises(OutsideModelError, match=r"is a program, which plan does not take: it is planned"):
            refuse_programs(value, "plan")


def test_an_emitted_program_kept_as_json_is_checked_as_it_is(tmp_path: Path) -> None:
    """Its lines are those of a source, which repeat; what was found while it was emitted comes with it."""
    core = pantile.ascend.Core("k.py")
    for _ in range(2):
        event = core.alloc(pantile.ascend.M, pantile.ascend.MTE1)
        core.set(event)
        core.wait(event)
        core.release(event)
        core.release(event)
    program, path = core.program(), tmp_path / "k.json"
    path.write_text(json.dumps(program.to_json()))
    assert str(check_program(str(path))) == str(program.check())


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("calls", [{"name": "x"}], r"calls\[0\] is not a call of a function"),
        ("emission", [{}], r"emission\[0\] is not a finding"),
        ("event_ids", "8", "lacks event_ids"),
        ("remarks", [1], r"remarks\[0\] is not a text"),
        ("lines", [1], "another number of instructions than of lines"),
    ],
)
def test_what_is_said_of_a_trace_must_be_readable(
    name: str, value: Any, problem: str, tmp_path: Path
) -> None:
    core = pantile.ascend.Core("k.py")
    core.set(pantile.ascend.M, pantile.ascend.MTE1, 0)
    core.wait(pantile.ascend.M, pantile.ascend.MTE1, 0)
    data, path = core.program().to_json(), tmp_path / "k.json"
    data["parameters"][name] = value
    path.write_text(json.dumps(data))
    with pytest.raises(ProgramError, match=problem):
        check_program(str(path))
