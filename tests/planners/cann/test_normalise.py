"""What the operator checks, and what it makes of batches."""

from __future__ import annotations

from typing import Any

import pytest

from pantile.errors import ManyProblems, PantileError
from pantile.planners.cann.normalise import is_exchanged_view, normalise
from pantile.planners.cann.problem import OperatorProblem, problem_of
from pantile.workload.text import parse_workload


def call(**changes: Any) -> OperatorProblem:
    given: dict[str, Any] = {"a_shape": (6, 500, 300), "b_shape": (6, 300, 200), "c_shape": (6, 500, 200)}
    return OperatorProblem(**(given | changes))


def test_batches_become_rows_where_b_has_one_and_a_is_not_transposed() -> None:
    """Quirk 8: bf16 [6,500,300] x [1,300,200] is one product of 3000 rows; with A transposed it is not."""
    folded = normalise(call(b_shape=(1, 300, 200)))
    assert (folded.m, folded.n, folded.k, folded.batch_a, folded.batch_c, folded.folded) == (
        3000,
        200,
        300,
        1,
        1,
        6,
    )
    without_batch = normalise(call(b_shape=(300, 200)))
    assert (without_batch.m, without_batch.batch_c) == (3000, 1)
    kept = normalise(call(a_shape=(6, 300, 500), b_shape=(1, 300, 200), transpose_a=True))
    assert (kept.m, kept.batch_a, kept.batch_b, kept.batch_c, kept.folded) == (500, 6, 1, 6, 1)


def test_missing_batch_dimensions_are_1_and_the_innermost_is_last() -> None:
    given = normalise(call(a_shape=(4, 1, 5, 3), b_shape=(2, 3, 7), c_shape=(4, 2, 5, 7)))
    assert (given.a_dims, given.b_dims, given.c_dims) == ((1, 1, 4, 1), (1, 1, 1, 2), (1, 1, 4, 2))


def test_a_bias_may_have_batches_of_its_own() -> None:
    assert normalise(call(bias_shape=(200,), bias_dtype="bf16")).batch_bias == 1
    assert normalise(call(bias_shape=(1, 200), bias_dtype="fp32")).batch_bias == 1
    assert normalise(call(bias_shape=(6, 1, 200), bias_dtype="bf16")).batch_bias == 6
    # Batches are compared after folding: one row for the rows of all batches.
    assert normalise(call(b_shape=(300, 200), bias_shape=(1, 1, 200), bias_dtype="bf16")).batch_bias == 1
    with pytest.raises(PantileError, match="must be the output's 1x1x1x1, got 6"):
        normalise(call(b_shape=(300, 200), bias_shape=(6, 1, 200), bias_dtype="bf16"))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"b_shape": (6, 301, 200)}, "k must be the same in A and B, got 300 and 301"),
        ({"a_dtype": "fp64"}, "dtype must be fp16, bf16 or fp32, got fp64"),
        (
            {"a_dtype": "fp16"},
            "types must be fp16 or bf16 to the same or fp32, with a bias of either, or all fp32, "
            "got fp16 x bf16 to bf16",
        ),
        ({"a_format": "FRACTAL_NZ"}, "A must be stored as ND, got FRACTAL_NZ"),
        ({"c_format": "FRACTAL_NZ"}, "the output must be stored as ND, got FRACTAL_NZ"),
        ({"a_shape": (6, 0, 300)}, "m must be from 1 to 2147483647, got 0"),
        ({"a_shape": (6, 2**31, 300)}, "m must be from 1 to 2147483647, got 2147483648"),
        ({"a_shape": (5, 500, 300)}, "batches must be equal or 1, dimension by dimension, got 5 and 6"),
        ({"a_shape": (0, 500, 300)}, None),
        ({"b_shape": (-6, 300, 200)}, None),
        ({"a_shape": (1, 1, 1, 1, 6, 500, 300)}, "A has at most 6 dimensions, got 7"),
        (
            {"a_shape": (500,)},
            "A, B and the output need at least 2 dimensions each, got 500, 6x300x200, 6x500x200",
        ),
        (
            {"bias_shape": (100,), "bias_dtype": "bf16"},
            "a bias must end in the output's 200 columns, got 100",
        ),
        ({"bias_shape": (2, 200), "bias_dtype": "bf16"}, "a bias has one row, got 2 in 2x200"),
        (
            {"bias_shape": (3, 1, 200), "bias_dtype": "bf16"},
            "batches of the bias must be the output's 1x1x1x6, got 3",
        ),
        (
            {"a_shape": (6, 500, 0), "b_shape": (6, 0, 200), "bias_shape": (200,), "bias_dtype": "bf16"},
            "a product over k = 0 takes no bias, got one",
        ),
    ],
)
def test_what_the_operator_refuses(changes: dict[str, Any], problem: str | None) -> None:
    with pytest.raises(PantileError) as caught:
        normalise(call(**changes))
    if problem is not None:
        assert str(caught.value) == f"{problem} [PT-WORKLOAD]"


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(ManyProblems) as caught:
        normalise(call(b_shape=(5, 301, 200), a_dtype="int8", c_format="FRACTAL_NZ"))
    assert len(caught.value.problems) == 4


def test_views_with_batch_and_rows_exchanged() -> None:
    assert is_exchanged_view((16, 196, 128), (128, 2048, 1))
    assert not is_exchanged_view((16, 196, 128), (25088, 128, 1))  # dense
    assert not is_exchanged_view((16, 196, 128), (128, 4096, 1))
    assert not is_exchanged_view((196, 128), (128, 1))


def test_a_product_becomes_a_call() -> None:
    product = parse_workload("bmm:a=16x512x256,b=1x1024x512,dtype=fp16,ta,tb,bias=fp32,out=fp32,hf32,nz")
    assert problem_of(product) == OperatorProblem(
        a_shape=(16, 512, 256),
        b_shape=(1, 1024, 512),
        c_shape=(16, 256, 1024),
        transpose_a=True,
        transpose_b=True,
        a_dtype="fp16",
        b_dtype="fp16",
        c_dtype="fp32",
        bias_shape=(1024,),
        bias_dtype="fp32",
        hf32=True,
        b_format="FRACTAL_NZ",
    )
    assert problem_of(parse_workload("gemm:m=1,n=2,k=3,bias")).bias_dtype == "bf16"
