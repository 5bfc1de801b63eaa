"""Networks on an Ascend machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import pantile
from pantile.errors import InfeasibleError, PantileError, UsageError
from pantile.machine import load_machine
from pantile.verbs.arguments import PlanOptions
from pantile.verbs.families import families_of
from pantile.verbs.plan import PlanResult, plan_each
from pantile.verbs.sessions import planned

if TYPE_CHECKING:
    from conftest import WriteMachine

SMALL = "bmm:b=8,m=512,n=512,k=512,dtype=bf16"


def test_the_machine_s_planner_is_cann() -> None:
    found = pantile.plan(SMALL, "ascend-950pr")
    assert isinstance(found, PlanResult)
    data = found.to_json()
    assert (data["planner"], data["semantics"], data["machine"]) == ("cann", "source", "ascend-950pr")
    assert data["workload"] == SMALL
    assert data["parameters"]["tilingKey"]["value"] == 2
    assert "branch     ASW_BASIC" in str(found)


def test_every_product_of_a_network_is_planned_and_the_rest_is_outside(mlp: str) -> None:
    (session,) = planned(mlp, "ascend-950pr", PlanOptions(), complete=True)
    assert [each.plan is not None for each in session.plans] == [True, False, True]
    assert "1 node (relu)" in str(session.outside[0])


def test_what_the_planner_refuses_names_the_node_or_row(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("b,m,n,k,dtype\n4,5,5,5,fp64\n4,0,5,5,fp16\n4,5,5,5,fp16\n4,5,5,5,int8\n")
    with pytest.raises(PantileError) as caught:
        plan_each(str(table), "ascend-950pr", PlanOptions())
    assert [line.partition("t.csv:")[2] for line in str(caught.value).splitlines()] == [
        "2: dtype must be fp16, bf16 or fp32, got fp64 [PT-WORKLOAD]",
        "3:2: m must be at least 1, got 0 [PT-WORKLOAD]",
        "5: dtype must be fp16, bf16 or fp32, got int8 [PT-WORKLOAD]",
    ]


def test_a_table_is_planned_row_by_row(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("b,m,n,k,dtype,name\n8,512,512,512,bf16,first\n2,3,3,0,,nothing\n")
    count, results = plan_each(str(table), "ascend-950pr", PlanOptions())
    assert count == 2
    branches = [each.plan.parameters["branch"] for each in results if each.plan]
    assert branches == ["ASW_BASIC", "BATCH_MATMUL_INPUT_K_EQUAL_ZERO"]


def test_options_of_other_planners_are_refused_once(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("m,n,k\n5,5,5\n6,6,6\n")
    for options in (PlanOptions(semantics="fixed"), PlanOptions(mapping="[T] N5")):
        with pytest.raises(UsageError, match="planner"):
            plan_each(str(table), "ascend-950pr", options)
        with pytest.raises(UsageError, match="planner"):
            pantile.plan(SMALL, "ascend-950pr", semantics=options.semantics, mapping=options.mapping)


def test_an_infeasible_plan_and_programs() -> None:
    found = pantile.plan("bmm:a=300000x30000x64,b=1x64x128", "ascend-950pr")
    assert not found.ok
    options = PlanOptions()
    with pytest.raises(InfeasibleError, match="m is 9000000000"):
        planned("bmm:a=300000x30000x64,b=1x64x128", "ascend-950pr", options, complete=True)
    (session,) = planned(SMALL, "ascend-950pr", options, complete=True)
    with pytest.raises(UsageError, match="there is no core 32; ascend-950pr has cores 0 to 31"):
        session.require_core(32)


def test_a_machine_that_lacks_a_memory_is_refused(machine_file: WriteMachine) -> None:
    machine = load_machine("ascend-950pr")
    assert [family.name for family in families_of(machine)] == ["ascend"]
    with pytest.raises(UsageError, match="planner 'cann' plans for ascend machines"):
        pantile.plan(SMALL, "systolic-ws-8x8", planner="cann")
