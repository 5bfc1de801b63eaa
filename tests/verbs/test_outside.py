"""Nodes outside the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pantile
from pantile.tiling.plan import NodePlan
from pantile.verbs.outside import outside_notes
from pantile.workload.matmul import Matmul
from pantile.workload.network import Node

if TYPE_CHECKING:
    from conftest import WriteOnnx


def node(name: str, computation: Matmul | None = None) -> Node:
    return Node(name=name, op_type="Op", inputs=(), outputs=(), computation=computation)


def test_one_note_per_reason_with_the_share_of_all_known_work() -> None:
    inside = NodePlan(node("in", Matmul(m=1, n=1, k=6)), plan=object())  # type: ignore[arg-type]
    heavy = NodePlan(node("out", Matmul(m=1, n=1, k=2)), None, "it is grouped")
    light = [NodePlan(node(f"relu{at}"), None, "Relu is no product") for at in range(5)]
    notes = outside_notes([light[0], inside, heavy, *light[1:]])
    assert [str(note) for note in notes] == [
        "outside: 5 nodes (relu0, relu1, relu2, …), 0.0% of the known MACs: Relu is no product",
        "outside: 1 node (out), 25.0% of the known MACs: it is grouped",
    ]


def test_a_network_without_any_known_work() -> None:
    assert "0.0% of the known MACs" in outside_notes([NodePlan(node("relu"), None, "none")])[0].text


def test_everything_inside_needs_no_note() -> None:
    assert outside_notes([NodePlan(node("in"), plan=object())]) == ()  # type: ignore[arg-type]


def test_a_grouped_convolution_counts_as_outside(onnx_file: WriteOnnx) -> None:
    net = onnx_file(
        [
            (
                "Conv",
                "depthwise",
                ["x", "w0"],
                "h",
                {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "group": 8},
            ),
            ("Conv", "pointwise", ["h", "w1"], "y", {"kernel_shape": [1, 1]}),
        ],
        {"x": [1, 8, 8, 8]},
        {"w0": [8, 1, 3, 3], "w1": [16, 8, 1, 1]},
    )
    run = pantile.simulate(net, "systolic-ws-8x8")
    # 64 places x 8 channels x 9 taps = 4608 outside; 64 x 8 x 16 = 8192 inside; 4608 / 12800 = 36 %.
    (note,) = (note for note in run.notes if note.code == "outside")
    assert note.text == (
        "1 node (depthwise), 36.0% of the known MACs: convolution in 8 groups; the model covers 1"
    )
    for verb in (pantile.lower, pantile.check):
        assert note in verb(net, "systolic-ws-8x8").notes
