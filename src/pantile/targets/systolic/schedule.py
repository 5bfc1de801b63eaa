"""The order in which the layers of a network run.

Source: onnxim-model.md section 5. One layer is active at a time: those whose inputs are there at launch
run in file order, and when a layer finishes, the layers that became executable queue up behind. No time
enters into this, so the order is known before the run.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pantile.workload.network import Network


def layer_order(network: Network, runs: Collection[str] | None = None) -> Sequence[int]:
    """Return positions of nodes in execution order.

    Args:
        network: The graph; nodes stand in a topological order.
        runs: Names of the nodes that run as layers; the others take no time, and their results are
            there as soon as their inputs are. ``None`` runs all.
    """
    producers = {name: at for at, node in enumerate(network.nodes) for name in node.outputs if name}
    missing = [{producers[name] for name in node.inputs if name in producers} for node in network.nodes]
    order: list[int] = []
    queue: deque[int] = deque()
    queued: set[int] = set()

    def settle() -> None:
        """Queue what has become executable; results of nodes that take no time spread at once."""
        progress = True
        while progress:
            progress = False
            for at, node in enumerate(network.nodes):
                if at in queued or missing[at]:
                    continue
                queued.add(at)
                if not node.constant and (runs is None or node.name in runs):
                    queue.append(at)
                else:
                    for each in missing:
                        each.discard(at)
                    progress = True

    settle()
    while queue:
        at = queue.popleft()
        order.append(at)
        for each in missing:
            each.discard(at)
        settle()
    return order
