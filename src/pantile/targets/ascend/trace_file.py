"""A printed trace as a program to check, and what its reader must know."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pantile.errors import Place, ProgramError
from pantile.targets.ascend.access_text import read_calls
from pantile.targets.ascend.composition import with_calls
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
