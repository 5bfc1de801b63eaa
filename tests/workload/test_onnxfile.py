from __future__ import annotations

from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from pantile.errors import PantileError, WorkloadError
from pantile.workload.convolution import Convolution
from pantile.workload.matmul import Matmul
from pantile.workload.network import Network, Tensor
from pantile.workload.onnxfile import read_onnx

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import BuildModel

    Save = Callable[[onnx.ModelProto], str]

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
any_fixture = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def line(path: str, **options: Any) -> str:
    """The error that *path* raises, without its path and code."""
    with pytest.raises(PantileError) as caught:
        read_onnx(path, **options)
    lines = str(caught.value).splitlines()
    return "\n".join(text.removeprefix(f"{path}: ").removesuffix(" [PT-WORKLOAD]") for text in lines)


def mlp(build: BuildModel, batch: Any = 4) -> onnx.ModelProto:
    nodes = [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["h"], name="up", transB=1),
        helper.make_node("Relu", ["h"], ["r"], name="act"),
        helper.make_node("MatMul", ["r", "w2"], ["y"], name="down"),
    ]
    return build(nodes, {"x": [batch, 8]}, ["y"], {"w1": [16, 8], "b1": [16], "w2": [16, 2]})


def test_a_chain_of_layers(build: BuildModel, save: Save) -> None:
    path = save(mlp(build))
    network = read_onnx(path)
    assert (network.name, network.source) == ("net", path)
    up, act, down = network.nodes
    assert up.computation == Matmul(m=4, n=16, k=8, bias="default", transpose_b=True, name="up")
    assert up.attributes == {"transB": 1}
    assert down.computation == Matmul(m=4, n=2, k=16, name="down")
    assert (act.computation, act.outside) == (None, "Relu is no product")
    assert network.macs == 4 * 16 * 8 + 4 * 2 * 16
    assert network.tensors == (
        Tensor("w1", (16, 8), "initializer"),
        Tensor("b1", (16,), "initializer"),
        Tensor("w2", (16, 2), "initializer"),
        Tensor("x", (4, 8), "input"),
        Tensor("h", (4, 16), "intermediate"),
        Tensor("r", (4, 16), "intermediate"),
        Tensor("y", (4, 2), "intermediate"),
    )


def test_one_operand_may_be_both_sides(build: BuildModel, save: Save) -> None:
    network = read_onnx(save(build([helper.make_node("MatMul", ["x", "x"], ["y"])], {"x": [3, 3]}, ["y"])))
    assert network.nodes[0].computation == Matmul(m=3, n=3, k=3, name="MatMul_0")


def test_tensors_computed_from_constants_stand_where_first_used(build: BuildModel, save: Save) -> None:
    nodes = [
        helper.make_node("Transpose", ["late"], ["late_t"]),
        helper.make_node("Constant", [], ["one"], value_float=1.0),
        helper.make_node("Identity", ["late_t"], ["unused"]),
        helper.make_node("Mul", ["x", "one"], ["h"]),
        helper.make_node("MatMul", ["h", "late_t"], ["y"]),
    ]
    network = read_onnx(save(build(nodes, {"x": [2, 3]}, ["y"], {"late": [4, 3]})))
    order = [(tensor.name, tensor.dims, tensor.role) for tensor in network.tensors]
    assert order == [
        ("late", (4, 3), "initializer"),
        ("x", (2, 3), "input"),
        ("one", (), "initializer"),
        ("h", (2, 3), "intermediate"),
        ("late_t", (3, 4), "initializer"),
        ("y", (2, 4), "intermediate"),
        ("unused", (3, 4), "initializer"),
    ]
    assert [node.constant for node in network.nodes] == [True, True, True, False, False]
    assert network.nodes[0].outside == "computed from constants before the network runs"


def test_a_product_of_constants_still_computes(build: BuildModel, save: Save) -> None:
    nodes = [helper.make_node("MatMul", ["u", "v"], ["w"]), helper.make_node("MatMul", ["x", "w"], ["y"])]
    network = read_onnx(save(build(nodes, {"x": [1, 2]}, ["y"], {"u": [2, 3], "v": [3, 4]})))
    assert [node.macs for node in network.nodes] == [24, 8]
    assert network.tensor("w").role == "intermediate"


