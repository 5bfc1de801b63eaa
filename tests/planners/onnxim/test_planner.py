"""Planning whole networks: sources of a mapping, refusals, notes, and what a plan holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pantile.errors import ManyProblems, MappingError, PantileError, WorkloadError
from pantile.planners.onnxim.capacity import Overflow
from pantile.planners.onnxim.planner import plan_network
from pantile.planners.onnxim.stops import MapperStop
from pantile.tiling.onnxim import Mapping, Semantics, parse_mapping, read_mapping_file
from pantile.tiling.plan import NodePlan, Plan
from pantile.workload.convolution import Convolution
from pantile.workload.matmul import Matmul
from pantile.workload.network import Network, Node, Tensor

FAILURES = json.loads((Path(__file__).parents[2] / "golden/onnxim/quirks/failures.json").read_text())
NOT_OF_THE_PLANNER = {"Q14", "Q21"}
"""A channel count and a core type, which the machine's importer refuses."""
BOTH = pytest.mark.parametrize("semantics", ["fixed", "faithful"])
SEED = "[T] N32 C64 M32 - [O] N2 C2 M2 - [I] N16 C32 M16"


def roomy(node: Node, mapping: Mapping) -> None:
    """Everything fits."""


def lines(text: str, semantics: Semantics = "fixed") -> tuple[Mapping, ...]:
    return read_mapping_file(text, "f.mapping", semantics)


def chain(*shapes: tuple[int, int, int]) -> Network:
    """Independent products n0, n1, .. of (N, C, M)."""
    nodes, tensors = [], []
    for index, (n, c, m) in enumerate(shapes):
        x, w, y = f"x{index}", f"w{index}", f"y{index}"
        computation = Matmul(m=n, k=c, n=m)
        nodes.append(
            Node(name=f"n{index}", op_type="MatMul", inputs=(x, w), outputs=(y,), computation=computation)
        )
        tensors += [
            Tensor(w, (c, m), "initializer"),
            Tensor(x, (n, c), "input"),
            Tensor(y, (n, m), "intermediate"),
        ]
    return Network(name="net", nodes=tuple(nodes), tensors=tuple(tensors), source="net.onnx")


def conv_node(name: str = "conv", **more: Any) -> Node:
    defaults: dict[str, Any] = {
        "batch": 1, "in_channels": 16, "out_channels": 16, "height": 24, "width": 24, "kernel": (1, 1),
    }  # fmt: skip
    convolution = Convolution(**(defaults | more))
    return Node(name=name, op_type="Conv", inputs=("x", "w"), outputs=(name,), computation=convolution)


def network_with(*nodes: Node) -> Network:
    tensors = (Tensor("x", (1, 24, 24, 16), "input"), Tensor("w", (16, 16, 1, 1), "initializer"))
    return Network(name="net", nodes=nodes, tensors=tensors)


def plan_of(each: NodePlan) -> Plan:
    assert each.plan is not None
    return each.plan


def codes(each: NodePlan) -> list[str]:
    return [note.code for note in plan_of(each).notes]


def test_everything_the_target_needs(figures: Callable[..., Any], gemm: Callable[..., Network]) -> None:
    (each,) = plan_network(gemm(32, 64, 32), figures(), mapping_file=lines(SEED), fits=roomy)
    plan = plan_of(each)
    assert plan.parameters == {
        "kind": "gemm",
        "source": "explicit",
        "mapping": SEED,
        "total": {"N": 32, "C": 64, "M": 32, "S": 1, "R": 1, "Q": 1, "P": 1},
        "outer": {"N": 2, "C": 2, "M": 2, "S": 1, "R": 1, "Q": 1, "P": 1},
        "inner": {"N": 16, "C": 32, "M": 16, "S": 1, "R": 1, "Q": 1, "P": 1},
        "has_bias": False,
        "batch": 1,
    }
    assert plan.order == ("m", "n", "k")
    assert plan.buffering == {"scratchpad": 2, "accumulator": 2}
    assert plan.predicted["tiles"] == 8
    assert plan.cores == "all tiles on core 0"
    assert plan.tiling is not None
    assert plan.tiling.nominal_sizes == ((16, 16, 32), (8, 8, 8), (1, 1, 1))
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


