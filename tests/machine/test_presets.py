"""Machines by name or file."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pantile.errors import MachineError
from pantile.machine import load_machine, preset_names
from pantile.machine.listing import constants
from pantile.machine.onnxim import onnxim_machine
from pantile.machine.presets import list_machines

# ONNXim a1e86296e080, configurations of the golden runs a8_128cube, a8c4_256cube_auto, tpu_c4_2048cube.
A8 = {
    "num_cores": 1,
    "core_freq": 1000,
    "core_width": 8,
    "core_height": 8,
    "spad_size": 64,
    "accum_spad_size": 16,
    "sram_width": 32,
    "vector_process_bit": 2048,
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
}
A8C4 = A8 | {"num_cores": 4, "dram_channels": 4, "icnt_injection_ports_per_core": 4}
TPU = A8C4 | {
    "core_width": 128,
    "core_height": 128,
    "spad_size": 32_768,
    "accum_spad_size": 4096,
    "vector_process_bit": 65_536,
    "dram_freq": 1200,
    "dram_channels": 16,
    "icnt_freq": 1000,
    "icnt_injection_ports_per_core": 16,
    "precision": 2,
}


@pytest.mark.parametrize(
    ("name", "config"),
    [("systolic-ws-8x8", A8), ("systolic-ws-8x8-c4", A8C4), ("systolic-ws-128x128-c4", TPU)],
)
def test_presets_are_the_configurations_of_golden_runs(name: str, config: dict[str, object]) -> None:
    imported = onnxim_machine(config, name)
    preset = load_machine(name)
    assert replace(preset, description="", provenance=()) == replace(imported, description="", provenance=())


@pytest.mark.parametrize("name", preset_names())
def test_every_constant_has_a_source(name: str) -> None:
    referring = (".engine",)  # names a part: not a constant
    bare = [row.label for row in constants(load_machine(name)) if not row.origin]
    assert [label for label in bare if not label.endswith(referring)] == []


def test_names_and_list() -> None:
    systolic = ("systolic-ws-128x128-c4", "systolic-ws-8x8", "systolic-ws-8x8-c4")
    assert set(systolic) | {"ascend-950pr", "ascend-950pr-432", "mesh-2x2", "bus-4x4"} <= set(preset_names())
    machines = list_machines()
    cores = {machine.name: machine.grid.cores for machine in machines.machines}
    assert [cores[name] for name in (*systolic, "ascend-950pr")] == [4, 1, 4, 32]
    assert str(machines).splitlines()[preset_names().index("systolic-ws-8x8")] == (
        "systolic-ws-8x8         one 8 x 8 weight-stationary core, int8, two DRAM channels"
    )


def test_the_two_950pr_differ_in_their_peak_alone() -> None:
    first, second = load_machine("ascend-950pr"), load_machine("ascend-950pr-432")
    rows = zip(constants(first), constants(second), strict=True)
    differing = {row.label: (row.value, other.value) for row, other in rows if row.value != other.value}
    rates = [label for label in differing if label.endswith(".rate_bytes_per_second")]
    for one, other in zip(first.paths, second.paths, strict=True):  # as many bytes a cycle, of another clock
        if one.rate_bytes_per_second and other.rate_bytes_per_second:
            per_cycle = divmod(one.rate_bytes_per_second, first.clock("core").hz)
            assert per_cycle == divmod(other.rate_bytes_per_second, second.clock("core").hz)
            assert per_cycle[1] == 0
    assert {label: values for label, values in differing.items() if label not in rates} == {
        "clock.core": ("1853942871 Hz", "1647949218 Hz"),  # the peak over 32 cores of 8192 operations a cycle
        "family.ascend.peak_flops": ("486000000000000", "432000000000000"),
    }
    assert first.clock("core").hz == 486 * 10**12 // (32 * 8192)


def test_files(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(A8))
    (tmp_path / "b.TOML").write_text("[clock]\ncore = 1\n")
    assert load_machine(tmp_path / "a.json").name == "a"
    assert load_machine(str(tmp_path / "b.TOML")).clock("core").hz == 1


@pytest.mark.parametrize(
    ("name", "mend"),
    [
        (
            "systolic-ws-8x9",
            f"did you mean 'systolic-ws-8x8'? presets are {', '.join(preset_names())}; or give a FILE.toml",
        ),
        (
            "zzz",
            f"presets are {', '.join(preset_names())}; or give a FILE.toml",
        ),
        ("", "presets are "),
        ("machine.yaml", "presets are "),
    ],
)
def test_unknown_machines(name: str, mend: str) -> None:
    with pytest.raises(MachineError) as caught:
        load_machine(name)
    assert str(caught.value).startswith(f"unknown machine {name!r}; {mend}")


def test_a_preset_needs_neither_pydantic_nor_numpy() -> None:
    code = (
        "import sys; from pantile.machine import load_machine; load_machine('systolic-ws-8x8'); "
        "print([name for name in ('pydantic', 'numpy', 'numba', 'onnx') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_910b_has_the_buffers_of_a_220x_core_and_every_constant_its_source() -> None:
    machine = load_machine("ascend-910b")
    sizes = {each.name: (each.capacity_bytes, each.granule_bytes) for each in machine.memories}
    # ascend-core.md section 1.1
    assert sizes["l1"] == (524288, 32)
    assert sizes["l0a"] == sizes["l0b"] == (65536, 512)
    assert (sizes["l0c"], sizes["bt"], sizes["fb"]) == ((131072, 64), (1024, 64), (7168, 64))
    rates = {each.label: (each.rate_bytes_per_second, each.latency_cycles) for each in machine.paths}
    assert rates["path.l1>l0a"] == (256 * 1_800_000_000, 28)
    assert rates["path.l1>l0b"] == (128 * 1_800_000_000, 28)
    assert rates["path.gm>l1"] == (32 * 1_800_000_000, 0)  # no figure is public: assumed, and marked so
    assumed = {label for label, origin in machine.provenance if origin.assumed}
    assert {"path.gm>l1.rate_bytes_per_second", "path.l0c>gm.rate_bytes_per_second"} <= assumed
    assert "path.l1>l0a.rate_bytes_per_second" not in assumed
    assert machine.family_table("ascend")["event_ids"] == 8
    assert all(source.source or source.assumed for _, source in machine.provenance)
