from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pantile.errors import WorkloadError
from pantile.workload.convolution import Convolution
from pantile.workload.matmul import Matmul
from pantile.workload.onnxmodel import GraphNode
from pantile.workload.onnxnodes import is_foldable, is_product, operands, read_product, why_outside

if TYPE_CHECKING:
    from collections.abc import Sequence


def node(
    op_type: str, inputs: Sequence[str] = ("x", "w"), *, domain: str = "", **attributes: Any
) -> GraphNode:
    return GraphNode(
        name="it",
        op_type=op_type,
        domain=domain,
        inputs=tuple(inputs),
        outputs=("y",),
        attributes=attributes,
        has_subgraph=op_type == "If",
        is_function=domain == "functions",
    )


BIASED = node("Gemm", ("x", "w", "c"))
PAIRED = node("Conv", group=2)
PICTURE, KERNEL = (1, 2, 5, 5), (4, 2, 3, 3)


@pytest.mark.parametrize(
    ("left", "right", "product"),
    [
        ((2, 3), (3, 4), Matmul(m=2, n=4, k=3, name="it")),
        ((3,), (3, 4), Matmul(m=1, n=4, k=3, name="it")),
        ((2, 3), (3,), Matmul(m=2, n=1, k=3, name="it")),
        ((3,), (3,), Matmul(m=1, n=1, k=3, name="it")),
        # a 2-D weight is one product over all rows, whatever batch they are in
        ((5, 2, 3), (3, 4), Matmul(m=10, n=4, k=3, name="it")),
        ((7, 5, 2, 3), (3,), Matmul(m=70, n=1, k=3, name="it")),
        ((5, 2, 3), (5, 3, 4), Matmul(m=2, n=4, k=3, a_batch=(5,), b_batch=(5,), name="it")),
        ((2, 3), (5, 3, 4), Matmul(m=2, n=4, k=3, b_batch=(5,), name="it")),
        ((3,), (5, 3, 4), Matmul(m=1, n=4, k=3, b_batch=(5,), name="it")),
        ((6, 1, 2, 3), (5, 3, 4), Matmul(m=2, n=4, k=3, a_batch=(6, 1), b_batch=(5,), name="it")),
    ],
)
def test_matmul(left: tuple[int, ...], right: tuple[int, ...], product: Matmul) -> None:
    assert read_product(node("MatMul"), (left, right)) == (product, "")


@pytest.mark.parametrize("op_type", ["Gemm", "FusedGemm"])
@pytest.mark.parametrize("transpose_a", [0, 1])
@pytest.mark.parametrize("transpose_b", [0, 1])
def test_gemm(op_type: str, transpose_a: int, transpose_b: int) -> None:
    left = (3, 2) if transpose_a else (2, 3)
    right = (4, 3) if transpose_b else (3, 4)
    computation, outside = read_product(
        node(op_type, transA=transpose_a, transB=transpose_b, alpha=2.0), (left, right)
    )
    assert computation == Matmul(
        m=2, n=4, k=3, transpose_a=bool(transpose_a), transpose_b=bool(transpose_b), name="it"
    )
    assert outside == ""


@pytest.mark.parametrize("bias", [(4,), (1, 4)])
def test_gemm_with_a_bias(bias: tuple[int, ...]) -> None:
    computation, outside = read_product(BIASED, ((2, 3), (3, 4), bias))
    assert computation == Matmul(m=2, n=4, k=3, bias="default", name="it")
    assert outside == ""


def test_an_omitted_third_operand_is_no_bias() -> None:
    gemm = node("Gemm", ("x", "w", ""))
    assert operands(gemm) == ("x", "w")
    assert read_product(gemm, ((2, 3), (3, 4)))[0] == Matmul(m=2, n=4, k=3, name="it")


@pytest.mark.parametrize(
    ("addend", "spelled"), [((2, 4), "2x4"), ((2, 1), "2x1"), ((), "a scalar"), ((1,), "1")]
)
def test_gemm_that_adds_more_than_a_row_is_outside_but_counted(addend: tuple[int, ...], spelled: str) -> None:
    computation, outside = read_product(BIASED, ((2, 3), (3, 4), addend))
    assert outside == f"adds a matrix of {spelled}; the model has a bias of one row of 4"
    assert computation is not None
    assert computation.macs == 24


