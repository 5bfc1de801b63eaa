"""From a case's inputs to a network."""

from __future__ import annotations

from typing import Any

import pytest

from pantile.conform.case_inputs import read_inputs
from pantile.conform.faults import WrongInput
from pantile.conform.onnxim.graph import network_of_run
from pantile.conform.onnxim.inputs import RunInputs


def inputs(layers: list[dict[str, Any]], **more: Any) -> RunInputs:
    return read_inputs({"config": {}, "layers": layers, **more}, RunInputs)


def layer(node: str, *weight: int, **more: Any) -> dict[str, Any]:
    return {"node": node, "weight_shape": list(weight), **more}


def test_initializers_stand_first_layer_by_layer_then_the_input_then_results() -> None:
    layers = [layer("Gemm", 64, 48, has_bias=True), layer("MatMul", 48, 16), layer("Gemm", 16, 8)]
    network = network_of_run(inputs(layers, input_shape=[32, 64], topology="chain"))
    assert [(tensor.name, tensor.dims, tensor.role) for tensor in network.tensors] == [
        ("w0", (64, 48), "initializer"),
        ("b0", (48,), "initializer"),
        ("w1", (48, 16), "initializer"),
        ("w2", (16, 8), "initializer"),
        ("x", (32, 64), "input"),
        ("y0", (32, 48), "intermediate"),
        ("y1", (32, 16), "intermediate"),
        ("y2", (32, 8), "intermediate"),
    ]
    assert [node.inputs for node in network.nodes] == [("x", "w0", "b0"), ("y0", "w1"), ("y1", "w2")]
    assert [str(node.computation) for node in network.nodes] == [
        "m32 n48 k64",
        "m32 n16 k48",
        "m32 n8 k16",
    ]


def test_parallel_layers_all_read_the_input() -> None:
    layers = [layer("MatMul", 64, 16), layer("Gemm", 8, 64, transB=True)]
    network = network_of_run(inputs(layers, input_shape=[2, 16, 64], topology="parallel"))
    assert [node.inputs[0] for node in network.nodes] == ["x", "x"]
    assert [network.tensor(name).dims for name in ("y0", "y1")] == [(2, 16, 16), (2, 16, 8)]
    assert network.nodes[1].attributes == {"transA": 0, "transB": 1}
    assert [str(node.computation) for node in network.nodes] == ["m32 n16 k64", "m32 n8 k64"]


def test_a_weight_of_three_dims_is_a_product_per_element_whose_result_has_the_original_s_dims() -> None:
    """Q12: the original takes C = 2 and M = 16 from [2, 16, 24], so that its result is 2 x 8 x 16."""
    network = network_of_run(inputs([layer("MatMul", 2, 16, 24)], input_shape=[2, 8, 16]))
    assert str(network.nodes[0].computation) == "2 of m8 n24 k16"
    assert network.tensor("y0").dims == (2, 8, 16)


@pytest.mark.parametrize(
    ("first", "second", "at", "expected"),
    [((41, 8), (8, 8), 0, "40 reduction elements"), ((40, 9), (8, 8), 1, "9 reduction elements")],
)
def test_an_activation_must_fit_its_weight(
    first: tuple[int, int], second: tuple[int, int], at: int, expected: str
) -> None:
    given = inputs([layer("MatMul", *first), layer("MatMul", *second)], input_shape=[24, 40])
    with pytest.raises(WrongInput) as raised:
        network_of_run(given)
    assert raised.value.difference.field == f"layers[{at}].weight_shape"
    assert raised.value.difference.expected == expected
