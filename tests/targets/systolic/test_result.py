"""Results of a run as values."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pantile.program.program import Program
from pantile.targets.systolic.config import SystolicConfig
from pantile.targets.systolic.plain import simulate_plain
from pantile.targets.systolic.result import CORE, TERMS
from pantile.targets.systolic.stream import stream_of


def test_arrays_are_read_only(
    lowered: Callable[..., Program], config_of: Callable[..., SystolicConfig]
) -> None:
    config = config_of()
    program = lowered("[T] N1 C1 M1 - [O] N1 C1 M1 - [I] N8 C8 M8", config)
    result = simulate_plain(stream_of([program], config), config, record=range(4))
    for array in (result.tiles["core"], result.terms, result.layer_start, result.operations["issue"]):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0


def test_counters_bear_the_names_of_the_statistics() -> None:
    # onnxim-model.md section 11, as the golden files spell them.
    assert set(CORE.names or ()) == {
        "matmul_active_cycle",
        "memory_idle_cycle",
        "systolic_bubble_cycle",
        "core_idle_cycle",
        "systolic_active_cycle",
        "total_cycle",
        "read_responses",
        "write_responses",
        "systolic_inst_issue_count",
        "systolic_preload_issue_count",
    }


def test_terms_stand_in_the_order_in_which_they_are_taken() -> None:
    assert TERMS == (
        "compute",
        "drain",
        "fill",
        "wait-load",
        "wait-store",
        "wait-slot",
        "wait-flag",
        "issue",
        "idle",
    )
