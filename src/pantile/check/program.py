"""All checks of a literal program: is it right under every timing?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pantile.check.capacity_time import check_fullness
from pantile.check.deadlock import check_deadlock
from pantile.check.flow import check_flow
from pantile.check.inserted import check_inserted
from pantile.check.limits import overflows_of
from pantile.check.order import happens_before
from pantile.check.pairing import check_pairing
from pantile.check.products import check_products
from pantile.check.races import check_races
from pantile.check.redundant import check_redundant
from pantile.check.report import Report
from pantile.check.states import check_states

if TYPE_CHECKING:
    from pantile.check.races import Judge
    from pantile.check.redundant import Cost
    from pantile.program.program import Program

BUDGET = 100_000
"""States with a choice that may be walked through, by default."""

BUDGET_OF_THE_WRONG = 2_000
"""The same for a program that is known to misuse its copies: what else may happen then matters less."""


def check_program(
    program: Program,
    *,
    budget: int = BUDGET,
    capacities: Mapping[str, int] | None = None,
    strict_scope: bool = False,
    judge: Judge | None = None,
    cost: Cost | None = None,
    compiled: bool | None = None,
    on_compile: Callable[[], None] = lambda: None,
) -> Report:
    """Return what is wrong with a literal program, and what is proved of it.

    A program that stops under every timing is not looked at for races: what comes after never runs.

    Args:
        program: A tile-language program or a trace.
        budget: States with a choice that may be walked through, for each question that needs it.
        capacities: Bytes of each memory, by its name in the program.
        strict_scope: Also report flags of one source and id that are pending towards two destinations.
        judge: Carries out a legal order in which a race shows, and says what became of the values.
        cost: Says what time synchronisation costs that orders nothing.
        compiled: Whether to use compiled passes; by default, only where the program is large.
        on_compile: Called before anything is compiled.
    """
    order = happens_before(program, compiled=compiled, on_compile=on_compile)
    overflows = overflows_of(order)
    pairing = check_pairing(program, order, overflows=overflows, strict_scope=strict_scope)
    states = check_states(program, order, budget, overflows=overflows)
    if not states.ok:
        budget = min(budget, BUDGET_OF_THE_WRONG)
    report = check_deadlock(program, order, budget) + states + pairing
    if any(finding.code == "PT-DOUBLE-SET" for finding in pairing.findings) and not order.stuck:
        one_bit = check_deadlock(program, order, budget, one_bit=True)
        report = (report if one_bit.ok else _of_counting_flags(report)) + one_bit
    if not order.stuck:
        report += check_races(
            program, order, budget=budget, judge=judge, compiled=compiled, on_compile=on_compile
        )
        report += check_fullness(program, order, capacities)
        report += check_redundant(program, order, cost=cost, compiled=compiled, on_compile=on_compile)
        report += check_inserted(program, order, compiled=compiled, on_compile=on_compile)
    report += check_products(program)
    if not order.stuck and report.ok:  # of bytes that a race or a wrong program decides nothing more is told
        report += check_flow(program, order, compiled=compiled, on_compile=on_compile)
    return report


def _of_counting_flags(report: Report) -> Report:
    """Return a report whose proof that no thread waits for ever says of which flags that holds."""
    proved = (each.replace("deadlock:", "deadlock with counting flags:", 1) for each in report.proved)
    return Report(report.findings, tuple(proved))
