"""From nodes to loop counts, as the original reads them and as they are meant."""

from __future__ import annotations

from typing import Any

import pytest

from pantile.errors import WorkloadError
from pantile.planners.onnxim.layer import Layer, check_reduction, convolution_layer, gemm_layer
from pantile.planners.onnxim.stops import MapperStop
from pantile.tiling.log import DecisionLog
from pantile.tiling.onnxim import LoopCounts, Mapping, Semantics
from pantile.workload.convolution import Convolution
from pantile.workload.matmul import Matmul
from pantile.workload.network import Network, Node, Tensor, network_of

BOTH = pytest.mark.parametrize("semantics", ["fixed", "faithful"])


def layer_of(matmul: Matmul, semantics: Semantics) -> tuple[Layer, list[str]]:
    network, log = network_of(matmul), DecisionLog()
    return gemm_layer(network.nodes[0], network, semantics, log), [note.code for note in log.notes]


@BOTH
def test_a_plain_product(semantics: Semantics) -> None:
    """N rows are m, C the reduction k, M the columns n."""
    assert layer_of(Matmul(m=32, n=16, k=64), semantics) == (
        Layer(kind="gemm", total=LoopCounts(N=32, C=64, M=16)),
        [],
    )


@BOTH
def test_a_transposed_weight_and_a_bias(semantics: Semantics) -> None:
    assert layer_of(Matmul(m=48, n=56, k=80, transpose_b=True, bias="default"), semantics) == (
        Layer(kind="gemm", total=LoopCounts(N=48, C=80, M=56), has_bias=True),
        [],
    )


@BOTH
def test_rows_of_a_batch_follow_one_another(semantics: Semantics) -> None:
    """Golden batched3d_2x24x40_x32: 2 · 24 rows."""
    assert layer_of(Matmul(m=24, n=32, k=40, a_batch=(2,)), semantics) == (
        Layer(kind="gemm", total=LoopCounts(N=48, C=40, M=32)),
        [],
    )


@BOTH
def test_q3_a_gemm_without_bias_loads_one(semantics: Semantics) -> None:
    network = network_of(Matmul(m=33, n=17, k=65))
    node = network.nodes[0]
    gemm = Node(name="g", op_type="Gemm", inputs=("x", "w"), outputs=("y",), computation=node.computation)
    log = DecisionLog()
    layer = gemm_layer(gemm, network, semantics, log)
    assert layer == Layer(kind="gemm", total=LoopCounts(33, 65, 17), has_bias=True)
    assert [note.code for note in log.notes] == ["Q3"]


def test_q12_a_weight_of_three_dims() -> None:
    """Golden q12: [2,8,16] x [2,16,24]; ONNXim takes 2 and 16, 512 MACs where there are 6144."""
    matmul = Matmul(m=8, n=24, k=16, a_batch=(2,), b_batch=(2,))
    faithful, notes = layer_of(matmul, "faithful")
    assert faithful == Layer(kind="gemm", total=LoopCounts(N=16, C=2, M=16), row_length=16)
    assert (faithful.macs, notes) == (512, ["Q12"])
    fixed, notes = layer_of(matmul, "fixed")
    assert fixed == Layer(kind="gemm", total=LoopCounts(N=8, C=16, M=24), batch=2)
    assert (fixed.macs, notes) == (6144, ["Q12", "model"])


def test_q12_one_shared_weight_with_a_batch_dimension_of_one() -> None:
    layer, notes = layer_of(Matmul(m=8, n=24, k=16, a_batch=(2,), b_batch=(1,)), "fixed")
    assert layer == Layer(kind="gemm", total=LoopCounts(N=16, C=16, M=24))
    assert notes == ["Q12", "model"]