def test_nodes_outside_the_model_are_kept_with_their_reason(build: BuildModel, save: Save) -> None:
    weight = helper.make_node("Conv", ["x", "k"], ["c"], name="depthwise", group=2)
    custom = helper.make_node("Mystery", ["c"], ["m"], name="odd", domain="own")
    after = helper.make_node("MatMul", ["m", "w"], ["y"], name="lost")
    model = build(
        [weight, custom, after],
        {"x": [1, 2, 4, 4]},
        ["y"],
        {"k": [2, 1, 3, 3], "w": [2, 2]},
        opsets=[("", 17), ("own", 1)],
    )
    network = read_onnx(save(model))
    assert [node.outside for node in network.nodes] == [
        "convolution in 2 groups; the model covers 1",
        "own.Mystery is not known, and products in it are not counted",
        "the shape of 'm' cannot be inferred",
    ]
    assert [node.macs for node in network.nodes] == [2 * 2 * 2 * 9, 0, 0]
    assert (network.macs, network.outside_macs) == (0, 72)
    assert network.tensor("m").dims == ()


def test_a_size_that_depends_on_data_puts_a_product_outside(build: BuildModel, save: Save) -> None:
    nodes = [
        helper.make_node("NonZero", ["x"], ["i"]),
        helper.make_node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("MatMul", ["w", "f"], ["y"]),
    ]
    network = read_onnx(save(build(nodes, {"x": [3, 3]}, ["y"], {"w": [5, 2]})))
    assert network.nodes[2].outside == "'f' of 2xunk__0 has a size that depends on the data"


def test_unbound_dimensions_are_one_line_that_names_them_all(build: BuildModel, save: Save) -> None:
    nodes = [
        helper.make_node("Concat", ["past", "x"], ["all"], axis=1),  # a sum of two symbols is neither
        helper.make_node("MatMul", ["all", "w"], ["y"]),
        helper.make_node("Relu", ["mask"], ["z"]),
    ]
    inputs = {"x": ["batch", "new tokens", 4], "past": ["batch", "old", 4], "mask": ["unneeded"]}
    path = save(build(nodes, inputs, ["y"], {"w": [4, 4]}))
    assert line(path) == (
        "products depend on the unbound dimensions 'batch', 'new tokens', 'old';"
        " bind with --dim batch=V --dim 'new tokens'=V --dim old=V"
    )
    assert line(path, dims={"batch": 1, "old": 7}) == (
        "products depend on the unbound dimension 'new tokens'; bind with --dim 'new tokens'=V"
    )
    network = read_onnx(path, dims={"batch": 2, "new tokens": 1, "old": 7})
    assert network.nodes[1].computation == Matmul(m=16, n=4, k=4, name="MatMul_1")
    assert network.tensor("z").dims == ()


def test_a_past_that_has_not_begun_has_size_zero(build: BuildModel, save: Save) -> None:
    nodes = [
        helper.make_node("Concat", ["past", "x"], ["a"], axis=0),
        helper.make_node("MatMul", ["a", "w"], ["y"]),
    ]
    path = save(build(nodes, {"past": ["old", 4], "x": [3, 4]}, ["y"], {"w": [4, 5]}))
    assert read_onnx(path, dims={"old": 0}).nodes[1].computation == Matmul(m=3, n=5, k=4, name="MatMul_1")


def test_refuses_an_unknown_dimension(build: BuildModel, save: Save) -> None:
    path = save(mlp(build, "batch"))
    assert line(path, dims={"btch": 4}) == "unknown dimension 'btch'; did you mean 'batch'?"
    assert read_onnx(path, dims={"batch": 4}).macs == read_onnx(save(mlp(build))).macs


def test_every_node_that_cannot_be_is_reported(build: BuildModel, save: Save) -> None:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"], name="first"),
        helper.make_node("Conv", ["p", "k"], ["b"], name="second"),
    ]
    path = save(build(nodes, {"x": [2, 0], "p": [1, 3, 5, 5]}, ["a"], {"w": [0, 4], "k": [4, 2, 3, 3]}))
    assert line(path).splitlines() == [
        "node 'first': every size must be at least 1, but 'x' is 2x0",
        "node 'second': the input has 3 channels, but the weight takes 2",
    ]


