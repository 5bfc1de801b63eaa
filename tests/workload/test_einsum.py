from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pantile.errors import WorkloadError
from pantile.workload.einsum import Einsum


def test_parts_of_a_product() -> None:
    product = Einsum("mk, kn -> mn", (2, 3, 4))
    assert product.operands == ("mk", "kn")
    assert product.output == "mn"
    assert product.reductions == "k"
    assert product.dimensions == "mnk"
    assert [product.size_of(letter) for letter in "mnk"] == [2, 3, 4]
    assert product.macs == 24


def test_two_reductions_stand_in_order_of_appearance() -> None:
    assert Einsum("mkj,jkn->mn", (1, 1, 1, 1)).dimensions == "mnkj"


@given(st.tuples(*[st.integers(0, 4)] * 4))
def test_macs_are_what_numpy_multiplies(sizes: tuple[int, int, int, int]) -> None:
    product = Einsum("bmk,bkn->bmn", sizes)
    b, m, n, k = sizes
    ones = np.einsum("bmk,bkn->bmn", np.ones((b, m, k)), np.ones((b, k, n)))
    assert product.macs == ones.sum()


@pytest.mark.parametrize(
    ("subscripts", "sizes", "problem"),
    [
        ("mk,kn", (1, 1, 1), "expected two operands and an output"),
        ("mk->m", (1, 1), "expected two operands and an output"),
        ("mk,kn,nj->mj", (1,) * 4, "expected two operands and an output"),
        ("m1,1n->mn", (1, 1, 1), "expected two operands and an output"),
        ("mk,kn->", (1, 1, 1), "expected two operands and an output"),
        ("mk,kn->mz", (1, 1, 1), "has a dimension that no operand has"),
        ("mm,mn->n", (1, 1), "stands twice in one operand"),
        ("mk,kn->mn", (1, 1), "has 3 dimensions, got 2 sizes"),
        ("mk,kn->mn", (1, -1, 1), "must not be negative"),
    ],
)
def test_refuses(subscripts: str, sizes: tuple[int, ...], problem: str) -> None:
    with pytest.raises(WorkloadError, match=problem):
        Einsum(subscripts, sizes)
