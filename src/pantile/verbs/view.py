"""The verb ``view``: a page on which to step through a program."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pantile.errors import OutsideModelError, Place, UsageError
from pantile.program.program import Program
from pantile.verbs.arguments import PlanOptions
from pantile.verbs.check import reports_of
from pantile.verbs.listing import Listing
from pantile.verbs.page import page_data
from pantile.verbs.pagefile import MAX_FRAMED_BYTES, Page
from pantile.verbs.programfile import is_program, refuse_for_programs, refuse_other_json
from pantile.verbs.releasers import with_releasers
from pantile.verbs.sessions import sessions_of
from pantile.verbs.simulate import simulate_session
from pantile.verbs.systolic import Systolic
from pantile.verbs.window import clipped, require_window
from pantile.view.outfile import write_atomically
from pantile.view.render import MAX_OPERATIONS, refuse_too_many, render_page

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pantile.verbs.arguments import MachineLike, WorkloadLike
    from pantile.verbs.families import PlannedLayer
    from pantile.verbs.programfile import ProgramLike

__all__ = ["MAX_FRAMED_BYTES", "Page", "view"]


def view(
    workload: WorkloadLike | ProgramLike,
    machine: MachineLike,
    output: str | os.PathLike[str],
    *,
    planner: str | None = None,
    mapping: str | None = None,
    semantics: str | None = None,
    dims: Mapping[str, int] | None = None,
    window: range | None = None,
    on_compile: Callable[[], None] = lambda: None,
) -> Page:
    """Write the page of *workload*, or of a program, to the file *output*, and return it.

    Args:
        workload: As of :func:`pantile.lower`, naming a single product; or a program, or the file of one.
        machine: The machine.
        output: The page.
        planner: As of :func:`pantile.lower`, likewise the next three.
        mapping: An explicit mapping.
        semantics: Which reading of the planner's rules to use.
        dims: Sizes of symbolic dimensions.
        window: Numbers of the operations to show; in a program, places in the order of their start.
        on_compile: Called before anything is compiled.

    Raises:
        PantileError: If the input is at fault, the program is too long, or the file cannot be written.
    """
    if is_program(workload):
        from pantile.verbs.program_view import view_program

        refuse_for_programs(planner=planner, mapping=mapping, semantics=semantics, dim=dims)
        return view_program(workload, machine, output, window=window, on_compile=on_compile)
    assert not isinstance(workload, Program)
    refuse_other_json(workload)
    options = PlanOptions(planner=planner, mapping=mapping, semantics=semantics, dims=dims or {})
    sessions = sessions_of(workload, machine, options)
    layers = [layer for session in sessions for layer in session.layers()]
    if len(layers) != 1:
        raise UsageError(
            f"a page shows one product, got {len(layers)}", mend="name a single one, such as FILE.onnx#NODE"
        )
    session, (layer,) = sessions[0], layers
    if not isinstance(session, Systolic):
        from pantile.verbs.program_view import view_planned

        named = os.fspath(workload) if isinstance(workload, str | os.PathLike) else None
        return view_planned(session, named, output, options, window=window, on_compile=on_compile)
    _require_page(layer, window)
    shown = clipped(window, layer.program.operations)
    listing = Listing(layer.program, session.config, layer.layer, None, shown)
    simulation = simulate_session(session, record=with_releasers(listing), on_compile=on_compile)
    (report,) = reports_of(session, on_compile)
    data = page_data(simulation, report, listing, os.fspath(output))
    head = session.head("page", data.workload, simulation.notes)
    page = Page(head, data, render_page(data), os.fspath(output))
    write_atomically(output, page.html.encode())
    return page


def _require_page(layer: PlannedLayer, window: range | None) -> None:
    """Check that a page can show the operations of *window*, or all.

    Raises:
        OutsideModelError: If the layer is a convolution.
        UsageError: If there are too many of them, or none.
    """
    program = layer.program
    if program.parameters["kind"] == "conv":
        raise OutsideModelError(
            "pages show products only, got a convolution",
            place=Place(layer.workload),
            mend="use lower --text",
        )
    if window is None:
        refuse_too_many(program.operations)
    else:
        require_window(window, program.operations, most=MAX_OPERATIONS, holder="a page")
