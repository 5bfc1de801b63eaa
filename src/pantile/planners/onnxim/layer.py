"""From a network's node to the loop counts that a mapping is looked up by.

Source: onnxim-model.md section 2, quirks Q3, Q11, Q12, Q13; onnxim-conv.md C1 and C2.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Literal

from pantile.errors import WorkloadError
from pantile.planners.onnxim.coverage import ROLES, ceil_div
from pantile.planners.onnxim.stops import MapperStop
from pantile.tiling.onnxim import COUNT_LIMIT, LoopCounts

if TYPE_CHECKING:
    from pantile.tiling.log import DecisionLog
    from pantile.tiling.onnxim import Mapping, Semantics
    from pantile.workload.convolution import Convolution
    from pantile.workload.matmul import Matmul
    from pantile.workload.network import Network, Node

MODEL = "model"
"""Code of the note that says whose model a layer's figures come from."""
BIASED = ("Gemm", "FusedGemm")
"""Operators that load a bias whether they have one or not (Q3)."""
_FIXED_ONLY = "use --semantics fixed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """What is planned for one node.

    Attributes:
        kind: Which mapper and lowering it takes.
        total: Loop counts of one product, or of the convolution.
        batch: Products computed one after the other, each by the same mapping.
        has_bias: Whether a bias is loaded.
        row_length: Elements that an activation row has, where the reduction may run past it (Q12);
            0 where it cannot.
    """

    kind: Literal["gemm", "conv"]
    total: LoopCounts
    batch: int = 1
    has_bias: bool = False
    row_length: int = 0

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the whole layer."""
        return self.batch * self.total.volume


def gemm_layer(node: Node, network: Network, semantics: Semantics, log: DecisionLog) -> Layer:
    """Return the layer of a product.

    ``faithful`` reads it off the tensors' dims as ONNXim does; ``fixed`` takes the product itself: a
    weight without batch makes the batch more rows, as in ONNXim; with batch it is one product per element.

    Raises:
        WorkloadError: If a count is 0 or too large.
        MapperStop: Under ``faithful``, where the original throws.
    """
    matmul: Matmul = node.computation  # type: ignore[assignment]  # the caller looked
    log.stage = "shape"
    if semantics == "faithful":
        layer = _faithful_gemm(node, network, matmul, log)
    else:
        layer = _fixed_gemm(node, network, matmul, log)
    _check_counts(layer.total)
    if node.op_type in BIASED and not any(node.inputs[2:]):
        log.note("Q3", "a Gemm without a third input loads a bias all the same, from address 0")
    return layer


def _faithful_gemm(node: Node, network: Network, matmul: Matmul, log: DecisionLog) -> Layer:
    x, w = (network.tensor(name).dims for name in node.inputs[:2])
    if matmul.transpose_a:
        raise MapperStop("Q11", "transA = 1: ONNXim's index is out of bound", mend=_FIXED_ONLY)
    if not 2 <= len(x) <= 3:
        raise MapperStop(
            "Q13", f"ONNXim addresses activations of 2 or 3 dims, got {_dims(x)}", mend=_FIXED_ONLY
        )
    if not 2 <= len(w) <= 3:
        raise MapperStop("Q12", f"ONNXim takes weights of 2 or 3 dims, got {_dims(w)}", mend=_FIXED_ONLY)
    batch = prod(x[:-2])
    c, m = (w[1], w[0]) if matmul.transpose_b else (w[0], w[1])
    rows = log.add("N", x[-2] * batch, "X[-2] · batch", {"X": list(x), "batch": batch})
    log.add("C", c, "W[1]" if matmul.transpose_b else "W[0]", {"W": list(w)})
    log.add("M", m, "W[0]" if matmul.transpose_b else "W[1]", {"W": list(w)})
    if len(w) == 3:
        log.note(
            "Q12", f"the first two of the weight's dims {_dims(w)} are taken, so that C = {c} and M = {m}"
        )
    return Layer(
        kind="gemm",
        total=LoopCounts(N=rows, C=c, M=m),
        has_bias=node.op_type in BIASED,
        row_length=x[-1] if len(w) == 3 else 0,
    )


