"""What barriers order that the algorithm's own waits do not.

Source: tile-language.md section 7: a barrier is a synchronisation point that the algorithm does not need, and
the report tells inserted order from the algorithm's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.check.conflicts import conflicts_of, exemptions_of
from pantile.check.order import happens_before
from pantile.check.report import Report
from pantile.program.piece import Piece
from pantile.program.program import Program

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.check.order import Order

ARRIVE = "barrier arrive"
"""What the first operation of a barrier is called; its second is the departure."""


def check_inserted(
    program: Program,
    order: Order,
    *,
    compiled: bool | None = None,
    on_compile: Callable[[], None] = lambda: None,
) -> Report:
    """Return how many conflicting accesses only barriers keep apart; nothing for a program without barriers.

    Args:
        program: What runs; a literal program.
        order: Its happens-before.
        compiled: As of :func:`~pantile.check.order.happens_before`.
        on_compile: Called before anything is compiled.
    """
    if ARRIVE not in program.names:
        return Report()
    tables = order.tables
    arrive = program.names.index(ARRIVE)
    meeting = tables["sync"]["counter"][tables["op"]["opcode"][tables["sync"]["op"]] == arrive]
    kept = tables["sync"][~np.isin(tables["sync"]["counter"], meeting)]
    fields = {each: getattr(program, each) for each in Program.__dataclass_fields__}
    alone = Program(**fields | {"pieces": (Piece({**tables, "sync": kept}),)})
    own = happens_before(alone, compiled=compiled, on_compile=on_compile)
    apart, open_ = (
        len(
            conflicts_of(
                each,
                **exemptions_of(program),
                compiled=compiled,
                on_compile=on_compile,
            )
        )
        for each in (own, order)
    )
    barriers = len(np.unique(meeting))
    many, keep = (f"{barriers} barriers", "keep") if barriers > 1 else ("1 barrier", "keeps")
    if apart == open_:
        return Report(proved=(f"inserted order: without {many}, the same accesses would be kept apart",))
    pairs = f"{apart - open_} conflicting pairs of accesses" if apart - open_ > 1 else "a conflicting pair"
    return Report(
        proved=(
            f"inserted order: {many} alone {keep} apart {pairs}; the algorithm's own waits order the rest",
        )
    )
