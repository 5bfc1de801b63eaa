"""ONNX files as they are read: nodes, initializers and inputs, before any shape is known."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pantile.errors import PantileError, Place, WorkloadError, raise_all
from pantile.workload.sourcefile import read_source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Attribute = int | float | str | tuple[int, ...]

_LARGEST_FILE_BYTES = 2**31 - 1
"""Protocol buffers, of which an ONNX file is one, end here; larger models keep their weights elsewhere."""

_LARGEST_KEPT_SIZE = 1024
"""Constants of more elements are no shapes, and shape inference needs no other values."""

_PAYLOADS = (
    "raw_data",
    "float_data",
    "int32_data",
    "int64_data",
    "double_data",
    "uint64_data",
    "string_data",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNode:
    """One node as the file has it.

    Attributes:
        name: Its own name, or ``OpType_index`` where that is empty or taken; unique within the graph.
        op_type: The operator.
        domain: The operator's domain; empty for ONNX's own.
        inputs: Names of the operands; empty where an optional one is left out.
        outputs: Names of the results; empty likewise.
        attributes: Integers, numbers, texts and integer lists, as given.
        has_subgraph: It holds a graph of its own.
        is_function: Its operator is a function that the file defines.
    """

    name: str
    op_type: str
    domain: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Attribute]
    has_subgraph: bool
    is_function: bool


@dataclass(frozen=True, slots=True)
class Graph:
    """The main graph of a file.

    Attributes:
        nodes: In file order, which is a topological order.
        initializers: Dimensions of every initializer, in file order.
        inputs: Graph inputs that are no initializers, in file order.
    """

    nodes: tuple[GraphNode, ...]
    initializers: dict[str, tuple[int, ...]]
    inputs: tuple[str, ...]


def load_model(path: str) -> Any:
    """Return the ONNX model at *path* without the values of its large constants.

    Weights in external files are not looked for.

    Raises:
        WorkloadError: If the file cannot be read, is no ONNX model, or is newer than the installed onnx.
    """
    import onnx

    place = Place(path)
    if Path(path).is_file() and Path(path).stat().st_size > _LARGEST_FILE_BYTES:
        raise WorkloadError(
            f"the file has {Path(path).stat().st_size} bytes, an ONNX file at most {_LARGEST_FILE_BYTES}",
            place=place,
            mend="save the model with its weights as external data",
        )
    content = read_source(path)
    if not content:
        raise WorkloadError("expected an ONNX model, got an empty file", place=place)
    try:
        model = onnx.load_model_from_string(content)
    except Exception as error:  # protobuf's DecodeError; protobuf is a dependency of onnx, not ours
        raise WorkloadError(f"expected an ONNX model: {one_line(error)}", place=place) from None
    if not model.HasField("graph") or not model.graph.node:
        raise WorkloadError("expected an ONNX model, got one without any node", place=place)
    for name in _strings(model):
        if not isinstance(name, str):  # protobuf hands out bytes where a text is no UTF-8
            raise WorkloadError(f"expected names in UTF-8, got {name!r}", place=place)
    _complete_opsets(model, place)
    _drop_payloads(model.graph)
    return model


def graph_of(model: Any, path: str) -> Graph:
    """Return the main graph of *model*.

    Raises:
        WorkloadError: If a name is defined twice, or read before it is defined, or if an initializer has
            a negative dimension.
        ManyProblems: If several are.
    """
    graph = model.graph
    initializers = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    initializers |= {tensor.values.name: tuple(tensor.dims) for tensor in graph.sparse_initializer}
    functions = {(function.domain, function.name) for function in model.functions}
    nodes = tuple(
        GraphNode(
            name=name,
            op_type=node.op_type,
            domain=_domain(node.domain),
            inputs=tuple(node.input),
            outputs=tuple(node.output),
            attributes=dict(_attributes(node)),
            has_subgraph=any(attribute.HasField("g") or attribute.graphs for attribute in node.attribute),
            is_function=(node.domain, node.op_type) in functions,
        )
        for name, node in zip(_unique_names(graph.node), graph.node, strict=True)
    )
    inputs = tuple(value.name for value in graph.input if value.name not in initializers)
    result = Graph(nodes, initializers, inputs)
    raise_all(list(_structural_problems(result, Place(path))))
    return result


def _strings(model: Any) -> Iterator[Any]:
    """Yield every text of *model* that this package reads."""
    graph = model.graph
    for node in graph.node:
        yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
        yield from (attribute.name for attribute in node.attribute)
    yield from (tensor.name for tensor in graph.initializer)
    yield from (tensor.values.name for tensor in graph.sparse_initializer)
    for value in (*graph.input, *graph.output, *graph.value_info):
        yield value.name
        yield from (dim.dim_param for dim in value.type.tensor_type.shape.dim)
    for function in model.functions:
        yield from (function.domain, function.name)
    yield from (opset.domain for opset in model.opset_import)


def _complete_opsets(model: Any, place: Place) -> None:
    """Check the version of ONNX's own operators, and name the domains that the file forgot to import."""
    import onnx

    versions = {_domain(opset.domain): opset.version for opset in model.opset_import}
    domains = dict.fromkeys(_domain(node.domain) for node in model.graph.node)
    newest = onnx.defs.onnx_opset_version()
    if versions.get("", 0) > newest:
        problem = f"uses opset {versions['']}, but onnx {onnx.__version__} knows those up to {newest}"
        raise WorkloadError(problem, place=place, mend="upgrade the onnx package")
    if model.ir_version < 3:  # ONNX, IR specification: models that old use the first opset
        versions.setdefault("", 1)
        model.opset_import.add(domain="", version=versions[""])
    if "" in domains and "" not in versions:
        raise WorkloadError("imports no opset, so that its operators have no version", place=place)
    for domain in domains:
        if domain not in versions:
            model.opset_import.add(domain=domain, version=1)


