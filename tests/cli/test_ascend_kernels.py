"""Whole kernels on the command line: what the issue asks for, word by word."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Pantile

WORKLOAD = "bmm:b=2,m=512,n=512,k=512,dtype=fp16"
ON = ("-m", "ascend-950pr")


def test_a_core_s_stream_is_one_intrinsic_a_line(pantile: Pantile) -> None:
    done = pantile("lower", WORKLOAD, *ON, "--core", "0", "--text")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert len(lines) == 72
    assert lines[0] == "set_atomic_none()"
    assert sum(line.startswith("mad(") for line in lines) == 4
    listed = pantile("lower", WORKLOAD, *ON, "--core", "0", "--json").object["operations"]
    assert [each["op"] for each in listed] == [line.partition("(")[0] for line in lines]


def test_what_is_listed_can_be_checked_as_a_trace(pantile: Pantile) -> None:
    text = pantile("lower", WORKLOAD, *ON, "--core", "5").out
    with open("core5.txt", "w", encoding="utf-8") as file:
        file.write(text)
    done = pantile("check", "core5.txt", *ON)
    assert (done.code, done.err) == (0, ""), done.out
    assert done.out.splitlines()[-1].strip() == "ok"


def test_check_and_simulate_print_their_contract(pantile: Pantile) -> None:
    checked = pantile("check", WORKLOAD, *ON, "--json").object
    assert (checked["schema"], checked["ok"], checked["findings"]) == ("pantile/check/1", True, [])
    ran = pantile("simulate", WORKLOAD, *ON, "--core", "0", "--json").object
    assert ran["schema"] == "pantile/simulate/1"
    wanted = {
        "total_cycles",
        "total_seconds",
        "terms",
        "lower_bounds",
        "per_core",
        "per_layer",
        "utilisation",
    }
    assert wanted | {"bound_by", "utilisation"} <= set(ran)
    assert sum(ran["terms"].values()) == ran["total_cycles"]
    traced = pantile("simulate", WORKLOAD, *ON, "--core", "0", "--trace", "core0.perfetto-trace")
    assert traced.err == "wrote core0.perfetto-trace\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["lower", WORKLOAD, "--core", "32"], "there is no core 32; ascend-950pr has cores 0 to 31"),
        (["simulate", WORKLOAD, "--core", "-1"], "expected the number of a core, got '-1'"),
        (["lower", "bmm:b=200,m=64,n=64,k=64"], "branch ITER_BATCH_BASICAPI is known by how it is launched"),
        (["lower", WORKLOAD, "--window", "5000:5001"], "the program has operations 0 to 2303"),
        (["simulate", "bmm:b=2,m=8,n=8,k=0"], "is known by how it is launched"),
    ],
)
def test_bad_input_is_one_line(pantile: Pantile, arguments: list[str], said: str) -> None:
    done = pantile(*arguments, *ON)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.count("\n") == 1


def test_a_plan_file_that_no_core_holds_is_refused_with_both_numbers(pantile: Pantile) -> None:
    data = pantile("plan", WORKLOAD, *ON, "--json").object
    data["parameters"]["tilingData"] |= {"baseK": 512, "kL1": 512}
    with open("plan.json", "w", encoding="utf-8") as file:
        json.dump(data, file)
    for verb in ("lower", "check", "simulate"):
        done = pantile(verb, "plan.json", *ON)
        assert (done.code, done.out) == (2, "")
        assert "L0A needs 131072 B of 32768 B" in done.err.splitlines()[0]
