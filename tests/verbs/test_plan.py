"""The verb ``plan``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import pantile
from pantile.errors import ManyProblems, PantileError, UsageError
from pantile.machine import load_machine
from pantile.verbs.arguments import PlanOptions
from pantile.verbs.plan import PlanResult, plan_each
from pantile.verbs.result import Many, as_html
from pantile.workload.matmul import Matmul
from pantile.workload.network import network_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pantile.machine import Machine

A8 = "systolic-ws-8x8"


def test_the_automatic_mapping_of_the_worked_example() -> None:
    result = pantile.plan("gemm:m=32,n=32,k=64", A8)
    assert isinstance(result, PlanResult)
    assert result.plan.parameters["mapping"] == "[T] N32 C64 M32 - [O] N1 C1 M1 - [I] N32 C64 M32"
    assert result.ok
    values = {each.name: each.value for each in result.plan.decisions}
    assert (values["db_max_tile_i_j"], values["db_max_tile_k"]) == (5, 51)


def test_values_are_taken_like_texts() -> None:
    text = "gemm:m=32,n=32,k=64"
    wanted = pantile.plan(text, A8).to_json()
    product = Matmul(m=32, n=32, k=64)
    assert pantile.plan(product, load_machine(A8)).to_json() == wanted
    assert pantile.plan(network_of(product, source=text), A8).to_json() == wanted


def test_text_and_html_are_those_of_the_terminal(seed: tuple[str, str]) -> None:
    workload, mapping = seed
    result = pantile.plan(workload, A8, mapping=mapping)
    assert str(result).splitlines() == [
        "matmul (m32 n32 k64)",
        f"  mapping    {mapping}  (explicit)",
        "  tile       2 m x 2 n x 2 k, each m16 n16 k32",
        "  block      2 m x 2 n x 4 k, each m8 n8 k8",
        "  element    8 m x 8 n x 8 k, each m1 n1 k1",
        "  order      m > n > k; all tiles on core 0",
        "  predicted  8 tiles, 4 regions, 128 compute instructions, 65536 macs, 65536 padded macs",
    ]
    assert result.explain().startswith(str(result) + "\n  shape\n")
    assert result._repr_html_() == as_html(result.explain())


def test_rejected_alternatives_are_explained() -> None:
    lines = pantile.plan("gemm:m=32,n=32,k=64", A8).explain().splitlines()
    at = next(place for place, line in enumerate(lines) if line.startswith("    tile_I = 1   [min("))
    assert lines[at + 1] == "      not 4: one block per tile"


def test_an_infeasible_plan_is_a_result(machine: Callable[..., Machine]) -> None:
    # 16 rows and 16 columns of 16 B, 64 B apart, are 32 requests of 32 B; a half has 512 B.
    result = pantile.plan("gemm:m=16,n=16,k=64", machine(spad_size=1, core_width=16, core_height=16))
    reason = "no mapping fits: for the smallest tile 1024 B of scratchpad are needed, a half holds 512 B"
    assert not result.ok
    assert str(result) == f"matmul (m16 n16 k64): infeasible: {reason}"
    made = result.to_json()
    assert (made["feasible"], made["reason"], made["levels"]) == (False, reason, [])
    assert made["decisions"]


def test_a_network_has_a_plan_per_node_in_file_order(mlp: str) -> None:
    results = pantile.plan(mlp, A8)
    assert isinstance(results, Many)
    assert [each.node.name for each in results] == ["up", "relu", "down"]
    assert str(results[1]) == results[1].explain() == "relu: outside the model: Relu is no product"
    assert results.ok
    assert [each["feasible"] for each in results.to_json()[:-1]] == [True, None, True]


def test_every_problem_of_every_row_is_raised_at_once(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("m,n,k,dtype\n8,8,8,int4\n8,8,8,\n8,8,8,int4\n")
    with pytest.raises(ManyProblems) as caught:
        pantile.plan(table, A8)
    assert [str(each).split(": ")[0] for each in caught.value.problems] == [f"{table}:2", f"{table}:4"]


def test_notes_carry_the_numbers_of_the_quirks(machine: Callable[..., Machine]) -> None:
    def codes(workload: str, semantics: str = "fixed", **changes: int) -> list[str]:
        plan = pantile.plan(workload, machine(**changes), semantics=semantics).plan
        return [note.code for note in plan.notes]

    assert codes("gemm:m=32,n=32,k=32") == []
    assert codes("gemm:m=33,n=17,k=65,bias") == []
    assert codes("gemm:m=32,n=32,k=32", num_cores=4) == ["Q17"]
    assert codes("gemm:m=13,n=19,k=17", num_cores=4) == ["Q1"]
    assert codes("gemm:m=12,n=12,k=12", core_width=6, core_height=6) == ["Q9"]
    assert codes("gemm:m=12,n=12,k=12", "faithful", core_width=6, core_height=6) == ["Q9"]
    assert codes("bmm:b=2,m=8,n=8,k=8") == ["Q12", "model"]
    assert codes("bmm:a=8x16,b=8x16,ta") == ["Q11", "model"]


def test_another_element_type_than_the_machines_is_noted() -> None:
    (note,) = pantile.plan("gemm:m=8,n=8,k=8,dtype=fp16", A8).plan.notes
    assert str(note) == "dtype: elements of 2 B, as the workload says; the machine's are 1 B"
    assert pantile.plan("gemm:m=8,n=8,k=8,dtype=int8", A8).plan.notes == ()


def test_semantics_and_planners_are_checked() -> None:
    for option in ({"semantics": "exact"}, {"planner": "search"}):
        with pytest.raises(PantileError, match=f"^unknown {next(iter(option))} '"):
            pantile.plan("gemm:m=8,n=8,k=8", A8, **option)


def test_several_planners_plan_in_turn() -> None:
    found = pantile.plan("bmm:b=2,m=512,n=512,k=512", "ascend-950pr", planner=["asw:published", "cann"])
    assert isinstance(found, Many)
    assert [(each.session.semantics, each.plan.planner) for each in found if each.plan] == [
        ("published", "asw"),
        ("source", "cann"),
    ]
    assert "(2 of m512 n512 k512), asw published" in str(found)
    assert found.to_json()[-1]["workloads"] == 2


def test_a_table_is_planned_row_by_row_by_each_planner(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("b,m,n,k,name\n8,512,512,512,first\n2,64,64,64,second\n")
    options = [PlanOptions(planner=name) for name in ("cann", "asw")]
    count, results = plan_each(str(table), "ascend-950pr", *options)
    made = [(each.node.name, each.plan.planner) for each in results if each.plan]
    assert count == 4
    assert made == [("first", "cann"), ("first", "asw"), ("second", "cann"), ("second", "asw")]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"planner": []}, "expected at least one planner"),
        ({"planner": "asw:published", "semantics": "corrected"}, "names its semantics, got 'corrected' too"),
        ({"planner": "asw:"}, "expected semantics after the colon of 'asw:'"),
        ({"planner": "asw:right"}, "unknown semantics 'right' of planner asw"),
        ({"planner": ["cann", "azw"]}, "unknown planner 'azw'"),
    ],
)
def test_planners_that_cannot_be_asked_are_one_line(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        pantile.plan("bmm:b=2,m=512,n=512,k=512", "ascend-950pr", **arguments)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_operator_of_another_chip_is_not_claimed() -> None:
    found = pantile.plan("bmm:b=8,m=512,n=512,k=512", "ascend-910b")
    assert isinstance(found, PlanResult)
    assert found.plan is not None
    assert found.plan.notes[0].code == "chip"
    assert "ascend-910b, which is dav-c220" in found.plan.notes[0].text
    ours = pantile.plan("bmm:b=8,m=512,n=512,k=512", "ascend-950pr")
    assert isinstance(ours, PlanResult)
    assert ours.plan is not None
    assert all(note.code != "chip" for note in ours.plan.notes)


@pytest.mark.parametrize("option", ["objective", "budget"])
def test_no_planner_searches_and_says_so(option: str) -> None:
    with pytest.raises(UsageError) as caught:
        pantile.plan("gemm:m=64,n=64,k=64", A8, **{option: "3"})  # type: ignore[arg-type]
    assert str(caught.value).startswith(f"--{option}: a planner that searches takes it, got '3'; ")
    assert "\n" not in str(caught.value)


def test_the_wrong_family_is_told_with_its_article() -> None:
    with pytest.raises(UsageError, match="'ascend-950pr' is an ascend machine"):
        pantile.plan("gemm:m=64,n=64,k=64", "ascend-950pr", planner="onnxim")
    with pytest.raises(UsageError, match="is a systolic machine"):
        pantile.plan("gemm:m=64,n=64,k=64", A8, planner="cann")
