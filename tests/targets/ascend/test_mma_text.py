"""From texts to calls: blocks, events, capacities, oddities."""

# texts and messages stand here whole

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pantile.errors import ManyProblems, WorkloadError
from pantile.targets.ascend.memory import BUFFERS_220X
from pantile.targets.ascend.mma_call import Events, MmaCall
from pantile.targets.ascend.mma_fit import capacity_problems
from pantile.targets.ascend.mma_json import call_of_json, json_of_call
from pantile.targets.ascend.mma_notes import oddities_of
from pantile.targets.ascend.mma_text import call_of_text
from pantile.targets.ascend.mma_tile import mma_tile
from pantile.workload.tilecall import parse_tile_call

GOLDEN = Path(__file__).parents[2] / "golden" / "mma_tile"


def called(text: str) -> MmaCall:
    return call_of_text(parse_tile_call(f"mma-tile:{text}"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("half_nn_k512", "m=128,n=128,k=512,dtype=fp16"),
        ("half_bias_half", "m=64,n=80,k=128,dtype=fp16,bias=fp16"),
        ("float_tatb_k250", "m=64,n=96,k=250,dtype=fp32,ta,tb"),
        ("hf32_bias", "m=32,n=48,k=64,dtype=fp32,hf32,bias=fp32"),
        ("int8_ta_m_unaligned", "m=33,n=64,k=80,dtype=int8,ta"),
        ("int8_nn_n20", "m=32,n=20,k=70,dtype=int8"),
        ("int4_nn_n8", "m=16,n=8,k=256,dtype=int4"),
        ("int4_tb", "m=32,n=32,k=64,dtype=int4,tb"),
        (
            "ev_kloop_odd",
            "m=128,n=128,k=384,dtype=fp16,kloop=1,events=l1a_wait:4+l1b_wait:5+l1a_set:4+l1b_set:5+back0:0+back1:1",
        ),
        ("sb_1040_ids23", "m=16,n=1040,k=64,dtype=fp16,events=back0:2+back1:3"),
        ("uf3_ntail", "m=64,n=50,k=576,dtype=fp16,unit_flag=3"),
        ("half_noinit", "m=64,n=64,k=256,dtype=fp16,init=0"),
    ],
)
def test_a_text_says_what_a_recorded_call_says(name: str, text: str) -> None:
    recorded = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    mma = called(text)
    if name != "half_noinit":
        assert json_of_call(mma) | {"mb": 0} == recorded["input"] | {"mb": 0}
    for revision in ("head", "seed"):
        stream = mma_tile(mma, revision)  # type: ignore[arg-type]
        assert list(stream.instructions) == recorded[revision]["trace"]


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("*.json")), ids=lambda file: file.stem)
def test_a_recorded_call_comes_back_as_it_was(file: Path) -> None:
    recorded = json.loads(file.read_text(encoding="utf-8"))["input"]
    assert json_of_call(call_of_json(recorded)) == recorded


def test_events_go_by_the_names_of_the_library_too() -> None:
    mine = called("m=16,n=16,k=16,dtype=fp16,kloop=3,events=l1a_wait:1+back1:2")
    theirs = called(
        "m=16,n=16,k=16,dtype=fp16,kloop=3,events=mmad_l1_wait_l1a_event:1+back_pipe_m_pipe_mte1_db_event1:2"
    )
    assert mine.events == theirs.events == Events(l1a_wait=1, back1=2, kloop=3)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("dtype=int16", "mma_tile takes fp16, bf16, fp32, int8, int4, got int16"),
        ("dtype=fp16,bias=int8", "a bias of mma_tile is fp16, fp32 or int32, got int8"),
        ("dtype=fp16,bias=int32", "mma_tile: a bias of fp16 is float or half, got int32"),
        ("dtype=int4,ta", "mma_tile: int4 has no transposed left operand; leave ta out"),
        ("dtype=fp16,hf32", "mma_tile: hf32 rounds fp32 operands, got fp16; leave hf32 out"),
        ("dtype=fp16,events=back2:1", "unknown event 'back2'; did you mean 'back1'?"),
        ("dtype=fp16,events=kloop:1", "unknown event 'kloop'"),
        (
            "dtype=fp16,events=l1a_wait:1+mmad_l1_wait_l1a_event:2",
            "event l1a_wait is given twice, once as mmad_l1_wait_l1a_event",
        ),
    ],
)
def test_no_call_of_the_library_is_refused(text: str, told: str) -> None:
    with pytest.raises(WorkloadError) as caught:
        called(f"m=16,n=16,k=16,{text}")
    assert told in str(caught.value)
    assert caught.value.place is not None


