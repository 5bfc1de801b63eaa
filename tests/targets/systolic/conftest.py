"""Small machines and programs of the systolic family, lowered from a mapping's text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from pantile.machine.onnxim import onnxim_machine
from pantile.program.program import Program
from pantile.targets.systolic.allocate import tensor_addresses
from pantile.targets.systolic.config import SystolicConfig, systolic_config
from pantile.targets.systolic.lower import lower
from pantile.tiling.onnxim import LoopCounts, parse_mapping
from pantile.tiling.plan import Plan
from pantile.workload.convolution import Convolution
from pantile.workload.matmul import Matmul
from pantile.workload.network import Network, Node, Tensor, network_of

A8: dict[str, Any] = {
    "num_cores": 1,
    "core_freq": 1000,
    "core_width": 8,
    "core_height": 8,
    "spad_size": 64,
    "accum_spad_size": 16,
    "dram_type": "simple",
    "dram_freq": 400,
    "dram_channels": 2,
    "dram_req_size": 32,
    "dram_latency": 10,
    "icnt_type": "simple",
    "icnt_latency": 1,
    "icnt_freq": 2000,
    "icnt_injection_ports_per_core": 1,
    "precision": 1,
    "layout": "NHWC",
    "scheduler": "simple",
}
"""The machine of most hand-worked figures: configuration A8 of onnxim-model.md section 14."""


def make_config(**changes: Any) -> SystolicConfig:
    """A8 with other figures, under the names of an ONNXim configuration."""
    return systolic_config(onnxim_machine(A8 | changes, "test"))


def network_of_convolution(conv: Convolution, *, channels_last: bool = True) -> Network:
    """A network of one convolution: kernel first, then the picture, as ONNXim allocates them."""
    picture, result = (
        (n, h, w, c) if channels_last else (n, c, h, w)
        for n, h, w, c in (
            (conv.batch, conv.height, conv.width, conv.in_channels),
            (conv.batch, conv.out_height, conv.out_width, conv.out_channels),
        )
    )
    kernel = (conv.out_channels, conv.in_channels // conv.groups, *conv.kernel)
    node = Node(name="conv", op_type="Conv", inputs=("x", "w"), outputs=("y",), computation=conv)
    tensors = (
        Tensor("w", kernel, "initializer"),
        Tensor("x", picture, "input"),
        Tensor("y", result, "intermediate"),
    )
    return Network(name="conv", nodes=(node,), tensors=tensors)


def lower_counts(
    network: Network,
    counts: tuple[LoopCounts, LoopCounts, LoopCounts],
    config: SystolicConfig,
    *,
    semantics: str = "faithful",
    batch: int = 1,
    has_bias: bool | None = None,
) -> Program:
    """The program of a network's only node under the mapping (total, outer, inner)."""
    (node,) = network.nodes
    total, outer, inner = (each.to_json() for each in counts)
    parameters = {
        "kind": "conv" if isinstance(node.computation, Convolution) else "gemm",
        "total": total,
        "outer": outer,
        "inner": inner,
        "has_bias": node.op_type == "Gemm" if has_bias is None else has_bias,
        "batch": batch,
    }
    plan = Plan(planner="onnxim", semantics=semantics, parameters=parameters)
    addresses = tensor_addresses(network, config.precision, wrap=semantics == "faithful")
    return lower(node, plan, network, addresses, config)


def lower_line(line: str, config: SystolicConfig, *, bias: bool = False, **more: Any) -> Program:
    """The program of a product under one line of the mapping notation."""
    mapping = parse_mapping(line, semantics="faithful")
    total = mapping.total
    product = Matmul(m=total.N, n=total.M, k=total.C, bias="default" if bias else None)
    return lower_counts(network_of(product), (total, mapping.outer, mapping.inner), config, **more)


Counts = tuple[LoopCounts, LoopCounts, LoopCounts]


def _totals_of(conv: Convolution) -> LoopCounts:
    (s, r), q, p = conv.kernel, conv.out_height, conv.out_width
    return LoopCounts(conv.batch, conv.in_channels, conv.out_channels, s, r, q, p)


def _ceil(a: int, b: int) -> int:
    return -(-a // b)


@st.composite
def _convolutions(draw: st.DrawFn) -> Convolution:
    kernel = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    strides = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    dilations = draw(st.tuples(st.integers(1, 2), st.integers(1, 2)))
    pads = draw(st.tuples(*[st.integers(0, 2)] * 4))
    height, width = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    for side, size in enumerate((height, width)):
        assume(size + pads[side] + pads[side + 2] >= dilations[side] * (kernel[side] - 1) + 1)
    return Convolution(
        batch=draw(st.integers(1, 2)),
        in_channels=draw(st.integers(1, 6)),
        out_channels=draw(st.integers(1, 6)),
        height=height,
        width=width,
        kernel=kernel,
        strides=strides,
        pads=pads,
        dilations=dilations,
    )


@st.composite
def _convolution_cuts(draw: st.DrawFn) -> tuple[Convolution, Counts]:
    """A convolution and a mapping that covers it, with ragged tiles and surplus ones."""
    conv = draw(_convolutions())
    total = _totals_of(conv)
    inner = {letter: draw(st.integers(1, min(count, 4) + 1)) for letter, count in total.items()}
    outer = {
        letter: _ceil(count, inner[letter]) + draw(st.sampled_from([0, 0, 0, 1]))
        for letter, count in total.items()
    }
    tiles = np.prod(list(outer.values()))
    assume(tiles <= 300)
    return conv, (total, LoopCounts(**outer), LoopCounts(**inner))


@st.composite
def _product_cuts(draw: st.DrawFn) -> tuple[LoopCounts, LoopCounts, LoopCounts]:
    """Totals with inner sizes that may exceed them, and outer counts too small, right or too large."""
    total, outer, inner = {}, {}, {}
    for letter in "NCM":
        total[letter] = draw(st.integers(1, 26))
        inner[letter] = draw(st.integers(1, 20))
        enough = _ceil(total[letter], inner[letter])
        outer[letter] = max(1, min(5, enough + draw(st.integers(-1, 1))))
    return LoopCounts(**total), LoopCounts(**outer), LoopCounts(**inner)


@pytest.fixture(scope="session")
def config_of() -> Callable[..., SystolicConfig]:
    return make_config


@pytest.fixture(scope="session")
def lowered() -> Callable[..., Program]:
    """Lowers a line of the mapping notation."""
    return lower_line


@pytest.fixture(scope="session")
def lowered_counts() -> Callable[..., Program]:
    """Lowers loop counts of a network's only node."""
    return lower_counts


@pytest.fixture(scope="session")
def conv_network() -> Callable[..., Network]:
    return network_of_convolution


@pytest.fixture(scope="session")
def product_cuts() -> st.SearchStrategy[Counts]:
    """Products of up to 26 elements a side, cut too finely, rightly or with surplus."""
    return _product_cuts()


@pytest.fixture(scope="session")
def convolution_cuts() -> st.SearchStrategy[tuple[Convolution, Counts]]:
    """Convolutions of up to 7 x 7 pictures, each under a mapping that covers it."""
    return _convolution_cuts()
