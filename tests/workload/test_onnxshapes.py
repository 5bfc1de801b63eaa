from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from onnx import TensorProto, helper

from pantile.errors import PantileError
from pantile.workload.onnxshapes import bind_dimensions, infer_shapes

if TYPE_CHECKING:
    from conftest import BuildModel


def told(name: str, dims: Any) -> Any:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)


def relu(source: str, target: str) -> Any:
    return helper.make_node("Relu", [source], [target])


def test_bound_symbols_are_sizes_and_the_others_stay_open(build: BuildModel) -> None:
    model = build([helper.make_node("MatMul", ["x", "w"], ["y"])], {"x": ["b", "s", 8]}, ["y"], {"w": [8, 4]})
    open_symbols = bind_dimensions(model, ["x"], {"b": 2}, "net.onnx")
    assert open_symbols == {"x": ("s",)}
    shapes = infer_shapes(model, "net.onnx")
    assert shapes["x"] == (2, "s", 8)
    assert shapes["y"] == (2, "s", 4)


def test_a_dimension_without_a_name_is_called_after_its_input(build: BuildModel) -> None:
    model = build([relu("x", "y")], {"x": [None, 3, None]}, ["y"])
    assert bind_dimensions(model, ["x"], {"x.0": 5}, "net.onnx") == {"x": ("x.2",)}
    assert infer_shapes(model, "net.onnx")["y"] == (5, 3, "x.2")


def test_an_input_of_unknown_rank_has_no_symbols(build: BuildModel) -> None:
    model = build([relu("x", "y")], {"x": None}, ["y"])
    assert bind_dimensions(model, ["x"], {}, "net.onnx") == {"x": ()}
    assert "y" not in infer_shapes(model, "net.onnx")


@pytest.mark.parametrize(
    ("dims", "line"),
    [
        ({"btach": 1}, "unknown dimension 'btach'; did you mean 'batch'?"),
        ({"q": 1}, "unknown dimension 'q'; allowed here: batch, len"),
        ({"batch": -1}, "dimension 'batch' must be from 0 to 2147483647, got -1"),
        ({"batch": 2**31}, "dimension 'batch' must be from 0 to 2147483647, got 2147483648"),
        ({"q": 1, "batch": -1}, "unknown dimension 'q'; allowed here: batch, len\n"),
    ],
)
def test_refuses_wrong_bindings(build: BuildModel, dims: dict[str, int], line: str) -> None:
    model = build([relu("x", "y")], {"x": ["batch", "len"]}, ["y"])
    with pytest.raises(PantileError) as caught:
        bind_dimensions(model, ["x"], dims, "net.onnx")
    first, *more = str(caught.value).splitlines()
    assert first == f"net.onnx: {line.rstrip()} [PT-WORKLOAD]"
    assert len(more) == line.count("\n")


def test_binding_without_any_symbol_says_so(build: BuildModel) -> None:
    model = build([relu("x", "y")], {"x": [1]}, ["y"])
    with pytest.raises(PantileError, match="unknown dimension 'b'") as caught:
        bind_dimensions(model, ["x"], {"b": 1}, "net.onnx")
    assert "the file has no symbolic dimension" in str(caught.value)


def test_refuses_negative_inputs(build: BuildModel) -> None:
    model = build([relu("x", "y")], {"x": [-1, 4]}, ["y"])
    with pytest.raises(PantileError) as caught:
        bind_dimensions(model, ["x"], {}, "net.onnx")
    assert str(caught.value) == (
        "net.onnx: input 'x' has the dimensions [-1, 4], which must not be negative;"
        " name the dimension in the file and bind it with --dim NAME=V [PT-WORKLOAD]"
    )


def test_what_can_be_inferred_wins_over_a_stale_note(build: BuildModel) -> None:
    model = build([relu("x", "r"), relu("r", "y")], {"x": [4, 5]}, ["y"], value_info=[told("r", [1, 5])])
    model.graph.output[0].CopyFrom(told("y", [1, 5]))
    shapes = infer_shapes(model, "net.onnx")
    assert shapes["r"] == shapes["y"] == (4, 5)


def test_the_files_note_counts_where_nothing_can_be_inferred(build: BuildModel) -> None:
    custom = helper.make_node("Mystery", ["x"], ["r"], domain="own")
    model = build(
        [custom, relu("r", "y")],
        {"x": ["b", 5]},
        ["y"],
        value_info=[told("r", ["b", "heads"])],
        opsets=[("", 17), ("own", 1)],
    )
    bind_dimensions(model, ["x"], {"b": 2, "heads": 12}, "net.onnx")
    assert infer_shapes(model, "net.onnx")["y"] == (2, 12)


def test_the_files_note_fills_a_size_that_depends_on_data(build: BuildModel) -> None:
    nodes = [
        helper.make_node("NonZero", ["x"], ["i"]),
        helper.make_node("Cast", ["i"], ["c"], to=TensorProto.FLOAT),
        relu("c", "y"),
    ]
    note = helper.make_tensor_value_info("i", TensorProto.INT64, [2, "found"])
    model = build(nodes, {"x": [3, 3]}, ["y"], value_info=[note])
    bind_dimensions(model, ["x"], {"found": 7}, "net.onnx")
    assert infer_shapes(model, "net.onnx")["y"] == (2, 7)


def test_fused_operators_have_the_shape_of_those_they_fuse(build: BuildModel) -> None:
    domain = "com.microsoft"
    nodes = [
        helper.make_node(
            "FusedConv", ["x", "k"], ["c"], domain=domain, activation="Relu", kernel_shape=[3, 3]
        ),
        helper.make_node("Flatten", ["c"], ["f"]),
        helper.make_node("FusedGemm", ["f", "w", "b"], ["g"], domain=domain, activation="Relu", transB=1),
        helper.make_node("BiasGelu", ["g", "b"], ["h"], domain=domain),
        helper.make_node("SkipLayerNormalization", ["h", "g", "b"], ["y", "", "", "z"], domain=domain),
    ]
    weights = {"k": [2, 1, 3, 3], "w": [6, 8], "b": [6]}
    model = build(nodes, {"x": [1, 1, 4, 4]}, ["y"], weights, opsets=[("", 17), (domain, 1)])
    shapes = infer_shapes(model, "net.onnx")
    assert [shapes[name] for name in "cfghy"] == [(1, 2, 2, 2), (1, 8), (1, 6), (1, 6), (1, 6)]
    assert model.graph.node[0].op_type == "FusedConv"  # the model itself is left alone


def test_sizes_computed_from_shapes_are_followed(build: BuildModel) -> None:
    """The way exporters write a reshape to (batch, -1): Shape, Gather, Unsqueeze, Concat, Reshape."""
    int64 = TensorProto.INT64
    constants = [
        helper.make_tensor("zero", int64, [], [0]),
        helper.make_tensor("axis", int64, [1], [0]),
        helper.make_tensor("rest", int64, [1], [-1]),
    ]
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "zero"], ["n"]),
        helper.make_node("Unsqueeze", ["n", "axis"], ["u"]),
        helper.make_node("Concat", ["u", "rest"], ["t"], axis=0),
        helper.make_node("Reshape", ["x", "t"], ["y"]),
    ]
    model = build(nodes, {"x": ["b", 3, 4]}, ["y"], initializers=constants)
    bind_dimensions(model, ["x"], {"b": 2}, "net.onnx")
    assert infer_shapes(model, "net.onnx")["y"] == (2, 12)