def test_a_dimension_of_zero_bound_by_hand_is_refused_where_it_multiplies(
    build: BuildModel, save: Save
) -> None:
    path = save(mlp(build, "batch"))
    assert line(path, dims={"batch": 0}).splitlines() == [
        "node 'up': every size must be at least 1, but 'x' is 0x8",
        "node 'down': every size must be at least 1, but 'r' is 0x16",
    ]


def test_one_node_with_its_tensors(build: BuildModel, save: Save) -> None:
    path = save(mlp(build))
    network = read_onnx(path, node="down")
    assert network.source == f"{path}#down"
    assert [node.name for node in network.nodes] == ["down"]
    assert network.tensors == (
        Tensor("w2", (16, 2), "initializer"),
        Tensor("r", (4, 16), "input"),  # what other nodes computed comes from outside
        Tensor("y", (4, 2), "intermediate"),
    )


def test_one_node_needs_no_other_nodes_dimensions(build: BuildModel, save: Save) -> None:
    nodes = [helper.make_node("MatMul", [name, "w"], [f"{name}_y"], name=name.upper()) for name in ("p", "q")]
    path = save(build(nodes, {"p": ["a", 2], "q": ["b", 2]}, ["p_y"], {"w": [2, 2]}))
    assert read_onnx(path, dims={"b": 3}, node="Q").macs == 12
    assert line(path, dims={"b": 3}).startswith("products depend on the unbound dimension 'a'")


def test_refuses_a_node_that_is_not_there(build: BuildModel, save: Save) -> None:
    path = save(mlp(build))
    assert line(path, node="dwn") == "there is no node 'dwn'; did you mean 'down'?"
    assert line(path, node="zzz") == "there is no node 'zzz'; its first products are 'up', 'down'"


def test_a_file_without_products_says_so(build: BuildModel, save: Save) -> None:
    path = save(build([helper.make_node("Relu", ["x"], ["y"], name="act")], {"x": [1]}, ["y"]))
    assert read_onnx(path, node="act").macs == 0
    assert line(path, node="q") == "there is no node 'q'; it has no products"


def test_refuses_what_onnx_refuses(build: BuildModel, save: Save) -> None:
    model = mlp(build)
    del model.graph.node[1].output[:]
    del model.graph.node[2]
    assert line(save(model)).startswith("onnx cannot infer its shapes: [ShapeInferenceError]")


@pytest.mark.parametrize("path", ["", "no\0file.onnx"])
def test_refuses_what_is_no_path(path: str) -> None:
    with pytest.raises(WorkloadError):
        read_onnx(path)


batches = st.lists(st.integers(1, 3), max_size=3).map(tuple)


@given(st.tuples(batches, batches), st.tuples(*[st.integers(1, 4)] * 3))
@any_fixture
def test_result_of_a_matmul_is_what_onnx_infers(
    build: BuildModel, save: Save, batch: Any, sizes: Any
) -> None:
    m, n, k = sizes
    operands = {"x": (*batch[0], m, k), "w": (*batch[1], k, n)}
    path = save(build([helper.make_node("MatMul", ["x", "w"], ["y"])], operands, ["y"]))
    try:
        np.broadcast_shapes(*batch)
    except ValueError:
        assert "do not broadcast" in line(path)
        return
    network = read_onnx(path)
    product = network.nodes[0].computation
    assert isinstance(product, Matmul)
    inferred = network.tensor("y").dims
    if batch[1]:
        assert (*product.batch_shape, product.m, product.n) == inferred
    else:
        assert (product.m, product.n) == (prod(inferred[:-1]), inferred[-1])
    assert product.macs == prod(inferred) * k


pairs = st.tuples(st.integers(1, 3), st.integers(1, 3))


