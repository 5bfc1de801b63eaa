"""What one ONNX node computes: a product, a convolution, or nothing that the model covers."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from pantile.errors import WorkloadError
from pantile.workload.convolution import Convolution
from pantile.workload.matmul import Matmul

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pantile.workload.onnxmodel import GraphNode

_OPERAND_COUNT = {"Gemm": 3, "FusedGemm": 3, "MatMul": 2, "Conv": 2, "FusedConv": 2}
"""Operators that compute, with the number of operands whose shapes decide what."""

_RECURRENT = frozenset(("GRU", "LSTM", "RNN"))
_QUANTISED = frozenset(("ConvInteger", "MatMulInteger", "QLinearConv", "QLinearMatMul"))
_HIDES_PRODUCTS = (
    frozenset(("Attention", "ConvTranspose", "DeformConv", "Einsum", "LinearAttention"))
    | _RECURRENT
    | _QUANTISED
)
"""Operators of ONNX's own that multiply and accumulate, but not as a product of this package."""

_NOT_REPEATABLE = frozenset(
    ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")
)

_GELUS = frozenset(("BiasGelu", "FastGelu", "Gelu", "QuickGelu"))
SAME_SHAPE = _GELUS | frozenset(("SkipLayerNormalization", "SkipSimplifiedLayerNormalization"))
"""Operators of ``com.microsoft`` without a product, whose first result has the shape of the first operand."""

_LONGEST_SHAPE = 8

Shapes = tuple[tuple[int, ...], ...]


def is_product(node: GraphNode) -> bool:
    """Return whether *node* is a product or a convolution."""
    known_domain = node.domain in ("", "com.microsoft")
    return node.op_type in _OPERAND_COUNT and known_domain and not node.is_function


def is_foldable(node: GraphNode) -> bool:
    """Return whether *node* could run before the network if all its inputs are constants.

    Products are never folded: ONNXim runs them like any other.
    """
    hides = node.has_subgraph or node.is_function or node.op_type in _HIDES_PRODUCTS or is_product(node)
    return node.domain == "" and not hides and node.op_type not in _NOT_REPEATABLE


def operands(node: GraphNode) -> tuple[str, ...]:
    """Return the names of the operands whose shapes decide what the product *node* computes."""
    return tuple(name for name in node.inputs[: _OPERAND_COUNT[node.op_type]] if name)


def why_outside(node: GraphNode) -> str:
    """Return why *node*, which is no product, is outside the model."""
    operator = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
    if node.is_function:
        return f"{operator} is a function of the file, whose products are not counted; inline it to see them"
    if node.has_subgraph:
        return f"{operator} runs a graph of its own, whose products are not counted"
    if node.op_type in _HIDES_PRODUCTS:
        return f"{operator} is not modelled, and its products are not counted"
    if node.domain and (node.domain != "com.microsoft" or node.op_type not in SAME_SHAPE):
        return f"{operator} is not known, and products in it are not counted"
    return f"{operator} is no product"


def read_product(node: GraphNode, shapes: Shapes) -> tuple[Matmul | Convolution | None, str]:
    """Return what the product *node* computes, and why it is outside the model, or an empty text.

    Args:
        node: A node for which :func:`is_product` holds.
        shapes: Shapes of its :func:`operands`.

    Raises:
        WorkloadError: If an operand is missing, a size is 0, or the operands do not fit one another.
    """
    given = [name for name in node.inputs[:2] if name]
    if len(given) < 2:
        raise WorkloadError(f"{node.op_type} needs 2 operands, got {len(given)}")
    for name, shape in zip(operands(node), shapes, strict=True):
        if any(size < 1 for size in shape):
            raise WorkloadError(f"every size must be at least 1, but {name!r} is {_by_x(shape)}")
    if node.op_type == "MatMul":
        return _matmul(node, shapes), ""
    return _gemm(node, shapes) if node.op_type.endswith("Gemm") else _convolution(node, shapes)


def _matmul(node: GraphNode, shapes: Shapes) -> Matmul:
    """Return the product of a MatMul, whose 1-D operands are a row on the left and a column on the right.

    A 2-D right operand multiplies all rows of the left one, whatever batch they are in: one product.
    """
    left, right = shapes
    if not left or not right:
        raise WorkloadError("MatMul takes no scalar")
    left = left if len(left) > 1 else (1, *left)
    right = right if len(right) > 1 else (*right, 1)
    _same_k(node, left[-1], right[-2])
    if len(right) == 2:
        return Matmul(m=prod(left[:-1]), n=right[1], k=left[-1], name=node.name)
    m, k = left[-2:]
    return Matmul(m=m, n=right[-1], k=k, a_batch=left[:-2], b_batch=right[:-2], name=node.name)


