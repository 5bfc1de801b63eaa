"""Whatever stands on the command line, the answer is an exit code and one line per problem."""

from __future__ import annotations

import contextlib
import io
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pantile.cli.main import main
from pantile.program.language.load import load_program

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import WriteMachine

SEED = "gemm:m=8,n=8,k=8"
MAPPING = "[T] N8 C8 M8 - [O] N1 C1 M1 - [I] N8 C8 M8"
OPTIONS = ("-m", "-p", "--mapping", "--semantics", "--dim", "--core", "--window", "--trace", "-o", "--nope")
VERBS = ("plan", "lower", "check", "simulate", "view", "conform", "machines", "show", "validate", "")

words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)


def near(text: str) -> st.SearchStrategy[str]:
    """Texts that differ from *text* in a few places."""
    cuts = st.tuples(st.integers(0, len(text)), st.integers(0, 3), words)
    return st.lists(cuts, max_size=2).map(lambda edits: _edited(text, edits))


def _edited(text: str, edits: list[tuple[int, int, str]]) -> str:
    for at, length, word in edits:
        text = text[:at] + word + text[at + length :]
    return text


sizes = st.one_of(st.integers(-1, 40), st.sampled_from([2**31 - 1, 2**31, 10**30]))
gemms = st.builds("gemm:m={},n={},k={}".format, sizes, sizes, sizes)
counts = st.tuples(*[st.sampled_from([0, 1, 2, 3, 8, 9, 2**31 - 1])] * 9)
mappings = counts.map(lambda each: "[T] N{} C{} M{} - [O] N{} C{} M{} - [I] N{} C{} M{}".format(*each))
workloads = st.one_of(
    gemms, near(SEED), near("bmm:a=2x8x8,b=2x8x8,ta,dtype=int8"), near("folder/t.csv"), words
)
texts = st.one_of(words, mappings, near(MAPPING), near("0:5"), near("systolic-ws-8x8"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that commands may write into, and nowhere else."""
    return tmp_path_factory.mktemp("fuzz")


def run(arguments: list[str], folder: Path) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    before = os.getcwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            return main(arguments), out.getvalue(), err.getvalue()
    finally:
        os.chdir(before)


def assert_well_answered(arguments: list[str], folder: Path) -> None:
    code, out, err = run(arguments, folder)
    assert code in (0, 1, 2)
    lines = err.splitlines()
    assert all(line.startswith(("error: ", "wrote ", "gemm:", "compiling")) for line in lines), err
    assert all(line.endswith("]") for line in lines if line.startswith("error: "))
    if code == 2:
        assert not out
        assert lines
    if code == 0:
        assert not any(line.startswith("error: ") for line in lines)


quick = settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.mark.slow
@quick
@given(verb=st.sampled_from(VERBS), rest=st.lists(st.one_of(st.sampled_from(OPTIONS), texts), max_size=5))
def test_any_words(verb: str, rest: list[str], folder: Path) -> None:
    # Files are written into the folder alone: a text that leads out of it is not tried.
    rest = [word.replace("/", "").replace("\\", "").replace("..", "") for word in rest]
    assert_well_answered([verb, *rest], folder)


@pytest.mark.slow
@quick
@given(verb=st.sampled_from(["plan", "lower", "check", "simulate"]), workload=workloads)
@example(verb="lower", workload="gemm:m=2147483647,n=1,k=1")
@example(verb="simulate", workload="bmm:b=2147483647,m=1,n=1,k=1")
def test_any_workload(verb: str, workload: str, folder: Path) -> None:
    assert_well_answered([verb, workload, "-m", "systolic-ws-8x8"], folder)


@pytest.mark.slow
@quick
@given(
    verb=st.sampled_from(["lower", "simulate"]),
    mapping=st.one_of(mappings, near(MAPPING)),
    faithful=st.booleans(),
)
@example(
    verb="lower",
    mapping="[T] N8 C8 M8 - [O] N1 C1 M1 - [I] N2147483647 C2147483647 M2147483647",
    faithful=True,
)
@example(verb="simulate", mapping="[T] N8 C8 M8 - [O] N1 C1 M2147483647 - [I] N8 C8 M8", faithful=False)
def test_any_mapping(verb: str, mapping: str, faithful: bool, folder: Path) -> None:
    semantics = "faithful" if faithful else "fixed"
    mapping = mapping.replace("/", "")
    arguments = [verb, SEED, "-m", "systolic-ws-8x8", "--mapping", mapping, "--semantics", semantics]
    assert_well_answered(arguments, folder)


files = {
    "table.csv": "m,n,k,dtype,name\n8,8,8,int8,a\n",
    "plan.json": '{"schema": "pantile/plan/1", "feasible": true, "workload": "gemm:m=8,n=8,k=8", '
    f'"machine": "x", "planner": "onnxim", "semantics": "fixed", "parameters": {{"mapping": "{MAPPING}"}}}}',
}


@pytest.mark.slow
@pytest.mark.parametrize("name", files)
@quick
@given(data=st.data())
def test_any_content_of_a_file(name: str, folder: Path, data: st.DataObject) -> None:
    content = data.draw(st.one_of(near(files[name]).map(str.encode), st.binary(max_size=60)))
    (folder / name).write_bytes(content)
    assert_well_answered(["simulate", name, "-m", "systolic-ws-8x8"], folder)


@pytest.mark.slow
@quick
@given(data=st.data())
def test_any_configuration(data: st.DataObject, folder: Path, machine_file: WriteMachine) -> None:
    text = Path(machine_file()).read_text()
    content = data.draw(st.one_of(near(text).map(str.encode), st.binary(max_size=60)))
    (folder / "machine.json").write_bytes(content)
    assert_well_answered(["simulate", SEED, "-m", "machine.json"], folder)


numbers = st.one_of(st.integers(-1, 70), st.sampled_from([128, 1000, 2**31, 2**63, 1.5, "8", None]))
KEYS = (
    *("num_cores", "core_freq", "core_width", "core_height", "spad_size", "accum_spad_size"),
    *("dram_freq", "dram_channels", "dram_req_size", "dram_latency"),
    *("icnt_freq", "icnt_latency", "icnt_injection_ports_per_core", "precision"),
)


@pytest.mark.slow
@quick
@given(changes=st.dictionaries(st.sampled_from(KEYS), numbers, max_size=3))
def test_any_figures_of_a_machine(
    changes: dict[str, object], folder: Path, machine_file: Callable[..., str]
) -> None:
    if not isinstance(changes.get("num_cores", 1), int) or not 0 <= int(changes.get("num_cores", 1)) < 100:
        changes["num_cores"] = 3  # the file spells every core out
    machine = machine_file(**changes)
    assert_well_answered(["simulate", "gemm:m=20,n=9,k=17", "-m", machine], folder)


PROGRAM = """\
from pantile.language import *
tiling = Tiling("ti,oi->to", total=(4, 2, 4), D=(2, 1, 2), S=(2, 2, 2))
core, ddr, buf = Core(0, 1), DDR(1), Buffer(slots=2)
sram = SRAM(core)

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
        compute(tile)
        finish_reading(tile)
        if d.last("i"):
            load_store(src=sram, dst=ddr, tile=tile.Y)
        destroy(tile)
        buf.release()

program = Program(tiling, load, multiply)
"""


@pytest.fixture(scope="module")
def program(folder: Path) -> Any:
    path = folder / "whole.py"
    path.write_text(PROGRAM)
    return load_program(path)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value but the whole."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    inner = [place for key in keys for place in places(value[key], (*path, key))]
    return [path, *inner] if path else inner


changes = st.one_of(
    st.integers(-2, 9), st.sampled_from([99, 2**31, 2**63, 10**30, None, "x", [], {}, 1.5, [1], ["a"]])
)
VERB = st.sampled_from([("check",), ("check", "-m", "mesh-2x2"), ("simulate", "-m", "mesh-2x2")])


@pytest.mark.slow
@quick
@given(data=st.data(), verb=VERB)
def test_any_values_of_a_program(
    data: st.DataObject, verb: tuple[str, ...], program: Any, folder: Path
) -> None:
    whole = json.loads(json.dumps(program.to_json()))
    for _ in range(data.draw(st.integers(1, 2))):
        *path, last = data.draw(st.sampled_from(places(whole)))
        inner = whole
        for key in path:
            inner = inner[key]
        inner[last] = data.draw(changes)
    (folder / "program.json").write_text(json.dumps(whole))
    assert_well_answered([verb[0], "program.json", *verb[1:]], folder)


@pytest.mark.slow
@quick
@given(data=st.data(), verb=VERB)
def test_any_lines_of_a_listing(
    data: st.DataObject, verb: tuple[str, ...], program: Any, folder: Path
) -> None:
    lines = program.to_text().splitlines()
    for _ in range(data.draw(st.integers(1, 2))):
        at = data.draw(st.integers(0, len(lines) - 1))
        lines[at] = data.draw(st.one_of(st.sampled_from(lines), near(lines[at]), words))
    (folder / "program.txt").write_text("\n".join(lines))
    assert_well_answered([verb[0], "program.txt", *verb[1:]], folder)
