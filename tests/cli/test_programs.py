"""Programs of the tile language on the command line: files, JSON, exit codes, and one line for each mistake."""

# ruff: noqa: E501  # messages stand here whole, as they are printed

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import pantile as package
from pantile.program.language.load import load_program

if TYPE_CHECKING:
    from conftest import Pantile

EXAMPLE = Path(__file__).parents[2] / "examples" / "tile_language" / "03_pingpong.py"
MESH = ("-m", "mesh-2x2")

HEAD = """\
from pantile.language import *
tiling = Tiling("ti,oi->to", total=(4, 4, 8), D=(2, 2, 2), S=(2, 2, 4))
core, buf = Core(0, 0), Buffer(slots=2)
tile = Tile(tiling, (0, 0, 0), location=core)

@thread
def load():
"""
END = "\nprogram = Program(tiling, load)\n"


@pytest.fixture
def ping(pantile: Pantile) -> str:
    """The worked example, in the folder in which commands run."""
    del pantile  # which changes to that folder
    Path("ping.py").write_text(EXAMPLE.read_text())
    return "ping.py"


def mutant(old: str, new: str = "pass", name: str = "mutant.py") -> str:
    """The worked example with a statement changed."""
    text = EXAMPLE.read_text()
    assert old in text
    Path(name).write_text(text.replace(f"            {old}\n", f"            {new}\n"))
    return name


def test_check_without_a_machine(ping: str, pantile: Pantile) -> None:
    done = pantile("check", ping)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "ping-pong with 2 slots"
    assert "  proved: coverage: 131072 MACs, each computed exactly once" in lines
    assert lines[-1] == "  ok"


def test_check_as_json(ping: str, pantile: Pantile) -> None:
    bare = pantile("check", ping, "--json").object
    assert [bare[key] for key in ("schema", "version", "workload", "machine", "planner", "semantics")] == [
        "pantile/check/1", package.__version__, "ping-pong with 2 slots", None, None, "static",
    ]  # fmt: skip
    assert (bare["ok"], bare["findings"], bare["notes"]) == (True, [], [])
    on_mesh = pantile("check", ping, *MESH, "--json").object
    assert on_mesh["machine"] == "mesh-2x2"
    assert "capacity: sram@(0,1) of 1048576 B holds at most 9216 B at once" in " ".join(on_mesh["proved"])
    assert on_mesh["notes"] == [
        {"code": "values", "text": "executed as it runs on mesh-2x2, the output is NumPy's"}
    ]


def test_findings_carry_their_lines(pantile: Pantile) -> None:
    done = pantile("check", mutant("buf.release()"), "--json")
    assert done.code == 1
    (finding,) = (each for each in done.object["findings"] if each["code"] == "PT-DEADLOCK")
    assert finding["grade"] == "hang"
    assert len(finding["sources"]) == len(finding["operations"]) > 1
    line = 1 + EXAMPLE.read_text().splitlines().index("            buf.acquire()")
    assert f"mutant.py:{line}" in finding["sources"]


def test_simulate_as_json(ping: str, pantile: Pantile) -> None:
    run = pantile("simulate", ping, *MESH, "--json").object
    assert [run[key] for key in ("schema", "workload", "machine", "planner", "semantics")] == [
        "pantile/simulate/1", "ping-pong with 2 slots", "mesh-2x2", None, "static",
    ]  # fmt: skip
    assert sum(run["terms"].values()) == run["total_cycles"]
    assert sum(run["terms_ps"].values()) == run["total_ps"] == round(run["total_seconds"] * 1e12)
    assert all(sum(each["terms"].values()) == run["total_cycles"] for each in run["per_core"])
    assert [(each["core"], each["unit"]) for each in run["per_core"]] == [(1, "compute@(0,1)")]
    assert max(run["lower_bounds"].values()) <= run["total_cycles"]
    assert run["bound_by"] == max(run["terms"], key=run["terms"].__getitem__)
    assert set(run["utilisation"]) == {"mac", "busy"}
    peak = 16 * 16 * 4 * run["total_ps"] / 1000  # MACs of all four arrays
    assert run["utilisation"]["mac"] == pytest.approx(131072 / peak)
    assert run["finished"]
    assert run["findings"] == run["what_if"] == run["notes"] == []


