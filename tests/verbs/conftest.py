"""Machines made of figures, and the case that the seed works out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pantile.machine.onnxim import onnxim_machine

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.machine import Machine

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


@pytest.fixture(scope="session")
def machine() -> Callable[..., Machine]:
    """A function that returns configuration A8 with changes."""

    def make(**changes: Any) -> Machine:
        return onnxim_machine(A8 | changes, "a8")

    return make


@pytest.fixture(scope="session")
def seed() -> tuple[str, str]:
    """Workload and mapping of the worked example: 2 x 2 x 2 tiles of 16 x 16 x 32."""
    return "gemm:m=32,n=32,k=64", "[T] N32 C64 M32 - [O] N2 C2 M2 - [I] N16 C32 M16"
