from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pantile.errors import ManyProblems, WorkloadError
from pantile.workload.matmul import Matmul

batches = st.lists(st.integers(1, 3), max_size=3).map(tuple)


def test_one_product() -> None:
    product = Matmul(m=32, n=32, k=64)
    assert product.macs == 65_536
    assert product.batch == 1
    assert product.batch_shape == ()
    assert product.batch_indices("a") == product.batch_indices("b") == (0,)
    assert str(product) == "m32 n32 k64"
    assert product.einsum.sizes == (1, 32, 32, 64)


def test_a_batch_that_broadcasts() -> None:
    product = Matmul(m=2, n=3, k=5, a_batch=(2, 1), b_batch=(3,))
    assert product.batch_shape == (2, 3)
    assert product.macs == 2 * 3 * 2 * 3 * 5
    assert product.batch_indices("a") == (0, 0, 0, 1, 1, 1)
    assert product.batch_indices("b") == (0, 1, 2, 0, 1, 2)
    assert str(product) == "2x3 of m2 n3 k5"
    assert product.einsum.macs == product.macs


def test_nothing_to_reduce_is_a_product() -> None:
    assert Matmul(m=3, n=4, k=0).macs == 0


@given(batches, batches)
def test_broadcasts_as_numpy_does(a_batch: tuple[int, ...], b_batch: tuple[int, ...]) -> None:
    try:
        shape = np.broadcast_shapes(a_batch, b_batch)
    except ValueError:
        with pytest.raises(WorkloadError, match="do not broadcast"):
            Matmul(m=1, n=1, k=1, a_batch=a_batch, b_batch=b_batch)
        return
    product = Matmul(m=1, n=1, k=1, a_batch=a_batch, b_batch=b_batch)
    assert product.batch_shape == shape
    for operand, own in (("a", a_batch), ("b", b_batch)):
        numbered = np.arange(np.prod(own, dtype=int)).reshape(own)
        assert product.batch_indices(operand) == tuple(np.broadcast_to(numbered, shape).ravel())


@given(st.integers(-3, 3), st.integers(-3, 3), st.integers(-3, 3), batches)
def test_refuses_sizes_below_one(m: int, n: int, k: int, batch: tuple[int, ...]) -> None:
    assume(m < 1 or n < 1 or k < 0)
    with pytest.raises(WorkloadError, match=r"[mn] must be at least 1|k must not be negative"):
        Matmul(m=m, n=n, k=k, a_batch=batch)


def test_refuses_an_empty_batch() -> None:
    with pytest.raises(WorkloadError, match="a batch dimension must be at least 1, got 0"):
        Matmul(m=1, n=1, k=1, b_batch=(2, 0))


def test_batches_that_do_not_broadcast_say_how_to_mend_it() -> None:
    with pytest.raises(WorkloadError) as caught:
        Matmul(m=1, n=1, k=1, a_batch=(2, 3), b_batch=(2, 2))
    assert str(caught.value) == (
        "batches 2x3 and 2x2 do not broadcast; make each pair of batch dimensions equal, or one of them 1"
        " [PT-WORKLOAD]"
    )


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"m": 1.5}, "m must be a whole number, got 1.5"),
        ({"n": "3"}, "n must be a whole number, got '3'"),
        ({"k": True}, "k must be a whole number, got True"),
        ({"k": None}, "k must be a whole number, got None"),
        ({"a_batch": 4}, "a_batch must be a tuple of whole numbers, got 4"),
        ({"b_batch": [2]}, "b_batch must be a tuple of whole numbers, got [2]"),
        ({"a_batch": (2.0,)}, "a_batch must be a whole number, got 2.0"),
        ({"dtype": "bf16"}, "dtype must be an element type, got 'bf16'; write dtype=DTYPES['bf16']"),
        ({"out": 16}, "out must be an element type, got 16"),
        ({"bias": "none"}, "bias must be an element type, got 'none'"),
        ({"transpose_a": 1}, "transpose_a must be True or False, got 1"),
        ({"nz": "no"}, "nz must be True or False, got 'no'"),
        ({"name": 7}, "name must be a text, got 7"),
    ],
)
def test_a_field_of_another_type_is_one_line(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(WorkloadError) as caught:
        Matmul(**{"m": 4, "n": 4, "k": 4, **fields})
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


def test_all_fields_of_other_types_are_told_at_once() -> None:
    with pytest.raises(ManyProblems, match=r"m must be[\s\S]*dtype must be"):
        Matmul(m=1.5, n=1, k=1, dtype="bf16")  # type: ignore[arg-type]
