"""From the inputs of a case to the network and the machine that ONNXim ran.

The conventions are those of the recorder: initializers in the order w0, (b0), w1, (b1), …; one graph
input x; results as their nodes are constructed.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from pantile.conform.compare import Difference
from pantile.conform.faults import WrongInput
from pantile.workload.matmul import Matmul
from pantile.workload.network import Network, Node, Tensor

if TYPE_CHECKING:
    from pantile.conform.onnxim.inputs import LayerInput, RunInputs

GRAPH_INPUT = "x"


def network_of_run(inputs: RunInputs) -> Network:
    """Return the network of a case.

    Raises:
        WrongInput: If an activation does not fit its weight.
        WorkloadError: If the batches of an activation and its weight do not broadcast.
    """
    tensors: list[Tensor] = []
    for at, layer in enumerate(inputs.layers):
        tensors.append(Tensor(f"w{at}", tuple(layer.weight_shape), "initializer"))
        if layer.has_bias:
            tensors.append(Tensor(f"b{at}", (_stored(layer)[1],), "initializer"))
    given = Tensor(GRAPH_INPUT, tuple(inputs.input_shape), "input")
    tensors.append(given)
    nodes: list[Node] = []
    read = given
    for at, layer in enumerate(inputs.layers):
        node, result = _node(at, layer, read)
        nodes.append(node)
        tensors.append(result)
        read = result if inputs.topology == "chain" else given
    return Network(name="onnxim", nodes=tuple(nodes), tensors=tuple(tensors))


def shape_of(layer: LayerInput, activation: tuple[int, ...]) -> dict[str, int]:
    """Return rows N, reduction C and columns M of a layer, as the recorder counts them."""
    reduction, columns = _stored(layer)
    lines = activation[-1] if layer.transposes_a else activation[-2]
    return {"N": prod(activation[:-2]) * lines, "C": reduction, "M": columns}


def _stored(layer: LayerInput) -> tuple[int, int]:
    """Reduction and columns, from the last two dims of the weight."""
    first, second = layer.weight_shape[-2:]
    return (second, first) if layer.transposes_b else (first, second)


def _node(at: int, layer: LayerInput, activation: Tensor) -> tuple[Node, Tensor]:
    dims = activation.dims
    shape = shape_of(layer, dims)
    depth = dims[-2] if layer.transposes_a else dims[-1]
    if depth != shape["C"]:
        why = f"its activation has {depth} of them"
        raise WrongInput(
            Difference(f"layers[{at}].weight_shape", f"{depth} reduction elements", shape["C"], why)
        )
    weight = layer.weight_shape
    batched = len(weight) > 2  # one without batch multiplies all rows, whatever batch they are in
    matmul = Matmul(
        m=shape["N"] // prod(dims[:-2]) if batched else shape["N"],
        n=shape["M"],
        k=shape["C"],
        a_batch=dims[:-2] if batched else (),
        b_batch=tuple(weight[:-2]),
        bias="default" if layer.has_bias else None,
        transpose_a=layer.transposes_a,
        transpose_b=layer.transposes_b,
        name=f"layer{at}",
    )
    bias = (f"b{at}",) if layer.has_bias else ()
    node = Node(
        name=f"layer{at}",
        op_type=layer.node,
        inputs=(activation.name, f"w{at}", *bias),
        outputs=(f"y{at}",),
        computation=matmul,
        attributes={"transA": int(layer.transposes_a), "transB": int(layer.transposes_b)},
    )
    # onnxim-model.md section 2: M is read off the first two dims of the weight, whatever their number (Q12).
    columns = weight[0] if layer.transposes_b else weight[1]
    return node, Tensor(f"y{at}", (*dims[:-1], columns), "intermediate")