def test_all_problems_of_a_call_are_told_together() -> None:
    with pytest.raises(ManyProblems) as caught:
        called("m=16,n=16,k=16,dtype=int4,ta,hf32,bias=fp32")
    assert len(caught.value.problems) == 3


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("m=128,n=128,k=512,dtype=fp16", []),
        ("m=0,n=16,k=16,dtype=fp16", []),
        (
            "m=16,n=2064,k=32,dtype=fp16",
            [
                "L0B needs 66048 B of 65536 B for 2064 rows of 16 elements of K, the smallest part",
                "L0C needs 132096 B of 131072 B for 16 x 2064 sums of 4 B",
            ],
        ),
        (
            "m=1025,n=16,k=8,dtype=fp32",
            ["L0A needs 66560 B of 65536 B for 1040 rows of 16 elements of K, the smallest part"],
        ),
        ("m=128,n=128,k=2048,dtype=fp16", ["L1 needs 1048576 B of 524288 B for both operands"]),
        (
            "m=16,n=512,k=16,dtype=fp16,bias=fp32",
            ["BT needs 2048 B of 1024 B for the bias of 512 columns of 4 B"],
        ),
        ("m=16,n=240,k=816,dtype=fp16,bias=fp32", []),  # right behind the operands, at 522752
        (
            "m=16,n=256,k=768,dtype=fp16,bias=fp32",
            ["L1 needs 525312 B of 524288 B for both operands and the bias"],
        ),
    ],
)
def test_what_does_not_fit_is_told_with_both_numbers_and_l0_first(text: str, told: list[str]) -> None:
    problems = capacity_problems(called(text), BUFFERS_220X)
    assert [str(each).partition("; ")[0] for each in problems] == told


@pytest.mark.parametrize(
    ("text", "head", "seed"),
    [
        ("m=128,n=128,k=128,dtype=fp16", [], []),
        ("m=128,n=128,k=512,dtype=fp16", ["one-id"], []),
        ("m=16,n=1040,k=64,dtype=fp16,events=back0:2+back1:3", ["fixed-ids"], []),
        ("m=16,n=1040,k=64,dtype=fp16,events=back0:0+back1:1", [], []),
        ("m=64,n=64,k=64,dtype=fp16,events=back1:0", ["mixed"], ["mixed"]),
        ("m=64,n=64,k=64,dtype=fp16,events=back0:2", [], []),
        ("m=64,n=64,k=1024,dtype=fp16,bias=fp32", ["one-id", "bias"], ["bias"]),
        ("m=32,n=32,k=64,dtype=int4,tb", ["int4-tb"], ["int4-tb"]),
        ("m=128,n=64,k=512,dtype=int4", ["int4-parts", "one-id"], ["int4-parts"]),
        ("m=16,n=16,k=16,dtype=fp16,events=l1a_wait:7", ["kept-ids"], ["kept-ids"]),
        ("m=16,n=16,k=0,dtype=fp16,events=l1a_wait:7", ["empty"], ["empty"]),
        ("m=16,n=16,k=0,dtype=fp16,init=0", [], []),
    ],
)
def test_oddities_are_named(text: str, head: list[str], seed: list[str]) -> None:
    mma = called(text)
    assert [name for name, _ in oddities_of(mma, "head")] == head
    assert [name for name, _ in oddities_of(mma, "seed")] == seed
