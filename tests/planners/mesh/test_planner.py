"""Plans of products on meshes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.errors import MappingError, OutsideModelError
from pantile.planners.mesh.cut import parse_cut
from pantile.planners.mesh.planner import plan_network
from pantile.planners.mesh.product import product_of
from pantile.tiling.plan import Plan
from pantile.workload.matmul import Matmul
from pantile.workload.network import network_of

Figures = Any


def plan(figures: Figures, planner: str = "cannon", mapping: str | None = None, **sizes: int) -> Plan:
    product = Matmul(**{"m": 64, "n": 64, "k": 64, **sizes})  # type: ignore[arg-type]
    (found,) = plan_network(network_of(product), figures, planner, mapping=mapping)
    assert found.plan is not None
    return found.plan


def test_one_round_where_everything_fits(figures: type[Figures]) -> None:
    made = plan(figures())
    assert made.parameters["mapping"] == "[grid] 2x2 [pieces] b1 m2 n2 k2 [slots] 2"
    assert made.buffering == {"sram": 2}
    assert made.tiling is not None
    assert made.tiling.nominal_sizes[0] == (1, 32, 32, 32)
    # 2 slots x (32 x 32 + 32 x 32) x 4 B, and 32 x 32 x 4 B of output
    assert made.parameters["sram_bytes_needed"] == 2 * 8192 + 4096
    assert made.predicted["a_read_bytes"] == made.predicted["b_read_bytes"] == 64 * 64 * 4
    assert made.predicted["compute_cycles"] == 32 * 32 * 64 // 256
    assert made.predicted["ddr_cycles"] == 2 * 32 * 32 * 4 // 32


def test_the_reduction_is_cut_before_anything_leaves_memory_twice(figures: type[Figures]) -> None:
    made = plan(figures(sram_bytes=12 << 10))
    assert made.parameters["pieces"] == [1, 2, 2, 4]
    assert made.predicted["a_read_bytes"] == 64 * 64 * 4
    assert made.parameters["sram_bytes_needed"] == 12 << 10
    assert plan(figures(sram_bytes=(12 << 10) - 1)).parameters["pieces"] == [1, 2, 2, 6]


def test_rounds_where_the_output_does_not_fit(figures: type[Figures]) -> None:
    made = plan(figures(sram_bytes=4 << 10))
    assert made.parameters["pieces"][1:3] in ([2, 4], [4, 2])
    assert made.predicted["a_read_bytes"] + made.predicted["b_read_bytes"] == 3 * 64 * 64 * 4
    (decision,) = [each for each in made.decisions if each.name == "pieces"]
    assert decision.rejected[0] == (
        "[grid] 2x2 [pieces] b1 m2 n2 k64 [slots] 2: needs 4608 B of sram, a chiplet has 4096 B"
    )


def test_nothing_fits(figures: type[Figures]) -> None:
    made = plan(figures(sram_bytes=19), m=4, n=4, k=4)
    assert not made.feasible
    assert made.reason == "the smallest shards need 20 B of sram, a chiplet of mesh has 19 B"
    assert plan(figures(sram_bytes=20), m=4, n=4, k=4).parameters["pieces"] == [1, 4, 4, 4]


def test_too_few_slots(figures: type[Figures]) -> None:
    made = plan(figures(slots=1))
    assert made.reason == "shards that circulate need 2 slots, mesh has sram.slots = 1"
    assert plan(figures(slots=1), "summa").feasible
    assert plan(figures(slots=1, rows=1, columns=1)).feasible


def test_grids(figures: type[Figures]) -> None:
    wide = figures(rows=2, columns=4)
    assert plan(wide).reason == (
        "shards circulate on a square grid, mesh has 2 rows and 4 columns; summa takes any"
    )
    assert plan(wide, "summa").parameters["mapping"] == "[grid] 2x4 [pieces] b1 m2 n4 k4 [slots] 2"
    assert plan(wide, "direct").parameters["exchange"] == "direct"
    assert plan(figures(), "direct").parameters["exchange"] == "skewed"


def test_products_smaller_than_the_grid(figures: type[Figures]) -> None:
    big = figures(rows=4, columns=4)
    assert plan(big, m=3, n=2, k=9).parameters["grid"] == [2, 2]
    assert plan(big, m=9, n=9, k=3).parameters["grid"] == [3, 3]
    assert plan(big, "summa", m=3, n=2, k=1).parameters["mapping"] == (
        "[grid] 3x2 [pieces] b1 m3 n2 k1 [slots] 2"
    )
    assert plan(big, m=1, n=1, k=1).parameters["grid"] == [1, 1]


def test_memories_wired_otherwise(figures: type[Figures]) -> None:
    made = plan(figures(wires=(0, 3)))
    assert made.reason == (
        "shards are spread over a memory for each of 4 chiplets, mesh has 2, or wires them otherwise"
    )


@pytest.mark.parametrize(
    ("planner", "mapping", "problem"),
    [
        ("cannon", "[grid] 4x4 [pieces] b1 m4 n4 k4 [slots] 2", "the machine has 2 x 2 chiplets"),
        (
            "cannon",
            "[grid] 1x2 [pieces] b1 m2 n2 k2 [slots] 2",
            "shards circulate on a square grid, got 1 rows and 2 columns",
        ),
        (
            "cannon",
            "[grid] 2x2 [pieces] b2 m2 n2 k2 [slots] 2",
            "products are computed one by one, 1 of them, got b2",
        ),
        (
            "cannon",
            "[grid] 2x2 [pieces] b1 m2 n2 k3 [slots] 2",
            "expected a multiple of 2 pieces of k, one for each chiplet, got 3",
        ),
        (
            "summa",
            "[grid] 2x2 [pieces] b1 m3 n2 k3 [slots] 2",
            "expected a multiple of 2 pieces of m, one for each chiplet, got 3",
        ),
        ("summa", "[grid] 2x2 [pieces] b1 m2 n2 k65 [slots] 2", "65 pieces of k, which has 64 elements"),
        (
            "summa",
            "[grid] 2x2 [pieces] b1 m2 n2 k1 [slots] 20",
            "the shards need 659456 B of sram, a chiplet has 131072 B",
        ),
    ],
)
def test_explicit_mappings_that_cannot_be(
    figures: type[Figures], planner: str, mapping: str, problem: str
) -> None:
    with pytest.raises(MappingError) as caught:
        plan(figures(sram_bytes=1 << 17), planner, mapping)
    assert str(caught.value) == f"--mapping: {mapping}: {problem} [PT-MAPPING]"


def test_an_explicit_mapping_may_have_one_slot_for_the_checker_to_judge(figures: type[Figures]) -> None:
    made = plan(figures(), mapping="[grid] 2x2 [pieces] b1 m2 n2 k2 [slots] 1")
    assert made.feasible
    assert made.buffering == {"sram": 1}
    assert made.parameters["source"] == "explicit"


def test_too_many_computes(figures: type[Figures]) -> None:
    with pytest.raises(OutsideModelError, match="65536 computes, this version takes at most 50000"):
        plan(figures(), mapping="[grid] 2x2 [pieces] b1 m32 n32 k64 [slots] 2")
    small = figures(sram_bytes=64)
    assert "computes, this version takes at most 50000" in plan(small, m=512, n=512, k=512).reason


def test_nodes_outside_the_model(figures: type[Figures]) -> None:
    (found,) = plan_network(network_of(Matmul(m=2, n=2, k=2, bias="default")), figures(), "cannon")
    assert (found.plan, found.outside) == (None, "a bias is not added on a mesh")


def test_every_decision_says_from_what_and_how(figures: type[Figures]) -> None:
    made = plan(figures())
    assert [each.name for each in made.decisions] == ["dtypes", "grid", "exchange", "slots", "pieces"]
    assert all(each.formula and each.inputs for each in made.decisions)
    rejected = {each.name: each.rejected for each in made.decisions}
    assert rejected["slots"] == ("1: everybody would wait for a neighbour's free slot",)
    assert rejected["exchange"] == ("direct: a would leave memories off chip 2 times, b 2 times",)


@settings(deadline=None)
@given(
    st.sampled_from(["cannon", "summa", "direct"]),
    st.tuples(*(st.integers(1, 40) for _ in range(3))),
    st.integers(1, 4),
    st.integers(12, 3000),
)
def test_a_plan_fits_and_plans_again_from_its_mapping(
    figures: type[Figures], planner: str, sizes: tuple[int, int, int], side: int, capacity: int
) -> None:
    mesh = figures(rows=side, columns=side, sram_bytes=capacity)
    made = plan(mesh, planner, m=sizes[0], n=sizes[1], k=sizes[2])
    assert Plan.from_json(made.to_json()).to_json() == made.to_json()
    if not made.feasible:
        assert made.reason
        return
    assert made.parameters["sram_bytes_needed"] <= capacity
    mapping = made.parameters["mapping"]
    again = plan(mesh, planner, mapping, m=sizes[0], n=sizes[1], k=sizes[2])
    assert again.predicted == made.predicted
    assert again.tiling == made.tiling
    product = product_of(Matmul(m=sizes[0], n=sizes[1], k=sizes[2]), 4)
    buffers = 2 if planner == "summa" else 1
    assert parse_cut(mapping).bytes_needed(product, buffers) == made.parameters["sram_bytes_needed"]
