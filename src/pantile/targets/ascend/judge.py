"""What races do to a stream: carried out in an order that shows them, it is compared with its own order."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pantile.check.witness import late_order
from pantile.errors import PantileError
from pantile.targets.ascend.execute import run_stream
from pantile.targets.ascend.memory import BUFFERS_220X
from pantile.targets.ascend.trial import SEED, trial_memory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pantile.check.order import Order
    from pantile.check.races import Race
    from pantile.check.report import Grade, Severity
    from pantile.program.program import Program
    from pantile.simulate.elements import Bytes

MOST_EXECUTED = 50_000
"""Instructions that one check carries out in all; what would go beyond is not executed, and says so."""

EQUAL: Grade = "unordered, equal bytes on this data"
_SHOWN_FIRST = ("GM", "L0C")
"""A wrong result is told by where it leaves the core, or else by the sum that is wrong."""


class _Outcome(NamedTuple):
    """What an order leaves that the stream's own does not, in words; or why that is not known."""

    difference: str = ""
    untried: str = ""


@dataclass(eq=False)
class StreamJudge:
    """Grades the races of the program of one trace; a :data:`~pantile.check.races.Judge`.

    Attributes:
        program: The program; its parameters keep the stream.
        capacities: Bytes of each buffer.
        executed: Instructions carried out so far.
    """

    program: Program
    capacities: Mapping[str, int] = field(default_factory=lambda: dict(BUFFERS_220X))
    executed: int = field(default=0, init=False)

    def __call__(self, race: Race, order: Order) -> tuple[Grade, Severity, str]:
        """Return grade and severity of a race, and what was seen."""
        outcome, how = self._outcome(race.witness), "in that order"
        if not outcome.difference and not outcome.untried:
            late = late_order(order, race.first, race.second)
            if late is not None:
                later = self._outcome(late)
                if later.difference:
                    outcome, how = later, f"with operation {race.first} as late as can be"
        if outcome.untried:
            return "timing-dependent", "error", f"not executed: {outcome.untried}"
        data = f"on random bytes (seed {SEED})"
        if outcome.difference:
            return "wrong value", "error", f"executed {data} {how}, {outcome.difference}"
        return EQUAL, "warning", f"executed {data} in that order, the same bytes are left"

    @cached_property
    def _wanted(self) -> dict[str, Bytes] | str:
        """What the stream leaves in its own order; or why it is not executed."""
        return self._left(range(len(self.program.parameters["stream"])))

    def _outcome(self, operations: np.ndarray) -> _Outcome:
        if isinstance(self._wanted, str):
            return _Outcome(untried=self._wanted)
        left = self._left(self._positions(operations))
        if isinstance(left, str):
            return _Outcome(untried=left)
        names = sorted(left, key=lambda name: (not name.startswith(_SHOWN_FIRST), name))
        for name in names:
            wrong = np.flatnonzero(left[name] != self._wanted[name])
            if wrong.size:
                first = int(wrong[0])
                here, wanted = left[name][first], self._wanted[name][first]
                told = f"byte {first} of {name} is {here:#04x}, not {wanted:#04x}"
                return _Outcome(f"{told} ({wrong.size} bytes are wrong)")
        return _Outcome()

    def _positions(self, operations: np.ndarray) -> list[int]:
        """Return the places in the stream of *operations*; a barrier is several of them, and moves nothing.

        A long product is seen by the next one though nothing orders their ends: they keep their order.
        """
        ops = operations.copy()
        slots = np.flatnonzero(self.program.tables()["op"]["macs"][ops] > 0)
        products = ops[slots]
        overtaken = products < np.maximum.accumulate(products)
        if np.any(overtaken & np.isin(products, self.program.parameters["forwarding"])):
            ops[slots] = np.sort(products)
        places = np.searchsorted(self.program.parameters["starts"], ops, side="right") - 1
        return list(dict.fromkeys(places.tolist()))

    def _left(self, positions: range | list[int]) -> dict[str, Bytes] | str:
        stream = self.program.parameters["stream"]
        if self.executed + len(stream) > MOST_EXECUTED:
            return f"{self.executed} instructions were executed before, and at most {MOST_EXECUTED} are"
        self.executed += len(stream)
        try:
            memory = trial_memory(self.program, self.capacities)
            run_stream(stream, memory, positions, self.program.name)
        except PantileError as error:
            return error.problem
        return memory.contents
