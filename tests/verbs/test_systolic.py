"""A network planned on a systolic machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pantile.errors import InfeasibleError, ManyProblems, MappingError, OutsideModelError, UsageError
from pantile.verbs.systolic import Systolic, plan_systolic
from pantile.workload.load import load_workload
from pantile.workload.matmul import Matmul
from pantile.workload.network import network_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import WriteOnnx
    from pantile.machine import Machine

LINE = "[T] N16 C16 M16 - [O] N1 C1 M1 - [I] N16 C16 M16"


def cube() -> Matmul:
    return Matmul(m=16, n=16, k=16)


def test_head_names_what_was_planned(machine: Callable[..., Machine]) -> None:
    session = plan_systolic(network_of(cube()), machine(), semantics="faithful")
    head = session.head("lower", "w", ())
    assert (head["machine"], head["planner"], head["semantics"]) == ("a8", "onnxim", "faithful")


def test_a_mapping_is_a_text_or_a_file(machine: Callable[..., Machine], tmp_path: Path) -> None:
    file = tmp_path / "net.mapping"
    file.write_text(f"{LINE}\n")
    found = [plan_systolic(network_of(cube()), machine(), mapping=each) for each in (LINE, str(file))]
    assert found[0].plans[0].plan.parameters == found[1].plans[0].plan.parameters
    with pytest.raises(UsageError, match=r"^mapping file '': is a directory; give a file"):
        plan_systolic(network_of(cube()), machine(), mapping="")
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="not a text file"):
        plan_systolic(network_of(cube()), machine(), mapping=str(file))


def test_infeasible_nodes_are_raised_together(machine: Callable[..., Machine], mlp: str) -> None:
    small = machine(spad_size=1, core_width=16, core_height=16)
    session = plan_systolic(load_workload(mlp)[0], small)
    with pytest.raises(ManyProblems) as caught:
        session.require_plans()
    assert [str(each.place) for each in caught.value.problems] == [f"{mlp}#up", f"{mlp}#down"]
    assert all(isinstance(each, InfeasibleError) for each in caught.value.problems)


def test_a_network_with_nothing_inside(machine: Callable[..., Machine], onnx_file: WriteOnnx) -> None:
    net = load_workload(onnx_file([("Relu", "relu", ["x"], "y")], {"x": [8, 8]}))[0]
    with pytest.raises(
        OutsideModelError, match=r"no node of net is inside the model \(relu: Relu is no product\)"
    ):
        plan_systolic(net, machine()).require_plans()


def test_cores_are_counted_from_0(machine: Callable[..., Machine]) -> None:
    session = plan_systolic(network_of(cube()), machine(num_cores=2))
    for core in (None, 0, 1):
        session.require_core(core)
    for core in (2, -1):
        with pytest.raises(UsageError, match=f"there is no core {core}; a8 has cores 0 to 1"):
            session.require_core(core)


def test_layers_that_are_ready_run_before_those_that_become_so(
    machine: Callable[..., Machine], onnx_file: WriteOnnx
) -> None:
    net = load_workload(
        onnx_file(
            [
                ("MatMul", "first", ["x", "w0"], "a"),
                ("MatMul", "after first", ["a", "w1"], "b"),
                ("MatMul", "ready too", ["x", "w2"], "c"),
            ],
            {"x": [8, 8]},
            {"w0": [8, 8], "w1": [8, 8], "w2": [8, 8]},
        )
    )[0]
    session: Systolic = plan_systolic(net, machine())
    assert [layer.layer for layer in session.layers()] == [0, 2, 1]
    names = [layer if isinstance(layer, int) else layer.name for layer in session.execution()]
    assert names == ["first", "ready too", "after first"]


def test_equal_layers_share_a_mapping(machine: Callable[..., Machine], onnx_file: WriteOnnx) -> None:
    net = load_workload(
        onnx_file(
            [("MatMul", "one", ["x", "w0"], "a"), ("MatMul", "two", ["a", "w1"], "b")],
            {"x": [8, 8]},
            {"w0": [8, 8], "w1": [8, 8]},
        )
    )[0]
    sources = [each.plan.parameters["source"] for each in plan_systolic(net, machine()).plans]
    assert sources == ["automatic", "table"]


def test_what_fits_is_judged_in_whole_requests(machine: Callable[..., Machine]) -> None:
    # Q2d: 64 rows and 64 columns of 8 B fit a half of 2048 B, but take a request of 32 B each.
    line = "[T] N64 C1000 M64 - [O] N1 C125 M1 - [I] N64 C8 M64"
    product = network_of(Matmul(m=64, n=64, k=1000))
    with pytest.raises(MappingError, match="4096 B of scratchpad are needed, a half holds 2048 B"):
        plan_systolic(product, machine(spad_size=4), mapping=line)
