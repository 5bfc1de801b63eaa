from __future__ import annotations

import pytest

from pantile.workload.convolution import Convolution
from pantile.workload.matmul import Matmul
from pantile.workload.network import Network, Node, Tensor, network_of


def test_one_product_lists_its_tensors_as_a_file_does() -> None:
    network = network_of(Matmul(m=2, n=3, k=4, bias="default"), source="gemm:m=2,n=3,k=4,bias")
    assert network.tensors == (
        Tensor("w", (4, 3), "initializer"),
        Tensor("b", (3,), "initializer"),
        Tensor("x", (2, 4), "input"),
        Tensor("y", (2, 3), "intermediate"),
    )
    (node,) = network.nodes
    assert (node.op_type, node.inputs, node.outputs) == ("Gemm", ("x", "w", "b"), ("y",))
    assert network.macs == node.macs == 24
    assert network.source == "gemm:m=2,n=3,k=4,bias"
    assert str(network) == "matmul: 1 nodes, 1 in the model, 24 MACs"


def test_transposes_and_batches_show_in_the_shapes() -> None:
    product = Matmul(m=2, n=3, k=4, a_batch=(5,), transpose_a=True, transpose_b=True, name="scores")
    network = network_of(product)
    dims = {name: tensor.dims for name, tensor in network.by_name().items()}
    assert dims == {"w": (3, 4), "x": (5, 4, 2), "y": (5, 2, 3)}
    assert network.nodes[0].op_type == "MatMul"
    assert network.nodes[0].attributes == {"transA": 1, "transB": 1}
    assert network.name == network.nodes[0].name == "scores"


def test_macs_inside_and_outside_are_told_apart() -> None:
    grouped = Convolution(batch=1, in_channels=2, out_channels=2, height=1, width=1, kernel=(1, 1), groups=2)
    nodes = (
        Node(name="a", op_type="MatMul", inputs=(), outputs=(), computation=Matmul(m=1, n=1, k=7)),
        Node(name="b", op_type="Conv", inputs=(), outputs=(), computation=grouped, outside="grouped"),
        Node(name="c", op_type="Relu", inputs=(), outputs=(), outside="no product"),
    )
    network = Network(name="net", nodes=nodes, tensors=())
    assert [node.macs for node in nodes] == [7, 2, 0]
    assert network.macs == 7
    assert network.outside_macs == 2
    assert len(set(nodes)) == 3  # nodes can be keys


def test_looks_tensors_up_by_name() -> None:
    network = network_of(Matmul(m=1, n=1, k=1))
    assert network.tensor("x") is network.by_name()["x"] is network.tensors[1]
    with pytest.raises(KeyError):
        network.tensor("z")
