"""Calls of ``mma_tile`` on the command line: listings, JSON, verdicts, refusals."""

# ruff: noqa: E501  # messages stand here whole, as they are printed

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Pantile

GOLDEN = Path(__file__).parents[1] / "golden"
CALL = "mma-tile:m=128,n=128,k=512,dtype=fp16"
ON = ("-m", "ascend-910b")
SINGLE = "mma-tile:m=16,n=1040,k=64,dtype=fp16"


def test_the_listing_is_what_a_trace_prints(pantile: Pantile) -> None:
    done = pantile("lower", CALL, *ON, "--text")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert len(lines) == 40
    assert lines[:4] == [
        "set_flag(PIPE_M, PIPE_MTE1, 0)",
        "set_flag(PIPE_M, PIPE_MTE1, 1)",
        "wait_flag(PIPE_M, PIPE_MTE1, 0)",
        "set_fmatrix(65664)",
    ]
    assert lines[7] == "set_flag(PIPE_MTE1, PIPE_M, 7)"
    assert pantile("lower", CALL, *ON, "--window", "7:9").out.splitlines() == lines[7:9]


@pytest.mark.parametrize("revision", ["head", "seed"])
def test_the_object_has_the_fields_of_recorded_cases(pantile: Pantile, revision: str) -> None:
    recorded = json.loads((GOLDEN / "mma_tile" / "half_nn_k512.json").read_text(encoding="utf-8"))
    found = pantile("lower", CALL, *ON, "--json", "--semantics", revision).object
    assert (found["schema"], found["workload"], found["semantics"]) == ("pantile/lower/1", CALL, revision)
    assert found["call"] == recorded["input"]
    assert found["operations"] == recorded[revision]["trace"]
    assert found["trapped"] is False
    assert found["totals"]["macs"] == found["totals"]["padded_macs"] == 128 * 128 * 512
    assert found["totals"]["instructions"]["mad"] == 4


def test_a_listing_can_be_checked_as_a_trace(pantile: Pantile) -> None:
    Path("t.txt").write_text(pantile("lower", SINGLE, *ON, "--text").out, encoding="utf-8")
    done = pantile("check", "t.txt", *ON)
    assert (done.code, done.out.splitlines()[-1]) == (0, "  ok")


def test_without_a_listing_totals_are_printed(pantile: Pantile) -> None:
    done = pantile("lower", "mma-tile:m=100,n=90,k=190,dtype=fp16", *ON)
    lines = done.out.splitlines()
    assert lines[0] == "mma-tile:m=100,n=90,k=190,dtype=fp16 on ascend-910b, revision head"
    # 112 x 96 outputs; K of 190 in one part of 128 and one of 62, which blocks of 16 round up to 64.
    assert f"  MACs          {100 * 90 * 190} useful, {112 * 96 * 192} padded" in lines


def test_a_call_is_checked_in_a_caller_that_keeps_its_flags(pantile: Pantile) -> None:
    events = "events=l1a_wait:0+l1b_wait:1+l1a_set:2+l1b_set:3+back0:0+back1:1"
    done = pantile("check", f"{CALL},{events}", *ON, "--semantics", "seed")
    assert done.code == 0
    assert "  proved: races: 39 accesses, all conflicting ones ordered" in done.out.splitlines()
    assert "note caller: checked in a caller" in done.out


def test_fixed_ids_hang_a_caller_that_passes_others(pantile: Pantile) -> None:
    events = "events=back0:2+back1:3"
    assert pantile("check", f"{SINGLE},{events}", *ON, "--semantics", "seed").code == 0
    done = pantile("check", f"{SINGLE},{events}", *ON)
    assert done.code == 1
    assert "error: PT-DEADLOCK (hang): 2 threads wait for ever, whatever the timing" in done.out
    assert "(mma_tile:1) for flag 0 of PIPE_M to PIPE_MTE1" in done.out
    assert "note fixed-ids: one buffer: it waits for flags 0 and 1 of M" in done.out


def test_one_id_for_both_halves_can_be_set_twice(pantile: Pantile) -> None:
    assert pantile("check", CALL, *ON, "--semantics", "seed").code == 0
    done = pantile("check", CALL, *ON)
    assert done.code == 1
    assert "can find flag 7 of PIPE_MTE1 to PIPE_M still up" in done.out


