"""What races do to a stream: carried out in an order that shows them, it is compared with its own order."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pantile.check.outcome import Outcome, broken_pair, worst_outcome
from pantile.errors import PantileError
from pantile.targets.ascend.carry_out import carry_out, data_of
from pantile.targets.ascend.memory import BUFFERS_220X

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pantile.check.order import Order
    from pantile.check.races import Race
    from pantile.check.report import Grade, Severity
    from pantile.program.program import Program
    from pantile.simulate.elements import Bytes
    from pantile.simulate.timeline import Timeline

MOST_EXECUTED = 50_000
"""Instructions that one check carries out in all; what would go beyond is not executed, and says so."""

_SHOWN_FIRST = ("GM", "L0C")
"""A wrong result is told by where it leaves the core, or else by the sum that is wrong."""


@dataclass(eq=False)
class StreamJudge:
    """Grades the races of the program of one trace; a :data:`~pantile.check.races.Judge`.

    Attributes:
        program: The program; its parameters keep the stream.
        capacities: Bytes of each buffer.
        timeline: Its run on a machine, if one is given.
        executed: Instructions carried out so far.
    """

    program: Program
    capacities: Mapping[str, int] = field(default_factory=lambda: dict(BUFFERS_220X))
    timeline: Timeline | None = None
    executed: int = field(default=0, init=False)

    def __call__(self, race: Race, order: Order) -> tuple[Grade, Severity, str]:
        """Return grade and severity of a race, and what was seen.

        That a machine's timing keeps the order does not make it a lesser fault: much of a core's timing is
        assumed.
        """
        grade, severity, said = self._judged(race, order)
        return grade, severity, said + self._on_machine(race)

    def tell(self, operations: np.ndarray) -> str:
        """Carry a legal order out, and say what became of the values."""
        outcome = self._outcome(operations)
        if outcome.untried:
            return f"not executed: {outcome.untried}"
        return f"executed {data_of(self.program)}, {outcome.difference or 'the same bytes are left'}"

    def _on_machine(self, race: Race) -> str:
        """Say in which order the race goes on the machine, if there is one."""
        if self.timeline is None or self.timeline.bound.machine is None:
            return ""
        where = f"; on {self.timeline.bound.machine.name} "
        broken = broken_pair(race, self.timeline.times)
        if broken is None:
            return f"{where}they run in the right order, by its timing alone"
        return f"{where}operation {broken[1]} starts before {broken[0]} has ended"

    def _judged(self, race: Race, order: Order) -> tuple[Grade, Severity, str]:
        outcome, how = worst_outcome(race, order, self._outcome)
        if outcome.untried:
            return (*outcome.grade, f"not executed: {outcome.untried}")
        left = outcome.difference or "the same bytes are left"
        return (*outcome.grade, f"executed {data_of(self.program)} {how}, {left}")

    @cached_property
    def _wanted(self) -> dict[str, Bytes] | str:
        """What the stream leaves in its own order; or why it is not executed."""
        return self._left()

    def _outcome(self, operations: np.ndarray) -> Outcome:
        if isinstance(self._wanted, str):
            return Outcome(untried=self._wanted)
        left = self._left(operations)
        if isinstance(left, str):
            return Outcome(untried=left)
        names = sorted(left, key=lambda name: (not name.startswith(_SHOWN_FIRST), name))
        for name in names:
            wrong = np.flatnonzero(left[name] != self._wanted[name])
            if wrong.size:
                first = int(wrong[0])
                here, wanted = left[name][first], self._wanted[name][first]
                told = f"byte {first} of {name} is {here:#04x}, not {wanted:#04x}"
                return Outcome(f"{told} ({wrong.size} bytes are wrong)")
        return Outcome()

    def _left(self, operations: np.ndarray | None = None) -> dict[str, Bytes] | str:
        length = len(self.program.parameters["stream"])
        if self.executed + length > MOST_EXECUTED:
            return f"{self.executed} instructions were executed before, and at most {MOST_EXECUTED} are"
        self.executed += length
        try:
            return carry_out(self.program, operations, self.capacities)
        except PantileError as error:
            return error.problem
