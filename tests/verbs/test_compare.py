"""Two plans of one product side by side."""

from __future__ import annotations

import json
from typing import Any

import pytest

import pantile
from pantile.errors import OutsideModelError, UsageError
from pantile.verbs.compare import Comparison
from pantile.verbs.compare_page import comparison_page

MACHINE = "ascend-950pr"
SMALL = "bmm:b=1,m=1536,n=1536,k=256"


def compared(workload: str, *planners: str, judge: str = "closed", machine: str = MACHINE) -> Comparison:
    found = pantile.compare(workload, machine, planners=planners, judge=judge)
    assert isinstance(found, Comparison)
    return found


def test_every_dimension_stands_side_by_side_and_the_first_that_differs_is_named() -> None:
    found = compared(SMALL, "cann", "asw")
    assert found.dimensions == (
        "entry",
        "base tile",
        "single-core tile",
        "assignment",
        "swizzle",
        "tail",
        "L2",
        "reduction",
        "full load",
    )
    assert [name for name in found.dimensions if found.parts(name)] == [
        "base tile",
        "single-core tile",
        "assignment",
        "tail",
    ]
    assert found.first == "base tile"
    one, other = found.decisions_at(found.first)
    assert one is not None
    assert (one.stage, one.value) == ("GetRebalanceBlock", [192, 192])
    assert other is not None
    assert (other.stage, other.value) == ("1 L0 tile", {"m": 256, "n": 256})
    text = str(found)
    assert "* single-core tile  m 192, n 192, k_l1 256" in text
    assert "they part at: base tile" in text
    assert "E-11: a block is memory bound as published, write bound with all of k" in text


def test_both_judges_measure_both_plans_alike() -> None:
    """The seed's example 1: 49 tiles of 256 leave 17 for a second wave; 64 of 224 do not."""
    workload = "bmm:b=1,m=1792,n=1792,k=4096"
    for judge in ("closed", "exact"):
        found = compared(workload, "asw:published", "asw", judge=judge)
        seconds = [side.judged and float(side.judged.seconds) for side in found.sides]
        assert seconds[0] is not None
        assert seconds[1] is not None
        assert seconds[1] <= seconds[0]
        assert seconds[1] >= 2 * 1792 * 1792 * 4096 / 486e12
    assert f"judge {judge}" in str(found)


def test_the_same_planner_does_not_part_from_itself() -> None:
    found = compared(SMALL, "asw", "asw")
    assert not found.first
    assert "they do not part" in str(found)
    assert found.to_json()["parts_at"] is None


def test_pieces_and_few_cores_are_judged_as_planned() -> None:
    """A1: 42 blocks on 32 cores, the last 10 in 3 pieces; and 8 blocks on 8 cores."""
    pieces = compared("bmm:b=7,m=768,n=896,k=640", "cann", "asw").sides[1]
    assert pieces.aspects["tail"].value["pieces"]["count"] == 3
    assert pieces.judged is not None
    assert float(pieces.judged.seconds) == pytest.approx(1.32413216334e-05)
    few = compared("bmm:b=2,m=512,n=512,k=1024", "asw:published", "asw").sides[1]
    assert few.aspects["reduction"].value == {"reduced": True, "used_cores": 8}
    assert few.judged is not None
    assert few.judged.bound == "schedule"


def test_a_plan_that_comes_to_nothing_parts_where_it_stops() -> None:
    found = compared("bmm:b=7,m=768,n=896,k=640", "cann", "asw:published")
    assert found.ok
    assert found.first == "base tile"
    assert "infeasible: constraint 4: no cut of n = 896" in str(found)
    assert found.sides[1].judged is None


def test_no_plan_at_all_is_not_ok() -> None:
    assert not compared("bmm:b=7,m=768,n=896,k=640", "asw:published", "asw:published_5_2").ok


def test_another_branch_parts_at_the_entry() -> None:
    found = compared("bmm:b=64,m=32,n=32,k=64", "cann", "asw")
    assert found.first == "entry"
    assert found.sides[0].judged is None
    assert [note.code for note in found.errata] == ["E-06", "E-54"]


