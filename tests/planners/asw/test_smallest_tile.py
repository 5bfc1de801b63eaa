"""A memory too small for any tile is named with its two numbers; where a tile fits, there is a plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pantile.planners.asw.chip import Chip
from pantile.planners.asw.pipeline import SEMANTICS, run_stages
from pantile.planners.asw.planner import plan_of
from pantile.planners.asw.problem import Problem
from pantile.planners.asw.smallest_tile import too_small

PROBLEM = Problem(batch=8, m=1000, n=1000, k=512)


@pytest.mark.parametrize("semantics", SEMANTICS)
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"l0a_bytes": 512}, "take 1024 B of L0A, which holds 512 B"),
        ({"l0b_bytes": 1023}, "take 1024 B of L0B, which holds 1023 B"),
        ({"l0c_bytes": 1}, "takes 1024 B of L0C, which holds 1 B"),
        ({"l0c_bytes": 1023}, "takes 1024 B of L0C, which holds 1023 B"),
        ({"l1_bytes": 1}, "take 2048 B of L1, which holds 1 B"),
        ({"l1_bytes": 2047}, "take 2048 B of L1, which holds 2047 B"),
    ],
)
def test_the_memory_that_is_too_small_is_named(changes: dict[str, int], said: str, semantics: Any) -> None:
    plan = plan_of(run_stages(PROBLEM, replace(Chip(), **changes), semantics))
    assert not plan.feasible
    assert plan.reason.endswith(said)
    assert plan.tiling is None
    assert plan.predicted == {}


@settings(max_examples=300, deadline=None)
@given(
    st.builds(
        Problem,
        batch=st.integers(1, 70),
        m=st.integers(1, 5000),
        n=st.integers(1, 5000),
        k=st.integers(1, 5000),
        element_bytes=st.sampled_from([2, 4]),
    ),
    st.builds(
        Chip,
        l0a_bytes=st.integers(0, 14).map(lambda power: 2**power * 16),
        l0b_bytes=st.integers(0, 14).map(lambda power: 2**power * 16),
        l0c_bytes=st.integers(0, 15).map(lambda power: 2**power * 16),
        l1_bytes=st.integers(0, 17).map(lambda power: 2**power * 16),
    ),
)
@example(Problem(batch=1, m=4096, n=16, k=512, element_bytes=4), Chip())
@example(Problem(batch=1, m=12544, n=16, k=512), Chip(l0c_bytes=512 * 1024))
@example(PROBLEM, Chip(l1_bytes=16384))
@example(Problem(batch=1, m=256, n=256, k=64), Chip(l1_bytes=8192))
def test_corrected_has_a_plan_that_fits_wherever_a_tile_does(problem: Problem, chip: Chip) -> None:
    stages = run_stages(problem, chip)
    assert stages.feasible == (too_small(problem, chip) == "")
    assert plan_of(stages).feasible == stages.feasible
    if not stages.feasible:
        return
    cut, inner, width = stages.cut, stages.inner, problem.element_bytes
    assert cut is not None
    assert inner is not None
    step = -(-cut.k_l1 // 16) * 16
    assert 2 * (cut.m + cut.n) * step * width <= chip.l1_bytes
    assert 2 * inner.m * inner.k * width <= chip.l0a_bytes
    assert 2 * inner.n * inner.k * width <= chip.l0b_bytes
    assert inner.m * inner.n * 4 <= chip.l0c_bytes
    assert cut.rows == -(-problem.m // cut.m)
    assert cut.columns == -(-problem.n // cut.n)


def test_few_cores_get_more_blocks_where_l1_holds_no_long_one() -> None:
    """4096 x 16 takes 526336 B for one step; cut in two it takes half."""
    stages = run_stages(Problem(batch=1, m=4096, n=16, k=512, element_bytes=4), Chip())
    few = stages.reduction
    assert few is not None
    assert (few.m, few.n, few.rows, few.cores, few.k_l1) == (2048, 16, 2, 2, 16)
    plan = plan_of(stages)
    assert plan.cores == "2 blocks on 2 cores in turn"
    assert plan.parameters["reduction"] == {"used_cores": 2, "cores": 32}
    assert [note.code for note in plan.notes] == ["L1"]
    assert "blocks of 2048 x 16" in plan.notes[0].text


def test_all_cores_get_the_largest_blocks_that_l1_holds() -> None:
    """16 KiB hold one step of 256 rows and columns twice: 8 x 8 blocks of 128 x 128 move the least."""
    stages = run_stages(PROBLEM, Chip(l1_bytes=16384))
    block = stages.block
    assert block is not None
    assert (block.m, block.n, block.k_l1, block.relax_level) == (128, 128, 16, 3)
    assert [note.code for note in plan_of(stages).notes] == ["L1"]
