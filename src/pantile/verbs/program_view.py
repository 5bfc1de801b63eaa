"""The verb ``view`` on programs: a page on which to step through one run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pantile.check.report import Report
from pantile.errors import OutsideModelError, UsageError
from pantile.targets.ascend.trace import FAMILY as ASCEND
from pantile.verbs.arguments import machine_of
from pantile.verbs.ascend_check import report_on_trace
from pantile.verbs.pagefile import Page
from pantile.verbs.program_check import program_head, report_on
from pantile.verbs.program_page import program_page_data, require_page
from pantile.verbs.program_run import simulate_program
from pantile.verbs.programfile import program_of
from pantile.verbs.shown_run import ShownRun, require_timelines
from pantile.view.outfile import write_atomically
from pantile.view.render import render_page

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from pantile.machine import Machine
    from pantile.verbs.arguments import MachineLike, PlanOptions
    from pantile.verbs.families import Session
    from pantile.verbs.programfile import ProgramLike
    from pantile.view.pagedata import PageData


def _about(report: Report, operations: int) -> Report:
    """Return what a report says about the first operations; a trap keeps the others from running."""
    findings = (
        each
        for each in report.findings
        if max(each.operations, default=0) < operations
        and (each.order is None or int(each.order.max(initial=0)) < operations)
    )
    return Report(tuple(findings), report.proved)


def view_program(
    program: ProgramLike,
    machine: MachineLike | None = None,
    output: str | os.PathLike[str] | None = None,
    *,
    window: range | None = None,
    on_compile: Callable[[], None] = lambda: None,
) -> Page:
    """Return the page of a run of *program* on *machine*, and write it to the file *output* if one is named.

    Args:
        program: A program, or the file of one.
        machine: What it runs on.
        output: The page; without it the page is only returned, and shows itself in a notebook.
        window: Which operations to show, by their places in the order in which the run started them.
        on_compile: Called before anything is compiled.

    Raises:
        PantileError: If the program or the machine is at fault, pages cannot show it, or the file cannot be
            written.
    """
    asked = program_of(program)
    if machine is None:
        raise UsageError(
            "a page shows a run on a machine, got none", mend="name one: show(machine='mesh-2x2')"
        )
    chosen = machine_of(machine)
    run = simulate_program(asked, chosen, on_compile=on_compile)
    shown = require_page(run.program, run.timeline.bound.operations, window)
    if asked.family == ASCEND:
        report, notes = report_on_trace(asked, chosen, on_compile=on_compile)
        report = _about(report, run.program.operations)
    else:
        report, notes = report_on(run.program, run.timeline, on_compile=on_compile)
    named = os.fspath(program) if isinstance(program, str | os.PathLike) else asked.name
    page_run = ShownRun(
        name=run.name,
        planner=", ".join(each for each in ("a program", run.program.semantics) if each),
        timeline=run.timeline,
        machine=chosen,
        figures=run,
        command=("pantile", "view", named, "-m", chosen.file or chosen.name),
        what_ifs=run.what_ifs,
    )
    data = program_page_data(page_run, report, notes, shown, _path(output))
    return _written(
        program_head("page", run.program, run.machine, tuple(dict.fromkeys((*run.notes, *notes)))),
        data,
        output,
    )


def view_planned(
    session: Session,
    workload: str | None,
    output: str | os.PathLike[str],
    options: PlanOptions,
    *,
    window: range | None = None,
    on_compile: Callable[[], None] = lambda: None,
) -> Page:
    """Write the page of a planned product whose program the general engine runs, and return it.

    Args:
        session: The product, planned: a network of one layer.
        workload: What it was called; ``None`` if it came as a value.
        output: The page.
        options: How it was planned.
        window: As of :func:`view_program`.
        on_compile: Called before anything is compiled.

    Raises:
        PantileError: If the product has no such program, pages cannot show it, or the file cannot be written.
    """
    (layer,) = session.layers()
    shown = require_page(layer.program, layer.program.operations, window)
    run = require_timelines(session, session.simulation(on_compile), "pages show")
    if len(run.timelines) != 1:
        raise OutsideModelError(f"a page shows one program, the run has {len(run.timelines)}")
    (report,) = session.reports(on_compile)
    page_run = ShownRun(
        name=layer.workload,
        planner=f"{layer.plan.planner}, {session.semantics}",
        timeline=run.timelines[0],
        machine=session.machine,
        figures=run,
        command=_command(workload or layer.workload, session.machine, options),
        plan=layer.plan,
    )
    data = program_page_data(page_run, report, (), shown, os.fspath(output))
    return _written(session.head("page", layer.workload, run.notes), data, output)


def _command(workload: str, machine: Machine, options: PlanOptions) -> tuple[str, ...]:
    """The command line that plans the product again, without the page's own options."""
    words = ["pantile", "view", workload, "-m", machine.file or machine.name]
    named = {"-p": options.planner, "--mapping": options.mapping, "--semantics": options.semantics}
    for name, value in named.items():
        words += [name, value] if value is not None else []
    for name, size in options.dims.items():
        words += ["--dim", f"{name}={size}"]
    return tuple(words)


def _path(output: str | os.PathLike[str] | None) -> str:
    return os.fspath(output) if output is not None else ""


def _written(head: Mapping[str, Any], data: PageData, output: str | os.PathLike[str] | None) -> Page:
    page = Page(head, data, render_page(data), _path(output))
    if output is not None:
        write_atomically(output, page.html.encode())
    return page
