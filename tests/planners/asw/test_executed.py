"""What a plan says of L2, order and time is about the blocks that cores take, whoever cut them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.errors import ManyProblems, UsageError
from pantile.planners.asw.assignment import ASSIGNMENTS, Grid, cores_in_use, placed, rounds_of
from pantile.planners.asw.chip import Chip
from pantile.planners.asw.l2 import l2_use
from pantile.planners.asw.pipeline import AswOptions, run_stages
from pantile.planners.asw.planner import plan_of
from pantile.planners.asw.problem import Problem
from pantile.planners.asw.single_core import block_of, traffic_bytes

CHIP = Chip()
RECUT = Problem(batch=1, m=2457, n=3333, k=4096)
GRIDS = st.builds(
    Grid,
    batch=st.integers(1, 80),
    rows=st.integers(1, 7),
    columns=st.integers(1, 7),
    cores=st.sampled_from([1, 4, 7, 32]),
)


def test_strategy_b_is_described_by_its_own_blocks() -> None:
    """16 x 4 blocks: every panel of each costs 4096 * 2 * (4 * 2457 + 16 * 3333) B."""
    stages = run_stages(RECUT, CHIP)
    plan = plan_of(stages)
    assert plan.tiling is not None
    assert plan.tiling.levels[0].factors == (1, 16, 4, 1)
    assert plan.predicted["l2_bytes"] == 4096 * 2 * (4 * 2457 + 16 * 3333) == 517373952
    assert plan.predicted["l2_seconds"] == pytest.approx(517373952 / 5.2e12)
    assert plan.parameters["single_core"]["rows"] == 16
    assert plan.parameters["assignment"]["blocks"] == 64
    assert plan.parameters["stage_2"]["rows"] != 16
    assert stages.block is not None
    assert stages.block.traffic_bytes == 277413888
    again = [each for each in plan.decisions if each.name == "T_recut_us"]
    assert [each.inputs["l2_bytes"] for each in again] == [517373952]


@settings(max_examples=150, deadline=None)
@given(
    st.builds(
        Problem,
        batch=st.integers(1, 40),
        m=st.integers(1, 9000),
        n=st.integers(1, 9000),
        k=st.sampled_from([96, 1024, 16384]),
    ),
    st.sampled_from(["corrected", "published", "published_5_2"]),
)
def test_the_figures_of_a_plan_are_those_of_its_levels(problem: Problem, semantics: Any) -> None:
    stages = run_stages(problem, CHIP, semantics)
    if stages.executed is None:
        return
    plan = plan_of(stages)
    assert plan.tiling is not None
    _, rows, columns, _ = plan.tiling.levels[0].factors
    _, m, n, _ = plan.tiling.nominal_sizes[0]
    assert plan.predicted["l2_bytes"] == traffic_bytes(problem, rows, columns)
    use = l2_use(problem, CHIP, block_of(problem, CHIP, m, n), semantics)
    assert plan.parameters["l2"]["groups"] == use.groups
    assert (plan.parameters["l2"]["m_group"], plan.parameters["l2"]["n_group"]) == (use.m_group, use.n_group)
    assert plan.predicted.get("input_rereads") == (None if use.reread is None else float(use.reread))
    counted = plan.parameters["single_core"], plan.parameters["assignment"]["blocks"]
    assert (counted[0]["rows"], counted[0]["columns"], counted[1]) == (
        rows,
        columns,
        problem.batch * rows * columns,
    )


@settings(max_examples=200)
@given(GRIDS, st.sampled_from(ASSIGNMENTS))
def test_rounds_are_those_of_the_busiest_core(grid: Grid, assignment: Any) -> None:
    stages = run_stages(Problem(batch=8, m=2048, n=2048, k=1024), CHIP)
    assert stages.order is not None
    by_core: dict[int, int] = {}
    for each in placed(grid, stages.order, assignment):
        by_core[each.core] = max(by_core.get(each.core, 0), each.wave + 1)
    most = max(by_core.values())
    busy = sum(count == most for count in by_core.values())
    assert rounds_of(grid, assignment) == (most, busy % grid.cores)
    assert cores_in_use(grid, assignment) == len(by_core)


def test_batches_first_take_the_time_of_the_busiest_group() -> None:
    """40 batches for 32 groups of one core: 8 of them have two batches, one after the other."""
    problem = Problem(batch=40, m=1024, n=1024, k=1024)
    stages = run_stages(problem, CHIP, "corrected", AswOptions(assignment="batch_first"))
    assert stages.tail is not None
    assert stages.block is not None
    grid = Grid(40, stages.block.rows, stages.block.columns, 32)
    assert stages.order is not None
    waves = 1 + max(each.wave for each in placed(grid, stages.order, "batch_first"))
    assert (stages.tail.waves, stages.tail.strategy) == (waves, "A0")
    assert stages.tail.seconds == waves * stages.tail.time.total
    plan = plan_of(stages)
    assert "windows of 1 within each, batch_first" in plan.cores
    assert plan.parameters["order"]["window"] == 1
    assert [each.value for each in plan.decisions if each.name == "W"] == [[1]]
    assert plan.parameters["tail"]["waves"] == waves
    assert plan.predicted["schedule_seconds"] == pytest.approx(float(stages.tail.seconds))
    assert any("A1 and B deal blocks to all cores" in note.text for note in plan.notes)


@pytest.mark.parametrize("semantics", ["corrected", "published"])
def test_batches_first_are_no_quicker_than_a_perfect_division(semantics: Any) -> None:
    for batch in (1, 3, 31, 32, 33, 70):
        problem = Problem(batch=batch, m=2048, n=1536, k=1024)
        stages = run_stages(problem, CHIP, semantics, AswOptions(assignment="batch_first"))
        if stages.tail is None:
            continue
        perfect = stages.tail.blocks * stages.tail.time.total / CHIP.cores
        assert stages.tail.seconds >= perfect
        if stages.tail.printed is not None:
            assert stages.tail.printed.extra == stages.tail.seconds - perfect


@pytest.mark.parametrize("name", ["order", "assignment", "consumer"])
def test_an_option_that_there_is_not_is_refused_for_every_product(name: str) -> None:
    options = AswOptions(**{name: "foo"})  # type: ignore[arg-type]
    for problem in (RECUT, Problem(m=16, n=16, k=16)):
        with pytest.raises(UsageError, match=f"unknown {name} 'foo'"):
            run_stages(problem, CHIP, "corrected", options)
    with pytest.raises(ManyProblems, match=r"unknown order[\s\S]*unknown consumer"):
        run_stages(RECUT, CHIP, "corrected", AswOptions(order="x", consumer="y"))  # type: ignore[arg-type]
