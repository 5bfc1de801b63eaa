"""The verb ``check``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pantile
from pantile.verbs.check import CheckResult
from pantile.verbs.result import Many, as_html

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import WriteOnnx
    from pantile.machine import Machine

A8 = "systolic-ws-8x8"
CUBE = "gemm:m=16,n=16,k=16"


def codes(result: CheckResult) -> set[tuple[str, str]]:
    return {(finding.code, finding.severity) for finding in result.report.findings}


def test_a_right_program_is_proved_right(seed: tuple[str, str]) -> None:
    workload, mapping = seed
    result = pantile.check(workload, A8, mapping=mapping)
    assert isinstance(result, CheckResult)
    assert result.ok
    assert "coverage: 65536 MACs, each computed exactly once" in result.report.proved
    assert "coverage: 1024 outputs, each stored exactly once" in result.report.proved
    # Two reduction tiles of a region are resident together: another timing could let a store go first.
    assert codes(result) == {("PT-RACE", "warning")}


def test_one_reduction_tile_leaves_nothing_to_find() -> None:
    result = pantile.check("gemm:m=32,n=32,k=64", A8)
    assert result.report.findings == ()
    assert "order: every store follows all contributions to its block" in result.report.proved


def test_lost_repeated_and_overlapping_work_is_found() -> None:
    for quirk, mapping in {
        "Q6": "[T] N16 C16 M16 - [O] N1 C2 M1 - [I] N16 C16 M16",
        "Q7": "[T] N16 C16 M16 - [O] N1 C1 M1 - [I] N8 C8 M8",
        "Q8": "[T] N16 C16 M16 - [O] N2 C1 M1 - [I] N12 C16 M16",
    }.items():
        result = pantile.check(CUBE, A8, mapping=mapping, semantics="faithful")
        assert not result.ok
        assert ("PT-COVERAGE", "error") in codes(result)
        assert quirk in {note.code for note in result.notes}


def test_a_store_that_overtakes_in_the_run_itself_is_an_error(
    machine: Callable[..., Machine], onnx_file: WriteOnnx
) -> None:
    # Q28: fast memory and a short pipeline let a later reduction tile overtake an older one.
    fast = machine(
        num_cores=3, core_width=3, core_height=3, precision=2, core_freq=1200, dram_freq=2000, icnt_freq=1000,
        dram_channels=8, icnt_injection_ports_per_core=20, dram_latency=0, icnt_latency=0,
    )  # fmt: skip
    net = onnx_file([("Gemm", "fc", ["x", "w"], "y")], {"x": [17, 6]}, {"w": [6, 64]})
    run = pantile.simulate(net, fast, semantics="faithful")
    assert run.total_cycles == 776
    assert run.result.tiles["finish_cycle"][:2].tolist() == [688, 146]
    result = pantile.check(net, fast, semantics="faithful")
    assert run.result.tiles["overtaken"].sum() == 84
    assert ("PT-RACE", "error") in codes(result)
    assert not result.ok


def test_text_html_and_json_agree() -> None:
    result = pantile.check(CUBE, A8)
    lines = str(result).splitlines()
    assert lines[0] == CUBE
    assert lines[-1] == "  ok"
    assert sum(line.startswith("  proved: ") for line in lines) == len(result.to_json()["proved"])
    assert result._repr_html_() == as_html(str(result))
    assert result.to_json()["ok"] is True


def test_a_network_has_a_report_per_product(mlp: str) -> None:
    results = pantile.check(mlp, A8)
    assert isinstance(results, Many)
    assert [each.workload for each in results] == [f"{mlp}#up", f"{mlp}#down"]
    assert str(results).endswith(
        "\n\nnote outside: 1 node (relu), 0.0% of the known MACs: Relu is no product"
    )