def _gemm(node: GraphNode, shapes: Shapes) -> tuple[Matmul | None, str]:
    left, right, *rest = shapes
    if len(left) != 2 or len(right) != 2:
        return None, f"{node.op_type} of {_by_x(left)} and {_by_x(right)}; ONNX defines it for 2 dimensions"
    transpose_a, transpose_b = _integer(node, "transA", 0) != 0, _integer(node, "transB", 0) != 0
    m, k = reversed(left) if transpose_a else left
    right_k, n = reversed(right) if transpose_b else right
    _same_k(node, k, right_k)
    matmul = Matmul(
        m=m,
        n=n,
        k=k,
        bias="default" if rest else None,
        transpose_a=transpose_a,
        transpose_b=transpose_b,
        name=node.name,
    )
    for addend in rest:
        padded = (1, 1, *addend)[-2:] if len(addend) <= 2 else addend
        if len(padded) != 2 or padded[0] not in (1, m) or padded[1] not in (1, n):
            raise WorkloadError(f"{node.inputs[2]!r} of {_by_x(addend)} does not fit a result of {m}x{n}")
        if padded != (1, n):
            return matmul, f"adds a matrix of {_by_x(addend)}; the model has a bias of one row of {n}"
    return matmul, ""


def _convolution(node: GraphNode, shapes: Shapes) -> tuple[Convolution | None, str]:
    picture, weight = shapes
    if len(picture) != len(weight) or len(picture) < 3:
        raise WorkloadError(f"a convolution of {_by_x(picture)} by {_by_x(weight)} is none")
    if len(picture) != 4:
        return (
            None,
            f"{len(picture) - 2}-D convolution; the model covers 2-D, and its products are not counted",
        )
    groups = _integer(node, "group", 1)
    kernel = (weight[2], weight[3])
    if _integers(node, "kernel_shape", kernel) != kernel:
        given = _by_x(_integers(node, "kernel_shape", kernel))
        raise WorkloadError(f"kernel_shape is {given}, but the weight has {_by_x(kernel)}")
    if picture[1] != weight[1] * groups:
        takes = f"{weight[1]} in each of {groups} groups" if groups != 1 else str(weight[1])
        raise WorkloadError(f"the input has {picture[1]} channels, but the weight takes {takes}")
    strides, dilations = _integers(node, "strides", (1, 1)), _integers(node, "dilations", (1, 1))
    convolution = Convolution(
        batch=picture[0],
        in_channels=picture[1],
        out_channels=weight[0],
        height=picture[2],
        width=picture[3],
        kernel=kernel,
        strides=(strides[0], strides[1]),
        pads=_pads(node, picture[2:], kernel, strides, dilations),
        dilations=(dilations[0], dilations[1]),
        groups=groups,
        name=node.name,
    )
    return convolution, f"convolution in {groups} groups; the model covers 1" if groups != 1 else ""


def _pads(
    node: GraphNode,
    picture: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> tuple[int, int, int, int]:
    """Return the pads (top, left, bottom, right) that the node gives or that its auto_pad asks for.

    ONNX, Conv: SAME makes the output ceil(input / stride) long and puts an odd element of padding at the
    end (UPPER) or the beginning (LOWER).
    """
    auto = node.attributes.get("auto_pad", "NOTSET")
    if auto in ("NOTSET", ""):
        top, left, bottom, right = _integers(node, "pads", (0, 0, 0, 0))
        return top, left, bottom, right
    if auto == "VALID":
        return 0, 0, 0, 0
    if auto not in ("SAME_UPPER", "SAME_LOWER"):
        raise WorkloadError(f"auto_pad must be NOTSET, VALID, SAME_UPPER or SAME_LOWER, got {auto!r}")
    if min(*strides, *dilations) < 1:
        raise WorkloadError(f"strides and dilations must be at least 1, got {[*strides, *dilations]}")
    less, more = [], []
    for size, window, stride, dilation in zip(picture, kernel, strides, dilations, strict=True):
        total = max((-(-size // stride) - 1) * stride + dilation * (window - 1) + 1 - size, 0)
        less.append(total // 2)
        more.append(total - total // 2)
    begin, end = (less, more) if auto == "SAME_UPPER" else (more, less)
    return begin[0], begin[1], end[0], end[1]


def _same_k(node: GraphNode, left: int, right: int) -> None:
    if left != right:
        raise WorkloadError(f"k is {left} in {node.inputs[0]!r}, but {right} in {node.inputs[1]!r}")


def _integer(node: GraphNode, name: str, otherwise: int) -> int:
    value = node.attributes.get(name, otherwise)
    if not isinstance(value, int):
        raise WorkloadError(f"attribute {name} must be an integer, got {value!r}")
    return value


def _integers(node: GraphNode, name: str, otherwise: tuple[int, ...]) -> tuple[int, ...]:
    value = node.attributes.get(name, otherwise)
    if not isinstance(value, tuple) or len(value) != len(otherwise):
        raise WorkloadError(f"attribute {name} must be {len(otherwise)} integers, got {value!r}")
    return value


def _by_x(shape: Sequence[int]) -> str:
    shown = "x".join(map(str, shape[:_LONGEST_SHAPE]))
    return f"{shown}x…" if len(shape) > _LONGEST_SHAPE else shown or "a scalar"
