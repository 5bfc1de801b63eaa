"""Plans as files: what ``plan --json`` wrote is an input of the other verbs."""

# ruff: noqa: E501  # messages stand here whole, as they are printed

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Outcome, Pantile, WriteOnnx

M8 = ("-m", "systolic-ws-8x8")
VERBS = ("lower", "check", "simulate")
MAPPING = "[T] N32 C64 M32 - [O] N2 C2 M2 - [I] N16 C32 M16"


def saved(done: Outcome, name: str = "plan.json") -> str:
    assert done.code == 0, done.err
    Path(name).write_text(done.out)
    return name


@pytest.mark.parametrize(
    "options",
    [(), ("--mapping", MAPPING), ("--semantics", "faithful")],
    ids=["automatic", "explicit", "faithful"],
)
@pytest.mark.parametrize("verb", VERBS)
def test_a_plan_stands_for_its_workload_mapping_and_semantics(
    verb: str, options: tuple[str, ...], pantile: Pantile
) -> None:
    workload = "gemm:m=32,n=32,k=64"
    plan = pantile("plan", workload, *M8, *options, "--json")
    again = pantile(verb, saved(plan), *M8, "--json").object
    direct = pantile(verb, workload, *M8, *options, "--json").object
    assert again == direct


@pytest.mark.parametrize("verb", VERBS)
def test_plans_of_batches_and_convolutions(verb: str, pantile: Pantile, onnx_file: WriteOnnx) -> None:
    conv = onnx_file(
        [("Conv", "conv", ["p", "w"], "q", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]})],
        {"p": [1, 8, 8, 8]},
        {"w": [16, 8, 3, 3]},
    )
    for workload in ("bmm:b=3,m=8,n=24,k=16,dtype=fp16", f"{conv}#conv"):
        plan = saved(pantile("plan", workload, *M8, "--json"))
        assert pantile(verb, plan, *M8, "--json").object == pantile(verb, workload, *M8, "--json").object


def test_bound_dimensions_travel_with_the_plan(pantile: Pantile, onnx_file: WriteOnnx) -> None:
    net = onnx_file([("MatMul", "p", ["x", "w"], "y")], {"x": ["seq", 32]}, {"w": [32, 24]})
    plan = saved(pantile("plan", f"{net}#p", *M8, "--dim", "seq=40", "--json"))
    assert pantile("lower", plan, *M8, "--json").object["totals"]["macs"] == 40 * 32 * 24


def test_view_takes_a_plan(pantile: Pantile) -> None:
    plan = saved(pantile("plan", "gemm:m=32,n=32,k=64", *M8, "--mapping", MAPPING, "--json"))
    assert pantile("view", plan, *M8, "-o", "page.html").code == 0
    assert pantile("view", "gemm:m=32,n=32,k=64", *M8, "--mapping", MAPPING, "-o", "same.html").code == 0
    same = Path("same.html").read_text().replace("same.html", "page.html")
    assert Path("page.html").read_text() == same


def test_on_another_machine_a_plan_stands_with_a_note(pantile: Pantile) -> None:
    plan = saved(pantile("plan", "gemm:m=32,n=32,k=64", *M8, "--mapping", MAPPING, "--json"))
    notes = pantile("simulate", plan, "-m", "systolic-ws-8x8-c4", "--json").object["notes"]
    assert notes == [{"code": "plan", "text": "plan.json was made for systolic-ws-8x8, not for this machine"}]


@pytest.mark.parametrize("option", [("--mapping", MAPPING), ("--semantics", "fixed")])
def test_naming_again_what_a_plan_holds_is_an_error(option: tuple[str, str], pantile: Pantile) -> None:
    plan = saved(pantile("plan", "gemm:m=32,n=32,k=64", *M8, "--json"))
    done = pantile("lower", plan, *M8, *option)
    word = option[0][2:]
    assert done.err == (
        f"error: plan.json: a plan has its {word} already, got another; leave --{word} out [PT-USAGE]\n"
    )
    assert done.code == 2


def broken(**changes: Any) -> dict[str, Any]:
    """A plan with other values; ``...`` takes the key out."""
    whole = {
        "schema": "pantile/plan/1",
        "workload": "gemm:m=32,n=32,k=64",
        "machine": "systolic-ws-8x8",
        "planner": "onnxim",
        "semantics": "fixed",
        "feasible": True,
        "parameters": {"mapping": MAPPING},
    } | changes
    return {key: value for key, value in whole.items() if value is not ...}


PLAN_WANTED = "expected an object of schema 'pantile/plan/1', got {}; write one with `pantile plan … --json`"
BROKEN = {
    "[]": "plan.json: " + PLAN_WANTED.format("'list'"),
    "{}": "plan.json: " + PLAN_WANTED.format("None"),
    '{"schema": "pantile/lower/1"}': "plan.json: " + PLAN_WANTED.format("'pantile/lower/1'"),
    '{"a": ': "plan.json:1:7: expected a plan in JSON: expecting value",
    "{}\n{}": "plan.json:2: expected a single plan, got several objects; plan one product, such as FILE.onnx#NODE",
    "[" * 100_000: "plan.json: expected a plan in JSON, got endless nesting",
    json.dumps(broken(feasible=False)): "plan.json: there is no feasible plan in it",
    json.dumps(broken(feasible=...)): "plan.json: there is no feasible plan in it",
    json.dumps(broken(workload=5)): "plan.json: a plan without a usable 'workload'; plan again",
    json.dumps(broken(semantics=...)): "plan.json: a plan without a usable 'semantics'; plan again",
    json.dumps(broken(parameters=[])): "plan.json: a plan without a usable 'parameters.mapping'; plan again",
    json.dumps(broken(parameters={"mapping": "file"})): "plan.json: a plan without a usable 'parameters.mapping'; "
    "plan again",
    json.dumps(broken(dims={"a": "b"})): "plan.json: a plan without a usable 'dims'; plan again",
}  # fmt: skip


@pytest.mark.parametrize("text", BROKEN, ids=[str(at) for at in range(len(BROKEN))])
def test_files_that_are_no_plan(text: str, pantile: Pantile) -> None:
    Path("plan.json").write_text(text)
    done = pantile("lower", "plan.json", *M8)
    assert (done.code, done.out, done.err) == (2, "", f"error: {BROKEN[text]} [PT-WORKLOAD]\n")


def test_a_plan_whose_workload_has_another_size_is_refused(pantile: Pantile) -> None:
    Path("plan.json").write_text(json.dumps(broken(workload="gemm:m=32,n=32,k=65")))
    done = pantile("lower", "plan.json", *M8)
    assert done.code == 2
    assert "no node has the totals N32 C64 M32" in done.err
