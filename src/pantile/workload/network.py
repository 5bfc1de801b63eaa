"""Networks: nodes that compute, the tensors between them, in file order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pantile.workload.convolution import Convolution
from pantile.workload.matmul import Matmul

Role = Literal["initializer", "input", "intermediate"]


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor of a network.

    Attributes:
        name: Unique within the network.
        dims: Element counts, outermost first; empty for a scalar or where unknown.
        role: Where it comes from. Tensors computed from constants alone count as initializers.
    """

    name: str
    dims: tuple[int, ...]
    role: Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One node of a network.

    Attributes:
        name: Unique within the network.
        op_type: The ONNX operator, e.g. ``"MatMul"``, ``"Gemm"``, ``"Conv"``, ``"Relu"``.
        inputs: Names of the operands, in ONNX order; ``""`` where an optional one is left out.
        outputs: Names of the results.
        computation: What it computes, or ``None`` where it is outside the model.
        outside: Why it is outside the model; empty where it is not.
        attributes: Integers, numbers, texts and integer lists that the file gives the node, as given.
        constant: All inputs are constants, so that it runs before the network does, if at all.
    """

    name: str
    op_type: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    computation: Matmul | Convolution | None = None
    outside: str = ""
    attributes: dict[str, int | float | str | tuple[int, ...]] = field(default_factory=dict, hash=False)
    constant: bool = False

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the node, inside the model or not; 0 where they are not known."""
        return self.computation.macs if self.computation else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """Nodes in file order, with every tensor they name.

    Attributes:
        name: The file's or the workload text's name.
        nodes: In file order, which is a topological order.
        tensors: Initializers in file order, then graph inputs in file order, then the rest in order of
            first use. A tensor computed from constants stands where the first node reads it that does
            not run before the network; those that no such node reads stand at the end.
        source: The text or path this came from, for messages and commands.
    """

    name: str
    nodes: tuple[Node, ...]
    tensors: tuple[Tensor, ...]
    source: str = ""

    def tensor(self, name: str) -> Tensor:
        """Return the tensor called *name*; who looks up many uses :meth:`by_name` once.

        Raises:
            KeyError: If there is none.
        """
        for tensor in self.tensors:
            if tensor.name == name:
                return tensor
        raise KeyError(name)

    def by_name(self) -> dict[str, Tensor]:
        """Return every tensor by its name, in order."""
        return {tensor.name: tensor for tensor in self.tensors}

    @property
    def macs(self) -> int:
        """Multiply-accumulates of all nodes inside the model."""
        return sum(node.macs for node in self.nodes if not node.outside)

    @property
    def outside_macs(self) -> int:
        """Multiply-accumulates of the nodes outside the model, as far as they are known."""
        return sum(node.macs for node in self.nodes if node.outside)

    def __str__(self) -> str:
        inside = sum(not node.outside for node in self.nodes)
        return f"{self.name}: {len(self.nodes)} nodes, {inside} in the model, {self.macs} MACs"


def network_of(matmul: Matmul, *, source: str = "") -> Network:
    """Return the network of one product, ``y = x w + b``, with ``b`` where there is a bias.

    Tensors stand in the order in which a one-node ONNX file lists them: weight, bias, input.
    """
    left = (matmul.k, matmul.m) if matmul.transpose_a else (matmul.m, matmul.k)
    right = (matmul.n, matmul.k) if matmul.transpose_b else (matmul.k, matmul.n)
    tensors = [Tensor("w", matmul.b_batch + right, "initializer")]
    if matmul.bias is not None:
        tensors.append(Tensor("b", (matmul.n,), "initializer"))
    tensors.append(Tensor("x", matmul.a_batch + left, "input"))
    tensors.append(Tensor("y", (*matmul.batch_shape, matmul.m, matmul.n), "intermediate"))
    gemm = matmul.bias is not None
    node = Node(
        name=matmul.name or "matmul",
        op_type="Gemm" if gemm else "MatMul",
        inputs=("x", "w", "b") if gemm else ("x", "w"),
        outputs=("y",),
        computation=matmul,
        attributes={"transA": int(matmul.transpose_a), "transB": int(matmul.transpose_b)},
    )
    return Network(name=matmul.name or "matmul", nodes=(node,), tensors=tuple(tensors), source=source)
