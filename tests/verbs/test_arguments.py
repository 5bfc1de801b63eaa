"""What the verbs take."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import pantile
from pantile.errors import PantileError, UsageError
from pantile.machine import load_machine
from pantile.verbs.arguments import (
    PlanOptions,
    is_many,
    machine_of,
    network_text,
    networks_of,
    node_text,
)
from pantile.workload.load import load_workload
from pantile.workload.matmul import Matmul
from pantile.workload.network import network_of

if TYPE_CHECKING:
    from conftest import WriteMachine


def test_a_machine_is_a_name_a_path_or_a_machine(machine_file: WriteMachine) -> None:
    preset = load_machine("systolic-ws-8x8")
    assert machine_of("systolic-ws-8x8") == machine_of(preset) == preset
    assert machine_of(Path(machine_file("mine.json"))).name == "mine"


def test_a_workload_is_a_text_a_path_a_product_or_a_network(mlp: str) -> None:
    text = "gemm:m=8,n=9,k=10,bias"
    (by_text,) = networks_of(text, {})
    product = Matmul(m=8, n=9, k=10, bias="default")
    assert networks_of(product, {}) == networks_of(network_of(product, source=text), {}) == (by_text,)
    assert networks_of(Path(mlp), {}) == networks_of(mlp, {}) == load_workload(mlp)


def test_a_value_has_no_dimensions_to_bind() -> None:
    product = Matmul(m=8, n=9, k=10)
    for value in (product, network_of(product)):
        with pytest.raises(UsageError, match="a workload value has no open dimensions, got batch"):
            networks_of(value, {"batch": 2})


def test_only_a_table_is_many() -> None:
    assert is_many("t.csv")
    assert is_many(Path("T.CSV"))
    assert not is_many("net.onnx")
    assert not is_many(Matmul(m=1, n=1, k=1))


def test_texts_that_name_a_node_again(mlp: str, tmp_path: Path) -> None:
    (net,) = load_workload(mlp)
    assert (node_text(net, "up"), node_text(net, "relu")) == (f"{mlp}#up", f"{mlp}#relu")
    assert network_text(net) == mlp
    (one,) = load_workload(f"{mlp}#up")
    assert node_text(one, "up") == network_text(one) == f"{mlp}#up"
    table = tmp_path / "t.csv"
    table.write_text("b,m,n,k,ta,name\n2,8,9,10,1,row\n")
    (row,) = load_workload(table)
    assert network_text(row) == node_text(row, "row") == "bmm:b=2,m=8,n=9,k=10,ta"


def test_every_text_of_a_node_can_be_loaded_again(mlp: str, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("b,m,n,k,ta\n2,8,9,10,1\n,3,4,5,\n")
    for workload in (mlp, str(table), "bmm:a=2x3x4,b=4x5,bias,dtype=fp16"):
        for network in load_workload(workload):
            node = next(node for node in network.nodes if node.computation)
            (again,) = load_workload(node_text(network, node.name))
            assert str(again.nodes[0].computation) == str(node.computation)


@pytest.mark.parametrize("verb", ["plan", "lower", "check", "simulate"])
@pytest.mark.parametrize("given", [3, None, 2.5, ["gemm:m=1,n=1,k=1"], b"gemm:m=1,n=1,k=1"])
def test_what_is_no_workload_or_no_machine_is_one_line(verb: str, given: object) -> None:
    call = getattr(pantile, verb)
    with pytest.raises(PantileError, match="a workload is a text, a path") as caught:
        call(given, "ascend-950pr")
    assert "\n" not in str(caught.value)
    if given is None and verb == "check":
        return  # it can do without a machine where there is a program
    with pytest.raises(PantileError, match="a machine is the name of a preset") as caught:
        call("gemm:m=64,n=64,k=64", given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("option", ["planner", "mapping", "semantics"])
def test_an_option_of_another_type_is_one_line(option: str) -> None:
    with pytest.raises(UsageError, match=f"{option} must be a text"):
        PlanOptions(**{option: 3})  # type: ignore[arg-type]