@BOTH
def test_an_explicit_line_then_an_earlier_layer_then_the_mapper(
    semantics: Semantics, figures: Callable[..., Any]
) -> None:
    network = chain((32, 64, 32), (50, 70, 46), (50, 70, 46))
    plans = plan_network(
        network, figures(), mapping_file=lines(SEED, semantics), semantics=semantics, fits=roomy
    )
    sources = [plan_of(each).parameters["source"] for each in plans]
    assert sources == ["explicit", "automatic", "table"]
    first, second = plan_of(plans[1]), plan_of(plans[2])
    assert first.parameters["mapping"] == "[T] N50 C70 M46 - [O] N3 C1 M2 - [I] N24 C72 M24"
    assert second.parameters == first.parameters | {"source": "table"}
    lookup = [each for each in second.decisions if each.stage == "lookup"]
    assert lookup[0].rejected == ("automatic mapper: layer 'n1' has the same counts",)


def test_a_reused_mapping_keeps_its_quirks(figures: Callable[..., Any]) -> None:
    plans = plan_network(chain((32, 32, 32), (32, 32, 32)), figures(cores=4), fits=roomy)
    assert [codes(each) for each in plans] == [["Q17"], ["Q17"]]


def test_a_mapping_that_does_not_fit_the_later_layer_is_planned_anew(figures: Callable[..., Any]) -> None:
    """The mapping shared by the table is judged for each node; here the second one has less room."""

    def fits(node: Node, mapping: Mapping) -> Overflow | None:
        small = node.name == "n1" and mapping.inner.C > 32
        return Overflow("scratchpad", 100, 50) if small else None

    network = chain((32, 64, 32), (32, 64, 32))
    plans = plan_network(network, figures(), fits=fits)
    assert [plan_of(each).parameters["source"] for each in plans] == ["automatic", "automatic"]
    assert plan_of(plans[1]).parameters["inner"]["C"] == 32
    with pytest.raises(
        MappingError, match=r"net\.onnx#n1: a tile N32 C64 M32 is too large: 100 B of scratchpad"
    ):
        plan_network(network, figures(), semantics="faithful", fits=fits)


@pytest.mark.parametrize(
    "case",
    [case for case in FAILURES["cases"] if case["id"] not in NOT_OF_THE_PLANNER],
    ids=lambda case: case["id"],
)
def test_inputs_on_which_the_original_fails_are_refused_in_one_line(
    case: dict[str, Any], figures: Callable[..., Any], requests: Callable[..., Any]
) -> None:
    with pytest.raises(PantileError) as caught:
        planned_failure(case, "faithful", figures, requests)
    assert not isinstance(caught.value, ManyProblems)
    assert "\n" not in str(caught.value)


def planned_failure(
    case: dict[str, Any], semantics: Semantics, figures: Callable[..., Any], requests: Callable[..., Any]
) -> tuple[NodePlan, ...]:
    config = case["config"]
    machine = figures(
        config["num_cores"], config["core_height"], config["spad_size"], config["accum_spad_size"],
        config["precision"], config["dram_req_size"], config["core_width"],
    )  # fmt: skip
    n, c, m = case["gemm"]
    shape = tuple(case.get("input_shape", ()))
    matmul = Matmul(
        m=shape[-2] if shape else n, k=c, n=m, a_batch=shape[:-2], transpose_a=case.get("transA", False)
    )
    x = shape or ((c, n) if matmul.transpose_a else (n, c))
    node = Node(name="g", op_type="MatMul", inputs=("x", "w"), outputs=("y",), computation=matmul)
    tensors = (Tensor("w", (c, m), "initializer"), Tensor("x", x, "input"))
    network = Network(name="case", nodes=(node,), tensors=tensors)
    mapping_file = read_mapping_file(case["mapping"] or "", "case.mapping", semantics)
    return plan_network(
        network, machine, mapping_file=mapping_file, semantics=semantics, fits=requests(machine)
    )


