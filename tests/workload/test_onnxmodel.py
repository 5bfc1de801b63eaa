from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import onnx
import pytest
from onnx import TensorProto, helper

from pantile.errors import PantileError, WorkloadError
from pantile.workload.onnxmodel import graph_of, load_model

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import BuildModel

    Save = Callable[[onnx.ModelProto], str]

MATMUL = helper.make_node("MatMul", ["x", "w"], ["y"])


def line(path: str) -> str:
    """The one line of the error that reading *path* raises, without its path and code."""
    with pytest.raises(WorkloadError) as caught:
        graph_of(load_model(path), path)
    return str(caught.value).removeprefix(f"{path}: ").removesuffix(" [PT-WORKLOAD]")


def test_a_graph_as_the_file_has_it(build: BuildModel, save: Save) -> None:
    node = helper.make_node(
        "Gemm", ["x", "w", ""], ["y"], name="fc", transB=1, alpha=0.5, mode="tight", pads=[1, 2], scales=[1.0]
    )
    path = save(build([node], {"x": [2, 3], "w": [4, 3]}, ["y"], {"w": [4, 3]}))
    graph = graph_of(load_model(path), path)
    assert graph.initializers == {"w": (4, 3)}
    assert graph.inputs == ("x",)  # w is an initializer, though it is listed as an input as well
    (read,) = graph.nodes
    assert (read.name, read.op_type, read.domain) == ("fc", "Gemm", "")
    assert (read.inputs, read.outputs) == (("x", "w", ""), ("y",))
    assert read.attributes == {"transB": 1, "alpha": 0.5, "mode": "tight", "pads": (1, 2)}
    assert not read.has_subgraph
    assert not read.is_function


def test_names_are_unique_and_the_file_keeps_its_own(build: BuildModel, save: Save) -> None:
    names = ["", "a", "a", "Relu_4", ""]
    nodes = [helper.make_node("Relu", [f"t{at}"], [f"t{at + 1}"], name=name) for at, name in enumerate(names)]
    path = save(build(nodes, {"t0": [1]}, ["t5"]))
    read = [node.name for node in graph_of(load_model(path), path).nodes]
    assert read == ["Relu_0", "a", "a_2", "Relu_4", "Relu_4_"]


def test_subgraphs_and_functions_are_marked(build: BuildModel, save: Save) -> None:
    branch = helper.make_graph([helper.make_node("Identity", ["x"], ["t"])], "b", [], [])
    choose = helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)
    call = helper.make_node("Twice", ["y"], ["z"], domain="own")
    body = helper.make_function(
        "own",
        "Twice",
        ["i"],
        ["o"],
        [helper.make_node("Add", ["i", "i"], ["o"])],
        [helper.make_opsetid("", 17)],
    )
    path = save(
        build([choose, call], {"x": [1], "c": []}, ["z"], opsets=[("", 17), ("own", 1)], functions=[body])
    )
    first, second = graph_of(load_model(path), path).nodes
    assert (first.has_subgraph, first.is_function) == (True, False)
    assert (second.has_subgraph, second.is_function) == (False, True)


def test_large_constants_lose_their_values_and_keep_their_shape(build: BuildModel, save: Save) -> None:
    table = helper.make_tensor("value", TensorProto.FLOAT, [64, 64], b"\0" * 16384, raw=True)
    nodes = [
        helper.make_node("Constant", [], ["c"], value=table),
        helper.make_node("MatMul", ["x", "c"], ["y"]),
    ]
    path = save(build(nodes, {"x": [1, 64]}, ["y"], {"big": [512, 512], "small": [4]}))
    assert os.path.getsize(path) > 1024 * 1024
    model = load_model(path)
    assert model.ByteSize() < 2000
    assert graph_of(model, path).initializers == {"big": (512, 512), "small": (4,)}
    assert list(model.graph.node[0].attribute[0].t.dims) == [64, 64]


