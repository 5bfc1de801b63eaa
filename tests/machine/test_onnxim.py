"""ONNXim configurations, in both of their forms, and what is wrong with some."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from pantile.errors import ManyProblems, PantileError
from pantile.machine import Machine, Provenance
from pantile.machine.onnxim import onnxim_machine, read_onnxim_machine

CORE: dict[str, Any] = {
    "core_width": 8,
    "core_height": 8,
    "spad_size": 64,
    "accum_spad_size": 16,
    "sram_width": 32,
    "vector_process_bit": 2048,
}
CHIP: dict[str, Any] = {
    "num_cores": 2,
    "core_freq": 1000,
    "dram_type": "simple",
    "dram_freq": 333,
    "dram_channels": 3,
    "dram_req_size": 32,
    "dram_latency": 100,
    "icnt_type": "simple",
    "icnt_latency": 7,
    "icnt_freq": 2000,
    "icnt_injection_ports_per_core": 4,
    "precision": 1,
    "layout": "NHWC",
    "scheduler": "simple",
}
# Keys that a configuration of the current program also has; all are read there, none has an effect here.
VECTOR_UNIT = {
    f"{name}_latency": 1
    for name in (
        *("add", "mul", "mac", "div", "exp", "gelu", "add_tree"),
        *("scalar_sqrt", "scalar_add", "scalar_mul"),
    )
}
FLAT = CHIP | CORE


def nested(*cores: dict[str, Any]) -> dict[str, Any]:
    full = [CORE | VECTOR_UNIT | {"core_type": "systolic_ws"} | core for core in cores]
    tables = {f"core_{index}": core for index, core in enumerate(full)}
    printing = {"core_print_interval": 10_000, "dram_print_interval": 1, "dram_nbl": 1, "dram_size": 16}
    return CHIP | printing | {"num_cores": len(cores), "core_config": tables}


def plain(machine: Machine) -> dict[str, object]:
    return {key: value for key, value in machine.to_json().items() if key != "provenance"}


def problems(config: dict[str, Any]) -> list[str]:
    with pytest.raises(PantileError) as caught:
        onnxim_machine(config, "x")
    error = caught.value
    found = error.problems if isinstance(error, ManyProblems) else (error,)
    return [str(each).removesuffix(" [PT-MACHINE]") for each in found]


def test_every_figure_in_base_units() -> None:
    assert plain(onnxim_machine(FLAT, "a")) == {
        "schema": "pantile/machine/1",
        "name": "a",
        "description": "imported from an ONNXim configuration",
        "planner": "onnxim",
        "clock": {"base": "core", "core": 10**9, "dram": 333_000_000, "noc": 2 * 10**9},
        "memory": [
            {"name": "dram", "scope": "chip", "slots": 1, "granule_bytes": 32},
            {
                "name": "scratchpad",
                "scope": "core",
                "capacity_bytes": 65_536,
                "slots": 2,
                "granule_bytes": 32,
            },
            {
                "name": "accumulator",
                "scope": "core",
                "capacity_bytes": 16_384,
                "slots": 2,
                "granule_bytes": 32,
            },
        ],
        "engine": [
            {"name": "mover", "scope": "core", "completes": "pipelined", "duration": "transfer"},
            {
                "name": "array",
                "scope": "core",
                "completes": "pipelined",
                "duration": "systolic",
                "rows": 8,
                "columns": 8,
            },
        ],
        "path": [
            {"from": "dram", "to": "scratchpad", "engine": "mover", "policy": "shared"},
            {"from": "dram", "to": "accumulator", "engine": "mover", "policy": "shared"},
            {"from": "scratchpad", "to": "accumulator", "engine": "array", "policy": "exclusive"},
            {"from": "accumulator", "to": "dram", "engine": "mover", "policy": "shared"},
        ],
        "grid": {"cores": 2},
        "family": {
            "systolic": {
                "core_type": "systolic_ws",
                "ports_per_core": 4,
                "precision_bytes": 1,
                "dram_type": "simple",
                "channels": 3,
                "dram_latency_cycles": 100,
                "noc_type": "simple",
                "noc_latency_cycles": 7,
                "scheduler": "simple",
                "layout": "NHWC",
            }
        },
        "core": [],
    }


def test_height_is_rows_and_width_is_columns() -> None:
    array = onnxim_machine(FLAT | {"core_height": 4, "core_width": 16}, "a").engine("array")
    assert array.parameters == {"rows": 4, "columns": 16}


def test_both_forms_give_the_same_machine() -> None:
    assert plain(onnxim_machine(nested({}, {}), "a")) == plain(onnxim_machine(FLAT, "a"))
    other = {"core_width": 16, "core_height": 16, "spad_size": 128}
    by_list = onnxim_machine(FLAT | {"per_core": [{}, other]}, "a")
    assert by_list.engine("array", core=1).parameters == {"rows": 16, "columns": 16}
    assert by_list.memory("scratchpad", core=1).capacity_bytes == 131_072
    assert by_list.memory("scratchpad", core=0).capacity_bytes == 65_536
    assert plain(onnxim_machine(nested({}, other), "a")) == plain(by_list)
    assert plain(onnxim_machine(FLAT | {"per_core": {"1": other}}, "a")) == plain(by_list)


def test_the_first_core_may_be_the_different_one() -> None:
    flat = onnxim_machine(FLAT | {"per_core": {"0": {"core_height": 4}}}, "a")
    full = onnxim_machine(nested({"core_height": 4}, {}), "a")
    for machine in (flat, full):
        rows = [machine.engine("array", core).parameter("rows") for core in (0, 1)]
        assert rows == [4, 8]


def test_provenance_names_the_key() -> None:
    origins = dict(onnxim_machine(FLAT, "a").provenance)
    assert origins["clock.dram"] == Provenance("ONNXim dram_freq = 333 (MHz)")
    assert origins["memory.scratchpad.slots"] == Provenance("ONNXim: structure of the model")
    assert origins["family.systolic.core_type"].assumed
    assert not dict(onnxim_machine(nested({}), "a").provenance)["family.systolic.core_type"].assumed


def test_defaults_of_the_original() -> None:
    config = {key: value for key, value in FLAT.items() if key != "icnt_injection_ports_per_core"}
    assert onnxim_machine(config, "a").family_table("systolic")["ports_per_core"] == 1


@pytest.mark.parametrize(
    ("key", "value", "stands_at"),
    [
        ("dram_type", "ramulator2", "dram_type"),
        ("dram_type", "ramulator", "dram_type"),
        ("icnt_type", "booksim2", "noc_type"),
        ("core_type", "systolic_os", "core_type"),
        ("scheduler", "time_multiplex", "scheduler"),
        ("layout", "NCHW", "layout"),
        ("dram_channels", 24, "channels"),
        ("precision", 64, "precision_bytes"),
        ("dram_config_path", "../DDR4.yaml", "dram_config_path"),
        ("icnt_config_path", "../fly_c1_m2.icnt", "noc_config_path"),
    ],
)
def test_what_a_later_model_may_take_is_kept(key: str, value: object, stands_at: str) -> None:
    assert onnxim_machine(FLAT | {key: value}, "a").family_table("systolic")[stands_at] == value


def test_latencies_that_the_model_does_not_read_may_be_absent() -> None:
    config = FLAT | {"dram_type": "ramulator2", "icnt_type": "booksim2"}
    del config["dram_latency"], config["icnt_latency"]
    family = onnxim_machine(config, "a").family_table("systolic")
    assert not {"dram_latency_cycles", "noc_latency_cycles"} & family.keys()


def test_partition_is_kept_where_it_says_something() -> None:
    partition = {"nr_partition": 2, "core_0": 0, "core_1": 1}
    family = onnxim_machine(FLAT | {"partition": partition}, "a").family_table("systolic")
    assert family["partition"] == (0, 1)
    family = onnxim_machine(FLAT | {"partition": {"core_0": 0}}, "a").family_table("systolic")
    assert "partition" not in family


def test_unknown_keys_are_kept_in_sight() -> None:
    config = nested({"tensor_unit": {"value": 3}}, {}) | {"ssd": True, "num_cores": 1}
    family = onnxim_machine(config, "a").family_table("systolic")
    assert family.table("unread").keys() == {"ssd", "core_config_core_0", "core_config"}
    assert family.table("unread", "core_config_core_0") == {"tensor_unit": {"value": 3}}
    assert family.table("unread", "core_config").keys() == {"core_1"}  # beyond num_cores


@pytest.mark.parametrize("key", [*CHIP.keys() - {"icnt_injection_ports_per_core"}, *list(CORE)[:4]])
def test_a_missing_key_is_named(key: str) -> None:
    config = deepcopy(FLAT)
    del config[key]
    (problem,) = problems(config)
    assert problem.startswith(f"{key}: missing: ")
    if key in CORE:
        config = nested({}, {})
        del config["core_config"]["core_1"][key]
        (problem,) = problems(config)
        assert problem.startswith(f"core_config.core_1.{key}: missing: ")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"num_cores": 0}, "num_cores: expected a whole number from 1 to 65536, got 0"),
        ({"num_cores": -1}, "num_cores: expected a whole number from 1 to 65536, got -1"),
        ({"num_cores": 2**31}, "num_cores: expected at most 65536, got 2147483648"),
        ({"num_cores": True}, "num_cores: expected a whole number from 1 to 65536, got true"),
        ({"core_freq": 0}, "core_freq: expected a whole number from 1 to 1000000, got 0"),
        ({"core_freq": 1000.5}, "core_freq: expected a whole number from 1 to 1000000, got 1000.5"),
        ({"dram_freq": "400"}, "dram_freq: expected a whole number from 1 to 1000000, got '400'"),
        ({"icnt_freq": 10**6 + 1}, "icnt_freq: expected at most 1000000, got 1000001"),
        ({"core_height": 0}, "core_height: expected a whole number from 1, got 0"),
        ({"core_width": None}, "core_width: expected a whole number from 1, got nothing"),
        ({"spad_size": 2**60}, "spad_size: expected at most 4398046511104, got 1152921504606846976"),
        ({"accum_spad_size": 0}, "accum_spad_size: expected a whole number from 1 to 4398046511104, got 0"),
        ({"dram_req_size": 0}, "dram_req_size: expected a whole number from 1, got 0"),
        ({"dram_latency": -1}, "dram_latency: expected a whole number from 0, got -1"),
        ({"precision": 0}, "precision: expected a whole number from 1, got 0"),
        ({"dram_channels": 0}, "dram_channels: expected a whole number from 1, got 0"),
        (
            {"dram_type": "simpel"},
            "dram_type: expected 'simple' or 'ramulator' or 'ramulator2', got 'simpel'; "
            "did you mean 'simple'?",
        ),
        ({"icnt_type": 3}, "icnt_type: expected 'simple' or 'booksim2', got 3"),
        (
            {"core_type": "systolic_is"},
            "core_type: expected 'systolic_ws' or 'systolic_os', got 'systolic_is'; "
            "did you mean 'systolic_ws'?",
        ),
        ({"partition": [0, 1]}, "partition: expected a table, got a list"),
        ({"per_core": 3}, "per_core: expected a list or an object of overrides, got 3"),
        ({"per_core": [{}, {}, {"core_width": 16}]}, "per_core.2: expected a core from 0 to 1"),
        ({"per_core": {"one": {}}}, "per_core.one: expected a core from 0 to 1"),
        ({"per_core": [{}, 3]}, "per_core.1: expected an object, got 3"),
        (
            {"per_core": [{}, {"core_width": 0}]},
            "per_core.1.core_width: expected a whole number from 1, got 0",
        ),
        (
            {"per_core": [{"core_hieght": 16}]},
            "per_core.0.core_hieght: nothing reads this key; did you mean 'core_height'?",
        ),
        ({"core_config": 3}, "core_config: expected an object of cores, got 3"),
        (
            {"core_config": {"core_0": CORE | {"core_type": "systolic_ws"}}},
            "core_config.core_1: missing: num_cores is 2, which needs core_0 to core_1",
        ),
    ],
)
def test_what_no_machine_can_have(change: dict[str, Any], problem: str) -> None:
    assert problem in problems(FLAT | change)


def test_a_misspelt_key_is_told_with_the_one_it_replaces() -> None:
    config = {key: value for key, value in FLAT.items() if key != "dram_latency"} | {"dram_latancy": 5}
    assert problems(config) == [
        "dram_latancy: nothing reads this key; did you mean 'dram_latency'?",
        "dram_latency: missing: DRAM cycles of an access, which dram_type simple needs",
    ]


def test_all_problems_at_once_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "npu.json"
    path.write_text(json.dumps(FLAT | {"num_cores": 0, "core_width": -8}))
    with pytest.raises(ManyProblems) as caught:
        read_onnxim_machine(path)
    assert str(caught.value).splitlines() == [
        f"{path}: num_cores: expected a whole number from 1 to 65536, got 0 [PT-MACHINE]",
        f"{path}: core_width: expected a whole number from 1, got -8 [PT-MACHINE]",
    ]


def test_the_file_gives_the_name(tmp_path: Path) -> None:
    path = tmp_path / "my npu.v2.json"
    path.write_text(json.dumps(nested({}, {})))
    machine = read_onnxim_machine(path)
    assert machine.name == "my npu.v2"
    assert str(machine.place("clock.core")) == str(path)


def test_many_cores_stay_cheap() -> None:
    machine = onnxim_machine(FLAT | {"num_cores": 65_536}, "wide")
    assert (machine.grid.cores, machine.cores) == (65_536, ())
