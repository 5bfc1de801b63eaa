"""What races do to values: legal orders are carried out on real arrays, and compared with NumPy.

Source: design section 3 (Report): right on the given machine but breakable by another timing is
``timing-dependent``, a warning; if the simulated run itself breaks, it is ``wrong value``, an error.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from pantile.check.outcome import EQUAL, Outcome, broken_pair, worst_outcome
from pantile.check.products import check_products
from pantile.check.report import Finding
from pantile.errors import OutsideModelError, PantileError
from pantile.simulate.execute import execute
from pantile.simulate.trial import SEED, Trial, trial_of

if TYPE_CHECKING:
    import numpy as np

    from pantile.check.order import Order
    from pantile.check.races import Race
    from pantile.check.report import Grade, Severity
    from pantile.program.program import Program
    from pantile.simulate.timeline import Timeline

MOST_EXECUTED = 200_000
"""Operations that one check carries out in all; what would go beyond is not executed, and says so."""

DATA = f"on small integers (seed {SEED})"
"""What is said of the inputs."""


@dataclass(eq=False)
class ValueJudge:
    """Grades the races of one program; a :data:`~pantile.check.races.Judge`.

    Attributes:
        program: A literal program.
        timeline: Its run on a machine, if one is given.
        executed: Operations carried out so far.
    """

    program: Program
    timeline: Timeline | None = None
    executed: int = field(default=0, init=False)

    @cached_property
    def trial(self) -> Trial | str:
        """Inputs and what NumPy computes from them; or why nothing is executed."""
        if any(finding.code == "PT-COVERAGE" for finding in check_products(self.program).findings):
            return "what it computes and stores is not the whole product"
        try:
            return trial_of(self.program)
        except OutsideModelError as error:
            return error.problem

    @cached_property
    def run_outcome(self) -> Outcome | None:
        """What the run on the machine computes; ``None`` without a machine, or if the run stopped."""
        if self.timeline is None or not self.timeline.finished:
            return None
        return self._outcome(self.timeline)

    @property
    def machine(self) -> str:
        """Name of the machine."""
        made = self.timeline.bound.machine if self.timeline else None
        return made.name if made else ""

    def __call__(self, race: Race, order: Order) -> tuple[Grade, Severity, str]:
        """Return grade and severity of a race, and what was seen."""
        witness, how = worst_outcome(race, order, self._outcome)
        if witness.untried:
            said = f"not executed: {witness.untried}"
        elif witness.difference:
            said = f"executed {DATA} {how}, {witness.difference}"
        else:
            said = f"executed {DATA} in that order, the output is NumPy's"
        if self.run_outcome is None:
            return (*witness.grade, said)
        grade, severity, where = self._on_machine(race, witness, self.run_outcome)
        return grade, severity, f"{said}; on {self.machine} {where}"

    def _on_machine(self, race: Race, witness: Outcome, run: Outcome) -> tuple[Grade, Severity, str]:
        """Return grade and severity by the run on the machine, and in which order the race went there."""
        held: Grade = "timing-dependent" if witness.untried or witness.difference else EQUAL
        assert self.timeline is not None
        broken = broken_pair(race, self.timeline.times)
        if not broken:
            return held, "warning", "they run in the right order, by its timing alone"
        where = f"operation {broken[1]} starts before {broken[0]} has ended"
        if run.untried:
            return "timing-dependent", "error", where
        if run.difference:
            return "wrong value", "error", f"{where}, and {run.difference}"
        return held, "warning", f"{where}, and the output is NumPy's all the same"

    def finding_of_run(self, told: tuple[Finding, ...]) -> Finding | None:
        """Return a finding if the run on the machine is wrong, and the findings *told* do not say so."""
        run = self.run_outcome
        said = any(each.grade == "wrong value" and each.severity == "error" for each in told)
        if run is None or not run.difference or said:
            return None
        races = any(each.code == "PT-RACE" for each in told)
        return Finding(
            code="PT-RACE" if races else "PT-STATE",
            severity="error",
            sentence=f"the run on {self.machine} itself computes a wrong value {DATA}: {run.difference}",
            grade="wrong value",
            mend="mend the other findings first"
            if told
            else "look at what is read before it was moved there",
        )

    def _outcome(self, order: Timeline | np.ndarray) -> Outcome:
        if isinstance(self.trial, str):
            return Outcome(untried=self.trial)
        if self.executed + self.program.operations > MOST_EXECUTED:
            return Outcome(untried=f"{self.executed} operations were executed for other findings")
        self.executed += self.program.operations
        try:
            outputs = execute(self.program, self.trial.arrays, order)  # type: ignore[arg-type]
        except PantileError as error:
            return Outcome(untried=error.problem)
        return Outcome(difference=self.trial.difference(outputs[self.trial.output]))
