"""The figures of a systolic machine, and what the exact simulation refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pantile.errors import MachineError, ManyProblems, OutsideModelError, PantileError
from pantile.machine import Clock, Machine, load_machine
from pantile.machine.onnxim import onnxim_machine
from pantile.machine.toml import read_machine
from pantile.targets.systolic.config import SystolicConfig, require_supported, systolic_config

# ONNXim a1e86296e080, configuration of the golden run a8_freqs_700_1200_1300_48x48x48_bias.
ODD_CLOCKS: dict[str, Any] = {
    "num_cores": 1,
    "core_freq": 700,
    "core_width": 8,
    "core_height": 8,
    "spad_size": 64,
    "accum_spad_size": 16,
    "dram_type": "simple",
    "dram_freq": 1200,
    "dram_channels": 2,
    "dram_req_size": 32,
    "dram_latency": 10,
    "icnt_type": "simple",
    "icnt_latency": 1,
    "icnt_freq": 1300,
    "icnt_injection_ports_per_core": 2,
    "precision": 1,
    "layout": "NHWC",
    "scheduler": "simple",
}
# The configuration of q10_hetero_cores differs from it in these.
HETERO = ODD_CLOCKS | {
    "num_cores": 2,
    "per_core": [{}, {"core_width": 16, "core_height": 16}],
}


def config(**changes: object) -> SystolicConfig:
    return systolic_config(onnxim_machine(ODD_CLOCKS | changes, "x"))


def test_every_figure() -> None:
    assert systolic_config(load_machine("systolic-ws-128x128-c4")) == SystolicConfig(
        name="systolic-ws-128x128-c4",
        cores=4,
        heights=(128,) * 4,
        widths=(128,) * 4,
        scratchpad_bytes=(33_554_432,) * 4,
        accumulator_bytes=(4_194_304,) * 4,
        request_bytes=32,
        channels=16,
        ports=16,
        dram_latency=10,
        noc_latency=1,
        precision=2,
        core_hz=1_000_000_000,
        dram_hz=1_200_000_000,
        noc_hz=1_000_000_000,
        core_types=("systolic_ws",) * 4,
        dram_type="simple",
        noc_type="simple",
        scheduler="simple",
        layout="NHWC",
    )


def test_periods_are_divided_as_onnxim_divides() -> None:
    odd = config()  # 10^6 / MHz, remainder dropped: 1428.57.., 833.33.., 769.23..
    assert (odd.core_ps, odd.dram_ps, odd.noc_ps) == (1428, 833, 769)


def test_half_of_each_memory() -> None:
    assert config().scratchpad_half_bytes(0) == 32_768
    assert config().accumulator_half_bytes() == 8_192


def test_cores_of_two_kinds() -> None:
    two = systolic_config(onnxim_machine(HETERO, "x"))
    assert (two.heights, two.widths) == ((8, 16), (8, 16))
    assert two.scratchpad_half_bytes(1) == 32_768
    require_supported(two)


def test_figures_of_the_models_not_covered_yet() -> None:
    detailed = config(
        dram_type="ramulator2",
        dram_config_path="a.yaml",
        icnt_type="booksim2",
        icnt_config_path="b.icnt",
        partition={"core_0": 1},
    )
    assert (detailed.dram_type, detailed.dram_config_path) == ("ramulator2", "a.yaml")
    assert (detailed.noc_type, detailed.noc_config_path) == ("booksim2", "b.icnt")
    assert detailed.partition == (1,)


@pytest.mark.parametrize("channels", [*range(1, 17), 32, 64])
def test_channel_counts_with_a_hash(channels: int) -> None:
    require_supported(config(dram_channels=channels))


@pytest.mark.parametrize("channels", [17, 24, 31, 33, 63, 65, 128, 2**31])
def test_channel_counts_without_one(channels: int) -> None:
    with pytest.raises(MachineError) as caught:
        require_supported(config(dram_channels=channels))
    assert str(caught.value) == (
        f"family.systolic.channels is {channels}: expected 1 to 16, 32 or 64, the counts that the address "
        "hash exists for (quirk Q14) [PT-MACHINE]"
    )


@pytest.mark.parametrize("precision", [1, 2, 4, 31, 32])
def test_elements_that_fit_a_request(precision: int) -> None:
    require_supported(config(precision=precision))


@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        (
            {"precision": 33},
            MachineError,
            "family.systolic.precision_bytes is 33: expected at most memory.dram.granule_bytes, "
            "the request size of 32 bytes (quirk Q22)",
        ),
        (
            {"core_type": "systolic_os"},
            OutsideModelError,
            "family.systolic.core_type of core 0 is 'systolic_os': only 'systolic_ws' is modelled, "
            "and ONNXim computes with no other (quirk Q21)",
        ),
        ({"dram_type": "ramulator"}, OutsideModelError, "family.systolic.dram_type is 'ramulator': only"),
        (
            {"icnt_type": "booksim2"},
            OutsideModelError,
            "family.systolic.noc_type is 'booksim2': only 'simple'",
        ),
        (
            {"scheduler": "spatial_split"},
            OutsideModelError,
            "family.systolic.scheduler is 'spatial_split': only",
        ),
        (
            {"partition": {"core_0": 1}},
            OutsideModelError,
            "family.systolic.partition is [1]: only partition 0",
        ),
    ],
)
def test_what_is_not_modelled(changes: dict[str, object], kind: type[PantileError], message: str) -> None:
    with pytest.raises(kind) as caught:
        require_supported(config(**changes))
    assert str(caught.value).startswith(message)


def test_one_core_of_another_type_is_enough() -> None:
    machine = onnxim_machine(HETERO | {"per_core": [{}, {"core_type": "systolic_os"}]}, "x")
    assert systolic_config(machine).core_type == "systolic_ws"
    with pytest.raises(OutsideModelError, match="core_type of core 1 is 'systolic_os'"):
        require_supported(systolic_config(machine))


def test_all_of_it_at_once() -> None:
    with pytest.raises(ManyProblems) as caught:
        require_supported(config(dram_type="ramulator2", icnt_type="booksim2", dram_channels=24))
    assert [problem.code for problem in caught.value.problems] == ["PT-OUTSIDE", "PT-OUTSIDE", "PT-MACHINE"]


PRESET = Path(__file__).parents[3] / "src/pantile/machine/presets/systolic-ws-8x8.toml"


def edited(tmp_path: Path, *edits: tuple[str, str]) -> Machine:
    text = PRESET.read_text()
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    (tmp_path / "m.toml").write_text(text)
    return read_machine(tmp_path / "m.toml")


def test_the_line_of_what_is_refused(tmp_path: Path) -> None:
    machine = edited(tmp_path, ("channels = { value = 2,", "channels = { value = 24,"))
    line = (
        PRESET.read_text().splitlines().index('channels = { value = 2, source = "ONNXim dram_channels = 2" }')
    )
    with pytest.raises(MachineError) as caught:
        require_supported(systolic_config(machine), machine.place)
    assert str(caught.value).startswith(f"{tmp_path}/m.toml:{line + 1}: family.systolic.channels is 24")


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        (
            [
                ('duration = "systolic"\n', 'duration = "fixed"\ncycles = 1\n'),
                ("rows =", "# "),
                ("columns =", "# "),
            ],
            "engine.array: expected scope 'core' and duration 'systolic' on a systolic machine",
        ),
        (
            [('granule_bytes = { value = "32 B"', 'granule_bytes = { value = "64 B"')],
            "memory.scratchpad.granule_bytes: expected 64, the request size memory.dram.granule_bytes, got",
        ),
        (
            [("slots = 2", "slots = 4")],
            "memory.scratchpad.slots: expected 2, one half for each resident tile, got 4",
        ),
        ([("capacity_bytes", "# ")], "memory.scratchpad.capacity_bytes: expected a capacity, got none"),
        (
            [('name = "array"', 'name = "arrays"'), ('engine = "array"', 'engine = "arrays"')],
            "machine 'systolic-ws-8x8' has no engine 'array'; did you mean 'arrays'?",
        ),
        ([("noc = {", "net = {")], "machine 'systolic-ws-8x8' has no clock 'noc'"),
        (
            [('policy = "shared"', 'rate_bytes_per_second = "1 GB/s"')],
            "path.dram>scratchpad.rate_bytes_per_second: a systolic machine does not read it",
        ),
        (
            [("[grid]", "[[core]]\nindex = 0\nmemory.accumulator.slots = 1\n[grid]")],
            "core.0.memory.accumulator.slots: expected 2, one half for each resident tile, got 1",
        ),
    ],
)
def test_machines_of_another_shape(tmp_path: Path, edits: list[tuple[str, str]], message: str) -> None:
    machine = edited(tmp_path, *edits)
    with pytest.raises(PantileError) as caught:
        systolic_config(machine)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{tmp_path}/m.toml:")


def test_no_systolic_family() -> None:
    with pytest.raises(
        MachineError, match=r"machine 'x' has no family 'systolic'; add a table \[family\.systolic\]"
    ):
        systolic_config(Machine(name="x", clocks=(Clock("core", 1),)))
