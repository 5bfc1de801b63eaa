"""The mapper's budget inequalities with their numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pantile.planners.onnxim.capacity import Overflow, log_budget
from pantile.tiling.log import DecisionLog
from pantile.tiling.onnxim import parse_mapping


def test_the_seeds_budget(figures: Callable[..., Any]) -> None:
    """Seed 2.5: 32·64 + 32·64 = 4096 B of 32768 B, 4·32·32 = 4096 B of 8192 B."""
    log = DecisionLog()
    log_budget(parse_mapping("[T] N32 C64 M32 - [O] N1 - [I] N32 C64 M32"), figures(), log)
    spad, acc = log.decisions
    assert (spad.value, spad.formula) == (True, "p · (T_N · T_C + T_M · T_C) <= S_spad / 2")
    assert (spad.inputs["needed_bytes"], spad.inputs["capacity_bytes"]) == (4096, 32768)
    assert (acc.value, acc.formula) == (True, "4 · T_N · T_M <= S_acc / 2")
    assert (acc.inputs["needed_bytes"], acc.inputs["capacity_bytes"]) == (4096, 8192)


def test_a_tile_above_the_budget(figures: Callable[..., Any]) -> None:
    """64x64 sums of 4 B are 16384 B, twice an accumulator half."""
    log = DecisionLog()
    log_budget(parse_mapping("[T] N64 C8 M64 - [O] N1 - [I] N64 C8 M64"), figures(), log)
    assert [each.value for each in log.decisions] == [True, False]


def test_an_overflow_names_the_memory_and_both_numbers() -> None:
    assert str(Overflow("scratchpad", 4096, 2048)) == "4096 B of scratchpad are needed, a half holds 2048 B"