def test_text_and_json_tell_the_same(ping: str, pantile: Pantile) -> None:
    run = pantile("simulate", ping, *MESH, "--json").object
    text = pantile("simulate", ping, *MESH).out
    terms = " + ".join(f"{name} {cycles}" for name, cycles in run["terms"].items() if cycles)
    assert f"  total {run['total_cycles']} cycles ({run['total_seconds'] * 1e6:.2f} us) = {terms}\n" in text
    assert f"  bound by {run['bound_by']}; MAC utilisation {run['utilisation']['mac']:.1%}, " in text


def test_python_gives_what_the_command_line_prints(ping: str, pantile: Pantile) -> None:
    program = load_program(ping)
    assert package.check(program).to_json() == pantile("check", ping, "--json").object
    assert package.check(ping, "mesh-2x2").to_json() == pantile("check", ping, *MESH, "--json").object
    assert (
        package.simulate(program, "mesh-2x2").to_json() == pantile("simulate", ping, *MESH, "--json").object
    )


@pytest.mark.parametrize("form", ["json", "txt"])
def test_other_forms_of_the_same_program(form: str, ping: str, pantile: Pantile) -> None:
    program = load_program(ping)
    text = json.dumps(program.to_json()) if form == "json" else program.to_text()  # type: ignore[attr-defined]
    Path(f"ping.{form}").write_text(text)
    for verb in ("check", "simulate"):
        same = pantile(verb, ping, *MESH, "--json").object
        assert pantile(verb, f"ping.{form}", *MESH, "--json").object == same


def test_what_if_and_trace(ping: str, pantile: Pantile) -> None:
    done = pantile(
        "simulate",
        ping,
        *MESH,
        "--what-if",
        "compute=+100%",
        "--what-if",
        "link=-50%",
        "--trace",
        "t",
        "--json",
    )
    assert (done.code, done.err) == (0, "wrote t\n")
    faster, slower = done.object["what_if"]
    assert faster["saved_cycles"] > 0 > slower["saved_cycles"]
    assert faster["total_cycles"] == done.object["total_cycles"] - faster["saved_cycles"]
    assert Path("t").stat().st_size > 10_000


def test_a_run_that_gets_stuck_fails_and_says_where(pantile: Pantile) -> None:
    done = pantile("simulate", mutant("buf.release()"), *MESH)
    assert (done.code, done.err) == (1, "")
    assert "  error: PT-DEADLOCK (hang): nothing goes on after " in done.out
    assert "thread load stands at operation 8 (acquire at mutant.py:43)" in done.out
    run = pantile("simulate", "mutant.py", *MESH, "--json")
    assert run.code == 1
    assert run.object["finished"] is False
    (finding,) = run.object["findings"]
    assert finding["sources"] == ["mutant.py:43", "mutant.py:52"]
    assert sum(run.object["terms"].values()) == run.object["total_cycles"]


def test_a_race_is_graded_by_executing_it(pantile: Pantile) -> None:
    program = mutant("start_reading(tile)", "buf.release(); start_reading(tile)", "early.py")
    text = (
        Path(program)
        .read_text()
        .replace("            destroy(tile)\n            buf.release()\n", "            destroy(tile)\n")
    )
    Path(program).write_text(text)
    done = pantile("check", program, "--json")
    assert done.code == 1
    (race,) = (each for each in done.object["findings"] if each["code"] == "PT-RACE")
    assert (race["grade"], race["severity"]) == ("wrong value", "error")
    assert "NumPy gives" in race["evidence"]


def test_a_small_budget_leaves_choices_undecided(pantile: Pantile) -> None:
    text = (
        HEAD
        + "    buf.acquire()\n    buf.release()\n\n@thread\ndef other():\n    for _ in range(3):\n        buf.acquire()\n        buf.release()\nprogram = Program(tiling, load, other)\n"
    )
    Path("choice.py").write_text(text)
    assert "PT-UNDECIDED" in pantile("check", "choice.py", "--budget", "0").out
    assert "PT-UNDECIDED" not in pantile("check", "choice.py").out


