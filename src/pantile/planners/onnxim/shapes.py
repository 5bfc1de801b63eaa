"""The dims that ONNXim gives to a network's tensors.

Source: onnxim-model.md section 2: a product's result has the dims of its activation with the last one
replaced by the weight's columns, and of a weight the first two dims are taken (quirk Q12). They decide
addresses and row lengths, of the result and of every tensor behind it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pantile.workload.matmul import Matmul

if TYPE_CHECKING:
    from pantile.workload.network import Network


def with_onnxim_dims(network: Network) -> Network:
    """Return *network* with the dims that ``faithful`` semantics give to the results of its products.

    Only weights of three dims make a difference; results of other nodes keep the dims they have.
    """
    dims = {tensor.name: tensor.dims for tensor in network.tensors}
    for node in network.nodes:
        if not isinstance(node.computation, Matmul) or node.outside:
            continue
        activation, weight = dims[node.inputs[0]], dims[node.inputs[1]]
        if len(weight) < 2 or not activation:
            continue
        columns = weight[0] if node.computation.transpose_b else weight[1]
        dims[node.outputs[0]] = (*activation[:-1], columns)
    return replace(
        network, tensors=tuple(replace(tensor, dims=dims[tensor.name]) for tensor in network.tensors)
    )
