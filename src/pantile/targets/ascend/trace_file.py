"""A printed trace as a program to check, and what its reader must know."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pantile.errors import Place, ProgramError
from pantile.targets.ascend.access_text import read_calls
from pantile.targets.ascend.calls import call_of_json
from pantile.targets.ascend.composition import with_calls
from pantile.targets.ascend.events import finding_of
from pantile.targets.ascend.instructions import SIGNATURES
from pantile.targets.ascend.trace import program_of_trace
from pantile.targets.ascend.trace_parse import parse_trace

if TYPE_CHECKING:
    from pantile.program.program import Program
    from pantile.targets.ascend.trace_parse import ParsedTrace

_SHOWN = 5


def read_trace(text: str, path: str) -> Program:
    """Return the program that a printed trace is; its parameter ``remarks`` says what was left out.

    Raises:
        ProgramError: If a line is malformed, or an instruction cannot be; all of them. If no line is known.
    """
    parsed = parse_trace(text, path)
    if not parsed.instructions:
        names = ", ".join(name for name, _ in parsed.unknown[:_SHOWN])
        found = f"only others ({names})" if names else "none"
        raise ProgramError(
            f"expected calls of known intrinsics, got {found}",
            place=Place(path),
            mend=f"known are {', '.join(sorted(SIGNATURES)[:_SHOWN])} and {len(SIGNATURES) - _SHOWN} more",
        )
    program = program_of_trace(parsed.instructions, path, lines=parsed.lines, unit_flags=True)
    program = with_calls(program, read_calls(text, parsed.lines))
    return replace(program, parameters={**program.parameters, "remarks": _remarks(parsed)})


def require_trace(program: Program) -> None:
    """Check that a program that says so is the program of a trace: of the one that its parameters keep.

    Raises:
        ProgramError: If it is not; or what its instructions are refused for, all of them.
    """
    kept, place = program.parameters, Place(program.name)
    stream: Any = kept.get("stream")
    lines: Any = kept.get("lines")
    lists = isinstance(stream, list) and isinstance(lines, list) and len(stream) == len(lines)
    if not lists or not all(type(line) is int for line in lines) or not _is_told(program, len(stream)):
        raise ProgramError("parameters: stream, lines and what is said of them are no trace's", place=place)
    for unit_flags in (True, False):
        made = program_of_trace(stream, program.name, lines=lines, unit_flags=unit_flags)
        same = {key: value for key, value in kept.items() if key not in _TOLD} == _without(made.parameters)
        if same and made.names == program.names and made.pieces == program.pieces:
            return
    raise ProgramError("its rows are not those of the stream that it keeps", place=place)


_TOLD = ("remarks", "calls", "emission", "event_ids")
"""What parameters say beyond what follows from the stream."""


def _without(parameters: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in parameters.items() if key not in _TOLD}


def _is_told(program: Program, count: int) -> bool:
    """Whether what is said of a trace of *count* instructions can be read."""
    kept, operations = program.parameters, program.operations
    remarks: Any = kept.get("remarks", [])
    if not isinstance(remarks, list) or not all(isinstance(remark, str) for remark in remarks):
        return False
    if type(kept.get("event_ids")) is not int:
        return False
    try:
        calls = [call_of_json(each) for each in kept.get("calls", ())]
        findings = [finding_of(each) for each in kept.get("emission", ())]
    except (AssertionError, AttributeError, KeyError, TypeError, ValueError):
        return False
    return all(0 <= call.begin <= call.end <= count for call in calls) and all(
        type(op) is int and 0 <= op < operations for finding in findings for op in finding.operations
    )


def _remarks(parsed: ParsedTrace) -> list[str]:
    remarks = [
        f"{name} is no known intrinsic and was left out, in {_lines(lines)}" for name, lines in parsed.unknown
    ]
    if parsed.untyped:
        where = _lines(parsed.untyped)
        remarks.append(
            f"pointers without a type point to what '// elements: TYPE' above says, or to half, in {where}"
        )
    return remarks


def _lines(lines: tuple[int, ...]) -> str:
    """Return a few line numbers in words, and how many more there are."""
    shown = ", ".join(map(str, lines[:_SHOWN]))
    more = len(lines) - _SHOWN
    return f"line{'s' if len(lines) > 1 else ''} {shown}" + (f" and {more} more" if more > 0 else "")
