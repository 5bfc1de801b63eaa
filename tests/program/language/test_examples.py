"""The worked examples 1 to 3 of tile-language.md section 11, as they ship."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pantile.language import Program
from pantile.program.language.load import load_program
from pantile.program.tables import Kind

EXAMPLES = Path(__file__).parents[3] / "examples" / "tile_language"
EXAMPLE_FILES = ["01_nest.py", "02_systolic.py", "03_pingpong.py"]


def example(name: str) -> Program:
    program = load_program(EXAMPLES / name)
    assert isinstance(program, Program)
    return program


@pytest.mark.parametrize("name", EXAMPLE_FILES)
def test_an_example_computes_what_numpy_does(kit: SimpleNamespace, name: str) -> None:
    got, expected = kit.execute(example(name))
    assert np.array_equal(got, expected)


def test_the_nest_waits_for_nothing_and_stores_every_output_once() -> None:
    program = example("01_nest.py")
    tables = program.tables()
    assert len(tables["thread"]) == 1
    assert len(tables["sync"]) == 0
    # 16 tiles of 1 load, 8 x 2 and 1 store, of which every fourth is after the last reduction step
    assert program.operations == 16 * 18
    stores = tables["op"][tables["op"]["kind"] == Kind.MOVE][9::10]
    assert stores["bytes"].tolist() == [0, 0, 0, 1024] * 4


@pytest.mark.parametrize(("slots", "bytes_of_slots"), [(1, 4096), (2, 8192), (3, 12288)])
def test_ping_pong_takes_the_slots_in_turn(kit: SimpleNamespace, slots: int, bytes_of_slots: int) -> None:
    namespace: dict[str, Any] = {"__name__": "example"}
    path = EXAMPLES / "03_pingpong.py"
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), namespace)
    ping_pong: Callable[..., Program] = namespace["ping_pong"]
    program = ping_pong(slots=slots)
    sram = program.parameters["spaces"].index("sram@(0,1)")
    lives = [life for life in program.parameters["lives"] if life[0] == sram][:16]
    assert [life[1] for life in lives] == [(each % slots) * 4096 for each in range(16)]
    assert max(life[1] + life[2] for life in lives) == bytes_of_slots
    got, expected = kit.execute(program)
    assert np.array_equal(got, expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLE_FILES)
def test_an_example_runs_by_itself(name: str) -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLES / name], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.startswith("pantile program 1\n")
    assert done.stderr == ""
