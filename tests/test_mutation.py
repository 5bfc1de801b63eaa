"""Mutants of the worked examples' synchronisation: each is reported for what it is, or proved harmless."""

from __future__ import annotations

import re
from pathlib import Path
from runpy import run_path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pantile.language import Program, SpatialMapping, StreamingEquation, SystolicArray, Tiling

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples" / "tile_language"


def ping_pong() -> Program:
    """Example 3 with four tiles, two reduction steps, two children each."""
    module: dict[str, Any] = {"__name__": "example"}
    path = EXAMPLES / "03_pingpong.py"
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module)
    module["tiling"] = Tiling("ti,oi->to", total=(16, 8, 64), D=(2, 1, 2), T=(1, 1, 2), S=(8, 8, 16))
    program = module["ping_pong"](slots=2)
    assert isinstance(program, Program)
    return program


def systolic() -> Program:
    """Example 2, output stationary, with three tiles of two runs, the second of which is ragged."""
    cut = Tiling("ti,oi->to", total=(6, 6, 4), D=(3, 1, 1), C=(1, 2, 1), T=(1, 1, 4), S=(2, 4, 1))
    array = SystolicArray(
        StreamingEquation("tau = row + col + it", cut, SpatialMapping("S.ts->row", "S.os->col"))
    )
    program = run_path(str(EXAMPLES / "02_systolic.py"))["systolic"](array)
    assert isinstance(program, Program)
    return program


def weight_stationary() -> Program:
    """Example 2, weight stationary, with two tiles of two runs that add to the same sums."""
    cut = Tiling("ti,oi->to", total=(4, 3, 4), D=(2, 1, 1), C=(1, 1, 2), T=(2, 1, 1), S=(1, 3, 2))
    array = SystolicArray(
        StreamingEquation("tau = row + col + tt", cut, SpatialMapping("S.is->row", "S.os->col"))
    )
    program = run_path(str(EXAMPLES / "02_systolic.py"))["systolic"](array)
    assert isinstance(program, Program)
    return program


def of_page(name: str) -> list[str]:
    """The rows of the table on the checker's page that has this name."""
    page = (ROOT / "docs" / "checker.md").read_text(encoding="utf-8")
    (table,) = re.findall(rf"<!-- mutants of {name} -->\n\n(.*?)\n\n", page, re.DOTALL)
    return str(table).splitlines()[2:]


def test_the_nest_has_nothing_to_mutate(mutation: ModuleType) -> None:
    program = run_path(str(EXAMPLES / "01_nest.py"))["program"]
    assert len(program.tables()["sync"]) == 0
    assert list(mutation.mutants(program)) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("example 2", systolic),
        ("example 2, weight stationary", weight_stationary),
        ("example 3", ping_pong),
    ],
)
def test_every_mutant_is_reported_or_proved_harmless(
    mutation: ModuleType, name: str, make: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = mutation.rows_of(mutation.graded(make()))
    with capsys.disabled():
        print(f"\nmutants of {name}:", *rows, sep="\n")
    assert rows == of_page(name)


def test_a_post_before_its_work_shows_in_the_values(mutation: ModuleType) -> None:
    """finish_writing before load_store: the witness multiplies what is not there yet."""
    program = ping_pong()
    ops = program.tables()["op"]
    names = [program.text(each) for each in ops["opcode"]]
    early = next(each for each in mutation.mutants(program) if each.what == "swap post")
    assert names[early.op - 1 : early.op + 1] == ["load_store", "finish_writing"]
    assert mutation.grade(early, mutation.Trial.of(program)) == ("PT-RACE", "wrong value")


def test_a_mutant_is_one_change(mutation: ModuleType) -> None:
    program = ping_pong()
    sync = program.tables()["sync"]
    for mutant in mutation.mutants(program):
        other = mutant.program.tables()
        if mutant.what.startswith("drop"):
            assert len(other["sync"]) == len(sync) - 1
        elif mutant.what.startswith("re-number"):
            assert np.count_nonzero(other["sync"]["counter"] != sync["counter"]) == 1
        else:
            assert np.count_nonzero(other["op"]["opcode"] != program.tables()["op"]["opcode"]) in (0, 2)
        assert len(other["op"]) == program.operations


def test_exchanging_twice_changes_nothing(mutation: ModuleType) -> None:
    program = ping_pong()
    assert mutation.exchanged(mutation.exchanged(program, 2, 3), 2, 3).pieces == program.pieces
