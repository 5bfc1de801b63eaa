"""From a plan to a program: what is refused, what it is labelled with."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.errors import OutsideModelError
from pantile.program.program import Program
from pantile.targets.systolic.allocate import tensor_addresses
from pantile.targets.systolic.config import SystolicConfig
from pantile.targets.systolic.lower import lower
from pantile.tiling.onnxim import LoopCounts
from pantile.tiling.plan import Note, Plan
from pantile.workload.convolution import Convolution
from pantile.workload.matmul import Matmul
from pantile.workload.network import Network, network_of

Lowered = Callable[..., Program]
ConfigOf = Callable[..., SystolicConfig]


def test_program_of_a_product(lowered: Lowered, config_of: ConfigOf) -> None:
    program = lowered("[T] N32 C64 M16 - [O] N2 C2 M1 - [I] N16 C32 M16", config_of())
    assert (program.family, program.semantics) == ("systolic", "faithful")
    assert program.axes == ("b", "m", "n", "k")
    assert program.extents == (1, 32, 16, 64)
    assert program.loops == (("b", 1), ("m", 2), ("n", 1), ("k", 2))
    assert program.reductions == ("k",)
    assert [operand.name for operand in program.operands] == ["a", "b", "c"]


def test_notes_of_the_model_are_labels(config_of: ConfigOf) -> None:
    network = network_of(Matmul(m=8, k=8, n=8))
    counts = LoopCounts(8, 8, 8).to_json()
    one = LoopCounts(1, 1, 1).to_json()
    plan = Plan(
        planner="onnxim",
        semantics="fixed",
        parameters={
            "kind": "gemm",
            "total": counts,
            "outer": one,
            "inner": counts,
            "has_bias": False,
            "batch": 1,
        },
        notes=(Note("Q17", "square"), Note("model", "pantile: something")),
    )
    addresses = tensor_addresses(network, 1, wrap=False)
    program = lower(network.nodes[0], plan, network, addresses, config_of())
    assert program.labels == ("pantile: something",)


def test_grouped_convolution_is_outside(
    lowered_counts: Lowered, config_of: ConfigOf, conv_network: Callable[..., Network]
) -> None:
    conv = Convolution(batch=1, in_channels=4, out_channels=4, height=4, width=4, kernel=(1, 1), groups=2)
    whole = LoopCounts(1, 2, 4, 1, 1, 4, 4)
    with pytest.raises(OutsideModelError, match=r"conv: 2 groups"):
        lowered_counts(conv_network(conv), (whole, LoopCounts(1, 1, 1), whole), config_of())


@settings(deadline=None, max_examples=30)
@given(data=st.data(), bias=st.booleans())
def test_programs_survive_json(
    lowered_counts: Lowered,
    config_of: ConfigOf,
    product_cuts: st.SearchStrategy[tuple[LoopCounts, LoopCounts, LoopCounts]],
    data: st.DataObject,
    bias: bool,
) -> None:
    counts = data.draw(product_cuts)
    total = counts[0]
    product = Matmul(m=total.N, k=total.C, n=total.M, bias="default" if bias else None)
    program = lowered_counts(network_of(product), counts, config_of(core_height=4, core_width=4))
    assert Program.from_json(json.loads(json.dumps(program.to_json()))) == program


def test_a_convolution_survives_json(
    lowered_counts: Lowered, config_of: ConfigOf, conv_network: Callable[..., Network]
) -> None:
    conv = Convolution(batch=1, in_channels=4, out_channels=4, height=4, width=4, kernel=(3, 3))
    counts = (LoopCounts(1, 4, 4, 3, 3, 2, 2), LoopCounts(1, 1, 1, Q=2), LoopCounts(1, 4, 4, 3, 3, 1, 2))
    program = lowered_counts(conv_network(conv), counts, config_of(), semantics="fixed")
    assert Program.from_json(json.loads(json.dumps(program.to_json()))) == program