def _fixed_gemm(node: Node, network: Network, matmul: Matmul, log: DecisionLog) -> Layer:
    # Transposed rows of several pictures do not follow one another, so that they stay apart.
    folds = prod(matmul.b_batch) == 1 and not (matmul.transpose_a and matmul.batch > 1)
    batch = 1 if folds else matmul.batch
    figures = {"m": matmul.m, "n": matmul.n, "k": matmul.k, "batch": matmul.batch}
    rows = log.add("N", matmul.m * matmul.batch // batch, "m · batch" if folds else "m", figures)
    log.add("C", matmul.k, "k", {"k": matmul.k})
    log.add("M", matmul.n, "n", {"n": matmul.n})
    log.add(
        "batch", batch, "1, its rows follow one another" if folds else "one product per element",
        {"a_batch": list(matmul.a_batch), "b_batch": list(matmul.b_batch)},
    )  # fmt: skip
    if matmul.transpose_a:
        log.note("Q11", "transA = 1 is computed; ONNXim's index is out of bound")
        log.note(MODEL, "pantile: a transposed activation, which ONNXim does not compute")
    x = network.tensor(node.inputs[0]).dims
    if not 2 <= len(x) <= 3:
        log.note("Q13", f"an activation of dims {_dims(x)} is computed; ONNXim throws")
    if matmul.b_batch:
        log.note("Q12", f"a weight of {len(matmul.b_batch) + 2} dims is computed; ONNXim reads its first two")
        each = (
            f"{batch} products, one after the other, core counter running on" if batch > 1 else "one weight"
        )
        log.note(MODEL, f"pantile: {each}")
    return Layer(
        kind="gemm",
        total=LoopCounts(N=rows, C=matmul.k, M=matmul.n),
        batch=batch,
        has_bias=node.op_type in BIASED,
    )


def convolution_layer(convolution: Convolution, log: DecisionLog) -> Layer:
    """Return the layer of a convolution of one group; its bias is never loaded (CV2).

    Raises:
        WorkloadError: If a count is too large.
    """
    (rows, columns), out_rows, out_columns = convolution.kernel, convolution.out_height, convolution.out_width
    total = LoopCounts(
        N=convolution.batch,
        C=convolution.in_channels // convolution.groups,
        M=convolution.out_channels,
        S=rows,
        R=columns,
        Q=out_rows,
        P=out_columns,
    )
    log.stage = "shape"
    log.add("total", total.to_json(), "N pictures, C and M channels, S x R kernel, Q x P output")
    log.note(MODEL, "pantile: a convolution with ONNXim's tiles and whole windows, weights and loops")
    _check_counts(total)
    return Layer(kind="conv", total=total)


def check_reduction(layer: Layer, mapping: Mapping, elements_per_request: int) -> None:
    """Check that the faithful addresses stay within an activation row (Q12).

    Raises:
        MapperStop: If one is beyond it, where the original throws.
    """
    if not layer.row_length:
        return
    total, inner = mapping.total.C, mapping.inner.C
    tiles = min(mapping.outer.C, ceil_div(total, inner))
    start = (tiles - 1) * inner
    size = min(inner, total - start)
    last = start + (size - 1) // elements_per_request * elements_per_request
    if last >= layer.row_length:
        raise MapperStop(
            "Q12",
            f"ONNXim's index is out of bound: C = {total} reaches element {last} of {layer.row_length}",
            mend=_FIXED_ONLY,
        )


def _check_counts(total: LoopCounts) -> None:
    for letter, count in total.items():
        if not 1 <= count <= COUNT_LIMIT:
            raise WorkloadError(
                f"{letter} ({ROLES[letter]}) = {count} is outside 1 to {COUNT_LIMIT}",
                mend="split the layer" if count else "leave the node out, for its result is all zeros",
            )


def _dims(dims: tuple[int, ...]) -> str:
    return "x".join(map(str, dims)) or "none"
