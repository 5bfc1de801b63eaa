"""Networks from ONNX files."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from shlex import quote
from types import MappingProxyType
from typing import TYPE_CHECKING

from pantile.errors import PantileError, Place, WorkloadError, raise_all
from pantile.workload.network import Network, Node, Role, Tensor
from pantile.workload.onnxmodel import Graph, GraphNode, graph_of, load_model
from pantile.workload.onnxnodes import is_foldable, is_product, operands, read_product, why_outside
from pantile.workload.onnxshapes import Shape, bind_dimensions, infer_shapes

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

NO_DIMS: Mapping[str, int] = MappingProxyType({})
"""No symbolic dimension is bound."""


def read_onnx(path: str, *, dims: Mapping[str, int] = NO_DIMS, node: str | None = None) -> Network:
    """Return the network in the ONNX file at *path*.

    Gemm, MatMul and Conv, fused or not, compute; every other node is there too, with the reason why it
    is outside the model. Element types are not read: they are the machine's. External weights need not exist.

    Args:
        path: The file.
        dims: Sizes of symbolic dimensions by name; one without a name is ``INPUT.AXIS``.
        node: The name of the one node to keep, with its tensors; all nodes if ``None``.

    Raises:
        WorkloadError: If the file is no sound model, there is no such node or dimension, or a product
            depends on a dimension that is not bound.
        ManyProblems: If there are several such problems.
    """
    model = load_model(path)
    graph = graph_of(model, path)
    nodes = graph.nodes if node is None else (_picked(graph, node, path),)
    open_symbols = bind_dimensions(model, graph.inputs, dims, path)
    shapes = infer_shapes(model, path) | graph.initializers
    _check_bound(graph, nodes, shapes, open_symbols, path)
    constants = _constants(graph)
    read = _read_nodes(nodes, shapes, constants, path)
    return Network(
        name=Path(path).stem,
        nodes=read,
        tensors=_tensors(graph, read, shapes, constants, whole=node is None),
        source=path if node is None else f"{path}#{node}",
    )


def _picked(graph: Graph, name: str, path: str) -> GraphNode:
    names = [node.name for node in graph.nodes]
    if name in names:
        return graph.nodes[names.index(name)]
    near = get_close_matches(name, names, n=3)
    if near:
        mend = f"did you mean {' or '.join(map(repr, near))}?"
    else:
        first = [node.name for node in graph.nodes if is_product(node)][:3]
        mend = f"its first products are {', '.join(map(repr, first))}" if first else "it has no products"
    raise WorkloadError(f"there is no node {name!r}", place=Place(path), mend=mend)


def _constants(graph: Graph) -> frozenset[str]:
    """Return the tensors computed from constants alone; none of them is an initializer of the file."""
    constants = set(graph.initializers)
    for node in graph.nodes:
        if is_foldable(node) and all(name in constants for name in node.inputs if name):
            constants.update(node.outputs)
    return frozenset(constants.difference(graph.initializers))


def _check_bound(
    graph: Graph,
    nodes: Sequence[GraphNode],
    shapes: Mapping[str, Shape],
    open_symbols: Mapping[str, tuple[str, ...]],
    path: str,
) -> None:
    """Refuse open dimensions of graph inputs that products of *nodes* depend on, all in one line."""
    symbols = dict.fromkeys(symbol for own in open_symbols.values() for symbol in own)
    if not symbols:
        return
    reach: dict[str, frozenset[str]] = {name: frozenset(own) for name, own in open_symbols.items()}
    for node in graph.nodes:
        met = frozenset().union(*(reach.get(name, frozenset()) for name in node.inputs))
        reach.update((name, met) for name in node.outputs)
    needed: set[str] = set()
    for node in filter(is_product, nodes):
        for name in operands(node):
            sizes: Shape = shapes.get(name, (None,))
            needed.update(size for size in sizes if isinstance(size, str) and size in symbols)
            if any(size is None or (isinstance(size, str) and size not in symbols) for size in sizes):
                needed |= reach.get(name, frozenset())
    unbound = [symbol for symbol in symbols if symbol in needed]
    if unbound:
        what = "dimension" if len(unbound) == 1 else "dimensions"
        raise WorkloadError(
            f"products depend on the unbound {what} {', '.join(map(repr, unbound))}",
            place=Place(path),
            mend=f"bind with {' '.join(f'--dim {quote(symbol)}=V' for symbol in unbound)}",
        )


def _read_nodes(
    nodes: Sequence[GraphNode], shapes: Mapping[str, Shape], constants: Collection[str], path: str
) -> tuple[Node, ...]:
    problems: list[PantileError] = []
    read = []
    for node in nodes:
        try:
            read.append(_read_node(node, shapes, constants))
        except WorkloadError as error:
            problem = f"node {node.name!r}: {error.problem}"
            problems.append(WorkloadError(problem, place=Place(path), mend=error.mend))
    raise_all(problems)
    return tuple(read)


def _read_node(node: GraphNode, shapes: Mapping[str, Shape], constants: Collection[str]) -> Node:
    computation, outside = None, ""
    constant = bool(node.outputs) and all(name in constants for name in node.outputs if name)
    if constant:
        outside = "computed from constants before the network runs"
    elif is_product(node):
        names = operands(node)
        known = [sizes for name in names if (sizes := _sizes(shapes.get(name))) is not None]
        if len(known) == len(names):
            computation, outside = read_product(node, tuple(known))
        else:
            unknown = [name for name in dict.fromkeys(names) if _sizes(shapes.get(name)) is None]
            outside = "; ".join(_why_unknown(name, shapes.get(name)) for name in unknown)
    else:
        outside = why_outside(node)
    return Node(
        name=node.name,
        op_type=node.op_type,
        inputs=node.inputs,
        outputs=node.outputs,
        computation=computation,
        outside=outside,
        attributes=node.attributes,
        constant=constant,
    )


def _sizes(shape: Shape | None) -> tuple[int, ...] | None:
    """Return *shape* if all its sizes are known."""
    if shape is None:
        return None
    sizes = tuple(size for size in shape if isinstance(size, int))
    return sizes if len(sizes) == len(shape) else None


def _why_unknown(name: str, shape: Shape | None) -> str:
    if shape is None:
        return f"the shape of {name!r} cannot be inferred"
    spelled = "x".join("?" if size is None else str(size) for size in shape)
    return f"{name!r} of {spelled} has a size that depends on the data"


def _tensors(
    graph: Graph,
    nodes: Sequence[Node],
    shapes: Mapping[str, Shape],
    constants: Collection[str],
    *,
    whole: bool,
) -> tuple[Tensor, ...]:
    """Return the tensors of *nodes*, or of the *whole* graph, in the order that :class:`Network` promises."""
    roles: dict[str, Role] = {}
    named = {name for node in nodes for name in node.inputs}
    roles |= {name: "initializer" for name in graph.initializers if whole or name in named}
    roles |= {name: "input" for name in graph.inputs if whole or name in named}
    if not whole:  # what other nodes computed comes into this network from outside
        given = (name for node in nodes for name in node.inputs if name and name not in constants)
        for name in given:
            roles.setdefault(name, "input")
    for node in nodes:
        if not node.constant:
            for name in node.inputs:
                if name in constants:
                    roles.setdefault(name, "initializer")
            roles |= {name: "intermediate" for name in node.outputs if name}
    for node in nodes:
        if node.constant:
            for name in (*node.inputs, *node.outputs):
                if name:
                    roles.setdefault(name, "initializer")
    return tuple(Tensor(name, _sizes(shapes.get(name)) or (), role) for name, role in roles.items())
