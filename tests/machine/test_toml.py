"""Machine files in TOML: what they say, and every problem with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from pantile.errors import ManyProblems, PantileError
from pantile.machine.machine import Machine
from pantile.machine.provenance import Provenance
from pantile.machine.toml import read_machine
from pantile.targets.systolic.config import require_supported, systolic_config

SMALL = """\
planner = "onnxim"

[clock]
core = "1.05 GHz"

[[memory]]
name = "l1"
scope = "core"
capacity_bytes = { value = "64 KiB", source = "data sheet, table 3" }
slots = 2

[[memory]]
name = "dram"
scope = "chip"

[[engine]]
name = "mover"
scope = "core"
completes = "in_order"
duration = "fixed"
cycles = 20

[[path]]
from = "dram"
to = "l1"
engine = "mover"
rate_bytes_per_second = { value = "100 GB/s", assumed = true }

[grid]
shape = [2, 2]

[[core]]
index = 3
memory.l1.capacity_bytes = "128 KiB"
engine.mover.cycles = 10
"""


def read(tmp_path: Path, text: str, name: str = "m.toml") -> Machine:
    (tmp_path / name).write_text(text)
    return read_machine(tmp_path / name)


def problems(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(PantileError) as caught:
        read(tmp_path, text)
    error = caught.value
    found = error.problems if isinstance(error, ManyProblems) else (error,)
    return [str(each).removeprefix(f"{tmp_path}/").removesuffix(" [PT-MACHINE]") for each in found]


def test_a_small_machine(tmp_path: Path) -> None:
    machine = read(tmp_path, SMALL, "tiny one.toml")
    assert machine.name == "tiny one"
    assert machine.planner == "onnxim"
    assert machine.tick_hz == 1_050_000_000  # one clock: its ticks are the time base
    assert machine.memory("l1").slot_bytes == 32_768
    assert machine.memory("l1", core=3).slot_bytes == 65_536
    assert machine.memory("l1", core=2) == machine.memory("l1")
    assert machine.engine("mover", core=3).parameter("cycles") == 10
    assert machine.paths[0].rate_bytes_per_second == 100_000_000_000
    assert machine.grid.cores == 4
    assert dict(machine.provenance) == {
        "memory.l1.capacity_bytes": Provenance("data sheet, table 3"),
        "path.dram>l1.rate_bytes_per_second": Provenance(assumed=True),
    }


def test_places_of_constants(tmp_path: Path) -> None:
    machine = read(tmp_path, SMALL)
    for label, line in (
        ("memory.l1.slots", 10),
        ("memory.dram", 12),
        ("memory.dram.granule_bytes", 12),  # not stated: its table
        ("path.dram>l1.rate_bytes_per_second", 27),
        ("core.3.engine.mover.cycles", 35),
        ("family.systolic", 0),
    ):
        place = machine.place(label)
        assert place is not None
        assert (place.path, place.line) == (f"{tmp_path}/m.toml", line)


BAD = """\
planer = "onnxim"
[clock]
core = "1 GHZ"
base = "cor"
[[memory]]
name = "l1"
scope = "tile"
capacity_bytes = "64 KB"
[[memory]]
name = "l2"
scope = "core"
capacity_bytes = 65
slots = 2
[[memory]]
name = "l2"
[[engine]]
name = "mover"
scope = "core"
completes = "in_order"
duration = "fixed"
cycle = 20
[[path]]
from = "l1"
to = "l3"
engine = "mover"
latency_cycles = 1.5
[grid]
cores = { value = 0, sorce = "x" }
[family.systolik]
"""


def test_every_problem_at_once_with_line_key_value_and_what_is_allowed(tmp_path: Path) -> None:
    assert problems(tmp_path, BAD) == [
        "m.toml:1:1: planer: nothing reads this key; did you mean 'planner'?",
        "m.toml:3:1: clock.core: expected a whole number of hertz from 1, such as 1050000000 or "
        "\"1.05 GHz\", got '1 GHZ'; write the unit as Hz, kHz, MHz, GHz, THz",
        "m.toml:4:1: clock.base: there is no clock 'cor'; did you mean 'core'?",
        "m.toml:7:1: memory.l1.scope: expected 'core' or 'chip' or 'grid', got 'tile'",
        "m.toml:8:1: memory.l1.capacity_bytes: expected a whole number of bytes from 1, such as 65536 or "
        "\"64 KiB\", got '64 KB'; write the unit as KiB (1024 bytes) or kB (1000 bytes)",
        "m.toml:13:1: memory.l2.slots: 2 slots do not divide 65 B; make capacity_bytes a multiple of slots",
        "m.toml:14:1: memory.l2.scope: missing: one per core, chip or grid",
        "m.toml:15:1: memory.name: there is another memory of this name, 'l2'",
        "m.toml:16:1: engine.mover.cycles: missing: cycles of every operation",
        "m.toml:21:1: engine.mover.cycle: nothing reads this key; did you mean 'cycles'?",
        "m.toml:24:1: path.l1>l3.to: there is no memory 'l3'; allowed here: l1, l2",
        "m.toml:26:1: path.l1>l3.latency_cycles: expected a whole number from 0, got 1.5",
        "m.toml:28:1: grid.cores: a constant has no key 'sorce'; did you mean 'source'?",
        "m.toml:28:1: grid.cores: expected a whole number from 1, got 0",
        "m.toml:29:1: family.systolik: there is no family 'systolik'; did you mean 'systolic'?",
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "m.toml: clock: missing: at least one clock; write it as [clock]"),
        ("[clock]", "m.toml:1:1: clock: expected at least one clock, got none"),
        ("clock = 3", "m.toml:1:1: clock: expected a table, written [clock], got 3"),
        (
            "[memory]\nname = 'x'\n[clock]\ncore = 1",
            "m.toml:1:1: memory: expected a list of tables, each written [[memory]], got a table",
        ),
        (
            "memory = [3]\n[clock]\ncore = 1",
            "m.toml:1:1: memory.#1: expected a table, written [[memory]], got 3",
        ),
        ("[clock]\ncore = 1\n[provenance]", "m.toml:3:1: provenance: nothing reads this key"),
        (
            "schema = 'pantile/machine/2'\n[clock]\ncore = 1",
            "m.toml:1:1: schema: expected 'pantile/machine/1'",
        ),
        ("name = ''\n[clock]\ncore = 1", "m.toml:1:1: name: expected a text, got ''"),
        ("[clock]\ncore = 1\n[grid]\nshape = []", "m.toml:4:1: grid.shape: expected at least one item"),
        (
            "[clock]\ncore = 1\n[family]\nsystolic = 3",
            "m.toml:4:1: family.systolic: expected a table, written [family.systolic], got 3",
        ),
        (
            "[clock]\ncore = 1\n[[core]]\nindex = 0\nengine = 3",
            "m.toml:5:1: core.0.engine: expected a table, got 3",
        ),
        (
            "[clock]\ncore = 1\n[[core]]\nindex = 1",
            "m.toml:4:1: core.index: expected a core from 0 to 0, got 1",
        ),
        (
            "[clock]\ncore = 1\n[[core]]\nindex = 0\nengine.x.rows = 2020-01-01",
            "m.toml:3:1: core.0: rows: expected a number, text, true, false, a list or a table, got 2020",
        ),
        ("a = ", "m.toml:1: expected TOML: invalid value"),
        ("\na = [1,,]", "m.toml:2:8: expected TOML: invalid value"),
        ("a = 1\na = 2", "m.toml:2: expected TOML: cannot overwrite a value"),
        ("a = [", "m.toml:1: expected TOML: invalid value"),
        ("a = " + "[" * 100_000, "m.toml: expected TOML, got tables nested too deeply"),
        ("a = " + "9" * 5000, "m.toml: expected TOML, got a number of too many digits"),
        ("\x00\x01", "m.toml:1:1: expected TOML: invalid statement"),
    ],
)
def test_single_problems(tmp_path: Path, text: str, found: str) -> None:
    (only,) = problems(tmp_path, text)
    assert only.startswith(found)


def test_overrides_are_checked_in_place(tmp_path: Path) -> None:
    text = SMALL + "[[core]]\nindex = 3\nmemory.l1.slots = 0\nmemory.dram.slots = 2\nengine.mver.cycles = 1\n"
    assert problems(tmp_path, text) == [
        "m.toml:37:1: core.index: there is another table for core 3",
        "m.toml:38:1: core.3.memory.l1.slots: expected a whole number from 1, got 0",
        "m.toml:39:1: core.3.memory.dram: expected a part of scope 'core', got one of scope 'chip'",
        "m.toml:40:1: core.3.engine.mver: there is no engine 'mver'; did you mean 'mover'?",
    ]


def test_the_example_of_the_documentation(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs/machines.md").read_text()
    machine = read(tmp_path, page.partition("```toml\n")[2].partition("```")[0])
    config = systolic_config(machine)
    require_supported(config, machine.place)
    assert (config.core_hz, config.core_ps) == (1_050_000_000, 952)
    assert config.heights == (8, 16)
    assert config.scratchpad_bytes == (65_536, 131_072)
    origins = {label: str(origin) for label, origin in machine.provenance}
    assert origins["clock.core"] == "data sheet NPU-1, revision B"
    assert origins["clock.dram"] == "assumed"
    assert origins["memory.scratchpad.capacity_bytes"] == "measured 2026-11-03"
    assert origins["core.1.engine.array.rows"] == "data sheet NPU-1, revision B"