REFUSED = {
    HEAD + "    start_writing(tile)\n": "p.py: leaves no program; make one: program = Program(tiling, load, multiply) [PT-PROGRAM]",
    HEAD + "    start_writing(tile)" + END + "other = Program(tiling, load)\n": "p.py: leaves 2 programs (program, other); write p.py:NAME to choose one [PT-PROGRAM]",
    "x = 1\ny = [][x]\n": "p.py:2: raised IndexError: list index out of range [PT-PROGRAM]",
    HEAD + "    start_writing(tile)\n    if buf.full: pass" + END: "p.py:9: 'full' of buffer is known only when the program runs; record it with Program(..., dynamic=True)",
    HEAD + "    buf.release()" + END: "p.py:8: ",
    HEAD + "    start_reading(tile)" + END: "p.py:8: start_reading of D(0,0,0) at sram@(0,0), where no copy of it is ever born",
    'from pantile.language import *\ntiling = Tiling("ti,oi->to", total=(4, 4, 8), D=..., S=...)\n': "p.py:2: ",
    'from pantile.language import *\ntiling = Tiling("ti,oi->to", total=(4, 4, 8), D=(2, 2, 2), S=(1, 2, 4))\n': "p.py:2: ",
    "def f(:\n": "p.py:1: not Python: invalid syntax [PT-PROGRAM]",
}  # fmt: skip


@pytest.mark.parametrize("verb", ["check", "simulate", "view"])
@pytest.mark.parametrize("text", REFUSED, ids=[str(at) for at in range(len(REFUSED))])
def test_programs_that_are_refused(text: str, verb: str, pantile: Pantile) -> None:
    Path("p.py").write_text(text)
    more = ("-o", "page.html") if verb == "view" else ()
    done = pantile(verb, "p.py", *MESH, *more)
    assert (done.code, done.out) == (2, "")
    first, *others = done.err.splitlines()
    assert first.startswith(f"error: {REFUSED[text]}")
    assert all(line.startswith("error: p.py:") and line.endswith("]") for line in (first, *others))
    assert not Path("page.html").exists()


LINES = {
    ("check", "none.py"): "none.py: cannot be read: No such file or directory [PT-PROGRAM]",
    ("check", "none.txt"): "none.txt: cannot be read: No such file or directory [PT-PROGRAM]",
    ("check", "ping.py:proram"): "ping.py: leaves no program called 'proram'; programs there: program; did you mean 'program'? [PT-PROGRAM]",
    ("check", "gemm:m=8,n=8,k=8"): "a workload is checked on a machine, got none; add -m MACHINE [PT-USAGE]",
    ("check", "gemm:m=8,n=8,k=8", "-m", "systolic-ws-8x8", "--budget", "5"): "--budget: a planned product leaves no choice to walk through; leave it out [PT-USAGE]",
    ("check", "ping.py", "--budget", "few"): "--budget: expected a number of states, got 'few' [PT-USAGE]",
    ("check", "ping.py", "--mapping", "x"): "--mapping: means nothing for a program, which is planned already; leave it out [PT-USAGE]",
    ("simulate", "ping.py", *MESH, "-p", "cannon"): "--planner: means nothing for a program, which is planned already; leave it out [PT-USAGE]",
    ("simulate", "ping.py", *MESH, "--semantics", "fixed"): "--semantics: means nothing for a program, which is planned already; leave it out [PT-USAGE]",
    ("simulate", "ping.py", *MESH, "--dim", "a=1"): "--dim: means nothing for a program, which is planned already; leave it out [PT-USAGE]",
    ("simulate", "ping.py"): "pantile simulate: missing -m/--machine MACHINE; see `pantile simulate --help` [PT-USAGE]",
    ("simulate", "ping.py", *MESH, "--what-if", "faster"): "--what-if: expected RESOURCE=+10%, got 'faster'; write 'ddr>sram=+10%' [PT-USAGE]",
    ("plan", "ping.py", *MESH): "ping.py: is a program, which plan does not take: it is planned and lowered already; use check, simulate or view [PT-OUTSIDE]",
    ("lower", "ping.py", *MESH): "ping.py: is a program, which lower does not take: it is planned and lowered already; use check, simulate or view [PT-OUTSIDE]",
}  # fmt: skip