@pytest.mark.parametrize(
    ("quirk", "mapping", "notes"),
    [
        ("Q1a", "[T] N13 C17 M19 - [O] N1 C1 M3 - [I] N16 C24 M8", ["Q1"]),
        ("Q1b", "[T] N50 C70 M46 - [O] N1 C1 M1 - [I] N128 C128 M128", ["Q1"]),
        ("Q1c", "[T] N32 C64 M65 - [O] N1 C1 M9 - [I] N32 C64 M8", ["Q1"]),
        # A half holds 256 requests, a row of 8 elements takes one. 200 + 200; N in 3 tiles of 17 blocks:
        # 136 + 200; then M: 136 + 136; then N, first of equals, in 4 tiles of 13 blocks: 104 + 136 = 240.
        ("Q2a", "[T] N400 C400 M400 - [O] N4 C50 M3 - [I] N104 C8 M136", ["Q2a"]),
        # Half of 4 KiB is 64 requests: 32 rows and 32 columns.
        ("Q2b", "[T] N400 C400 M400 - [O] N13 C50 M13 - [I] N32 C8 M32", ["Q2b"]),
        ("Q4", "[T] N16 C16 M16 - [O] N2 C1 M1 - [I] N16 C16 M16", ["Q4"]),
        ("Q11", "[T] N32 C16 M8 - [O] N1 C1 M1 - [I] N32 C16 M8", ["Q11", "model"]),
        ("Q13", "[T] N16 C16 M16 - [O] N1 C1 M1 - [I] N16 C16 M16", ["Q13"]),
        ("Q20", "[T] N16 C16 M16 - [O] N1 C1 M1 - [I] N16 C16 M16", []),
    ],
)
def test_what_fixed_does_instead(
    quirk: str, mapping: str, notes: list[str], figures: Callable[..., Any], requests: Callable[..., Any]
) -> None:
    (case,) = [case for case in FAILURES["cases"] if case["id"] == quirk]
    (each,) = planned_failure(case, "fixed", figures, requests)
    plan = plan_of(each)
    assert plan.parameters["mapping"] == mapping
    assert [note.code for note in plan.notes] == notes
    n, c, m = case["gemm"]
    assert plan.predicted["macs"] == n * c * m


@pytest.mark.parametrize("quirk", ["Q2c", "Q2d", "Q2e", "Q4b", "Q19", "Q22"])
def test_what_fixed_refuses_as_well(
    quirk: str, figures: Callable[..., Any], requests: Callable[..., Any]
) -> None:
    (case,) = [case for case in FAILURES["cases"] if case["id"] == quirk]
    with pytest.raises(MappingError):
        planned_failure(case, "fixed", figures, requests)


def test_an_explicit_tile_that_is_too_large_names_memory_and_numbers(
    figures: Callable[..., Any], requests: Callable[..., Any]
) -> None:
    """Q2d: 64 + 64 rows of 8 B take a request of 32 B each, 4096 B in a half of 2048 B."""
    (case,) = [case for case in FAILURES["cases"] if case["id"] == "Q2d"]
    with pytest.raises(MappingError) as caught:
        planned_failure(case, "fixed", figures, requests)
    assert str(caught.value) == (
        "case.mapping:1:46: a tile N64 C8 M64 is too large: 4096 B of scratchpad are needed, a half holds "
        "2048 B (Q2); raise the counts of [O] and lower those of [I] [PT-MAPPING]"
    )


def test_nothing_fits_is_infeasible_with_two_numbers(
    figures: Callable[..., Any], gemm: Callable[..., Network], requests: Callable[..., Any]
) -> None:
    """8 + 8 rows of 64 B requests are 1024 B, a half of 1 KiB holds 512 B."""
    machine = figures(spad_kib=1, request_bytes=64)
    (each,) = plan_network(gemm(64, 512, 64), machine, fits=requests(machine))
    plan = plan_of(each)
    assert not plan.feasible
    assert plan.reason == (
        "no mapping fits: for the smallest tile 1024 B of scratchpad are needed, a half holds 512 B"
    )
    assert (plan.tiling, plan.parameters["source"]) == (None, "automatic")
    assert "mapping" not in plan.parameters
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


@BOTH
def test_the_mapper_alone_where_the_original_comes_through(
    semantics: Semantics,
    figures: Callable[..., Any],
    gemm: Callable[..., Network],
    requests: Callable[..., Any],
) -> None:
    machine = figures(cores=4)
    (each,) = plan_network(gemm(40, 64, 120), machine, semantics=semantics, fits=requests(machine))
    assert plan_of(each).parameters["mapping"] == "[T] N40 C64 M120 - [O] N1 C1 M15 - [I] N40 C64 M8"
    assert codes(each) == ["Q18"]
    assert plan_of(each).cores == (
        "regions in order of creation on 4 cores in turn, shifted by one core per layer; "
        "all k tiles of a region on one core"
    )


