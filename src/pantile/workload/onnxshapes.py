"""Shapes of the tensors of an ONNX model: symbolic dimensions bound, the rest inferred by onnx itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pantile.errors import PantileError, Place, WorkloadError, raise_all, suggestion
from pantile.workload.onnxmodel import one_line
from pantile.workload.onnxnodes import SAME_SHAPE
from pantile.workload.sizes import LARGEST_SIZE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

Shape = tuple[int | str | None, ...]
"""Sizes, outermost first; a symbol or ``None`` where one is not known."""

_STANDS_FOR = {"FusedGemm": "Gemm", "FusedConv": "Conv"} | dict.fromkeys(SAME_SHAPE, "Identity")
"""Operators that onnx does not know, and one of ONNX's own whose first result has the same shape."""


def bind_dimensions(
    model: Any, inputs: Collection[str], dims: Mapping[str, int], path: str
) -> dict[str, tuple[str, ...]]:
    """Write the sizes *dims* into *model*; return the symbols that stay open, by graph input.

    A dimension of an input that the file leaves without a name is called ``INPUT.AXIS``, axes counted from 0.

    Args:
        model: The model; it is changed.
        inputs: The graph inputs that are no initializers.
        dims: Sizes by symbol; 0 is a size, that of a past that has not begun.
        path: The file, for messages.

    Raises:
        WorkloadError: If a symbol in *dims* is unknown or its size negative or too large, or if a graph
            input has a negative dimension.
        ManyProblems: If there are several such.
    """
    place = Place(path)
    values = [value for value in model.graph.input if value.name in inputs]
    for value in values:
        for axis, dim in enumerate(_dims(value)):
            if not dim.HasField("dim_value") and not dim.dim_param:
                dim.dim_param = f"{value.name}.{axis}"
    others = [*model.graph.value_info, *model.graph.output]
    symbols = dict.fromkeys(
        dim.dim_param for value in (*values, *others) for dim in _dims(value) if dim.dim_param
    )
    problems = [*_wrong_bindings(dims, symbols, place)]
    for value in values:
        sizes = [dim.dim_value for dim in _dims(value)]
        if any(size < 0 for size in sizes):
            mend = "name the dimension in the file and bind it with --dim NAME=V"
            problem = f"input {value.name!r} has the dimensions {sizes}, which must not be negative"
            problems.append(WorkloadError(problem, place=place, mend=mend))
    raise_all(problems)
    for value in (*values, *others):
        for dim in _dims(value):
            if dim.dim_param in dims:
                dim.dim_value = dims[dim.dim_param]  # one of the two: this clears the symbol
    return {value.name: tuple(dim.dim_param for dim in _dims(value) if dim.dim_param) for value in values}


def infer_shapes(model: Any, path: str) -> dict[str, Shape]:
    """Return the shape of every input and result in *model* that has one, as far as it is known.

    What the file says of its intermediate tensors may be stale: it counts only where nothing can be inferred.

    Raises:
        WorkloadError: If onnx refuses the model.
    """
    fresh = type(model)()
    fresh.CopyFrom(model)
    for node in fresh.graph.node:
        if node.domain in ("", "com.microsoft") and node.op_type in _STANDS_FOR:
            node.op_type, node.domain = _STANDS_FOR[node.op_type], ""
    declared = {value.name: value for value in (*model.graph.value_info, *model.graph.output)}
    del fresh.graph.value_info[:]
    for value in fresh.graph.output:
        if value.type.WhichOneof("value") == "tensor_type":
            value.type.tensor_type.ClearField("shape")
    shapes = _inferred(fresh, path)
    told = [value for name, value in declared.items() if _says_more(_shape(value), shapes.get(name))]
    if told:
        outputs = {value.name: value for value in fresh.graph.output}
        for value in told:
            (outputs[value.name] if value.name in outputs else fresh.graph.value_info.add()).CopyFrom(value)
        shapes = _inferred(fresh, path)
    return shapes


def _wrong_bindings(
    dims: Mapping[str, int], symbols: Collection[str], place: Place
) -> Iterator[PantileError]:
    for name, size in dims.items():
        if name not in symbols:
            mend = suggestion(name, symbols) if symbols else "the file has no symbolic dimension"
            yield WorkloadError(f"unknown dimension {name!r}", place=place, mend=mend)
        elif not 0 <= size <= LARGEST_SIZE:
            yield WorkloadError(
                f"dimension {name!r} must be from 0 to {LARGEST_SIZE}, got {size}", place=place
            )


def _inferred(model: Any, path: str) -> dict[str, Shape]:
    from onnx import shape_inference

    try:
        inferred = shape_inference.infer_shapes(model, data_prop=True)
    except (shape_inference.InferenceError, RuntimeError, ValueError) as error:
        raise WorkloadError(f"onnx cannot infer its shapes: {one_line(error)}", place=Place(path)) from None
    values = (*inferred.graph.input, *inferred.graph.value_info, *inferred.graph.output)
    return {value.name: shape for value in values if (shape := _shape(value)) is not None}


def _says_more(declared: Shape | None, inferred: Shape | None) -> bool:
    """Return whether the file knows a rank or a size that inference does not."""
    if declared is None or inferred is None:
        return declared is not None
    pairs = zip(declared, inferred, strict=False)
    return any(isinstance(told, int) and not isinstance(found, int) for told, found in pairs)


def _dims(value: Any) -> Any:
    """Return the dimensions of a tensor value; nothing for sequences, maps and tensors of unknown rank."""
    return value.type.tensor_type.shape.dim if value.type.WhichOneof("value") == "tensor_type" else ()


def _shape(value: Any) -> Shape | None:
    if value.type.WhichOneof("value") != "tensor_type" or not value.type.tensor_type.HasField("shape"):
        return None
    return tuple(
        dim.dim_value if dim.HasField("dim_value") else (dim.dim_param or None) for dim in _dims(value)
    )
