"""Bad input of a program file: one line each, with the file, the line at fault, the figures and the mend."""

from __future__ import annotations

from pathlib import Path

import pytest

from pantile.errors import PantileError
from pantile.machine import Clock, Engine, Grid, Machine, Memory, Table
from pantile.program.language.load import load_program
from pantile.simulate.bind import bind

PING_PONG = Path(__file__).parents[3] / "examples" / "tile_language" / "03_pingpong.py"


def changed(folder: Path, change: tuple[str, str]) -> Path:
    """The ping-pong of the specification with one change, as a file."""
    text = PING_PONG.read_text(encoding="utf-8")
    assert text.count(change[0]) == 1
    path = folder / "wrong.py"
    path.write_text(text.replace(*change), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("change", "at_fault", "problem"),
    [
        (
            ("D=(2, 2, 4), T", "D=(1, 2, 4), T"),
            "tiling = Tiling(",
            "factors of t cover 16 of 32 elements (D 1 × T 2 × S 8); raise a factor of t on one level",
        ),
        (
            ("D=(2, 2, 4), T=(2, 2, 2)", "D=(..., 2, 4), T=(..., 2, 2)"),
            "tiling = Tiling(",
            "levels 'D' and 'T' both leave out the factor of t; of 32 elements only one can be inferred; "
            "give t a factor on 'D'",
        ),
        (
            ("            buf.acquire()\n", "            if not buf.full: buf.acquire()\n"),
            "if not buf.full",
            "'full' of buffer is known only when the program runs; "
            "record it with Program(..., dynamic=True), or acquire() and wait",
        ),
        (
            ("            buf.acquire()\n", ""),
            "buf.release()",
            "release of buffer0 without acquire: 0 acquired in all, 16 released; "
            "acquire a slot first, or leave the release out",
        ),
        (
            ("            start_writing(tile)\n", ""),
            "finish_writing(tile)",
            "finish_writing of D(0,0,0) at sram@(0,1), where no copy of it is ever born, and 15 more at this "
            "line; "
            "begin it with start_writing of this tile or of one that contains it",
        ),
        (
            ("            start_reading(tile)\n", ""),
            "finish_reading(tile)",
            "finish_reading of D(0,0,0) at sram@(0,1) without a start_reading of this thread before it, and "
            "15 more at this line; "
            "call start_reading first, in the same thread",
        ),
        (
            ("load_store(src=ddr, dst=sram, tile=tile)", "load_store(src=ddr, dst=sram, tile=tile.X)"),
            "load_store(src=sram, dst=Compute(core), tile=child)",
            "load_store reads W D(0,0)/T(0,0) at sram@(0,1), from a copy into which it is never moved, and "
            "127 more at this line; load_store it there between start_writing and finish_writing",
        ),
    ],
    ids=["cover", "two inferred", "query", "release", "unborn", "finish", "half a load"],
)
def test_a_mistake_is_one_line_at_its_place(
    tmp_path: Path, change: tuple[str, str], at_fault: str, problem: str
) -> None:
    path = changed(tmp_path, change)
    with pytest.raises(PantileError) as caught:
        load_program(path)
    first = str(caught.value).splitlines()[0]
    name, line, said = first.rsplit("wrong.py", 1)[1].split(":", 2)
    assert (name, at_fault in path.read_text(encoding="utf-8").splitlines()[int(line) - 1]) == ("", True)
    assert said.strip().rpartition(" [")[0] == problem


def test_a_place_that_the_machine_lacks_is_one_line_at_its_place(tmp_path: Path) -> None:
    path = changed(tmp_path, ("Core(0, 1), DDR(0)", "Core(3, 1), DDR(0)"))
    program = load_program(path)
    array = Table({"rows": 8, "columns": 8})
    machine = Machine(
        name="small",
        clocks=(Clock("core", 10**9),),
        memories=(
            Memory(name="ddr", scope="chip", granule_bytes=64),
            Memory(name="sram", scope="core", granule_bytes=64),
            Memory(name="compute", scope="core"),
        ),
        engines=(
            Engine(
                name="compute", scope="core", completes="pipelined", duration="systolic", parameters=array
            ),
        ),
        grid=Grid((2, 2)),
    )
    with pytest.raises(PantileError) as caught:
        bind(program, machine)
    lines = path.read_text(encoding="utf-8").splitlines()
    at = 1 + next(number for number, line in enumerate(lines) if "load_store(src=ddr, dst=sram" in line)
    said = str(caught.value).splitlines()[0].rpartition("wrong.py:")[2]
    expected = "machine 'small' has a grid of 2 x 2 cores, none of which is 'sram@(3,1)' [PT-PROGRAM]"
    assert said == f"{at}: {expected}"