def test_folded_batches_are_judged_as_rows() -> None:
    found = compared("bmm:a=16x256x512,b=1x512x1024,dtype=fp16", "cann", "asw")
    one, other = (side.judged for side in found.sides)
    assert one is not None
    assert other is not None
    assert one.terms["compute"] == other.terms["compute"]


def test_json_has_every_common_key_and_survives_a_round_trip() -> None:
    found = compared(SMALL, "cann", "asw", judge="exact").to_json()
    assert json.loads(json.dumps(found)) == found
    assert found["schema"] == "pantile/compare/1"
    assert {"version", "workload", "machine", "planner", "semantics", "notes"} <= set(found)
    assert [side["planner"] for side in found["sides"]] == ["cann", "asw"]
    assert found["parts_at"]["aspect"] == "base tile"
    assert found["aspects"][0]["values"][0]["branch"] == "ASW_BASIC"


def test_planners_of_other_machines_are_compared_by_their_levels() -> None:
    found = compared("gemm:m=64,n=64,k=64", "onnxim", "onnxim:faithful", machine="systolic-ws-8x8")
    assert found.dimensions[0] == "level tile"
    assert not found.errata


def test_a_page_holds_both_logs_and_loads_nothing() -> None:
    page = comparison_page(compared(SMALL, "cann", "asw"))
    assert "GetRebalanceBlock" in page
    assert "2 single-core block" in page
    assert "class='parts'" in page
    assert "http" not in page.replace("http-equiv", "")
    assert "<script" not in page


def test_a_table_gives_one_comparison_a_row(tmp_path: Any) -> None:
    file = tmp_path / "shapes.csv"
    file.write_text("b,m,n,k\n8,2048,2048,1024\n1,1536,1536,256\n")
    found = pantile.compare(str(file), MACHINE, planners=["cann", "asw"])
    assert len(found) == 2  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "kind", "said"),
    [
        ({"planners": ["asw"]}, UsageError, "two planners are compared, got 1"),
        ({"planners": ["asw", "cann", "asw"]}, UsageError, "two planners are compared, got 3"),
        ({"planners": ["asw", "cann"], "judge": "guess"}, UsageError, "unknown judge 'guess'"),
        ({"planners": ["asw", "canon"]}, UsageError, "unknown planner 'canon'"),
        ({"planners": ["asw", "cannon"]}, UsageError, "plans for mesh machines"),
        ({"planners": ["asw:right", "cann"]}, UsageError, "unknown semantics 'right' of planner asw"),
        ({"planners": ["asw", "onnxim"]}, UsageError, "plans for systolic machines"),
    ],
)
def test_bad_input_is_one_line(arguments: dict[str, Any], kind: type[Exception], said: str) -> None:
    with pytest.raises(kind) as caught:
        pantile.compare(SMALL, MACHINE, **arguments)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_exact_judge_is_for_ascend_machines() -> None:
    with pytest.raises(OutsideModelError, match="knows ascend machines"):
        compared("gemm:m=64,n=64,k=64", "onnxim", "onnxim", machine="systolic-ws-8x8", judge="exact")
    with pytest.raises(OutsideModelError, match="judge 'simulate' knows ascend machines"):
        compared("gemm:m=64,n=64,k=64", "onnxim", "onnxim", machine="systolic-ws-8x8", judge="simulate")


def test_the_simulating_judge_runs_the_programs_of_both() -> None:
    found = compared("bmm:b=2,m=512,n=512,k=512,dtype=fp16", "cann", "asw", judge="simulate")
    for side in found.sides:
        ran = pantile.simulate("bmm:b=2,m=512,n=512,k=512,dtype=fp16", MACHINE, planner=side.planner)
        assert side.judged is not None
        assert float(side.judged.seconds) == ran.total_ps / 1e12  # type: ignore[union-attr]
        assert sum(side.judged.terms.values()) == side.judged.seconds


def test_a_plan_that_is_not_lowered_is_not_judged_and_says_why() -> None:
    found = compared("bmm:b=200,m=64,n=64,k=64", "cann", "asw", judge="simulate")
    cann, asw = found.sides
    assert (cann.judged, asw.judged is None) == (None, False)
    assert cann.plan is not None
    assert "branch ITER_BATCH_BASICAPI is known by how it is launched" in str(cann.plan.notes)
