"""The verb ``view`` on programs: a page on which to step through one run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pantile.errors import UsageError
from pantile.verbs.pagefile import Page
from pantile.verbs.program_check import program_head, report_on
from pantile.verbs.program_page import program_page_data, require_page
from pantile.verbs.program_run import simulate_program
from pantile.verbs.programfile import program_of
from pantile.view.outfile import write_atomically
from pantile.view.render import render_page

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.verbs.arguments import MachineLike
    from pantile.verbs.programfile import ProgramLike


def view_program(
    program: ProgramLike,
    machine: MachineLike | None = None,
    output: str | os.PathLike[str] | None = None,
    *,
    on_compile: Callable[[], None] = lambda: None,
) -> Page:
    """Return the page of a run of *program* on *machine*, and write it to the file *output* if one is named.

    Args:
        program: A program, or the file of one.
        machine: What it runs on.
        output: The page; without it the page is only returned, and shows itself in a notebook.
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
    run = simulate_program(asked, machine, on_compile=on_compile)
    require_page(run)
    report, notes = report_on(run.program, run.timeline, on_compile=on_compile)
    named = program if isinstance(program, str | os.PathLike) else asked.name
    made = run.timeline.bound.machine
    where = made.file or made.name if made else run.machine
    out = os.fspath(output) if output is not None else ""
    command = ["pantile", "view", os.fspath(named), "-m", where, "-o", out or "PAGE.html"]
    data = program_page_data(run, report, notes, command)
    head = program_head("page", run.program, run.machine, (*run.notes, *notes))
    page = Page(head, data, render_page(data), out)
    if output is not None:
        write_atomically(output, page.html.encode())
    return page
