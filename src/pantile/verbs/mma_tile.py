"""The verbs ``lower`` and ``check`` on one call of the template library's ``mma_tile``."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pantile.check.program import BUDGET
from pantile.errors import Place, UsageError, raise_all, suggestion
from pantile.targets.ascend.memory import BUFFERS_220X
from pantile.targets.ascend.mma_caller import in_caller
from pantile.targets.ascend.mma_execute import execute_mma
from pantile.targets.ascend.mma_fit import capacity_problems
from pantile.targets.ascend.mma_json import json_of_call
from pantile.targets.ascend.mma_notes import oddities_of
from pantile.targets.ascend.mma_text import call_of_text
from pantile.targets.ascend.mma_tile import REVISIONS, Revision, TileStream, mma_tile
from pantile.targets.ascend.mma_totals import totals_of_call
from pantile.targets.ascend.mma_values import check_values
from pantile.targets.ascend.trace import FAMILY, program_of_trace
from pantile.targets.ascend.trace_text import print_trace
from pantile.tiling.plan import Note
from pantile.verbs.arguments import machine_of
from pantile.verbs.ascend_check import buffers_of, event_ids_of, report_on_trace
from pantile.verbs.listing import MAX_LISTED
from pantile.verbs.program_check import ProgramCheck
from pantile.verbs.result import as_html, head
from pantile.verbs.window import clipped, require_window
from pantile.workload.tilecall import parse_tile_call

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    import numpy.typing as npt

    from pantile.machine import Machine
    from pantile.program.program import Program
    from pantile.targets.ascend.mma_call import MmaCall
    from pantile.verbs.arguments import MachineLike

LIBRARY_ARCHITECTURE = "dav-c220"
"""The only architecture that the library's revisions are for."""


