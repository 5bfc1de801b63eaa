"""Whole plans: their log in order, their cut, and the quirks of section 14 by number."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pantile.errors import MachineError
from pantile.machine import Table, load_machine
from pantile.planners.cann.planner import plan_matmul
from pantile.planners.cann.platform import platform_of
from pantile.tiling.plan import Plan
from pantile.workload.text import parse_workload

MACHINE = load_machine("ascend-950pr")
PLATFORM = platform_of(MACHINE)


def plan(text: str) -> Plan:
    return plan_matmul(parse_workload(text), PLATFORM)


def value(found: Plan, name: str) -> object:
    return next(each.value for each in found.decisions if each.name == name)


def test_the_stages_stand_in_the_order_in_which_they_are_gone_through() -> None:
    found = plan("bmm:b=8,m=2048,n=2048,k=1024,dtype=bf16")
    assert found.parameters["path"] == [
        "entry",
        "branch",
        "ResetBase",
        "GetRebalanceBlock",
        "CalL1Tiling",
        "buffers",
        "API level",
        "packing",
        "block order",
    ]
    assert list(dict.fromkeys(each.stage for each in found.decisions)) == found.parameters["path"]


def test_the_seed_s_main_example_by_hand() -> None:
    """8 x 2048 x 2048 x 1024: 256 x 256 blocks, 512 of them, 16 full rounds on 32 cores."""
    found = plan("bmm:b=8,m=2048,n=2048,k=1024,dtype=bf16")
    assert found.tiling is not None
    assert [level.name for level in found.tiling.levels] == ["block", "chunk", "step", "element"]
    assert found.tiling.nominal_sizes[:3] == ((1, 256, 256, 1024), (1, 256, 256, 256), (1, 256, 256, 64))
    assert found.predicted["tiles"] == 8 * 8 * 8
    assert (found.predicted["rounds"], found.predicted["tiles_in_last_round"]) == (16, 32)
    assert found.predicted["bytes_to_l1"] == 512 * (256 + 256) * 1024 * 2
    assert found.predicted["bytes_out"] == 8 * 2048 * 2048 * 2
    assert found.buffering == {"l1": 2, "l0a": 2, "l0b": 2, "l0c": 1}
    assert found.order == ("b", "window", "n", "m", "k")


def test_fp32_adds_up_k_in_pieces() -> None:
    found = plan("bmm:b=8,m=96,n=96,k=2500,dtype=fp32")
    assert found.tiling is not None
    assert found.tiling.levels[1].bounds_of(3) == (0, 1024, 2500)
    assert (found.parameters["splitK"], found.parameters["tilingKey"]["apiLevel"]) == (1024, 1)
    assert Plan.from_json(found.to_json()) == found


def test_broadcasts_go_where_the_source_sends_them() -> None:
    folded = plan("bmm:a=16x256x512,b=1x512x1024,dtype=fp16")
    assert (folded.parameters["branch"], folded.parameters["normalized"]["m"]) == ("ASW_BASIC", 4096)
    crossed = plan("bmm:a=4x1x128x64,b=1x8x64x256,dtype=bf16")
    assert (crossed.parameters["branch"], crossed.tiling) == ("BASE", None)
    assert crossed.parameters["runInfo"]["baseM"] == 256
    one_sided = plan("bmm:a=5x256x8x1x64,b=5x1x8x200x64,dtype=fp16,tb")
    assert one_sided.parameters["branch"] == "ITER_BATCH_BROADCAST_BASICAPI"


@pytest.mark.parametrize(
    ("text", "branch"),
    [
        ("bmm:b=2,m=300,n=300,k=0,dtype=fp16", "BATCH_MATMUL_INPUT_K_EQUAL_ZERO"),
        ("bmm:b=256,m=33,n=7,k=1,dtype=fp16", "BATCH_MATMUL_TO_MUL"),
        ("bmm:b=1,m=512,n=512,k=16384", "BATCH_STREAM_K"),
        ("bmm:b=128,m=8,n=64,k=64", "MERGE_BATCH_BASICAPI"),
        ("bmm:b=64,m=128,n=128,k=128", "ITER_BATCH_BASICAPI"),
        ("bmm:b=1,m=1,n=8192,k=2048", "AL1_FULL_LOAD_BASIC"),
        ("bmm:b=1,m=8192,n=1,k=2048", "BL1_FULL_LOAD_BASIC"),
        ("gemm:m=1,n=1,k=1", "ASW_BASIC"),
    ],
)
def test_a_case_of_each_branch(text: str, branch: str) -> None:
    found = plan(text)
    assert found.feasible
    assert found.parameters["branch"] == value(found, "branch") == branch
    declined = [each for each in found.decisions if each.value == "declined"]
    for each in declined:
        assert each.formula.startswith("condition ")
        (said,) = each.rejected
        assert said.startswith(f"{each.name}: ")
        numbers = [str(figure) for figure in each.inputs.values() if isinstance(figure, int)]
        assert all(number in said for number in numbers)
    assert Plan.from_json(found.to_json()) == found


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("bmm:b=1,m=1024,n=2303,k=8192,dtype=fp32", "Q1", "a batch of 1 is cut by other rules here"),
        ("bmm:b=8,m=512,n=512,k=512", "Q2", "the edge is not positive"),
        ("bmm:b=100,m=64,n=64,k=4000,dtype=fp32", "Q3", "a block below 64 is allowed for 2 tiles a batch"),
        ("bmm:b=100,m=31,n=7069,k=48,dtype=fp16,tb", "Q4", "K moves in chunks of 32 although all of it"),
        ("bmm:b=4,m=96,n=1690,k=2223,ta", "Q5", "rate and param are those of 128 x 256"),
        ("bmm:b=100,m=31,n=7069,k=48,dtype=fp16,tb", "Q6", "baseK 16 follows the longer side"),
        ("bmm:a=6x300x500,b=1x300x200,ta", "Q8", "A is transposed, so its batches are not folded"),
        (
            "bmm:b=21,m=4,n=1,k=13851,dtype=fp32,tb",
            "Q10",
            "usedCoreNum is 21, yet the kernel is",
        ),
    ],
)
def test_quirks_are_noted_where_they_are_met(text: str, code: str, words: str) -> None:
    assert any(note.code == code and words in note.text for note in plan(text).notes), plan(text).notes


def test_no_quirk_is_noted_where_there_is_none() -> None:
    assert plan("bmm:b=8,m=2048,n=2048,k=1024").notes == ()


def test_rows_that_no_branch_can_count_are_infeasible() -> None:
    found = plan("bmm:a=300000x30000x64,b=1x64x128")
    assert not found.feasible
    assert found.reason == "m is 9000000000 with 300000 batches as rows, branches take up to 2147483647"


def test_a_chip_with_too_little_memory_is_infeasible_with_both_numbers() -> None:
    found = plan_matmul(parse_workload("bmm:b=8,m=512,n=512,k=512"), replace(PLATFORM, l1=512))
    assert not found.feasible
    assert found.reason.endswith("B of L1, which has 512 B")


def test_the_platform_is_the_machine_s() -> None:
    assert (PLATFORM.cores, PLATFORM.vector_cores, PLATFORM.cube_freq, PLATFORM.l1) == (32, 64, 1650, 524288)
    without = [memory for memory in MACHINE.memories if memory.name != "bt"]
    small = replace(MACHINE, memories=tuple(without), paths=(), provenance=())
    with pytest.raises(MachineError, match="memory 'bt', which cann needs, is missing"):
        platform_of(small)
    bare = replace(MACHINE, family=Table({"ascend": {}}), provenance=())
    assert platform_of(bare) == PLATFORM  # the source's defaults are these


def test_the_branch_for_broadcasts_says_what_folding_left() -> None:
    found = plan("bmm:a=16x256x512,b=1x512x1024")
    (said,) = next(each.rejected for each in found.decisions if each.name == "ITER_BATCH_BROADCAST_BASICAPI")
    assert "after folding 16 batches into rows" in said
    assert said.endswith("none is left to broadcast")
    (said,) = next(
        each.rejected
        for each in plan("bmm:a=4x1x128x64,b=1x8x64x256").decisions
        if each.name == "ITER_BATCH_BROADCAST_BASICAPI"
    )
    assert said.endswith("2 axes of batches are broadcast, not exactly one")


@pytest.mark.parametrize("text", ["bmm:b=2,m=3,n=3,k=0", "bmm:b=200,m=3,n=3,k=1", "bmm:b=400,m=64,n=64,k=64"])
def test_a_plan_without_a_cut_has_no_buffers(text: str) -> None:
    assert plan(text).tiling is None
    assert plan(text).buffering == {}


def test_one_is_told_in_the_singular() -> None:
    found = plan("gemm:m=1,n=1,k=1")
    assert "1 mac, 1 tile, 1 round, 1 tile in last round" in str(found)
    best = next(each for each in found.decisions if each.name == "best")
    assert "1 candidate: no smaller param / rate" in best.rejected


def test_the_depth_for_splitting_k_says_where_it_comes_from() -> None:
    found = plan("bmm:b=1,m=512,n=512,k=512")
    declined = next(each for each in found.decisions if each.name == "BATCH_STREAM_K")
    assert declined.inputs == {"k": 512, "rounded": 512, "cores": 32, "element_bytes": 2, "least": 4096}
    assert declined.rejected[0].endswith("below max(8192, 256 x 32 cores) B / 2 B = 4096")