def test_external_weights_need_not_exist(build: BuildModel, save: Save) -> None:
    model = build([MATMUL], {"x": [2, 3]}, ["y"], {"w": [3, 4]})
    onnx.external_data_helper.convert_model_to_external_data(model, location="nowhere.bin", size_threshold=0)
    weight = model.graph.initializer[0]
    weight.ClearField("raw_data")
    assert weight.data_location == TensorProto.EXTERNAL
    path = save(model)
    assert graph_of(load_model(path), path).initializers == {"w": (3, 4)}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "expected an ONNX model, got an empty file"),
        (b"hello, this is text", "expected an ONNX model: Error parsing message"),
        (b"\x08\x07", "expected an ONNX model, got one without any node"),
    ],
)
def test_refuses_what_is_no_model(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(content)
    assert line(str(path)).startswith(problem)


def test_refuses_half_a_file(build: BuildModel, save: Save) -> None:
    path = save(build([MATMUL], {"x": [2, 3]}, ["y"], {"w": [3, 4]}))
    with open(path, "rb+") as file:
        file.truncate(os.path.getsize(path) // 2)
    assert line(path).startswith("expected an ONNX model: Error parsing message")


def test_refuses_a_file_too_large_for_its_format_without_reading_it(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    with path.open("wb") as file:
        file.truncate(2**31)  # sparse: takes no room
    assert line(str(path)) == (
        "the file has 2147483648 bytes, an ONNX file at most 2147483647;"
        " save the model with its weights as external data"
    )


def test_refuses_operators_newer_than_the_installed_onnx(build: BuildModel, save: Save) -> None:
    path = save(build([MATMUL], {"x": [2, 3], "w": [3, 4]}, ["y"], opsets=[("", 9999)]))
    newest = onnx.defs.onnx_opset_version()
    assert line(path) == (
        f"uses opset 9999, but onnx {onnx.__version__} knows those up to {newest}; upgrade the onnx package"
    )


def test_refuses_operators_without_a_version(build: BuildModel, save: Save) -> None:
    path = save(build([MATMUL], {"x": [2, 3], "w": [3, 4]}, ["y"], opsets=[("other", 1)]))
    assert line(path) == "imports no opset, so that its operators have no version"


def test_models_older_than_opsets_are_read(build: BuildModel, save: Save) -> None:
    model = build([MATMUL], {"x": [2, 3], "w": [3, 4]}, ["y"])
    del model.opset_import[:]
    model.ir_version = 2
    path = save(model)
    assert [node.op_type for node in graph_of(load_model(path), path).nodes] == ["MatMul"]


def test_refuses_a_name_that_is_no_text(build: BuildModel, save: Save) -> None:
    model = build(
        [helper.make_node("MatMul", ["x", "w"], ["y"], name="QQQQ")], {"x": [2, 3], "w": [3, 4]}, ["y"]
    )
    path = save(model)
    with open(path, "rb+") as file:
        content = file.read()
        file.seek(0)
        file.write(content.replace(b"QQQQ", b"Q\xff\xfeQ"))
    assert line(path) == r"expected names in UTF-8, got b'Q\xff\xfeQ'"


def relu(source: str, target: str) -> Any:
    return helper.make_node("Relu", [source], [target], name=f"{source}{target}")


@pytest.mark.parametrize(
    ("nodes", "problems"),
    [
        ([relu("q", "y")], ["node 'qy' reads 'q', which nothing defines"]),
        ([relu("z", "y"), relu("x", "z")], ["node 'zy' reads 'z', which a later node defines"]),
        ([relu("x", "y"), relu("y", "y")], ["node 'yy' defines 'y' a second time"]),
        ([relu("x", "x")], ["node 'xx' defines 'x' a second time"]),
        (
            [relu("q", "y"), relu("r", "z")],
            ["node 'qy' reads 'q', which nothing defines", "node 'rz' reads 'r', which nothing defines"],
        ),
    ],
)
def test_refuses_graphs_that_are_none(build: BuildModel, save: Save, nodes: Any, problems: list[str]) -> None:
    path = save(build(nodes, {"x": [1]}, ["y"]))
    with pytest.raises(PantileError) as caught:
        graph_of(load_model(path), path)
    expected = [f"{path}: {problem} [PT-WORKLOAD]" for problem in problems]
    assert str(caught.value).splitlines() == expected


def test_refuses_a_negative_initializer(build: BuildModel, save: Save) -> None:
    model = build([MATMUL], {"x": [2, 3]}, ["y"], {"w": [3, 4]})
    model.graph.initializer[0].dims[0] = -3
    assert line(save(model)) == "initializer 'w' has the dimensions [-3, 4]"
