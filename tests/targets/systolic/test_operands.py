"""Operands of a product and of a convolution, where their boxes begin and how they step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pantile.program.program import Operand
from pantile.targets.systolic.operands import CONVOLUTION_AXES, convolution_operands, gemm_operands
from pantile.targets.systolic.requests import box_requests
from pantile.workload.convolution import Convolution
from pantile.workload.matmul import Matmul
from pantile.workload.network import Network, Node, Tensor, network_of


def operands_of(product: Matmul, *, batch: int = 1, rows: int = 0, **more: Any) -> dict[str, Operand]:
    network = network_of(product)
    (node,) = network.nodes
    addresses = {tensor.name: 1024 * (1 + at) for at, tensor in enumerate(network.tensors)}
    shape = {"m": rows or product.m, "n": product.n, "k": product.k}
    arguments = {"batch": batch, "has_bias": node.op_type == "Gemm", "element_bytes": 1} | more
    return {operand.name: operand for operand in gemm_operands(node, network, addresses, shape, **arguments)}


def elements(operand: Operand, lo: list[int], length: list[int]) -> list[int]:
    """Elements of a box, relative to the tensor, with requests of one element."""
    return (box_requests(operand, lo, length, 1, wrap=False) - operand.base).tolist()


def test_activations_by_rows_and_weights_by_columns_of_the_output() -> None:
    found = operands_of(Matmul(m=4, k=6, n=5))
    assert elements(found["a"], [0, 2, 0, 1], [1, 1, 0, 3]) == [2 * 6 + 1, 2 * 6 + 2, 2 * 6 + 3]
    # Weights are addressed [n][k] whatever their layout in the file.
    assert elements(found["b"], [0, 0, 3, 1], [1, 0, 1, 3]) == [3 * 6 + 1, 3 * 6 + 2, 3 * 6 + 3]
    assert elements(found["c"], [0, 2, 3, 0], [1, 1, 2, 0]) == [2 * 5 + 3, 2 * 5 + 4]
    assert "bias" not in found


def test_batches_broadcast() -> None:
    # Six products of [1][3][2][4] by [2][1][4][3]: product (i, j) reads picture j of a, matrix i of b.
    found = operands_of(Matmul(m=2, k=4, n=3, a_batch=(1, 3), b_batch=(2, 1)), batch=6)
    assert found["a"].parameters["batch_offsets"] == [0, 8, 16, 0, 8, 16]
    assert found["b"].parameters["batch_offsets"] == [0, 0, 0, 12, 12, 12]
    assert found["c"].parameters["batch_offsets"] == [0, 6, 12, 18, 24, 30]


def test_batch_folded_into_rows_runs_through_the_pictures() -> None:
    # [3][2][4] times [4][5]: row 4 is row 0 of picture 2.
    found = operands_of(Matmul(m=2, k=4, n=5, a_batch=(3,)), rows=6)
    assert elements(found["a"], [0, 4, 0, 0], [1, 1, 0, 4]) == [16, 17, 18, 19]
    assert elements(found["c"], [0, 4, 0, 0], [1, 1, 5, 0]) == [20, 21, 22, 23, 24]


def test_a_transposed_activation_is_read_where_it_lies() -> None:
    # Stored [k][m] = [3][5]: rows 1 and 2 of the product are columns 1 and 2, each of 3 elements.
    found = operands_of(Matmul(m=5, k=3, n=4, transpose_a=True))
    assert elements(found["a"], [0, 1, 0, 0], [1, 2, 0, 3]) == [1, 2, 6, 7, 11, 12]


def test_bias_of_the_node_or_from_address_0() -> None:
    assert operands_of(Matmul(m=4, k=6, n=5, bias="default"))["bias"].base == 2048
    network = network_of(Matmul(m=4, k=6, n=5))
    node = Node(
        name="g", op_type="Gemm", inputs=("x", "w"), outputs=("y",), computation=Matmul(m=4, k=6, n=5)
    )
    shape = {"m": 4, "n": 5, "k": 6}
    addresses = {"w": 256, "x": 512, "y": 768}
    *_, bias = gemm_operands(node, network, addresses, shape, batch=1, has_bias=True, element_bytes=1)
    assert (bias.name, bias.base, bias.rule) == ("bias", 0, "stepped_all")  # Q3


CONV = Convolution(
    batch=2, in_channels=3, out_channels=4, height=5, width=6, kernel=(2, 3), pads=(1, 0, 0, 2)
)


def convolution(channels_last: bool) -> dict[str, Operand]:
    node = Node(name="c", op_type="Conv", inputs=("x", "w"), outputs=("y",), computation=CONV)
    tensors = tuple(
        Tensor(name, (1,), role)  # type: ignore[arg-type]
        for name, role in (("w", "initializer"), ("x", "input"), ("y", "intermediate"))
    )
    network = Network(name="n", nodes=(node,), tensors=tensors)
    addresses = {"w": 256, "x": 512, "y": 768}
    found = convolution_operands(node, network, addresses, element_bytes=1, channels_last=channels_last)
    return {operand.name: operand for operand in found}


@pytest.mark.parametrize(
    ("channels_last", "picture", "kernel", "result"),
    [
        (True, ("n", "h", "w", "c"), ("m", "s", "r", "c"), ("n", "q", "p", "m")),
        (False, ("n", "c", "h", "w"), ("m", "c", "s", "r"), ("n", "m", "q", "p")),
    ],
)
def test_convolution_operands_are_row_major_in_their_layout(
    channels_last: bool, picture: tuple[str, ...], kernel: tuple[str, ...], result: tuple[str, ...]
) -> None:
    # 5 + 1 - 2 + 1 = 5 rows and 6 + 2 - 3 + 1 = 6 columns of output.
    sizes = {"n": 2, "h": 5, "w": 6, "c": 3, "m": 4, "s": 2, "r": 3, "q": 5, "p": 6}
    found = convolution(channels_last)

    def strides(order: tuple[str, ...]) -> dict[str, int]:
        return {axis: int(np.prod([sizes[x] for x in order[at + 1 :]])) for at, axis in enumerate(order)}

    for name, order in (("b", kernel), ("c", result)):
        expected = strides(order)
        assert found[name].strides == tuple(expected.get(axis, 0) for axis in CONVOLUTION_AXES)
        assert [CONVOLUTION_AXES[axis] for axis in found[name].parameters["order"]] == list(order)
    assert found["a"].parameters["picture_strides"] == [strides(picture)[axis] for axis in "nhwc"]
    assert found["a"].parameters["pads"] == [1, 0]


def test_every_kernel_element_has_an_address_of_its_own() -> None:
    # CV8 put right: ONNXim gives all output channels of one group of W the same one.
    kernel = convolution(channels_last=True)["b"]
    whole = elements(kernel, [0] * 7, [0, 0, 0, 4, 2, 3, 3])
    assert whole == list(range(4 * 2 * 3 * 3))