def _domain(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def _drop_payloads(graph: Any) -> None:
    """Turn large constants into external ones, which shape inference passes by."""
    constants = [
        attribute.t for node in graph.node for attribute in node.attribute if attribute.HasField("t")
    ]
    for tensor in (*graph.initializer, *constants):
        if prod(tensor.dims) > _LARGEST_KEPT_SIZE:
            for payload in _PAYLOADS:
                tensor.ClearField(payload)
            tensor.data_location = tensor.EXTERNAL


def _attributes(node: Any) -> Iterator[tuple[str, Attribute]]:
    for attribute in node.attribute:
        kind = attribute.AttributeType.Name(attribute.type)
        if kind == "INT":
            yield attribute.name, int(attribute.i)
        elif kind == "FLOAT":
            yield attribute.name, float(attribute.f)
        elif kind == "STRING":
            yield attribute.name, attribute.s.decode("utf-8", "replace")
        elif kind == "INTS":
            yield attribute.name, tuple(attribute.ints)


def _unique_names(nodes: Iterable[Any]) -> list[str]:
    """Return a name for every node: its own for the first that has it, ``OpType_index`` for the others."""
    taken = {node.name for node in nodes}
    used: set[str] = set()
    names = []
    for index, node in enumerate(nodes):
        name = node.name
        if not name or name in used:
            name = f"{name or node.op_type}_{index}"
            while name in taken:
                name += "_"
        taken.add(name)
        used.add(name)
        names.append(name)
    return names


def _structural_problems(graph: Graph, place: Place) -> Iterator[PantileError]:
    for name, dims in graph.initializers.items():
        if any(size < 0 for size in dims):
            yield WorkloadError(f"initializer {name!r} has the dimensions {list(dims)}", place=place)
    defined = {*graph.initializers, *graph.inputs}
    later = {output for node in graph.nodes for output in node.outputs}
    for node in graph.nodes:
        for name in dict.fromkeys(node.inputs):
            if name and name not in defined:
                what = "a later node defines" if name in later else "nothing defines"
                yield WorkloadError(f"node {node.name!r} reads {name!r}, which {what}", place=place)
        for name in node.outputs:
            if name and name in defined:
                yield WorkloadError(f"node {node.name!r} defines {name!r} a second time", place=place)
            defined.add(name)


def one_line(error: Exception) -> str:
    """Return what *error* of another library says, on one line and cut."""
    return " ".join(str(error).split())[:200]