def test_gemm_of_three_dimensions_is_outside() -> None:
    computation, outside = read_product(node("Gemm"), ((5, 2, 3), (3, 4)))
    assert computation is None
    assert outside == "Gemm of 5x2x3 and 3x4; ONNX defines it for 2 dimensions"


def test_convolution_as_given() -> None:
    computation, outside = read_product(
        node("Conv", kernel_shape=(3, 5), strides=(2, 1), pads=(1, 2, 3, 4), dilations=(1, 2), group=1),
        ((2, 8, 16, 20), (6, 8, 3, 5)),
    )
    assert outside == ""
    assert computation == Convolution(
        batch=2,
        in_channels=8,
        out_channels=6,
        height=16,
        width=20,
        kernel=(3, 5),
        strides=(2, 1),
        pads=(1, 2, 3, 4),
        dilations=(1, 2),
        name="it",
    )


def test_convolution_defaults() -> None:
    computation, _ = read_product(node("FusedConv"), ((1, 1, 4, 4), (1, 1, 3, 3)))
    assert isinstance(computation, Convolution)
    assert (computation.strides, computation.dilations, computation.groups) == ((1, 1), (1, 1), 1)
    assert computation.pads == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("auto_pad", "pads"),
    [
        # 6 rows in steps of 2 are 3 outputs: 2·2 + 3 − 6 = 1 of padding; 5 columns are 3: 2·2 + 4 − 5 = 3
        ("SAME_UPPER", (0, 1, 1, 2)),
        ("SAME_LOWER", (1, 2, 0, 1)),
        ("VALID", (0, 0, 0, 0)),
        ("NOTSET", (9, 9, 9, 9)),
        ("", (9, 9, 9, 9)),
    ],
)
def test_automatic_padding_is_resolved(auto_pad: str, pads: tuple[int, ...]) -> None:
    conv = node("Conv", auto_pad=auto_pad, strides=(2, 2), pads=(9, 9, 9, 9))
    computation, _ = read_product(conv, ((1, 1, 6, 5), (1, 1, 3, 4)))
    assert isinstance(computation, Convolution)
    assert computation.pads == pads


def test_grouped_convolution_is_outside_but_counted() -> None:
    computation, outside = read_product(node("Conv", group=4), ((1, 8, 5, 5), (12, 2, 3, 3)))
    assert outside == "convolution in 4 groups; the model covers 1"
    assert computation is not None
    assert computation.macs == 9 * 12 * 2 * 9


@pytest.mark.parametrize("dimensions", [1, 3])
def test_convolutions_of_other_dimensions_are_outside(dimensions: int) -> None:
    shape = (1, 1) + (4,) * dimensions
    assert read_product(node("Conv"), (shape, shape)) == (
        None,
        f"{dimensions}-D convolution; the model covers 2-D, and its products are not counted",
    )