@dataclass(frozen=True, slots=True)
class TileLowering:
    """What one call emits.

    Attributes:
        workload: Its text.
        machine: Name of the machine.
        call: The call.
        revision: Revision of the library.
        stream: Its instructions, and how it ended.
        listed: Numbers of the instructions that are listed.
        notes: Oddities of the library that it runs into.
    """

    workload: str
    machine: str
    call: MmaCall
    revision: Revision
    stream: TileStream
    listed: range
    notes: tuple[Note, ...]

    @property
    def ok(self) -> bool:
        """A lowering that exists is fine."""
        return True

    @property
    def program(self) -> Program:
        """The call's own instructions as a program."""
        return program_of_trace(self.stream.instructions, self.workload, unit_flags=True)

    @property
    def operation_count(self) -> int:
        """Operations that could be listed, whatever the window."""
        return len(self.stream.instructions)

    @property
    def left_out(self) -> int:
        """Operations that :meth:`to_json` leaves out, because they are too many."""
        return len(self.listed) if len(self.listed) > MAX_LISTED else 0

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``lower --json`` prints; call and operations are as in recorded cases."""
        instructions = self.stream.instructions
        listed = instructions[self.listed.start : self.listed.stop]
        return {
            **head(
                "lower",
                workload=self.workload,
                machine=self.machine,
                planner=None,
                semantics=self.revision,
                notes=self.notes,
            ),
            "call": json_of_call(self.call),
            "trapped": self.stream.trapped,
            "unit_flag_was_disabled_out": int(self.stream.was_disabled),
            "totals": totals_of_call(self.call, instructions),
            "tile_kinds": [],
            "operation_count": len(instructions),
            "operations": None if self.left_out else list(listed),
        }

    def text(self) -> str:
        """Return the listing as a CPU-trace build prints it, one intrinsic a line."""
        return print_trace(self.stream.instructions[self.listed.start : self.listed.stop])

    def __str__(self) -> str:
        totals = totals_of_call(self.call, self.stream.instructions)
        counts = ", ".join(f"{count} {op}" for op, count in totals["instructions"].items())
        moved = ", ".join(
            f"{buffer} {each['read']} read, {each['write']} written"
            for buffer, each in totals["bytes"].items()
        )
        lines = [
            f"{self.workload} on {self.machine}, revision {self.revision}",
            f"  parts         {totals['parts']}",
            f"  instructions  {counts}",
            f"  MACs          {totals['macs']} useful, {totals['padded_macs']} padded",
            f"  bytes         {moved or 'none'}",
        ]
        return "\n".join([*lines, *(f"  note          {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        return as_html(str(self))


def lower_tile_call(
    workload: str | os.PathLike[str],
    machine: MachineLike,
    *,
    semantics: str | None = None,
    window: range | None = None,
) -> TileLowering:
    """Return what one call emits.

    Args:
        workload: ``mma-tile:…``.
        machine: An Ascend machine; its buffers must hold the call's blocks.
        semantics: Revision of the library, ``head`` (the default) or ``seed``.
        window: Numbers of the instructions to list.

    Raises:
        PantileError: If the library has no such call, it does not fit, or the machine is no Ascend machine.
    """
    call, text, revision, chosen = _called(workload, machine, semantics, emits=True)
    stream = mma_tile(call, revision)
    count = len(stream.instructions)
    if window is not None:
        require_window(window, count, most=MAX_LISTED, holder="a listing")
    listed, notes = clipped(window, count), _notes(call, revision, chosen)
    return TileLowering(text, chosen.name, call, revision, stream, listed, notes)


def check_tile_call(
    workload: str | os.PathLike[str],
    machine: MachineLike,
    *,
    semantics: str | None = None,
    budget: int = BUDGET,
    on_compile: Callable[[], None] = lambda: None,
) -> ProgramCheck:
    """Return whether one call is right in a caller that keeps its side of the flags that it passes.

    Args:
        workload: As of :func:`lower_tile_call`, likewise the next two.
        machine: The machine.
        semantics: The revision.
        budget: States with a choice that may be walked through.
        on_compile: Called before anything is compiled.

    Raises:
        PantileError: As :func:`lower_tile_call`.
    """
    call, text, revision, chosen = _called(workload, machine, semantics, emits=False)
    whole = in_caller(call, mma_tile(call, revision).instructions)
    program = program_of_trace(whole.stream, text, lines=whole.lines, unit_flags=True)
    program = replace(program, semantics=revision, parameters={**program.parameters, "files": "mma_tile"})
    report, notes = report_on_trace(program, chosen, budget=budget, on_compile=on_compile)
    report += check_values(call, revision, buffers_of(chosen)[0])
    caller = Note(
        "caller", "checked in a caller that loads the operands, and raises and takes the flags passed"
    )
    return ProgramCheck(program, chosen.name, report, (*notes, caller, *_notes(call, revision, chosen)))


def execute_tile_call(
    workload: str | os.PathLike[str], arrays: Mapping[str, npt.ArrayLike]
) -> npt.NDArray[np.generic]:
    """Return the result of one call of revision ``head`` on a 220x core, m by n (of int4 m by 2n).

    Args:
        workload: ``mma-tile:…``.
        arrays: ``a``, ``b``, and ``c`` and ``bias`` where the call reads them.

    Raises:
        PantileError: If the library has no such call, it does not fit, or an array is missing or of another
            shape.
    """
    text = os.fspath(workload)
    call = _fitting(text, call_of_text(parse_tile_call(text)), BUFFERS_220X)
    given = {name.lower(): array for name, array in arrays.items()}
    wanted = ["a", "b", *(["c"] if not call.init else []), *(["bias"] if call.bias is not None else [])]
    raise_all(
        [
            UsageError(f"{name!r} is no input of the call", mend=f"its inputs: {', '.join(wanted)}")
            for name in given
            if name not in wanted
        ]
        + [UsageError(f"no array for {name}") for name in wanted if name not in given]
    )
    return execute_mma(call, given["a"], given["b"], c=given.get("c"), bias=given.get("bias"))


def refuse_for_calls(**options: object) -> None:
    """Check that no option was given that chooses how a product is planned.

    Raises:
        UsageError: If one was given; each such one.
    """
    raise_all(
        [
            UsageError("means nothing for one call", place=Place(f"--{name}"), mend="leave it out")
            for name, value in options.items()
            if value not in (None, {}, ())
        ]
    )


def _called(
    workload: str | os.PathLike[str], machine: MachineLike, semantics: str | None, *, emits: bool
) -> tuple[MmaCall, str, Revision, Machine]:
    """Return the call, its text, the revision and the machine.

    What is emitted must be something that the machine takes: ids that it lacks are refused. A check reports
    them.

    Raises:
        PantileError: If it is no call of the library, or does not fit the machine; all problems at once.
    """
    text, chosen = os.fspath(workload), machine_of(machine)
    revision = semantics or REVISIONS[0]
    if revision not in REVISIONS:
        mend = suggestion(revision, REVISIONS)
        raise UsageError(f"unknown semantics {revision!r} of mma-tile", place=Place("--semantics"), mend=mend)
    capacities, _ = buffers_of(chosen)
    ids = event_ids_of(chosen) if emits else None
    call = call_of_text(parse_tile_call(text), capacities["L1"], ids)
    return _fitting(text, call, capacities), text, revision, chosen


def _fitting(text: str, call: MmaCall, capacities: Mapping[str, int]) -> MmaCall:
    """Return *call* if every buffer holds its part of it.

    Raises:
        CapacityError: If not; all problems at once.
    """
    problems = capacity_problems(call, capacities)
    for problem in problems:
        problem.place = Place(text)
    raise_all(problems)
    return call


def _notes(call: MmaCall, revision: Revision, machine: Machine) -> tuple[Note, ...]:
    """Return the oddities that a call runs into, and a remark where the machine is not the library's."""
    notes = [Note(name, text) for name, text in oddities_of(call, revision)]
    if machine.family_table(FAMILY).get("architecture", "") != LIBRARY_ARCHITECTURE:
        text = (
            f"the library is for architecture 220x ({LIBRARY_ARCHITECTURE}) alone, which {machine.name} does"
        )
        notes.append(Note("library", f"{text} not say to be: another core may not run this"))
    return tuple(notes)
