"""Runs as traces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import pantile
from pantile.errors import UsageError
from pantile.verbs.simulate import simulate_session
from pantile.verbs.trace import TRACED_OPERATIONS, require_traceable, slices_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pantile.machine import Machine
    from pantile.verbs.simulate import Simulation
    from pantile.view.trace import Slice


@pytest.fixture
def run(seed: tuple[str, str], machine: Callable[..., Machine]) -> Simulation:
    """The worked example on two cores of 1200 MHz, everything recorded."""
    workload, mapping = seed
    session = pantile.lower(workload, machine(num_cores=2, core_freq=1200), mapping=mapping).session
    return simulate_session(session, record=require_traceable(session))


def number(each: Slice) -> int:
    return int(each.details["operation"])


def test_every_operation_is_one_slice_on_its_unit(run: Simulation) -> None:
    slices = list(slices_of(run))
    assert [number(each) for each in slices] == list(range(176))
    units = {unit: sum(each.unit == unit for each in slices) for unit in ("loads", "array", "stores")}
    assert units == {"loads": 32, "array": 128, "stores": 16}
    assert slices[0].name == "MOVIN b"
    assert slices[4].name == "GEMM_PRELOAD"


def test_times_are_cycles_of_833_ps(run: Simulation) -> None:
    operations = run.result.operations
    for each in slices_of(run):
        row = operations[number(each)]
        assert (each.start_ps, each.finish_ps) == (row["start"] * 833, row["finish"] * 833)
        assert each.details["issued_cycle"] == row["issue"] <= row["start"]
    assert max(each.finish_ps for each in slices_of(run)) <= run.total_cycles * 833


def test_details_add_up_to_the_totals(run: Simulation) -> None:
    slices = list(slices_of(run))
    assert sum(int(each.details["macs"]) for each in slices) == 65536
    moved = {
        unit: sum(int(each.details["bytes"]) for each in slices if each.unit == unit)
        for unit in ("loads", "stores")
    }
    assert {"read": moved["loads"], "write": moved["stores"]} == run.layers[0].totals.bytes["dram"]


def test_one_core_is_part_of_all(run: Simulation) -> None:
    parts = [list(slices_of(run, core)) for core in (0, 1)]
    assert all(each.core == core for core, part in enumerate(parts) for each in part)
    assert sorted(map(number, [*parts[0], *parts[1]])) == list(range(176))


def test_layers_of_a_network_are_numbered_through(mlp: str) -> None:
    session = pantile.lower(mlp, "systolic-ws-8x8", semantics="faithful")[0].session
    slices = list(slices_of(simulate_session(session, record=require_traceable(session))))
    assert [number(each) for each in slices] == list(range(len(slices)))
    assert [each.details["node"] for each in slices] == ["up"] * 35 + ["down"] * 20


def test_a_run_too_long_to_trace() -> None:
    session = pantile.lower("gemm:m=1024,n=1024,k=1024", "systolic-ws-8x8").session
    problem = f"a trace holds {TRACED_OPERATIONS} operations at most, the run has "
    with pytest.raises(UsageError, match=problem):
        require_traceable(session)


def test_simulate_writes_the_trace_and_changes_no_figure(seed: tuple[str, str], tmp_path: Path) -> None:
    workload, mapping = seed
    plain = pantile.simulate(workload, "systolic-ws-8x8", mapping=mapping)
    traced = pantile.simulate(workload, "systolic-ws-8x8", mapping=mapping, trace=tmp_path / "t")
    assert traced.to_json() == plain.to_json()
    assert (tmp_path / "t").stat().st_size > 0