@pytest.mark.parametrize("arguments", LINES, ids=" ".join)
def test_one_line(arguments: tuple[str, ...], ping: str, pantile: Pantile) -> None:
    del ping
    done = pantile(*arguments)
    assert (done.code, done.out, done.err) == (2, "", f"error: {LINES[arguments]}\n")


def test_a_place_that_the_machine_lacks_is_told_with_its_line(ping: str, pantile: Pantile) -> None:
    for verb in ("check", "simulate"):
        done = pantile(verb, ping, "-m", "systolic-ws-8x8")
        assert (done.code, done.out) == (2, "")
        assert "error: ping.py:45: machine 'systolic-ws-8x8' has no memory 'ddr'; allowed here: " in done.err
    Path("far.py").write_text(EXAMPLE.read_text().replace("Core(0, 1)", "Core(7, 7)"))
    done = pantile("simulate", "far.py", *MESH)
    assert done.code == 2
    assert "(7,7)" in done.err


@pytest.mark.parametrize(
    "text", ["", "pantile program 2\n", "MTE2 copy\n", "pantile program 1\nnonsense here\n"]
)
def test_texts_that_are_no_program(text: str, pantile: Pantile) -> None:
    Path("p.txt").write_text(text)
    done = pantile("check", "p.txt")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: p.txt:")
    assert done.err.count("\n") == 1


DYNAMIC = """\
from pantile.language import *
tiling = Tiling("ti,oi->to", total=(16, 16, 32), D=(2, 2, 2), S=(8, 8, 16))
core, ddr = Core(0, 1), DDR(1)
sram, buf = SRAM(core), Buffer(slots=2)
asked = []

@thread
def load():
    for d in Range(tiling.D):
        tile = Tile(tiling, d, location=core)
        asked.append(buf.full)
        buf.acquire()
        start_writing(tile)
        load_store(src=ddr, dst=sram, tile=tile)
        finish_writing(tile)

@thread
def multiply():
    for d in Range(tiling.D):
        tile = Tile(tiling, d, location=core)
        start_reading(tile)
        compute(tile)
        finish_reading(tile)
        if d.last("i"):
            load_store(src=sram, dst=ddr, tile=tile.Y)
        destroy(tile)
        {release}

program = Program(tiling, load, multiply, dynamic=True)
"""


def test_a_program_that_asks(pantile: Pantile) -> None:
    Path("asks.py").write_text(DYNAMIC.format(release="buf.release()"))
    static = DYNAMIC.format(release="buf.release()").replace("asked.append(buf.full)", "pass")
    Path("static.py").write_text(static.replace(", dynamic=True", ""))
    run = pantile("simulate", "asks.py", *MESH, "--json").object
    same = pantile("simulate", "static.py", *MESH, "--json").object
    assert run["notes"] == [
        {"code": "dynamic", "text": "the program asks at run time: this is what it did here"}
    ]
    for key in ("total_ps", "terms", "lower_bounds", "utilisation", "critical_chain"):
        assert run[key] == same[key]
    for machine in ((), MESH):
        done = pantile("check", "asks.py", *machine, "--json")
        assert done.code == 0
        assert done.object["ok"]
        assert done.object["notes"][0]["text"].startswith(
            "the program asks at run time: only what it did in one run is checked, "
        )
    done = pantile("simulate", "asks.py", *MESH, "--what-if", "link=+10%")
    assert done.err == (
        "error: --what-if: the program asks at run time, so it may do something else on another machine; "
        "change the machine, and simulate again [PT-USAGE]\n"
    )


def test_a_program_that_asks_and_gets_stuck(pantile: Pantile) -> None:
    Path("asks.py").write_text(DYNAMIC.format(release="pass"))
    for verb in ("simulate", "check"):
        done = pantile(verb, "asks.py", *MESH)
        assert (done.code, done.err) == (1, "")
        assert "PT-DEADLOCK" in done.out
        assert "asks.py:12" in done.out
        assert "PT-STATE" not in done.out
