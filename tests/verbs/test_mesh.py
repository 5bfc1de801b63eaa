"""The verbs on meshes of chiplets."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pantile
from pantile.errors import InfeasibleError, MachineError, OutsideModelError, PantileError, UsageError
from pantile.machine import Grid, Machine, load_machine
from pantile.simulate.execute import execute
from pantile.targets.mesh.routes import topology_of
from pantile.targets.mesh.traffic import traffic_of
from pantile.verbs.arguments import PlanOptions
from pantile.verbs.families import FAMILIES
from pantile.verbs.mesh import plan_session
from pantile.verbs.mesh_run import in_cycles
from pantile.verbs.program_trace import slices_of_layers
from pantile.verbs.sessions import planned

CUBE = "gemm:m=64,n=64,k=64"


def mesh(rows: int, columns: int, *, topology: str = "mesh", slots: int = 2) -> Machine:
    base = load_machine("mesh-2x2")
    family = type(base.family)({"mesh": {**base.family.table("mesh"), "topology": topology}})
    memories = tuple(
        replace(memory, slots=slots, capacity_bytes=slots << 19) if memory.name == "sram" else memory
        for memory in base.memories
    )
    return replace(base, grid=Grid((rows, columns)), family=family, memories=memories)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["cannon", "summa", "direct"]),
    st.sampled_from(["mesh", "bus"]),
    st.tuples(st.integers(1, 3), st.integers(1, 3)),
    st.tuples(*(st.integers(1, 20) for _ in range(3))),
    st.integers(1, 2),
    st.integers(1, 40),
)
def test_what_a_plan_predicts_is_what_its_program_moves(
    planner: str, topology: str, grid: tuple[int, int], sizes: tuple[int, int, int], batch: int, room: int
) -> None:
    rows, columns = (grid[0], grid[0]) if planner == "cannon" else grid
    machine = mesh(rows, columns, topology=topology)
    memories = tuple(
        replace(memory, capacity_bytes=16 * room) if memory.name == "sram" else memory
        for memory in machine.memories
    )
    machine = replace(machine, memories=memories)
    workload = "bmm:b={},m={},n={},k={}".format(batch, *sizes)
    (session,) = planned(workload, machine, PlanOptions(planner=planner), complete=False)
    (plan,) = [each.plan for each in session.plans]
    assert plan is not None
    if not plan.feasible:
        return
    (layer,) = session.layers()
    traffic, predicted = traffic_of(layer.program, topology_of(machine)), plan.predicted
    assert predicted["a_read_bytes"] == traffic.read_bytes["X"]
    assert predicted["b_read_bytes"] == traffic.read_bytes["W"]
    assert predicted["written_bytes"] == traffic.written_bytes["Y"]
    assert predicted["passed_bytes"] == traffic.passed_bytes
    assert predicted["hop_bytes"] == traffic.hop_bytes
    tables = layer.program.tables()
    assert predicted["macs"] == tables["op"]["macs"].sum()
    assert predicted["computes"] == (tables["op"]["macs"] > 0).sum()
    if layer.program.operations > 4000:
        return
    (report,) = session.reports(lambda: None)
    assert report.ok, str(report)
    run = session.simulation(lambda: None)
    assert run.ok
    assert run.total_cycles >= max(predicted["compute_cycles"], predicted["ddr_cycles"])  # type: ignore[attr-defined]


def test_plan_says_what_it_predicts() -> None:
    found = pantile.plan(CUBE, "mesh-2x2")
    assert found.ok
    data = found.to_json()
    assert (data["planner"], data["semantics"], data["feasible"]) == ("cannon", "textbook", True)
    assert data["buffering"] == {"sram": 2}
    assert data["parameters"]["mapping"] == "[grid] 2x2 [pieces] b1 m2 n2 k2 [slots] 2"
    assert "not direct: a would leave memories off chip 2 times, b 2 times" in found.explain()


@pytest.mark.parametrize("planner", ["cannon", "summa", "direct"])
def test_lower_check_and_simulate(planner: str) -> None:
    lowered = pantile.lower(CUBE, "mesh-2x2", planner=planner)
    data = lowered.to_json()
    copies = 2 if planner == "direct" else 1
    assert data["totals"]["macs"] == 64**3
    assert data["totals"]["bytes"] == {"ddr": {"read": 2 * copies * 64 * 64 * 4, "write": 64 * 64 * 4}}
    assert len(data["operations"]) == data["operation_count"]
    assert pantile.check(CUBE, "mesh-2x2", planner=planner).ok
    run = pantile.simulate(CUBE, "mesh-2x2", planner=planner)
    result = run.to_json()
    assert run.ok
    assert sum(result["terms"].values()) == result["total_cycles"]
    assert [sum(each["terms"].values()) for each in result["per_core"]] == [result["total_cycles"]] * 4
    assert all(result["total_cycles"] >= bound for bound in result["lower_bounds"].values())
    assert result["bound_by"] == "wait-load"
    assert result["per_layer"][0]["predicted"]["macs"] == 64**3
    values = np.arange(64 * 64, dtype=np.float32).reshape(1, 64, 64) % 7
    program = lowered.program
    assert np.array_equal(execute(program, {"x": values, "w": values})["Y"], values @ values)


def test_exchange_is_faster_where_memories_are_slow() -> None:
    """64 cubed is bound by loads: what leaves memories once takes less time than what leaves them often."""
    cycles = {
        (name, planner): pantile.simulate(CUBE, name, planner=planner).to_json()["total_cycles"]
        for name in ("mesh-2x2", "mesh-4x4")
        for planner in ("cannon", "summa", "direct")
    }
    for name in ("mesh-2x2", "mesh-4x4"):
        assert cycles[name, "cannon"] < cycles[name, "direct"]
    assert cycles["mesh-4x4", "summa"] < cycles["mesh-4x4", "direct"]


def test_tile_kinds_and_idle_chiplets() -> None:
    data = pantile.lower("gemm:m=3,n=2,k=2", "mesh-4x4").to_json()
    assert data["tile_kinds"] == [
        {"size": {"b": 1, "m": 2, "n": 1, "k": 1}, "count": 4},
        {"size": {"b": 1, "m": 1, "n": 1, "k": 1}, "count": 4},
    ]
    run = pantile.simulate("gemm:m=3,n=2,k=2", "mesh-4x4").to_json()
    assert len(run["per_core"]) == 16
    assert run["per_core"][15]["terms"] == {"idle": run["total_cycles"]}
    assert sum(run["per_core"][5]["terms"].values()) == run["total_cycles"]


def test_terms_in_cycles_sum_to_the_total() -> None:
    assert in_cycles({"a": 1, "b": 999, "c": 1}, 10**9) == {"a": 1, "b": 0, "c": 1}
    assert in_cycles({}, 10**9) == {}


def test_a_listing_of_one_chiplet() -> None:
    lines = pantile.lower(CUBE, "mesh-2x2", core=3).text().splitlines()  # type: ignore[union-attr]
    assert lines[0] == f"# {CUBE}: number, thread, operation; <- read, -> written"
    assert [line for line in lines if "load_store" in line] == [
        "     74  fetch a (1,1)   load_store      <- X ddr@2 4096 B -> X sram@(1,1) 4096 B",
        "     79  fetch a (1,1)   load_store      <- X sram@(1,0) 4096 B -> X sram@(1,1) 4096 B",
        "     86  fetch b (1,1)   load_store      <- W ddr@1 4096 B -> W sram@(1,1) 4096 B",
        "     91  fetch b (1,1)   load_store      <- W sram@(0,1) 4096 B -> W sram@(1,1) 4096 B",
        "    171  multiply (1,1)  load_store      <- Y sram@(1,1) 4096 B -> Y ddr@3 4096 B",
    ]
    window = pantile.lower(CUBE, "mesh-2x2", window=range(2, 3)).text()  # type: ignore[union-attr]
    assert window.splitlines()[1:] == [
        "      2  fetch a (0,0)   load_store      <- X ddr@0 4096 B -> X sram@(0,0) 4096 B"
    ]
    with pytest.raises(UsageError, match="there is no core 4; mesh-2x2 has cores 0 to 3"):
        pantile.lower(CUBE, "mesh-2x2", core=4)


def test_one_slot_is_a_deadlock_and_says_so() -> None:
    mapping = "[grid] 2x2 [pieces] b1 m2 n2 k2 [slots] 1"
    report = pantile.check(CUBE, "mesh-2x2", mapping=mapping)
    assert not report.ok
    assert "PT-DEADLOCK" in str(report)
    run = pantile.simulate(CUBE, "mesh-2x2", mapping=mapping)
    assert not run.ok
    assert "waits for take 1 of" in str(run)
    assert "stops after 524 cycles" in str(run)


def test_a_plan_file_runs_again(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(pantile.plan(CUBE, "mesh-2x2", planner="summa").to_json()))
    again = pantile.simulate(str(file), "mesh-2x2").to_json()
    assert again["planner"] == "summa"
    assert (
        again["total_cycles"] == pantile.simulate(CUBE, "mesh-2x2", planner="summa").to_json()["total_cycles"]
    )
    noted = pantile.simulate(str(file), "mesh-4x4").to_json()
    assert "was made for mesh-2x2, not for this machine" in noted["notes"][0]["text"]


def test_a_table_of_products(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("m,n,k\n8,8,8\n4,6,2\n")
    runs = pantile.simulate(str(table), "mesh-2x2").to_json()
    assert [each["schema"] for each in runs][-1] == "pantile/summary/1"
    assert len(runs) == 3


def test_a_planner_of_another_family() -> None:
    with pytest.raises(UsageError) as caught:
        pantile.plan(CUBE, "mesh-2x2", planner="onnxim")
    assert str(caught.value) == (
        "planner 'onnxim' plans for systolic machines, 'mesh-2x2' is a mesh machine; "
        "its planners: cannon, summa, direct [PT-USAGE]"
    )
    with pytest.raises(UsageError, match="'systolic-ws-8x8' is a systolic machine"):
        pantile.plan(CUBE, "systolic-ws-8x8", planner="cannon")


def test_a_machine_without_a_grid() -> None:
    machine = replace(load_machine("mesh-2x2"), grid=Grid((4,)), provenance=())
    with pytest.raises(MachineError, match=r"grid\.cores: expected rows and columns, got 4 cores in a row"):
        pantile.plan(CUBE, machine)


def test_infeasible_where_a_plan_is_needed() -> None:
    with pytest.raises(InfeasibleError, match=r"mesh-2x2 has sram\.slots = 1"):
        pantile.simulate(CUBE, mesh(2, 2, slots=1))
    assert not pantile.plan(CUBE, mesh(2, 2, slots=1)).ok


@pytest.mark.parametrize(
    ("workload", "problem"),
    [
        ("gemm:m=2,n=2,k=2,bias", "a bias is not added on a mesh"),
        ("bmm:a=2x2x2,b=2x2", "operands of unequal batches"),
        ("gemm:m=2,n=2,k=2,dtype=int4", "elements of 4 bits"),
    ],
)
def test_products_outside_the_model(workload: str, problem: str) -> None:
    with pytest.raises(OutsideModelError) as caught:
        pantile.simulate(workload, "mesh-2x2")
    assert problem in str(caught.value)


def test_semantics_that_there_are_not() -> None:
    with pytest.raises(UsageError, match="unknown semantics 'faithful' of planner cannon"):
        pantile.plan(CUBE, "mesh-2x2", semantics="faithful")


@pytest.mark.parametrize(("workload", "planner"), [(CUBE, "cannon"), ("bmm:b=2,m=10,n=7,k=9", "summa")])
def test_a_page_has_the_figures_of_the_run(workload: str, planner: str, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    page: Any = pantile.view(workload, "mesh-2x2", out, planner=planner)
    run: Any = pantile.simulate(workload, "mesh-2x2", planner=planner)
    found = run.to_json()
    (layer,) = found["per_layer"]
    figures = {each.key: each.value for each in page.data.figures}
    assert figures["total_cycles"] == found["total_cycles"] == layer["cycles"]
    assert figures["total_ps"] == layer["total_ticks"]
    assert (figures["mac_utilisation"], figures["busy_utilisation"]) == tuple(found["utilisation"].values())
    bounds = {f"lower_bound {name}": value for name, value in found["lower_bounds"].items()}
    assert bounds == {key: value for key, value in figures.items() if key.startswith("lower_bound")}
    terms = {name: cycles for name, cycles in found["terms"].items() if cycles}
    assert {term.name: term.cycles for term in page.data.terms} == terms
    assert page.to_json()["planner"] == planner
    assert [each.name for each in page.data.decisions][:2] == ["dtypes", "grid"]
    assert page.data.command == f"pantile view {workload} -m mesh-2x2 -p {planner} -o {out}"
    assert page.data.proved
    (session,) = planned(workload, load_machine("mesh-2x2"), PlanOptions(planner=planner), complete=True)
    (lowered,) = session.layers()
    assert sorted(page.data.operations["listed"].tolist()) == list(range(lowered.program.operations))
    assert {each.name for each in page.data.memories} >= {"sram@(0,0)", "sram@(1,1)"}


def test_a_trace_has_every_layer_after_the_one_before(tmp_path: Path) -> None:
    (session,) = planned(CUBE, load_machine("mesh-2x2"), PlanOptions(), complete=True)
    simulated: Any = session.simulation(lambda: None)
    (timeline,) = simulated.timelines
    slices = list(slices_of_layers({"one": timeline, "two": timeline}))
    half = len(slices) // 2
    assert {each.details["node"] for each in slices[:half]} == {"one"}
    for first, second in zip(slices[:half], slices[half:], strict=True):
        assert second.start_ps == first.start_ps + timeline.total
        assert second.finish_ps == first.finish_ps + timeline.total
    macs = [int(each.details["macs"]) for each in slices if not each.name.startswith("wait: ")]
    assert sum(macs) == 2 * 64**3
    only = list(slices_of_layers({"one": timeline}, 2))
    assert {each.core for each in only} == {2}
    assert len(only) < half
    file = tmp_path / "trace"
    run: Any = pantile.simulate(CUBE, "mesh-2x2", trace=file)
    assert run.total_cycles == simulated.total_cycles
    assert file.stat().st_size > 1000


def test_every_family_has_its_module() -> None:
    assert [family.name for family in FAMILIES] == ["systolic", "ascend", "mesh"]
    assert callable(plan_session)
    others = {"systolic": "mesh-2x2", "mesh": "systolic-ws-8x8"}  # ascend machines need not say who plans
    for family in FAMILIES:
        if family.name in others:
            with pytest.raises(PantileError):
                family.require_supported(load_machine(others[family.name]))
