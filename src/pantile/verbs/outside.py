"""What of a network is outside the model, and what of it has no plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.errors import InfeasibleError, Place
from pantile.tiling.plan import Note
from pantile.verbs.arguments import node_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pantile.tiling.plan import NodePlan
    from pantile.workload.network import Network

_NAMED = 3  # nodes that a note names; the others are counted


def outside_notes(plans: Sequence[NodePlan]) -> tuple[Note, ...]:
    """Return a note per reason why nodes are outside the model: how many, which, what share of the work.

    The share is that of the multiply-accumulates of all nodes whose work is known, inside or outside.
    """
    by_reason: dict[str, list[NodePlan]] = {}
    for each in plans:
        if each.plan is None:
            by_reason.setdefault(each.outside, []).append(each)
    known = sum(each.node.macs for each in plans)
    return tuple(Note("outside", _sentence(reason, nodes, known)) for reason, nodes in by_reason.items())


def infeasible_plans(network: Network, plans: Sequence[NodePlan]) -> list[InfeasibleError]:
    """Return an error for every node inside the model that has no feasible plan."""
    return [
        InfeasibleError(each.plan.reason, place=Place(node_text(network, each.node.name)))
        for each in plans
        if each.plan is not None and not each.plan.feasible
    ]


def _sentence(reason: str, nodes: list[NodePlan], known: int) -> str:
    names = [each.node.name for each in nodes]
    named = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
    count = "1 node" if len(names) == 1 else f"{len(names)} nodes"
    share = sum(each.node.macs for each in nodes) / known if known else 0
    return f"{count} ({named}), {share:.1%} of the known MACs: {reason}"