@given(
    size=st.tuples(st.integers(1, 12), st.integers(1, 12)),
    kernel=pairs,
    strides=pairs,
    dilations=pairs,
    pads=st.lists(st.integers(0, 2), min_size=4, max_size=4),
    auto_pad=st.sampled_from(["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"]),
)
@any_fixture
def test_result_of_a_convolution_is_what_onnx_infers(
    build: BuildModel,
    save: Save,
    size: Any,
    kernel: Any,
    strides: Any,
    dilations: Any,
    pads: Any,
    auto_pad: str,
) -> None:
    attributes = {"pads": pads} if auto_pad == "NOTSET" else {"auto_pad": auto_pad}
    node = helper.make_node("Conv", ["x", "w"], ["y"], strides=strides, dilations=dilations, **attributes)
    path = save(build([node], {"x": [2, 3, *size]}, ["y"], {"w": [5, 3, *kernel]}))
    added = [0, 0] if auto_pad != "NOTSET" else [pads[0] + pads[2], pads[1] + pads[3]]
    reach = [dilations[axis] * (kernel[axis] - 1) + 1 for axis in (0, 1)]
    if not auto_pad.startswith("SAME") and any(reach[axis] > size[axis] + added[axis] for axis in (0, 1)):
        assert "the kernel reaches over" in line(path)
        return
    network = read_onnx(path)
    convolution = network.nodes[0].computation
    assert isinstance(convolution, Convolution)
    result = (convolution.batch, convolution.out_channels, convolution.out_height, convolution.out_width)
    assert result == network.tensor("y").dims
    assert convolution.macs == prod(result) * 3 * kernel[0] * kernel[1]


@pytest.fixture(scope="module")
def light() -> dict[str, Network]:
    """Every network that ships inside the onnx package."""
    return {path.stem.removeprefix("light_"): read_onnx(str(path)) for path in sorted(LIGHT.glob("*.onnx"))}


@pytest.mark.parametrize(
    ("name", "convolutions", "gemms", "grouped"),
    [
        ("bvlc_alexnet", 5, 3, 3),
        ("densenet121", 121, 0, 0),
        ("inception_v1", 57, 1, 0),
        ("inception_v2", 69, 1, 0),
        ("resnet50", 53, 1, 0),
        ("shufflenet", 49, 1, 48),
        ("squeezenet", 26, 0, 0),
        ("vgg19", 16, 3, 0),
        ("zfnet512", 5, 3, 0),
    ],
)
def test_networks_of_the_onnx_package(
    light: dict[str, Network], name: str, convolutions: int, gemms: int, grouped: int
) -> None:
    network = light[name]
    products = [node for node in network.nodes if node.computation]
    assert sum(node.op_type == "Conv" for node in products) == convolutions
    assert sum(node.op_type == "Gemm" for node in products) == gemms
    assert sum("groups" in node.outside for node in products) == grouped
    assert all(node.outside for node in network.nodes if not node.computation)
    tensors = network.by_name()
    assert len(tensors) == len(network.tensors)
    named = {name for node in network.nodes for name in (*node.inputs, *node.outputs) if name}
    assert named <= tensors.keys()
    unread = tensors.keys() - named  # two of the files have an initializer for a data queue
    assert len(unread) <= 1
    assert all(tensors[name].role == "initializer" for name in unread)
    assert [tensor.name for tensor in network.tensors if tensor.role == "input"] in (
        ["data_0"],
        ["gpu_0/data_0"],
    )


def test_macs_of_resnet_50(light: dict[str, Network]) -> None:
    """From the published table: bottlenecks of 1x1, 3x3 (which has the stride) and 1x1, and shortcuts."""
    macs = 112**2 * 64 * 3 * 7**2
    size, channels = 56, 64
    for blocks, width, result in ((3, 64, 56), (4, 128, 28), (6, 256, 14), (3, 512, 7)):
        macs += result**2 * channels * 4 * width  # the shortcut of the first block
        for _ in range(blocks):
            macs += size**2 * channels * width + result**2 * width * (9 * width + 4 * width)
            size, channels = result, 4 * width
    macs += 2048 * 1000
    assert macs == 4_089_184_256
    assert light["resnet50"].macs == macs
    assert light["resnet50"].outside_macs == 0


def test_macs_of_vgg_19(light: dict[str, Network]) -> None:
    macs, channels = 0, 3
    for size, width, count in ((224, 64, 2), (112, 128, 2), (56, 256, 4), (28, 512, 4), (14, 512, 4)):
        for _ in range(count):
            macs += size**2 * width * channels * 9
            channels = width
    macs += 25088 * 4096 + 4096 * 4096 + 4096 * 1000
    assert light["vgg19"].macs == macs == 19_632_062_464
