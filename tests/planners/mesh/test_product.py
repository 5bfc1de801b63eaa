"""Which products a mesh computes, and in which types."""

from __future__ import annotations

import pytest

from pantile.errors import OutsideModelError
from pantile.planners.mesh.product import product_of
from pantile.workload.dtypes import dtype
from pantile.workload.matmul import Matmul


@pytest.mark.parametrize(
    ("precision", "named", "dtypes"),
    [
        (1, None, ("int8", "int8", "int32")),
        (2, None, ("bf16", "bf16", "fp32")),
        (4, None, ("fp32", "fp32", "fp32")),
        (4, "int16", ("int16", "int16", "int32")),
        (4, "fp64", ("fp64", "fp64", "fp64")),
        (3, "fp16", ("fp16", "fp16", "fp32")),
    ],
)
def test_types(precision: int, named: str | None, dtypes: tuple[str, str, str]) -> None:
    matmul = Matmul(m=2, n=3, k=4, dtype=dtype(named) if named else None)
    assert product_of(matmul, precision).dtypes == dtypes


def test_sizes_bytes_and_how_operands_are_stored() -> None:
    matmul = Matmul(m=2, n=3, k=4, a_batch=(5, 2), b_batch=(5, 2), dtype=dtype("int8"), transpose_b=True)
    product = product_of(matmul, 4)
    assert product.sizes == (10, 2, 3, 4)
    assert product.subscripts == "bmk,bnk->bmn"
    assert product.operand_bytes == (80, 120, 240)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"k": 0}, "a reduction of no elements computes nothing"),
        ({"bias": "default"}, "a bias is not added on a mesh"),
        ({"hf32": True}, "hf32 has no meaning on a mesh"),
        ({"nz": True}, "nz has no meaning on a mesh"),
        ({"dtype": dtype("int4")}, "elements of 4 bits; a mesh has whole bytes"),
        ({"dtype": dtype("int8"), "out": dtype("int8")}, "sums leave as int32, got out=int8"),
        ({"a_batch": (2,), "b_batch": (1,)}, "operands of unequal batches: a shard would serve several"),
        ({"a_batch": (2,)}, "operands of unequal batches"),
    ],
)
def test_outside(change: dict[str, object], reason: str) -> None:
    with pytest.raises(OutsideModelError) as caught:
        product_of(Matmul(**{"m": 2, "n": 3, "k": 4, **change}), 4)  # type: ignore[arg-type]
    assert caught.value.problem.startswith(reason)


def test_a_width_that_names_no_type() -> None:
    with pytest.raises(OutsideModelError, match="precision_bytes is 3, which names no element type"):
        product_of(Matmul(m=2, n=3, k=4), 3)
