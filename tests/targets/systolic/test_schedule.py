"""The order of layers (onnxim-model.md section 5)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pantile.targets.systolic.schedule import layer_order
from pantile.workload.network import Network, Node


def network(*nodes: tuple[str, str] | tuple[str, str, bool]) -> Network:
    """Nodes named by their result: (result, blank-separated operands[, constant])."""
    built = tuple(
        Node(
            name=name,
            op_type="Op",
            inputs=tuple(inputs.split()),
            outputs=(name,),
            constant=bool(rest and rest[0]),
        )
        for name, inputs, *rest in nodes
    )
    return Network(name="n", nodes=built, tensors=())


def names(of: Network, order: Sequence[int]) -> str:
    return " ".join(of.nodes[at].name for at in order)


CHAIN = network(("a", "x"), ("b", "a"), ("c", "b"))
PARALLEL = network(("a", "x"), ("b", "x"), ("c", "x"))
# At launch a and d can run; when a finishes, b and c queue up behind d, and e behind them.
DIAMOND = network(("a", "x"), ("b", "a"), ("c", "a"), ("d", "x"), ("e", "b c d"))


@pytest.mark.parametrize(("of", "expected"), [(CHAIN, "a b c"), (PARALLEL, "a b c"), (DIAMOND, "a d b c e")])
def test_layers_that_become_executable_queue_up(of: Network, expected: str) -> None:
    assert names(of, layer_order(of)) == expected


def test_nodes_that_take_no_time_pass_their_results_on_at_once() -> None:
    # Without a as a layer, b, c and d are all there at launch, in file order.
    assert names(DIAMOND, layer_order(DIAMOND, {"b", "c", "d", "e"})) == "b c d e"
    assert names(DIAMOND, layer_order(DIAMOND, {"e"})) == "e"
    assert names(DIAMOND, layer_order(DIAMOND, set())) == ""


def test_constant_nodes_do_not_run() -> None:
    of = network(("k", "w", True), ("a", "x k"), ("b", "a"))
    assert names(of, layer_order(of)) == "a b"