def test_all_problems_of_all_nodes_come_at_once(figures: Callable[..., Any]) -> None:
    network = chain((13, 17, 19), (8, 8, 8), (7, 1, 5))
    with pytest.raises(ManyProblems) as caught:
        plan_network(network, figures(cores=4), semantics="faithful", fits=roomy)
    starts = [str(problem).split(": ")[0] for problem in caught.value.problems]
    assert starts == ["net.onnx#n0", "net.onnx#n2"]


def test_one_wrong_line_for_many_nodes_is_one_problem(figures: Callable[..., Any]) -> None:
    wrong = lines("[T] N16 C16 M16 - [O] N1 - [I] N8 C16 M16")
    with pytest.raises(MappingError, match=r"f.mapping:1:23: \[O\] N1 of \[I\] N8 covers 8 of 16 rows"):
        plan_network(chain((16, 16, 16), (16, 16, 16)), figures(), mapping_file=wrong, fits=roomy)


def test_lines_that_serve_no_node(figures: Callable[..., Any], gemm: Callable[..., Network]) -> None:
    with pytest.raises(MappingError, match=r"f\.mapping:1:5: no node has the totals N32 C64 M32"):
        plan_network(gemm(33, 64, 32), figures(), mapping_file=lines(SEED), fits=roomy)
    unused = lines(SEED, "faithful")
    (each,) = plan_network(gemm(33, 64, 32), figures(), mapping_file=unused, semantics="faithful", fits=roomy)
    assert codes(each) == ["mapping"]


def test_q16_a_blank_line_captures_the_product_of_ones(
    figures: Callable[..., Any], gemm: Callable[..., Network]
) -> None:
    """Golden q16: inner 1,1,1 instead of 8,8,8."""
    blank = read_mapping_file("\n", "f.mapping", "faithful")
    (each,) = plan_network(gemm(1, 1, 1), figures(), mapping_file=blank, semantics="faithful", fits=roomy)
    assert plan_of(each).parameters["mapping"] == "[T] N1 C1 M1 - [O] N1 C1 M1 - [I] N1 C1 M1"
    assert codes(each) == ["Q16"]


def test_faithful_notes_what_is_lost(figures: Callable[..., Any], gemm: Callable[..., Network]) -> None:
    """Golden q7: 512 of 4096 MACs; no nested cut describes it."""
    line = parse_mapping("[T] N16 C16 M16 - [O] N1 C1 M1 - [I] N8 C8 M8")
    (each,) = plan_network(
        gemm(16, 16, 16), figures(), mapping_file=(line,), semantics="faithful", fits=roomy
    )
    plan = plan_of(each)
    assert (plan.tiling, plan.predicted["macs"], codes(each)) == (None, 512, ["Q7"] * 3)


def test_q10_unlike_cores_are_noted(figures: Callable[..., Any], gemm: Callable[..., Network]) -> None:
    """Golden q10: tiles of an 8x8 core on a 16x16 core."""
    machine = replace(figures(cores=2), heights=(8, 16), widths=(8, 16))
    (each,) = plan_network(gemm(64, 64, 64), machine, semantics="faithful", fits=roomy)
    assert plan_of(each).parameters["mapping"] == "[T] N64 C64 M64 - [O] N2 C1 M2 - [I] N32 C64 M32"
    assert codes(each) == ["Q10"]


@BOTH
def test_q22_an_element_larger_than_a_request(
    semantics: Semantics, figures: Callable[..., Any], gemm: Callable[..., Network]
) -> None:
    with pytest.raises(
        MapperStop, match=r"an element of 64 B is larger than a memory request of 32 B \(Q22\)"
    ):
        plan_network(
            gemm(32, 64, 32), figures(precision=64), mapping_file=lines(SEED), semantics=semantics, fits=roomy
        )


@BOTH
def test_an_empty_reduction_is_refused(
    semantics: Semantics, figures: Callable[..., Any], gemm: Callable[..., Network]
) -> None:
    with pytest.raises(
        WorkloadError, match="matmul: C \\(reduction elements\\) = 0 is outside 1 to 2147483647"
    ):
        plan_network(gemm(8, 0, 8), figures(), semantics=semantics, fits=roomy)


def test_a_not_square_array_takes_explicit_mappings_alone(
    figures: Callable[..., Any], gemm: Callable[..., Network]
) -> None:
    machine = figures(width=16)
    (each,) = plan_network(gemm(32, 64, 32), machine, mapping_file=lines(SEED), fits=roomy)
    assert plan_of(each).predicted["padded_macs"] == 2 * 65536  # 16 columns, 8 used
    with pytest.raises(MapperStop, match=r'Q19\); give an explicit mapping: --mapping "\[T\] N32 C64 M32 - '):
        plan_network(gemm(32, 64, 32), machine, fits=roomy)


