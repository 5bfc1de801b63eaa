"""Machines as values: look-ups, overrides, JSON, listings."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

from pantile.errors import MachineError, ManyProblems
from pantile.machine import Clock, Machine, load_machine, preset_names
from pantile.machine.listing import constants
from pantile.machine.onnxim import onnxim_machine

# ONNXim a1e86296e080, configuration of the golden run q10_hetero_cores.
HETERO: dict[str, Any] = {
    "num_cores": 2,
    "core_freq": 1000,
    "core_width": 8,
    "core_height": 8,
    "spad_size": 64,
    "accum_spad_size": 16,
    "dram_type": "simple",
    "dram_freq": 400,
    "dram_channels": 2,
    "dram_req_size": 32,
    "dram_latency": 10,
    "icnt_type": "simple",
    "icnt_latency": 1,
    "icnt_freq": 2000,
    "icnt_injection_ports_per_core": 1,
    "precision": 1,
    "layout": "NHWC",
    "scheduler": "simple",
    "per_core": [{}, {"core_width": 16, "core_height": 16, "core_type": "systolic_os"}],
}


def hetero() -> Machine:
    return onnxim_machine(HETERO, "two kinds of cores")


def test_parts_of_a_core_as_it_has_them() -> None:
    machine = hetero()
    assert machine.engine("array").parameters == {"rows": 8, "columns": 8}
    assert machine.engine("array", core=0).parameters == {"rows": 8, "columns": 8}
    assert machine.engine("array", core=1).parameters == {"rows": 16, "columns": 16}
    assert machine.memory("scratchpad", core=1).capacity_bytes == 65_536
    assert machine.family_table("systolic")["core_type"] == "systolic_ws"
    assert machine.family_table("systolic", core=1)["core_type"] == "systolic_os"


@pytest.mark.parametrize(
    ("look_up", "message"),
    [
        (lambda m: m.clock("cor"), "machine 'two kinds of cores' has no clock 'cor'; did you mean 'core'?"),
        (lambda m: m.memory("l1"), "has no memory 'l1'; allowed here: accumulator, dram, scratchpad"),
        (lambda m: m.engine("cube"), "has no engine 'cube'; allowed here: array, mover"),
        (lambda m: m.family_table("mesh"), "has no family 'mesh'; allowed here: systolic"),
        (lambda m: m.engine("array", core=2), "has cores 0 to 1, got 2"),
        (lambda m: m.memory("dram", core=-1), "has cores 0 to 1, got -1"),
        (lambda m: Machine(name="x", clocks=m.clocks).family_table("mesh"), "add a table [family.mesh]"),
        (lambda m: Machine(name="x", clocks=m.clocks).memory("l1"), "no memory is declared"),
    ],
)
def test_what_is_not_there(look_up: Any, message: str) -> None:
    with pytest.raises(MachineError) as caught:
        look_up(hetero())
    assert message in str(caught.value)


def test_time_base() -> None:
    assert Machine(name="x", clocks=(Clock("core", 700),)).tick_hz == 700
    assert hetero().tick_hz == 10**12


@pytest.mark.parametrize("name", preset_names())
def test_presets_survive_json_and_pickle(name: str) -> None:
    machine = load_machine(name)
    again = Machine.from_json(json.loads(json.dumps(machine.to_json())))
    assert again == machine
    assert hash(again) == hash(machine)
    assert str(again) == str(machine)
    assert pickle.loads(pickle.dumps(machine)) == machine


def test_overrides_survive_json() -> None:
    machine = hetero()
    document = machine.to_json()
    assert document["core"] == [
        {
            "index": 1,
            "engine": {"array": {"rows": 16, "columns": 16}},
            "family": {"systolic": {"core_type": "systolic_os"}},
        }
    ]
    assert Machine.from_json(document) == machine


def test_documents_that_are_no_machine() -> None:
    document = load_machine("systolic-ws-8x8").to_json()
    with pytest.raises(ManyProblems) as caught:
        Machine.from_json(document | {"grid": {"cores": 0}, "provenance": {"clock.core": {}, "x": 3}})
    assert [problem.problem for problem in caught.value.problems] == [
        "provenance.clock.core: expected a source or assumed = true, got a table",
        "provenance.x: expected a source or assumed = true, got 3",
        "grid.cores: expected a whole number from 1, got 0",
    ]
    with pytest.raises(MachineError, match=r"^provenance: expected a table of sources by constant, got 3"):
        Machine.from_json(document | {"provenance": 3})
    with pytest.raises(MachineError, match=r"^provenance\.clock\.x: there is no such constant"):
        Machine.from_json(document | {"provenance": {"clock.x": {"source": "y"}}})


def test_no_place_without_a_file() -> None:
    assert hetero().place("clock.core") is None


def test_listing_shows_value_and_origin() -> None:
    rows = {row.label: (row.value, row.origin) for row in constants(hetero())}
    assert rows["clock.dram"] == ("400 MHz", "ONNXim dram_freq = 400 (MHz)")
    assert rows["memory.scratchpad.capacity_bytes"] == (
        "64 KiB",
        "ONNXim spad_size = 64 (KiB, both halves)",
    )
    assert rows["path.dram>scratchpad.engine"] == ("mover", "")
    assert rows["grid.cores"] == ("2", "ONNXim num_cores = 2")
    assert rows["core.1.engine.array.rows"] == ("16", "ONNXim core_height = 16")
    assert rows["family.systolic.core_type"] == (
        "systolic_ws",
        "assumed: a flat ONNXim file that does not say",
    )


def test_text() -> None:
    machine = Machine.from_json(
        {
            "name": "tiny",
            "description": "for a test",
            "clock": {"core": "1 GHz"},
            "memory": [
                {"name": "l1", "scope": "core", "capacity_bytes": {"value": "1 KiB", "source": "<spec>"}}
            ],
            "grid": {"shape": [2, 3]},
        }
    )
    assert str(machine).splitlines() == [
        "tiny  for a test",
        "no planner of its own · cycles are those of core · time in ticks of core",
        "",
        "clock.core                1 GHz",
        "",
        "memory.l1.scope           core",
        "memory.l1.capacity_bytes  1 KiB  <spec>",
        "memory.l1.slots           1",
        "memory.l1.granule_bytes   1 B",
        "",
        "grid.shape                2 x 3",
    ]
    html = machine._repr_html_()
    assert "<td>memory.l1.capacity_bytes</td><td>1 KiB</td><td>&lt;spec&gt;</td>" in html
    assert html.count("<tr>") == 1 + 6
