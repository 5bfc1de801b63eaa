"""Plans read back; what a broken file says is tested on the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import pantile
from pantile.errors import WorkloadError
from pantile.verbs.planfile import PlanFile, is_plan_file, read_plan_file
from pantile.workload.matmul import Matmul

if TYPE_CHECKING:
    from pathlib import Path


def test_only_a_json_file_is_a_plan(tmp_path: Path) -> None:
    assert is_plan_file("plan.json")
    assert is_plan_file(tmp_path / "PLAN.JSON")
    assert not is_plan_file("gemm:m=1,n=1,k=1")
    assert not is_plan_file(Matmul(m=1, n=1, k=1))


def test_a_plan_is_read_back(tmp_path: Path) -> None:
    made = pantile.plan("gemm:m=8,n=9,k=10", "systolic-ws-8x8", semantics="faithful").to_json()
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(made))
    assert read_plan_file(file) == PlanFile(
        path=str(file),
        workload="gemm:m=8,n=9,k=10",
        machine="systolic-ws-8x8",
        planner="onnxim",
        mapping=made["parameters"]["mapping"],
        semantics="faithful",
        dims={},
        data=made,
    )


def test_a_plan_of_a_node_outside_the_model_is_none(tmp_path: Path, mlp: str) -> None:
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(pantile.plan(mlp, "systolic-ws-8x8")[1].to_json()))
    with pytest.raises(WorkloadError, match="there is no feasible plan in it"):
        read_plan_file(file)