def test_q12_index_out_of_bound_where_the_first_dims_do_not_fit() -> None:
    """W [80,4,8] is read as C = 80; with 32 elements per request the last address is element 64 of 4."""
    layer, _ = layer_of(Matmul(m=8, n=8, k=4, a_batch=(80,), b_batch=(80,)), "faithful")
    assert (layer.total, layer.row_length) == (LoopCounts(N=640, C=80, M=4), 4)

    def mapping(outer: int, inner: int) -> Mapping:
        return Mapping(layer.total, LoopCounts(1, outer, 1), LoopCounts(640, inner, 4))

    with pytest.raises(MapperStop, match=r"C = 80 reaches element 64 of 4 \(Q12\)"):
        check_reduction(layer, mapping(1, 80), 32)
    with pytest.raises(MapperStop, match="reaches element 72 of 4"):
        check_reduction(layer, mapping(10, 8), 32)
    check_reduction(layer, mapping(1, 4), 32)  # too small an outer count: element 0 alone
    check_reduction(Layer(kind="gemm", total=layer.total), mapping(1, 80), 32)


def test_q11_a_transposed_activation() -> None:
    matmul = Matmul(m=32, n=8, k=16, transpose_a=True)
    with pytest.raises(MapperStop, match=r"transA = 1: ONNXim's index is out of bound \(Q11\)"):
        layer_of(matmul, "faithful")
    layer, notes = layer_of(matmul, "fixed")
    assert layer == Layer(kind="gemm", total=LoopCounts(N=32, C=16, M=8))
    assert notes == ["Q11", "model"]


def test_q11_transposed_rows_of_a_batch_stay_apart() -> None:
    layer, _ = layer_of(Matmul(m=32, n=8, k=16, a_batch=(3,), transpose_a=True), "fixed")
    assert (layer.total.N, layer.batch) == (32, 3)


def test_q13_an_activation_of_four_dims() -> None:
    matmul = Matmul(m=8, n=16, k=16, a_batch=(1, 2))
    with pytest.raises(MapperStop, match=r"2 or 3 dims, got 1x2x8x16 \(Q13\)"):
        layer_of(matmul, "faithful")
    layer, notes = layer_of(matmul, "fixed")
    assert layer == Layer(kind="gemm", total=LoopCounts(N=16, C=16, M=16))
    assert notes == ["Q13"]


@pytest.mark.parametrize(
    ("x", "w"), [((16,), (16, 8)), ((4, 16), (16,)), ((), (16, 8)), ((4, 16), (1, 1, 16, 8))]
)
def test_dims_that_the_original_does_not_read(x: tuple[int, ...], w: tuple[int, ...]) -> None:
    node = Node(
        name="n", op_type="MatMul", inputs=("x", "w"), outputs=("y",), computation=Matmul(m=4, n=8, k=16)
    )
    tensors = (Tensor("x", x, "input"), Tensor("w", w, "initializer"))
    network = Network(name="net", nodes=(node,), tensors=tensors)
    with pytest.raises(MapperStop, match="dims, got"):
        gemm_layer(node, network, "faithful", DecisionLog())
    assert gemm_layer(node, network, "fixed", DecisionLog()).total == LoopCounts(4, 16, 8)


@BOTH
@pytest.mark.parametrize(
    ("sizes", "problem"),
    [
        (
            {"m": 4, "n": 4, "k": 0},
            r"C \(reduction elements\) = 0 is outside 1 to 2147483647; leave the node",
        ),
        (
            {"m": 2**31, "n": 4, "k": 4},
            r"N \(rows\) = 2147483648 is outside 1 to 2147483647; split the layer",
        ),
        ({"m": 2**20, "n": 4, "k": 4, "a_batch": (2**11,)}, r"N \(rows\) = 2147483648 is outside"),
        ({"m": 4, "n": 2**31, "k": 4}, r"M \(columns\) = 2147483648 is outside"),
    ],
)
def test_sizes_outside_the_limits(semantics: Semantics, sizes: dict[str, Any], problem: str) -> None:
    with pytest.raises(WorkloadError, match=problem):
        layer_of(Matmul(**sizes), semantics)


def test_a_convolution() -> None:
    """S and R are kernel rows and columns, Q and P output rows and columns."""
    convolution = Convolution(
        batch=2,
        in_channels=24,
        out_channels=8,
        height=10,
        width=20,
        kernel=(5, 3),
        strides=(2, 1),
        pads=(2, 1, 2, 1),
    )
    log = DecisionLog()
    layer = convolution_layer(convolution, log)
    assert layer == Layer(kind="conv", total=LoopCounts(2, 24, 8, S=5, R=3, Q=5, P=20))
    assert layer.macs == convolution.macs
    assert [note.code for note in log.notes] == ["model"]