@pytest.mark.parametrize(
    ("product", "shapes", "problem"),
    [
        (node("MatMul"), ((2, 3), (4, 5)), "k is 3 in 'x', but 4 in 'w'"),
        (node("MatMul"), ((2, 0), (0, 5)), "every size must be at least 1, but 'x' is 2x0"),
        (node("MatMul"), ((2, 3), (3, -5)), "every size must be at least 1, but 'w' is 3x-5"),
        (node("MatMul"), ((), (3, 5)), "MatMul takes no scalar"),
        (node("MatMul"), ((2, 1, 3), (3, 3, 5)), "batches 2 and 3 do not broadcast"),
        (node("MatMul", ("x",)), ((2, 3),), "MatMul needs 2 operands, got 1"),
        (node("Conv", ("", "w")), ((2, 3),), "Conv needs 2 operands, got 1"),
        (node("Gemm", transB=1), ((2, 3), (3, 4)), "k is 3 in 'x', but 4 in 'w'"),
        (node("Gemm", transA="yes"), ((2, 3), (3, 4)), "attribute transA must be an integer, got 'yes'"),
        (BIASED, ((2, 3), (3, 4), (5,)), "'c' of 5 does not fit a result of 2x4"),
        (BIASED, ((2, 3), (3, 4), (1, 1, 4)), "'c' of 1x1x4 does not fit a result of 2x4"),
        (node("Conv"), ((1, 2, 5, 5), (4, 3, 3, 3)), "the input has 2 channels, but the weight takes 3"),
        (
            node("Conv", group=2),
            ((1, 2, 5, 5), (4, 3, 3, 3)),
            "the input has 2 channels, but the weight takes 3 in each of 2 groups",
        ),
        (PAIRED, (PICTURE, (3, 1, 3, 3)), "2 groups do not divide 2 input and 3 output channels"),
        (node("Conv"), ((1, 2, 5, 5), (4, 2, 3)), "a convolution of 1x2x5x5 by 4x2x3 is none"),
        (node("Conv"), ((1, 1), (1, 1)), "a convolution of 1x1 by 1x1 is none"),
        (node("Conv", kernel_shape=(5, 5)), (PICTURE, KERNEL), "kernel_shape is 5x5, but the weight has 3x3"),
        (node("Conv", strides=(1,)), (PICTURE, KERNEL), r"attribute strides must be 2 integers, got (1,)"),
        (node("Conv", pads=3), (PICTURE, KERNEL), "attribute pads must be 4 integers, got 3"),
        (node("Conv"), ((1, 2, 2, 5), KERNEL), "the kernel reaches over 3x3, but the padded picture is 2x5"),
        (
            node("Conv", pads=(0, 0, -1, 0)),
            (PICTURE, KERNEL),
            "every count of a convolution must be at least 1, every pad at least 0",
        ),
        (
            node("Conv", auto_pad="SAME"),
            (PICTURE, KERNEL),
            "auto_pad must be NOTSET, VALID, SAME_UPPER or SAME_LOWER, got 'SAME'",
        ),
        (
            node("Conv", auto_pad="SAME_UPPER", strides=(0, 1)),
            (PICTURE, KERNEL),
            "strides and dilations must be at least 1, got [0, 1, 1, 1]",
        ),
    ],
)  # fmt: skip
def test_refuses(product: GraphNode, shapes: tuple[tuple[int, ...], ...], problem: str) -> None:
    with pytest.raises(WorkloadError) as caught:
        read_product(product, shapes)
    assert caught.value.problem == problem


def test_a_shape_of_a_broken_file_is_cut() -> None:
    with pytest.raises(WorkloadError) as caught:
        read_product(node("MatMul"), ((1,) * 90 + (0,), (1, 1)))
    assert caught.value.problem == "every size must be at least 1, but 'x' is 1x1x1x1x1x1x1x1x…"


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (node("Relu"), "Relu is no product"),
        (node("BiasGelu", domain="com.microsoft"), "com.microsoft.BiasGelu is no product"),
        (node("MatMulInteger"), "MatMulInteger is not modelled, and its products are not counted"),
        (node("Attention"), "Attention is not modelled, and its products are not counted"),
        (node("If"), "If runs a graph of its own, whose products are not counted"),
        (
            node("MatMul", domain="functions"),
            "functions.MatMul is a function of the file, whose products are not counted;"
            " inline it to see them",
        ),
        (
            node("Attention", domain="com.microsoft"),
            "com.microsoft.Attention is not modelled, and its products are not counted",
        ),
        (node("MatMul", domain="own"), "own.MatMul is not known, and products in it are not counted"),
    ],
)
def test_reasons_for_being_outside(other: GraphNode, reason: str) -> None:
    assert not is_product(other)
    assert why_outside(other) == reason


@pytest.mark.parametrize("op_type", ["Gemm", "FusedGemm", "MatMul", "Conv", "FusedConv"])
@pytest.mark.parametrize("domain", ["", "com.microsoft"])
def test_products_compute_and_are_never_folded(op_type: str, domain: str) -> None:
    assert is_product(node(op_type, domain=domain))
    assert not is_foldable(node(op_type, domain=domain))


def test_what_always_gives_the_same_can_be_folded() -> None:
    assert is_foldable(node("Transpose"))
    assert is_foldable(node("Constant", ()))
    for other in ("RandomNormal", "Einsum", "If"):
        assert not is_foldable(node(other))
    assert not is_foldable(node("Transpose", domain="own"))
