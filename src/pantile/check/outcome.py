"""What came of carrying legal orders out: whatever is executed, and whatever it is compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pantile.check.witness import late_order

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.check.order import Order
    from pantile.check.races import Race
    from pantile.check.report import Grade, Severity

EQUAL: Grade = "unordered, equal bytes on this data"


class Outcome(NamedTuple):
    """What came of one legal order.

    Attributes:
        difference: What is wrong with what it leaves, in words; empty if nothing is.
        untried: Why it was not executed; empty if it was.
    """

    difference: str = ""
    untried: str = ""

    @property
    def grade(self) -> tuple[Grade, Severity]:
        """Grade and severity of a race whose worst order this is."""
        if self.untried:
            return "timing-dependent", "error"
        return ("wrong value", "error") if self.difference else (EQUAL, "warning")


def worst_outcome(
    race: Race, order: Order, carry_out: Callable[[np.ndarray], Outcome]
) -> tuple[Outcome, str]:
    """Return what a race's witness leaves, or where that is right, the order farthest from it; and which.

    Args:
        race: The race.
        order: Happens-before.
        carry_out: Executes an order of all operations.
    """
    outcome = carry_out(race.witness)
    if not outcome.untried and not outcome.difference:
        late = late_order(order, race.first, race.second)
        later = Outcome() if late is None else carry_out(late)
        if later.difference:
            return later, f"with operation {race.first} as late as can be"
    return outcome, "in that order"


def broken_pair(race: Race, times: np.ndarray) -> tuple[int, int] | None:
    """Return the first pair of a race of which, in a run, the second starts before the first has ended.

    Args:
        race: The race.
        times: Start and finish of every operation, as columns.
    """
    firsts, seconds = race.pairs.T
    broken = np.flatnonzero(times["start"][seconds] < times["finish"][firsts])
    return (int(firsts[broken[0]]), int(seconds[broken[0]])) if len(broken) else None
