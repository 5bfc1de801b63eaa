"""From the arguments of a verb to planned networks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import pantile
from pantile.errors import InfeasibleError, UsageError
from pantile.tiling.plan import Note
from pantile.verbs.arguments import PlanOptions
from pantile.verbs.result import Many
from pantile.verbs.sessions import planned, sessions_of, single_or_many

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pantile.machine import Machine

A8 = "systolic-ws-8x8"


def test_one_session_per_network(mlp: str, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("m,n,k\n8,8,8\n16,8,8\n")
    assert [len(planned(each, A8, PlanOptions(), complete=True)) for each in (mlp, table)] == [1, 2]


def test_only_plan_takes_what_does_not_fit(machine: Callable[..., Machine]) -> None:
    small = machine(spad_size=1, core_width=16, core_height=16)
    (session,) = planned("gemm:m=16,n=16,k=64", small, PlanOptions(), complete=False)
    assert not session.plans[0].plan.feasible
    with pytest.raises(InfeasibleError):
        planned("gemm:m=16,n=16,k=64", small, PlanOptions(), complete=True)


def test_a_plan_file_keeps_its_dimensions_and_takes_others(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(pantile.plan("gemm:m=8,n=8,k=8", A8).to_json() | {"dims": {"batch": 2}}))
    with pytest.raises(UsageError, match="dimensions can be bound in an ONNX file only, got batch, seq"):
        sessions_of(file, A8, PlanOptions(dims={"seq": 3}))


def test_a_single_answer_stands_alone_unless_it_is_of_a_table() -> None:
    answer = pantile.plan("gemm:m=8,n=8,k=8", A8)
    note = Note("outside", "1 node")
    assert single_or_many("gemm:m=8,n=8,k=8", [answer], [note]) is answer
    assert single_or_many("t.csv", [answer], [note]) == Many((answer,), (note,))
    assert single_or_many("net.onnx", [answer, answer]) == Many((answer, answer))
