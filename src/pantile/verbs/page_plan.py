"""What a page tells of a plan: its decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.verbs.program_rows import plain
from pantile.view.pagedata import Decision, Rejected

if TYPE_CHECKING:
    from pantile.tiling.plan import Plan


def decisions_of(plan: Plan) -> tuple[Decision, ...]:
    """Return the planner's decisions in the order in which they were taken."""
    return tuple(
        Decision(
            stage=each.stage,
            name=each.name,
            value=plain(each.value),
            formula=plain(each.formula),
            inputs=tuple((name, plain(value)) for name, value in each.inputs.items()),
            rejected=tuple(Rejected(value=plain(reason), why="") for reason in each.rejected),
        )
        for each in plan.decisions
    )