def test_a_call_is_executed_against_numpy(pantile: Pantile) -> None:
    done = pantile("check", "mma-tile:m=33,n=45,k=100,dtype=bf16,tb,bias=fp16", *ON)
    assert done.code == 0
    assert (
        "  proved: values: executed as listed on small integers (seed 5), the result is NumPy's" in done.out
    )
    done = pantile("check", "mma-tile:m=16,n=16,k=64,dtype=int4,tb", *ON)
    assert done.code == 1
    assert "error: PT-COVERAGE (wrong value): 510 of 512 elements of the result are not NumPy's" in done.out
    assert "note int4-tb: nothing of a transposed int4 right operand is loaded" in done.out


def test_ids_that_a_machine_lacks(pantile: Pantile) -> None:
    done = pantile("check", f"{SINGLE},events=l1a_wait:8", *ON)
    assert done.code == 1
    assert "PT-EVENT-ID: flag 8 of PIPE_MTE2 to PIPE_MTE1: ids go from 0 to 7" in done.out


def test_a_tile_that_does_not_fit_l0_is_told_first(pantile: Pantile) -> None:
    done = pantile("lower", "mma-tile:m=16,n=2064,k=32,dtype=fp16", *ON)
    assert done.code == 2
    assert done.err.splitlines()[0] == (
        "error: mma-tile:m=16,n=2064,k=32,dtype=fp16: L0B needs 66048 B of 65536 B for 2064 rows of 16 elements "
        "of K, the smallest part; make the tile smaller [PT-CAPACITY]"
    )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("lower", "mma-tile:m=16,n=16,k=16,dtype=int4,ta", *ON), "int4 has no transposed left operand"),
        (("lower", CALL, *ON, "--semantics", "tail"), "unknown semantics 'tail' of mma-tile"),
        (("lower", CALL, *ON, "--core", "0"), "--core: means nothing for one call; leave it out"),
        (("lower", CALL, *ON, "-p", "cann"), "--planner: means nothing for one call; leave it out"),
        (("lower", CALL, "-m", "mesh-2x2"), "needs an Ascend machine, got 'mesh-2x2'"),
        (
            ("lower", CALL, *ON, "--window", "40:50"),
            "the program has operations 0 to 39, got a window from 40",
        ),
        (("check", CALL), "a workload is checked on a machine, got none; add -m MACHINE"),
        (("plan", CALL, *ON), "mma-tile: is one call of a library, which only lower and check take"),
        (("simulate", CALL, *ON), "mma-tile: is one call of a library, which only lower and check take"),
    ],
)
def test_mistakes_are_one_line(pantile: Pantile, arguments: tuple[str, ...], told: str) -> None:
    done = pantile(*arguments)
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert len(done.err.splitlines()) == 1


def test_ids_that_a_machine_lacks_are_not_emitted(pantile: Pantile) -> None:
    done = pantile("lower", f"{SINGLE},events=back0:9+l1a_wait:8+l1b_wait:7", *ON)
    assert done.code == 2
    first, second = done.err.splitlines()
    assert "expected back0 of 0 to 7, got 9" in first
    assert "expected l1a_wait of 0 to 7, got 8" in second


@pytest.mark.parametrize("verb", ["lower", "check"])
def test_a_core_that_the_library_is_not_for_is_told(pantile: Pantile, verb: str) -> None:
    on_950 = pantile(verb, SINGLE, "-m", "ascend-950pr")
    assert (
        "library is for architecture 220x (dav-c220) alone, which ascend-950pr does not say to be"
        in on_950.out
    )
    assert "dav-c220" not in pantile(verb, SINGLE, *ON).out


def test_a_printed_call_is_checked_without_its_caller_and_says_so(pantile: Pantile, tmp_path: Path) -> None:
    call = f"{SINGLE},events=l1a_wait:0+back0:0+back1:1"
    assert pantile("check", call, *ON).code == 0
    printed = tmp_path / "call.txt"
    printed.write_text(pantile("lower", call, *ON, "--text").out)
    done = pantile("check", str(printed), *ON)
    assert done.code == 1
    assert "note caller: checked alone, without the code of a caller" in done.out
    assert "needs up PIPE_M to PIPE_MTE1 0, 1; PIPE_MTE2 to PIPE_MTE1 0" in done.out
    alone = tmp_path / "alone.txt"
    alone.write_text(pantile("lower", SINGLE, *ON, "--text").out)
    assert "note caller" not in pantile("check", str(alone), *ON).out


def test_the_mend_of_a_lost_set_is_no_further_set(pantile: Pantile) -> None:
    done = pantile("check", CALL, *ON)
    assert (
        "mend: a set of flag 7 of PIPE_MTE1 to PIPE_M is lost while it is up: use an id for each half"
        in done.out
    )
    assert "once for every wait" not in done.out
