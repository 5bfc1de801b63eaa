"""Plans of asw: their log in the order of the stages, their cuts, and what they refuse."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from pantile.errors import MachineError, ManyProblems, OutsideModelError, PantileError, UsageError
from pantile.machine import Machine, load_machine
from pantile.machine.table import Table
from pantile.planners.asw.chip import Chip, chip_of, with_symbols
from pantile.planners.asw.full_load import left_full_load, right_full_load
from pantile.planners.asw.pipeline import AswOptions, run_stages
from pantile.planners.asw.planner import plan_of, plan_product
from pantile.planners.asw.problem import Problem
from pantile.tiling.plan import Plan
from pantile.workload.text import parse_workload


@pytest.fixture(scope="module")
def machine() -> Machine:
    return load_machine("ascend-950pr")


def with_family(machine: Machine, **changes: Any) -> Machine:
    table = {**machine.family_table("ascend"), **changes}
    kept = {key: value for key, value in table.items() if value is not None}
    labels = {f"family.ascend.{key}" for key in changes}
    provenance = tuple(each for each in machine.provenance if each[0] not in labels)
    return replace(machine, family=Table({"ascend": kept}), provenance=provenance)


def value(plan: Plan, name: str) -> Any:
    found = [each.value for each in plan.decisions if each.name == name]
    assert found, name
    return found[-1]


def test_the_preset_is_the_chip_of_the_document(machine: Machine) -> None:
    assert chip_of(machine) == Chip()
    assert chip_of(load_machine("ascend-950pr-432")) == replace(Chip(), peak_flops=432 * 10**12)


def test_the_log_goes_through_the_stages_in_the_order_of_the_run(machine: Machine) -> None:
    plan = plan_product(parse_workload("bmm:b=7,m=768,n=896,k=640"), machine)
    assert plan.parameters["path"] == [
        "0 entry",
        "1 L0 tile",
        "2 single-core block",
        "6 L2",
        "3 assignment",
        "5 block order",
        "4 tail",
        "7 totals",
    ]
    assert all(each.formula for each in plan.decisions)
    strategy = next(each for each in plan.decisions if each.name == "strategy")
    assert strategy.value == "A1"
    assert strategy.rejected == ("A0: 19.67698 us", "B: not possible, or no gain")
    block = next(each for each in plan.decisions if each.name == "block")
    assert any("constraint" in reason for reason in block.rejected)
    assert any(reason.endswith("us") for reason in block.rejected)


@pytest.mark.parametrize("semantics", ["published", "published_5_2", "corrected"])
@pytest.mark.parametrize(
    "workload",
    [
        "bmm:b=8,m=2048,n=2048,k=1024",
        "bmm:b=64,m=2048,n=2048,k=4096,ta,tb",
        "bmm:b=7,m=768,n=896,k=640",
        "bmm:b=64,m=32,n=32,k=64",
        "bmm:b=33,m=512,n=512,k=1024,out=fp32",
        "bmm:a=16x256x512,b=1x512x1024,dtype=fp16",
        "bmm:a=1x1000x3000,b=8x3000x20000",
        "gemm:m=1,n=100000,k=77",
        "gemm:m=5,n=5,k=5",
    ],
)
def test_a_plan_survives_json_and_covers_its_output(workload: str, semantics: Any, machine: Machine) -> None:
    plan = plan_product(parse_workload(workload), machine, semantics)
    assert Plan.from_json(plan.to_json()) == plan
    if not plan.feasible:
        assert plan.tiling is None
        assert sum(character.isdigit() for character in plan.reason) >= 2, "a constraint has two numbers"
        return
    assert plan.tiling is not None
    product = parse_workload(workload)
    assert plan.tiling.total == (product.batch, product.m, product.n, product.k)
    undefined = any(note.code == "E-29" for note in plan.notes)
    assert undefined or plan.predicted["total_seconds"] > 0


def test_a_recut_is_what_the_plan_cuts(machine: Machine) -> None:
    plan = plan_product(parse_workload("bmm:b=1,m=1536,n=1536,k=256"), machine)
    assert plan.tiling is not None
    assert plan.tiling.levels[0].factors == (1, 4, 8, 1)
    assert plan.tiling.nominal_sizes[0] == (1, 384, 192, 2 * 224)
    assert "32 blocks of all batches" in plan.cores
    assert value(plan, "block") == {"m": 256, "n": 256, "k_l1": 256}


def test_inner_tiles_of_a_block_are_equal(machine: Machine) -> None:
    """A block of 384 x 304 is 2 x 2 tiles of 192 x 160, not of 256 and what is left (E-12)."""
    plan = plan_product(parse_workload("bmm:b=7,m=768,n=896,k=640"), machine)
    assert plan.parameters["single_core"] == {"m": 384, "n": 304, "k_l1": 176, "rows": 2, "columns": 3}
    assert plan.parameters["base_tile"] == {"m": 256, "n": 256, "k": 64}
    assert plan.parameters["inner_tile"] == {"m": 192, "n": 160, "k": 64, "count": 4}


def test_both_readings_of_the_same_figure_stand_beside_the_value(machine: Machine) -> None:
    plan = plan_product(parse_workload("bmm:b=64,m=2048,n=2048,k=1024"), machine, "published")
    reread = next(each for each in plan.decisions if each.name == "r_in")
    assert reread.value == 1
    assert reread.rejected == ("4: as published_5_2 has it (E-29, E-30)",)


def test_few_cores_draw_no_more_than_they_can() -> None:
    """[5.9]: with 100 GB/s a core, 16 cores draw what 32 do of 1.6 TB/s, and 8 draw half."""
    chip = replace(Chip(), core_gm_bytes_per_second=100_000_000_000)
    assert chip.saturating_cores == 16
    assert Chip().saturating_cores == 32
    problem = Problem(batch=1, m=512, n=1024, k=4096)
    slow, fast = (run_stages(problem, each).reduction for each in (Chip(), chip))
    assert slow is not None
    assert fast is not None
    assert slow.cores == fast.cores == 8
    assert slow.gm_rate == 8 * 50 * 10**9
    assert fast.gm_rate == 8 * 100 * 10**9
    assert fast.time.write == slow.time.write / 2
    assert slow.time.compute == fast.time.compute


def test_few_cores_are_explained(machine: Machine) -> None:
    capped = with_family(machine, core_gm_bytes_per_second=100_000_000_000)
    plan = plan_product(parse_workload("bmm:b=1,m=512,n=1024,k=4096"), capped)
    assert value(plan, "minCoreNum") == 16
    rate = next(each for each in plan.decisions if each.name == "gm_rate")
    assert rate.value == 800_000_000_000
    assert rate.rejected == ("W_GM: 8 cores < minCoreNum 16",)


def test_full_load_of_either_side_mirrors_the_other() -> None:
    left = Problem(batch=64, m=128, n=2048, k=512, a_batch=1)
    right = Problem(batch=64, m=2048, n=128, k=512, b_batch=1)
    assert left_full_load(left, Chip()) == right_full_load(right, Chip())
    assert left_full_load(left, Chip()).by_theory
    assert not right_full_load(left, Chip()).by_theory
    few = Problem(batch=1, m=128, n=20000, k=512)
    assert not left_full_load(few, Chip()).by_theory
    assert left_full_load(few, Chip()).by_source, "either many rounds or much to load is enough (E-48)"
    assert not left_full_load(left, Chip(), bias_batch=2).by_source


def test_streamk_takes_what_does_not_fill_the_cores() -> None:
    problem = Problem(m=256, n=256, k=65536)
    stages = run_stages(problem, Chip(), "corrected", AswOptions(streamk_eligible=True))
    assert stages.entry.mode == "rejected"
    assert not stages.feasible


def test_the_older_gate_leaves_long_runs_alone() -> None:
    problem = Problem(m=2560, n=2560, k=128)
    usual = run_stages(problem, Chip(), "published").tail
    gated = run_stages(problem, Chip(), "published", AswOptions(gated=True)).tail
    assert usual is not None
    assert gated is not None
    if usual.waves > 3:
        assert gated.strategy == "A0"


def test_a_fused_consumer_keeps_outputs_in_l2() -> None:
    problem = Problem(batch=8, m=4096, n=4096, k=512)
    usual = run_stages(problem, Chip()).l2
    fused = run_stages(problem, Chip(), "corrected", AswOptions(consumer="fused")).l2
    assert usual is not None
    assert fused is not None
    assert (usual.scene, usual.outputs_stay) == ("B", False)
    assert (fused.scene, fused.outputs_stay) == ("B", True)


@pytest.mark.parametrize(
    ("workload", "said"),
    [
        ("bmm:b=1,m=64,n=64,k=64,dtype=fp32", "no peak for inputs of 4 B"),
        ("bmm:b=1,m=64,n=64,k=64,dtype=int8", "no peak for inputs of 1 B"),
        ("bmm:b=1,m=64,n=64,k=64,dtype=fp64", "no peak for inputs of 8 B; use bf16 or fp16"),
        ("bmm:b=1,m=64,n=64,k=64,dtype=int4", "whole bytes"),
        ("bmm:b=1,m=64,n=64,k=0", "k of at least 1, got 0"),
        ("bmm:b=1,m=64,n=64,k=64,nz", "about ND operands"),
    ],
)
def test_what_the_analysis_does_not_cover_is_refused_in_one_line(
    workload: str, said: str, machine: Machine
) -> None:
    with pytest.raises(PantileError) as caught:
        plan_product(parse_workload(workload), machine)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_another_width_is_planned_where_the_machine_gives_its_peak(machine: Machine) -> None:
    wide = with_family(machine, peak_flops_4_byte=60 * 10**12)
    plan = plan_product(parse_workload("bmm:b=4,m=2048,n=2048,k=512,dtype=fp32"), wide)
    assert plan.feasible
    assert plan.predicted["compute_seconds"] == pytest.approx(2 * 4 * 2048 * 2048 * 512 / 60e12)


def test_a_machine_says_everything_that_it_lacks(machine: Machine) -> None:
    bare = with_family(machine, peak_flops=None, gm_bytes_per_second=None)
    with pytest.raises(ManyProblems) as caught:
        chip_of(bare)
    assert [each.problem.split(" lacks ")[1].split(",")[0] for each in caught.value.problems] == [
        "family.ascend.gm_bytes_per_second",
        "family.ascend.peak_flops",
    ]
    with pytest.raises(MachineError):
        chip_of(load_machine("systolic-ws-8x8"))


def test_overrides_are_named_by_symbol_and_checked() -> None:
    changed = with_symbols(Chip(), {"C": 20, "Q16": 15_000_000_000_000, "l1_bytes": 262144})
    assert (changed.cores, changed.peak_flops, changed.l1_bytes) == (20, 300 * 10**12, 262144)
    with pytest.raises(ManyProblems):
        with_symbols(Chip(), {"C": 1.5, "L3": 7})


def test_there_are_three_readings() -> None:
    with pytest.raises(UsageError, match="unknown semantics 'printed'"):
        run_stages(Problem(m=64, n=64, k=64), Chip(), "printed")  # type: ignore[arg-type]


def test_the_reason_names_the_constraint_and_its_two_numbers(machine: Machine) -> None:
    reasons = {
        "bmm:b=7,m=768,n=896,k=640": "constraint 4: no cut of n = 896 gives blocks that are a multiple of "
        "256; the nearest is 224 (E-12)",
        "bmm:b=4,m=2048,n=2048,k=96": "constraint 3: left runs of 192 B at most, 256 B are needed (dValue)",
        "bmm:b=1,m=8,n=100000,k=512": "base=0: m = 8 rounded down to the cube's grain of 16 leaves nothing "
        "(E-08)",
    }
    for workload, reason in reasons.items():
        plan = plan_product(parse_workload(workload), machine, "published")
        assert (plan.feasible, plan.reason) == (False, reason)


def test_shared_operands_count_once_where_they_fit() -> None:
    """A right operand of 64 MiB stays beside one left one; in an L2 of 64 MiB every batch reads it again."""
    problem = Problem(batch=32, m=512, n=8192, k=4096, b_batch=1)
    fits = run_stages(problem, Chip()).l2
    assert fits is not None
    assert (fits.scene, fits.reread) == ("C", 1)
    small = run_stages(problem, replace(Chip(), l2_bytes=1 << 26)).l2
    assert small is not None
    assert small.reread is not None
    assert small.reread > Fraction(problem.batch * problem.right_bytes, problem.input_bytes)


def test_outside_the_model_is_an_error_of_its_kind(machine: Machine) -> None:
    with pytest.raises(OutsideModelError):
        plan_product(parse_workload("bmm:b=1,m=64,n=64,k=64,dtype=fp32"), machine)


def test_a_bias_is_noted_and_costs_nothing(machine: Machine) -> None:
    with_bias = plan_product(parse_workload("bmm:b=4,m=512,n=2048,k=512,bias=fp32"), machine)
    assert [note.code for note in with_bias.notes] == ["model"]
    without = plan_product(parse_workload("bmm:b=4,m=512,n=2048,k=512"), machine)
    assert with_bias.predicted == without.predicted


def test_all_cores_draw_no_more_than_they_can(machine: Machine) -> None:
    """32 cores of 10 GB/s draw 320 GB/s, whatever memory gives: 16384000 B take 51.2 us, 16000000 B 50 us."""
    slow = with_family(machine, core_gm_bytes_per_second=10**10)
    plan = plan_product(parse_workload("bmm:b=8,m=1000,n=1000,k=512"), slow)
    assert plan.predicted["memory_seconds"] == pytest.approx(51.2e-6)
    assert plan.predicted["write_seconds"] == pytest.approx(50e-6)
    assert plan.predicted["total_seconds"] >= 51.2e-6
    for semantics in ("corrected", "published"):
        plans = [
            plan_product(parse_workload("bmm:b=7,m=768,n=896,k=640"), each, semantics)  # type: ignore[arg-type]
            for each in (machine, with_family(machine, core_gm_bytes_per_second=5 * 10**10))
        ]
        assert plans[0] == plans[1], "an equal share is what is assumed where nothing is said"


def test_unit_flag_is_on_where_it_gains_something(machine: Machine) -> None:
    bound = {"bmm:b=8,m=2048,n=2048,k=1024": True, "bmm:b=1,m=200,n=20000,k=3000": False}
    for workload, flag in bound.items():
        assert plan_product(parse_workload(workload), machine).parameters["unit_flag"] is flag


@pytest.mark.parametrize("l1_bytes", [512, 4096, 16384, 32768])
def test_a_small_l1_is_named_with_what_it_holds(l1_bytes: int) -> None:
    """Corrected has no constraint but L1 left that could fail."""
    chip = replace(Chip(), l1_bytes=l1_bytes)
    for problem in (
        Problem(batch=8, m=1024, n=1024, k=64),
        Problem(batch=64, m=100, n=5000, k=4096),
        Problem(batch=2, m=64, n=64, k=64),
    ):
        plan = plan_of(run_stages(problem, chip))
        assert plan.feasible == (l1_bytes >= 2048)
        if not plan.feasible:
            assert plan.reason.startswith("constraint 2: ")
            assert plan.reason.endswith("take 2048 B of L1, which holds 512 B")


@pytest.mark.parametrize("semantics", ["corrected", "published", "published_5_2"])
@pytest.mark.parametrize(
    "workload",
    [
        "bmm:b=7,m=768,n=896,k=640",
        "bmm:b=8,m=2048,n=2048,k=1024",
        "bmm:b=64,m=2048,n=2048,k=4096",
        "bmm:b=1,m=2048,n=65536,k=8192",
        "bmm:b=1,m=1792,n=1792,k=4096",
        "bmm:b=1,m=2457,n=3333,k=4096",
        "bmm:b=64,m=32,n=32,k=64",
    ],
)
def test_every_decision_says_from_what_it_follows(workload: str, semantics: Any, machine: Machine) -> None:
    plan = plan_product(parse_workload(workload), machine, semantics)
    assert [each.name for each in plan.decisions if not each.inputs] == []


def test_a_plan_prints_as_the_command_line_does(machine: Machine) -> None:
    plan = plan_product(parse_workload("bmm:b=7,m=768,n=896,k=640"), machine)
    lines = str(plan).splitlines()
    assert lines[0] == "asw corrected"
    assert lines[1] == "  block      7 b x 2 m x 3 n x 1 k, each b1 m384 n304 k704"
    assert lines[-1].startswith("  predicted  17.3817 us total, 9.3184 us memory, 7.05772 us l2, ")
    ended = plan_product(parse_workload("bmm:b=7,m=768,n=896,k=640"), machine, "published")
    assert str(ended).startswith("asw published: infeasible: constraint 4: ")


def test_one_core_works_and_two_do() -> None:
    found = plan_of(run_stages(Problem(batch=1, m=16, n=16, k=16), Chip()))
    assert found.cores == "1 block on 1 core"
    rate = next(each for each in found.decisions if each.name == "gm_rate")
    assert rate.rejected == ("W_GM: 1 core < minCoreNum 32",)
