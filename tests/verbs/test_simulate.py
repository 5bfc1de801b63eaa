"""The verb ``simulate``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pantile
from pantile.errors import PantileError
from pantile.verbs.result import Many, as_html
from pantile.verbs.simulate import Simulation

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import WriteOnnx
    from pantile.machine import Machine

A8 = "systolic-ws-8x8"
SEED = "gemm:m=32,n=32,k=64"


def test_the_worked_example_takes_1249_cycles_which_the_terms_account_for() -> None:
    run = pantile.simulate(SEED, A8)
    assert isinstance(run, Simulation)
    assert (run.total_cycles, run.ok) == (1249, True)
    assert sum(run.terms.values()) == 1249
    assert run.bound_by == "compute"
    assert run.utilisation["mac"] == 65536 / (64 * 1249)


def test_figures_equal_a_recorded_run() -> None:
    case = json.loads((Path(__file__).parents[1] / "golden/onnxim/a8_48x80x56_transB_bias.json").read_text())
    (layer,) = case["layers"]
    rows, depth, columns = layer["N"], layer["C"], layer["M"]
    run = pantile.simulate(f"bmm:a={rows}x{depth},b={columns}x{depth},tb,bias", A8, semantics="faithful")
    assert run.total_cycles == case["result"]["total_core_cycles"]


def test_layer_and_run_say_the_same_of_a_single_product() -> None:
    run = pantile.simulate(SEED, A8)
    (layer,) = run.layers
    assert (layer.cycles, layer.terms, layer.bound_by) == (run.total_cycles, run.terms, run.bound_by)
    assert (layer.mac_utilisation, layer.busy) == (run.utilisation["mac"], run.utilisation["busy"])
    assert layer.to_json()["model"] == "onnxim"


def test_a_network_is_one_run_and_a_table_one_run_per_row(mlp: str, tmp_path: Path) -> None:
    run = pantile.simulate(mlp, A8)
    assert isinstance(run, Simulation)
    assert [layer.planned.node.name for layer in run.layers] == ["up", "down"]
    assert sum(layer.cycles for layer in run.layers) == run.total_cycles
    table = tmp_path / "t.csv"
    table.write_text("m,n,k\n32,32,64\n16,24,32\n")
    runs = pantile.simulate(table, A8)
    assert isinstance(runs, Many)
    assert [each.workload for each in runs] == [SEED, "gemm:m=16,n=24,k=32"]
    assert runs[0].total_cycles == 1249
    assert str(runs[1]).startswith(f"{table}:3 on systolic-ws-8x8 (fixed)\n")


def test_nodes_outside_take_a_turn_under_faithful_only(mlp: str) -> None:
    fixed, faithful = (pantile.simulate(mlp, A8, semantics=name) for name in ("fixed", "faithful"))
    assert fixed.session.execution()[1] is not None
    assert [isinstance(layer, int) for layer in fixed.session.execution()] == [False, False]
    assert [isinstance(layer, int) for layer in faithful.session.execution()] == [False, True, False]
    assert [layer.planned.layer for layer in faithful.layers] == [0, 2]
    skipped = faithful.total_cycles - sum(layer.cycles for layer in faithful.layers)
    assert skipped == 1  # a tile that finishes in the cycle in which it is issued


def test_max_pool_is_two_skip_tiles(onnx_file: WriteOnnx) -> None:
    net = onnx_file(
        [
            ("MaxPool", "pool", ["x"], "p", {"kernel_shape": [2, 2], "strides": [2, 2]}),
            ("Flatten", "flat", ["p"], "f"),
            ("MatMul", "fc", ["f", "w"], "y"),
        ],
        {"x": [1, 2, 8, 8]},
        {"w": [32, 8]},
    )
    run = pantile.simulate(net, A8, semantics="faithful")
    assert [layer if isinstance(layer, int) else "fc" for layer in run.session.execution()] == [2, 1, "fc"]


def test_a_batch_is_one_layer_whose_core_counter_runs_on(machine: Callable[..., Machine]) -> None:
    four = machine(num_cores=4)
    run = pantile.simulate("bmm:b=6,m=8,n=8,k=8", four)
    (layer,) = run.layers
    assert (layer.totals.tiles, layer.totals.macs) == (6, 6 * 512)
    # One tile per element; the first goes to core 1, since it is the first layer.
    assert run.result.tiles["core"].tolist() == [1, 2, 3, 0, 1, 2]
    assert layer.to_json()["model"] == "pantile"
    proved = pantile.check("bmm:b=6,m=8,n=8,k=8", four).report.proved
    assert "coverage: 3072 MACs, each computed exactly once" in proved
    assert "coverage: 384 outputs, each stored exactly once" in proved


def test_batches_broadcast() -> None:
    run = pantile.simulate("bmm:a=2x1x8x16,b=3x16x8", A8)
    assert run.layers[0].totals.macs == 6 * 8 * 16 * 8
    # Every element reads both its operands: 8 rows of 16 B each, two rows to a request of 32 B.
    assert run.layers[0].totals.requests["read"] == 6 * (4 + 4)


def test_a_weight_without_batch_makes_more_rows_as_in_onnxim() -> None:
    four_dims = pantile.simulate("bmm:a=2x3x8x16,b=16x24", A8)
    flat = pantile.simulate("gemm:m=48,n=24,k=16", A8)
    assert four_dims.total_cycles == flat.total_cycles
    assert {note.code for note in four_dims.notes} == {"Q13"}
    assert four_dims.layers[0].to_json()["model"] == "onnxim"


def test_a_transposed_activation_is_computed_and_noted() -> None:
    run = pantile.simulate("bmm:a=16x32,b=16x8,ta", A8)
    assert [note.code for note in run.notes] == ["Q11", "model"]
    assert run.layers[0].totals.macs == 32 * 16 * 8
    with pytest.raises(PantileError, match="Q11"):
        pantile.simulate("bmm:a=16x32,b=16x8,ta", A8, semantics="faithful")


def test_a_gemm_without_a_bias_loads_one_all_the_same(onnx_file: WriteOnnx) -> None:
    net = onnx_file([("Gemm", "fc", ["x", "w"], "y")], {"x": [33, 65]}, {"w": [65, 17]})
    runs = [pantile.simulate(net, A8, semantics=name) for name in ("fixed", "faithful")]
    assert runs[0].total_cycles == runs[1].total_cycles == 1217  # a8_33x65x17_gemm_nobias_input
    assert all("Q3" in {note.code for note in run.notes} for run in runs)
    loads = [each.instruction.operand for each in pantile.lower(net, A8).listing]
    assert loads.count("bias") == 3  # one per block of 8 columns


def test_a_convolution_is_pantiles_own_model(onnx_file: WriteOnnx) -> None:
    net = onnx_file(
        [
            ("Conv", "conv", ["p", "w"], "q", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
            ("Flatten", "flat", ["q"], "f"),
            ("MatMul", "fc", ["f", "v"], "y"),
        ],
        {"p": [1, 8, 8, 8]},
        {"w": [16, 8, 3, 3], "v": [1024, 8]},
    )
    conv, product = (layer.to_json() for layer in pantile.simulate(net, A8).layers)
    assert (conv["model"], product["model"]) == ("pantile", "onnxim")
    assert conv["labels"][0].startswith("pantile: a convolution")
    assert conv["macs"] == 64 * 16 * 72
    text = str(pantile.simulate(net, A8))
    assert "\n  conv * " in text
    assert "\n  * model: pantile; the others are ONNXim's own, cycle for cycle\n" in text


def test_the_workloads_element_type_overrides_the_machines() -> None:
    wide = pantile.simulate("gemm:m=32,n=32,k=64,dtype=fp16", A8)
    assert wide.session.config.precision == 2
    assert [note.code for note in wide.notes] == ["dtype"]
    narrow = pantile.simulate(SEED, A8)
    assert wide.layers[0].totals.useful_bytes["read"] == 2 * narrow.layers[0].totals.useful_bytes["read"]
    assert pantile.simulate("gemm:m=32,n=32,k=64,dtype=int8", A8).total_cycles == narrow.total_cycles


def test_text_html_and_json_agree() -> None:
    run = pantile.simulate(SEED, A8)
    text, made = str(run), run.to_json()
    assert f"total {made['total_cycles']} cycles (1.25 us)" in text
    assert f"bound by {made['bound_by']}; MAC utilisation 82.0%, array busy 83.1%" in text
    assert run._repr_html_() == as_html(text)
    assert made["total_seconds"] == pytest.approx(1.249e-6)


def test_the_array_is_active_in_compute_and_drain_cycles() -> None:
    run = pantile.simulate(
        SEED, "systolic-ws-8x8-c4", mapping="[T] N32 C64 M32 - [O] N2 C2 M2 - [I] N16 C32 M16"
    )
    for core in run.to_json()["per_core"]:
        assert core["systolic_active_cycle"] == core["terms"]["compute"] + core["terms"]["drain"]


def test_terms_are_those_of_the_core_that_finishes_last() -> None:
    run = pantile.simulate(SEED, "systolic-ws-8x8-c4")
    finish = run.result.tiles["finish_cycle"].max()
    assert run.last_core == min(run.result.tiles["core"][run.result.tiles["finish_cycle"] == finish])
    assert run.terms == run.to_json()["per_core"][run.last_core]["terms"]


sizes = st.integers(1, 20)
configurations = st.fixed_dictionaries(
    {
        "num_cores": st.integers(1, 3),
        "core_width": st.sampled_from([1, 2, 3, 4, 6, 8]),
        "spad_size": st.sampled_from([1, 2, 4, 64]),
        "accum_spad_size": st.sampled_from([1, 2, 16]),
        "dram_channels": st.sampled_from([1, 2, 5, 16]),
        "dram_latency": st.integers(0, 20),
        "precision": st.sampled_from([1, 2, 4]),
        "icnt_injection_ports_per_core": st.integers(1, 3),
    }
)


@pytest.mark.slow
@settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
@given(rows=sizes, columns=sizes, depth=sizes, bias=st.booleans(), figures=configurations, data=st.data())
def test_fixed_equals_faithful_wherever_that_is_right(
    machine: Callable[..., Machine],
    rows: int,
    columns: int,
    depth: int,
    bias: bool,
    figures: dict[str, Any],
    data: Any,
) -> None:
    chip = machine(**figures, core_height=figures["core_width"])
    workload = f"gemm:m={rows},n={columns},k={depth}" + (",bias" if bias else "")
    mapping = data.draw(st.one_of(st.none(), explicit(rows, columns, depth)))
    try:
        faithful = pantile.check(workload, chip, mapping=mapping, semantics="faithful")
    except PantileError:
        return
    is_right = all(finding.code != "PT-COVERAGE" for finding in faithful.report.findings)
    if not is_right:
        if mapping is None:  # the automatic mapper's own error, which fixed mends
            assert all(each.code != "PT-COVERAGE" for each in pantile.check(workload, chip).report.findings)
        else:
            with pytest.raises(PantileError):
                pantile.plan(workload, chip, mapping=mapping)
        return
    ours, theirs = (
        pantile.simulate(workload, chip, mapping=mapping, semantics=name) for name in ("fixed", "faithful")
    )
    assert ours.total_cycles == theirs.total_cycles
    assert ours.result.tiles.tolist() == theirs.result.tiles.tolist()


@st.composite
def explicit(draw: Any, rows: int, columns: int, depth: int) -> str:
    """A mapping of a product, right or not."""
    letters = {"N": rows, "C": depth, "M": columns}
    inner = {letter: draw(st.integers(1, size + 3)) for letter, size in letters.items()}
    outer = {
        letter: -(-letters[letter] // inner[letter]) + draw(st.sampled_from([0, 0, 0, 1]))
        for letter in letters
    }
    sections = (("T", letters), ("O", outer), ("I", inner))
    return " - ".join(
        f"[{name}] " + " ".join(f"{letter}{count}" for letter, count in counts.items())
        for name, counts in sections
    )


def test_the_property_above_meets_both_kinds_of_case(machine: Callable[..., Machine]) -> None:
    wrong = machine(core_width=6, core_height=6)
    assert not pantile.check("gemm:m=12,n=12,k=12", wrong, semantics="faithful").ok
    assert pantile.check("gemm:m=12,n=12,k=12", machine(), semantics="faithful").ok
