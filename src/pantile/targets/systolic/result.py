"""What a simulation of a systolic NPU measured."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

CORE = np.dtype(
    [
        ("matmul_active_cycle", "i8"),
        ("memory_idle_cycle", "i8"),
        ("systolic_bubble_cycle", "i8"),
        ("core_idle_cycle", "i8"),
        ("systolic_active_cycle", "i8"),
        ("total_cycle", "i8"),
        ("read_responses", "i8"),
        ("write_responses", "i8"),
        ("systolic_inst_issue_count", "i8"),
        ("systolic_preload_issue_count", "i8"),
    ]
)
"""The counters that ONNXim prints per core (onnxim-model.md section 11), under the golden files' names."""

TERMS = ("compute", "drain", "fill", "wait-load", "wait-store", "wait-slot", "wait-flag", "issue", "idle")
"""Classes of cycles; each cycle of a core takes the first that holds (design of the terms)."""

TILE = np.dtype(
    [
        ("core", "i8"),
        ("issue_cycle", "i8"),
        ("finish_cycle", "i8"),
        ("scratchpad_half", "i8"),
        ("accumulator_half", "i8"),
        ("read_requests", "i8"),
        ("write_requests", "i8"),
        ("overtaken", "i8"),
    ]
)
"""Per tile: the core that ran it, that core's cycle counter when it was issued and when it left, the
halves it used, the requests its instructions made, and how many of its MOVOUTs issued while an older
tile of their output region, still resident, had computes left to issue: such a store may lose
contributions (quirks Q6, Q28)."""

OPERATION = np.dtype(
    [
        ("issue", "i8"),
        ("enter", "i8"),
        ("start", "i8"),
        ("finish", "i8"),
    ]
)
"""Per instruction, in core-counter cycles. Every kind: ``issue``, leaving the tile. MOVIN: ``enter``,
its requests enter the FIFO, ``finish``, its block is valid. Compute: ``enter`` the pipeline, ``start``
and ``finish`` as computed then. MOVOUT: ``enter``, its requests enter the FIFO. ``start`` of a move is
its ``enter``; ``finish`` of a MOVOUT is the cycle in which its last write response is seen."""

REQUEST = np.dtype(
    [
        ("op", "i8"),
        ("addr", "i8"),
        ("write", "i8"),
        ("core", "i8"),
        ("channel", "i8"),
        ("src_port", "i8"),
        ("dst_node", "i8"),
        ("enqueue_core_cycle", "i8"),
        ("inject_icnt_tick", "i8"),
        ("dram_push_icnt_tick", "i8"),
        ("dram_cycles_before_push", "i8"),
        ("dram_pop_icnt_tick", "i8"),
        ("response_icnt_tick", "i8"),
        ("response_core_cycle", "i8"),
    ]
)
"""Per memory request, under the golden files' names; network ticks are counted from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystolicResult:
    """One run. Arrays are read-only.

    Attributes:
        core_ticks: Core cycles until the last write response was delivered.
        noc_ticks: Network ticks done by then.
        dram_ticks: DRAM ticks done by then.
        requests_per_channel: Requests that each DRAM channel served.
        layer_start: Global core cycle in which each layer began, in execution order.
        layer_finish: Global core cycle in which each layer's last tile was handed over.
        cores: Rows of :data:`CORE`.
        terms: Core cycles by layer, core and class, shape ``(layers, cores, len(TERMS))``; over layers and
            classes each core sums to ``core_ticks``. The cycle in which one layer finishes and the next
            begins counts to the one that finishes; those after the last finish count to the last layer.
        tiles: Rows of :data:`TILE`, in creation order.
        operations: Rows of :data:`OPERATION` for the recorded window; empty if none was asked for.
        first_operation: Number of the first recorded instruction.
        requests: Rows of :data:`REQUEST` in order of injection, where they were asked for.
    """

    core_ticks: int
    noc_ticks: int
    dram_ticks: int
    requests_per_channel: npt.NDArray[np.int64]
    layer_start: npt.NDArray[np.int64]
    layer_finish: npt.NDArray[np.int64]
    cores: npt.NDArray[np.void]
    terms: npt.NDArray[np.int64]
    tiles: npt.NDArray[np.void]
    operations: npt.NDArray[np.void]
    first_operation: int
    requests: npt.NDArray[np.void]

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
