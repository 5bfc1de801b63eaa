"""The verbs on core programs, as :class:`pantile.ascend.Program` calls them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pantile.simulate.engine import run
from pantile.simulate.timeline import Timeline
from pantile.targets.ascend.findings import check_core
from pantile.targets.ascend.timing import bind_core
from pantile.verbs.arguments import MachineLike, machine_of
from pantile.verbs.program import ProgramRun
from pantile.verbs.redundant_cost import RedundantCost

if TYPE_CHECKING:
    from pantile.check.report import Report
    from pantile.program.program import Program


def check_core_program(program: Program, machine: MachineLike | None = None, **options: Any) -> Report:
    """Return whether a core program is right under every timing, and on *machine*.

    Raises:
        PantileError: If the machine is at fault, or does not say what the program's time depends on.
    """
    if machine is None:
        return check_core(program, **options)
    chosen = machine_of(machine)
    bound = bind_core(program, chosen)
    return check_core(program, chosen, cost=RedundantCost(Timeline(bound, run(bound))), **options)


def simulate_core_program(program: Program, machine: MachineLike) -> ProgramRun:
    """Return when each operation of a core program happens on one core of *machine*.

    Raises:
        PantileError: If the machine is at fault, or does not say what the program's time depends on.
    """
    chosen = machine_of(machine)
    bound = bind_core(program, chosen)
    return ProgramRun(program.name, chosen.name, Timeline(bound, run(bound)))
