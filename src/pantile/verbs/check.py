"""The verb ``check``: is the program right under every timing?"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from pantile.check.capacity import check_capacity
from pantile.check.coverage import check_coverage
from pantile.check.overtaking import check_overtaking
from pantile.check.ready import check_ready
from pantile.check.report import Finding, Report
from pantile.errors import UsageError
from pantile.program.program import Program
from pantile.targets.systolic.capacity import memory_usages
from pantile.targets.systolic.simulate import simulate
from pantile.targets.systolic.strayed import strayed_tiles
from pantile.targets.systolic.stream import TILE_LAYER
from pantile.verbs.arguments import PlanOptions
from pantile.verbs.programfile import is_program, refuse_for_programs, refuse_for_workloads, refuse_other_json
from pantile.verbs.result import Many, as_html
from pantile.verbs.sessions import sessions_of, single_or_many
from pantile.workload.tilecall import is_tile_call

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pantile.tiling.plan import Note
    from pantile.verbs.arguments import MachineLike, WorkloadLike
    from pantile.verbs.families import PlannedLayer, Session
    from pantile.verbs.program_check import ProgramCheck
    from pantile.verbs.programfile import ProgramLike
    from pantile.verbs.systolic import Systolic


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The report on the program of one node.

    Attributes:
        session: The planned network it belongs to.
        workload: Text that names the node again.
        report: Findings, and what was proved.
        notes: Quirks met and labels.
    """

    session: Session
    workload: str
    report: Report
    notes: tuple[Note, ...]

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return self.report.ok

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``check --json`` prints."""
        return {**self.session.head("check", self.workload, self.notes), **self.report.to_json()}

    def __str__(self) -> str:
        notes = [f"note {note}" for note in self.notes]
        return "\n".join([self.workload, *(f"  {line}" for line in [*str(self.report).splitlines(), *notes])])

    def _repr_html_(self) -> str:
        return as_html(str(self))


@overload
def check(
    workload: Program, machine: MachineLike | None = None, *, budget: int | None = None
) -> ProgramCheck: ...
@overload
def check(
    workload: WorkloadLike | ProgramLike,
    machine: MachineLike | None = None,
    *,
    planner: str | None = None,
    mapping: str | None = None,
    semantics: str | None = None,
    dims: Mapping[str, int] | None = None,
    budget: int | None = None,
    on_compile: Callable[[], None] = lambda: None,
) -> CheckResult | Many[CheckResult] | ProgramCheck: ...
def check(
    workload: WorkloadLike | ProgramLike,
    machine: MachineLike | None = None,
    *,
    planner: str | None = None,
    mapping: str | None = None,
    semantics: str | None = None,
    dims: Mapping[str, int] | None = None,
    budget: int | None = None,
    on_compile: Callable[[], None] = lambda: None,
) -> CheckResult | Many[CheckResult] | ProgramCheck:
    """Return whether the programs for *workload*, or a program itself, are right, and under which timings.

    Where a store could leave before a contribution, the program is simulated too: if the run itself
    does it, that is an error and not a warning.

    Args:
        workload: As of :func:`pantile.lower`, likewise the next five; or a program, or the file of one.
        machine: The machine; a program can do without.
        planner: The planner.
        mapping: An explicit mapping.
        semantics: Which reading of the planner's rules to use.
        dims: Sizes of symbolic dimensions.
        budget: States with a choice that may be walked through; of programs only.
        on_compile: Called before anything is compiled.

    Raises:
        PantileError: If the input is at fault, or there is no plan.
    """
    if is_tile_call(workload):
        from pantile.check.program import BUDGET
        from pantile.verbs.mma_tile import check_tile_call, refuse_for_calls

        refuse_for_calls(planner=planner, mapping=mapping, dim=dims)
        states = BUDGET if budget is None else budget
        where = _required(machine)
        return check_tile_call(workload, where, semantics=semantics, budget=states, on_compile=on_compile)
    if is_program(workload):
        from pantile.check.program import BUDGET
        from pantile.verbs.program_check import check_program

        refuse_for_programs(planner=planner, mapping=mapping, semantics=semantics, dim=dims)
        states = BUDGET if budget is None else budget
        return check_program(workload, machine, budget=states, on_compile=on_compile)
    assert not isinstance(workload, Program)
    refuse_other_json(workload)
    refuse_for_workloads(budget=(budget, "a planned product leaves no choice to walk through"))
    machine = _required(machine)
    options = PlanOptions(planner=planner, mapping=mapping, semantics=semantics, dims=dims or {})
    sessions = sessions_of(workload, machine, options)
    checked = [
        (session, layer, report)
        for session in sessions
        for layer, report in zip(session.layers(), session.reports(on_compile), strict=True)
    ]
    outside = tuple(note for session in sessions for note in session.outside)
    alone = outside if len(checked) == 1 else ()
    results = [
        CheckResult(session, layer.workload, report, (*layer.notes, *alone))
        for session, layer, report in checked
    ]
    return single_or_many(workload, results, outside)


def _required(machine: MachineLike | None) -> MachineLike:
    """Return the machine.

    Raises:
        UsageError: If there is none.
    """
    if machine is None:
        raise UsageError("a workload is checked on a machine, got none", mend="add -m MACHINE")
    return machine


def reports_of(session: Systolic, on_compile: Callable[[], None] = lambda: None) -> list[Report]:
    """Return a report on every program of a planned network, in file order."""
    reports = []
    mishaps: list[tuple[int, int]] | None = None
    for layer in session.layers():
        order = check_overtaking(layer.program)
        if order.findings:
            if mishaps is None:
                mishaps = _mishaps_by_layer(session, on_compile)
            order = check_overtaking(layer.program, *mishaps[layer.layer])
        reports.append(_static_report(session, layer) + order)
    return reports


def _static_report(session: Systolic, layer: PlannedLayer) -> Report:
    """What holds or fails whatever the timing, once per distinct kind of tile."""
    usages = memory_usages(layer.program, session.config)
    shared = check_capacity(usages) + check_ready(layer.program)
    planned = prod(layer.program.extents)
    if planned == layer.node.macs:
        return shared + check_coverage(layer.program)
    finding = Finding(
        code="PT-COVERAGE",
        severity="error",
        sentence=f"the product has {layer.node.macs} MACs, and {planned} of another shape are planned",
        evidence=f"planned as {layer.plan.parameters['mapping']}",
        grade="wrong value",
        mend="use --semantics fixed",
    )
    return shared + Report((finding,)) + check_coverage(layer.program)


def _mishaps_by_layer(session: Systolic, on_compile: Callable[[], None]) -> list[tuple[int, int]]:
    """Stores that overtook and tiles that strayed in a run of the whole network, by layer."""
    layers = session.execution()
    stream, result = simulate(layers, session.config, on_compile=on_compile)
    by_tile = (result.tiles["overtaken"], strayed_tiles(stream, result))
    counts = [np.bincount(stream.tiles[:, TILE_LAYER], each, len(layers)).astype(int) for each in by_tile]
    return list(zip(*(count.tolist() for count in counts), strict=True))
