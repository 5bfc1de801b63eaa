"""How the boxes of a program address its tensors.

Source: onnxim-model.md sections 2 and 4, onnxim-conv.md C3 and C4. A rule says which requests a box
makes; :mod:`pantile.targets.systolic.requests` carries it out:

* ``stepped``: per row of the box, one request at the first element and every further request-sized
  step of elements from there, rounded down (quirk Q27: an unaligned row may miss its last chunk);
* ``stepped_all``: the same, repeated requests kept (the bias);
* ``dense``: every request that holds an element of the box;
* ``window``: every request that holds an input element that a convolution's box reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from pantile.program.program import Operand

if TYPE_CHECKING:
    from pantile.workload.convolution import Convolution
    from pantile.workload.matmul import Matmul
    from pantile.workload.network import Network, Node, Tensor

GEMM_AXES = ("b", "m", "n", "k")
CONVOLUTION_AXES = ("n", "q", "p", "m", "s", "r", "c")


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes the operands of one node, over the axes of its iteration space."""

    axes: tuple[str, ...]
    tensors: dict[str, Tensor]
    addresses: dict[str, int]
    element_bytes: int

    def operand(self, name: str, tensor: str, rule: str, steps: dict[str, int], **parameters: Any) -> Operand:
        """Return an operand; *tensor* is empty where the node names none."""
        return Operand(
            name=name,
            tensor=tensor,
            base=self.addresses.get(tensor, 0),
            dims=self.tensors[tensor].dims if tensor else (),
            element_bytes=self.element_bytes,
            rule=rule,
            strides=tuple(steps.get(axis, 0) for axis in self.axes),
            parameters=parameters,
        )

    def ordered(self, name: str, tensor: str, rule: str, steps: dict[str, int], **parameters: Any) -> Operand:
        """Return an operand whose boxes are walked in the order of *steps*, rows along the last one."""
        order = [self.axes.index(axis) for axis in steps]
        return self.operand(name, tensor, rule, steps, order=order, **parameters)


def gemm_operands(
    node: Node,
    network: Network,
    addresses: dict[str, int],
    shape: dict[str, int],
    *,
    batch: int,
    has_bias: bool,
    element_bytes: int,
) -> tuple[Operand, ...]:
    """Return operands a, b, c (and bias) of a product.

    Args:
        node: The product's node; its computation says how batches broadcast.
        network: Where its tensors are declared.
        addresses: Address of every tensor.
        shape: Element counts of m, n and k as they were planned.
        batch: Products that the layer computes.
        has_bias: Whether a bias is loaded; where the node names none, from address 0 (quirk Q3).
        element_bytes: Width of one element.
    """
    matmul: Matmul = node.computation  # type: ignore[assignment]  # the caller planned it as a product
    make = _Maker(GEMM_AXES, network.by_name(), addresses, element_bytes)
    a, b, c = node.inputs[0], node.inputs[1], node.outputs[0]
    m, n, k = shape["m"], shape["n"], shape["k"]
    c_dims = make.tensors[c].dims
    offsets = _batch_offsets(matmul, m, n, k, batch)
    # Weights are addressed [n][k] whatever their layout in the file (onnxim-model.md section 2).
    operands = (
        _activation(make, a, matmul, m, batch_offsets=offsets["a"]),
        make.ordered("b", b, "stepped", {"n": k, "k": 1}, batch_offsets=offsets["b"]),
        make.ordered(
            "c", c, "stepped", {"m": c_dims[-1] if c_dims else n, "n": 1}, batch_offsets=offsets["c"]
        ),
    )
    if not has_bias:
        return operands
    named = node.inputs[2] if len(node.inputs) > 2 else ""
    bias = make.ordered("bias", named, "stepped_all", {"n": 1}, batch_offsets=[0] * batch)
    return (*operands, bias)


def _activation(make: _Maker, tensor: str, matmul: Matmul, rows: int, **parameters: Any) -> Operand:
    if matmul.transpose_a:
        # Computed, where the original throws (Q11): stored [k][m], so the rows of a box run along k.
        return make.ordered("a", tensor, "dense", {"k": rows, "m": 1}, **parameters)
    return make.ordered("a", tensor, "stepped", {"m": make.tensors[tensor].dims[-1], "k": 1}, **parameters)


def _batch_offsets(matmul: Matmul, m: int, n: int, k: int, batch: int) -> dict[str, list[int]]:
    """First element that every product of the layer reads and writes, by operand."""
    a, b = (matmul.batch_indices(operand) if batch > 1 else (0,) for operand in "ab")
    return {
        "a": [index * m * k for index in a],
        "b": [index * n * k for index in b],
        "c": [index * m * n for index in range(batch)],
    }


def convolution_operands(
    node: Node,
    network: Network,
    addresses: dict[str, int],
    *,
    element_bytes: int,
    channels_last: bool,
) -> tuple[Operand, ...]:
    """Return operands a (picture), b (kernel) and c (result) of a convolution.

    The picture is [n][h][w][c] or [n][c][h][w] as the machine's layout says (CV3 put right: whatever
    its shape); every kernel element has an address of its own (CV8 put right).
    """
    conv: Convolution = node.computation  # type: ignore[assignment]  # the caller planned it as one
    make = _Maker(CONVOLUTION_AXES, network.by_name(), addresses, element_bytes)
    s, r = conv.kernel
    kernel = {"m": conv.out_channels, "s": s, "r": r, "c": conv.in_channels // conv.groups}
    result = {"n": conv.batch, "q": conv.out_height, "p": conv.out_width, "m": conv.out_channels}
    b_order, c_order = ("msrc", "nqpm") if channels_last else ("mcsr", "nmqp")
    return (
        make.operand("a", node.inputs[0], "window", {}, **_window(conv, channels_last=channels_last)),
        make.ordered("b", node.inputs[1], "dense", _row_major(b_order, kernel)),
        make.ordered("c", node.outputs[0], "dense", _row_major(c_order, result)),
    )


def _window(conv: Convolution, *, channels_last: bool) -> dict[str, Any]:
    """What the rule ``window`` needs to know."""
    picture = {"n": conv.batch, "h": conv.height, "w": conv.width, "c": conv.in_channels}
    strides = _row_major("nhwc" if channels_last else "nchw", picture)
    return {
        "strides": list(conv.strides),
        "pads": list(conv.pads[:2]),
        "dilations": list(conv.dilations),
        "kernel": list(conv.kernel),
        "height": conv.height,
        "width": conv.width,
        "picture_strides": [strides[axis] for axis in "nhwc"],
        "channels_last": channels_last,
    }


def _row_major(order: str, sizes: dict[str, int]) -> dict[str, int]:
    """Return the elements from one index to the next along every axis, outermost first."""
    return {axis: prod(sizes[each] for each in order[place + 1 :]) for place, axis in enumerate(order)}