@BOTH
def test_nodes_outside_the_model(semantics: Semantics, figures: Callable[..., Any]) -> None:
    relu = Node(name="r", op_type="Relu", inputs=("x",), outputs=("r",))
    odd = Node(name="o", op_type="Odd", inputs=("x",), outputs=("o",), outside="it is odd")
    grouped = conv_node("g", groups=16)
    oblong = conv_node("l", width=12)
    plans = plan_network(network_with(relu, odd, grouped, oblong), figures(), semantics=semantics, fits=roomy)
    assert [each.plan for each in plans] == [None] * 4
    assert [each.outside for each in plans] == [
        "Relu is outside the model",
        "it is odd",
        "a convolution of 16 groups, on which ONNXim stops (onnxim-conv C7)",
        "no automatic mapping for an output of 24x12, kernel 1x1: both must be square, or an explicit "
        "mapping given (CV4)",
    ]


@BOTH
def test_an_oblong_convolution_with_a_line_is_planned(
    semantics: Semantics, figures: Callable[..., Any]
) -> None:
    """Golden cv_3x3_rect_c16m16_ex_c4: 24 tiles, 216 computes, 552960 MACs."""
    node = conv_node(height=12, width=20, kernel=(3, 3), pads=(1, 1, 1, 1))
    line = "[T] N1 C16 M16 S3 R3 Q12 P20 - [O] N1 C2 M2 Q2 P3 - [I] N1 C8 M8 S3 R3 Q8 P8"
    (each,) = plan_network(
        network_with(node),
        figures(cores=4),
        mapping_file=lines(line, semantics),
        semantics=semantics,
        fits=roomy,
    )
    plan = plan_of(each)
    assert (plan.parameters["kind"], plan.parameters["mapping"]) == ("conv", line)
    assert plan.order == ("n", "p", "q", "m", "s", "r", "c")
    terms = {name: plan.predicted[name] for name in ("tiles", "compute_instructions", "macs")}
    assert terms == {"tiles": 24, "compute_instructions": 216, "macs": 552960}
    assert [str(note) for note in plan.notes] == [
        "model: pantile: a convolution with ONNXim's tiles and whole windows, weights and loops"
    ]
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


@BOTH
def test_cv9_equal_counts_share_a_mapping_across_strides(
    semantics: Semantics, figures: Callable[..., Any]
) -> None:
    """Golden cvq_mapping_reuse_s2_then_s1: the second layer takes the mapping found for stride 2."""
    first = conv_node("first", height=48, width=48, strides=(2, 2))
    second = conv_node("second")
    plans = plan_network(network_with(first, second), figures(), semantics=semantics, fits=roomy)
    mapping = "[T] N1 C16 M16 Q24 P24 - [O] N1 C1 M2 Q2 P2 - [I] N1 C16 M8 Q17 P15"
    assert [plan_of(each).parameters["mapping"] for each in plans] == [mapping] * 2
    assert codes(plans[1]) == ["model", "CV9"]
    assert str(plan_of(plans[1]).notes[1]) == (
        "CV9: the mapping is that of 'first' with stride 2 and padding 0"
    )


def test_cv5_one_input_channel(figures: Callable[..., Any]) -> None:
    node = conv_node(in_channels=1, kernel=(3, 3))
    with pytest.raises(MapperStop, match="CV5"):
        plan_network(network_with(node), figures(), semantics="faithful", fits=roomy)
    (each,) = plan_network(network_with(node), figures(), fits=roomy)
    assert plan_of(each).parameters["inner"]["C"] == 1


def test_a_batch_of_products_is_one_mapping(
    figures: Callable[..., Any], gemm: Callable[..., Network]
) -> None:
    network = gemm(8, 16, 24, a_batch=(2, 3), b_batch=(2, 1))
    (each,) = plan_network(network, figures(), fits=roomy)
    plan = plan_of(each)
    assert (plan.parameters["batch"], plan.predicted["macs"]) == (6, 6 * 8 * 16 * 24)
    assert plan.order == ("b", "m", "n", "k")
    assert codes(each) == ["Q13", "Q12", "model"]
