"""Dims that ONNXim gives to results, where they differ from the model's own."""

from __future__ import annotations

from pantile.planners.onnxim.shapes import with_onnxim_dims
from pantile.workload.matmul import Matmul
from pantile.workload.network import network_of


def test_three_dim_weight_gives_its_second_dim_to_the_result() -> None:
    # Q12, golden case q12_3d_weights: [2, 8, 16] x [2, 16, 24] is read as C = 2, M = 16.
    network = with_onnxim_dims(network_of(Matmul(m=8, n=24, k=16, a_batch=(2,), b_batch=(2,))))
    assert network.tensor("y").dims == (2, 8, 16)


def test_two_dim_weights_leave_all_dims_as_they_are() -> None:
    for transpose_b in (False, True):
        network = network_of(Matmul(m=8, n=24, k=16, a_batch=(2,), transpose_b=transpose_b))
        assert with_onnxim_dims(network) == network
