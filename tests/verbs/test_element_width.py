"""The element width of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pantile.errors import ManyProblems, OutsideModelError
from pantile.targets.systolic.config import systolic_config
from pantile.verbs.element_width import with_element_width
from pantile.workload.load import load_workload

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.machine import Machine


@pytest.mark.parametrize(
    ("workload", "width", "noted"),
    [
        ("gemm:m=8,n=8,k=8", 1, False),
        ("gemm:m=8,n=8,k=8,bias", 1, False),
        ("gemm:m=8,n=8,k=8,dtype=int8", 1, False),
        ("gemm:m=8,n=8,k=8,dtype=bf16", 2, True),
        ("bmm:b=1,m=8,n=8,k=8,dtype=fp32,out=fp32,bias=fp32", 4, True),
    ],
)
def test_the_workload_overrides_the_machine(
    workload: str, width: int, noted: bool, machine: Callable[..., Machine]
) -> None:
    config, notes = with_element_width(systolic_config(machine()), load_workload(workload)[0])
    assert (config.precision, bool(notes)) == (width, noted)


@pytest.mark.parametrize(
    ("workload", "problem"),
    [
        ("gemm:m=8,n=8,k=8,dtype=int4", "elements of 4 bits; a systolic machine has whole bytes"),
        ("bmm:b=1,m=8,n=8,k=8,dtype=int8,bias=fp32", "elements of 8 bits and 32 bits in one run"),
        ("bmm:b=1,m=8,n=8,k=8,out=fp16,bias=fp32", "elements of 16 bits and 32 bits in one run"),
        ("bmm:b=1,m=8,n=8,k=8,nz", "nz: no meaning on a systolic machine"),
    ],
)
def test_what_a_systolic_machine_does_not_have(
    workload: str, problem: str, machine: Callable[..., Machine]
) -> None:
    with pytest.raises(OutsideModelError, match=f"^{workload}: {problem}"):
        with_element_width(systolic_config(machine()), load_workload(workload)[0])


def test_all_problems_are_raised_at_once(machine: Callable[..., Machine]) -> None:
    network = load_workload("bmm:b=1,m=8,n=8,k=8,dtype=int8,out=fp32,hf32,nz")[0]
    with pytest.raises(ManyProblems) as caught:
        with_element_width(systolic_config(machine()), network)
    assert [each.problem.split(":")[0].split()[0] for each in caught.value.problems] == [
        "hf32",
        "nz",
        "elements",
    ]
