"""What a core program keeps of the trace that it was made of, and whether that can be.

Whatever is found about a core program is found about its trace, so a program without one, or with rows that
are not those of its trace, is refused. A file may say anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from pantile.check.report import CODES, Grade, Severity
from pantile.errors import ManyProblems, Place, ProgramError, raise_all
from pantile.targets.ascend.pipes import PIPES
from pantile.targets.ascend.trace import program_of_trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pantile.errors import PantileError
    from pantile.program.program import Program

_MEND = "write it with to_json or to_text of pantile.ascend"
_LISTS = ("stream", "lines", "starts", "works", "accumulating", "spaces")
_SAID = frozenset({"remarks", "calls", "emission", "event_ids"})
"""What parameters say beyond what follows from the trace."""

_LAST_LINE = 1 << 31


def require_trace(program: Program, *, rows: bool = False) -> None:
    """Check that a program keeps the trace that it was made of.

    Args:
        program: A program that says that it is a core's.
        rows: Whether its rows are compared with those of its trace, too; only what a file says needs that.

    Raises:
        ProgramError: If it does not; or what its instructions are refused for, all of them.
    """
    kept = program.parameters
    problems = list(_lost(kept)) or list(_wrong(kept, program.operations))
    place = Place(program.name)
    raise_all([ProgramError(problem, place=place, mend=_MEND) for problem in problems])
    if rows and not any(_is_made_of_its_trace(program, unit_flags) for unit_flags in (True, False)):
        raise ProgramError("its rows are not those of the stream that it keeps", place=place, mend=_MEND)


def _is_made_of_its_trace(program: Program, unit_flags: bool) -> bool:
    kept = program.parameters
    try:
        made = program_of_trace(kept["stream"], program.name, lines=kept["lines"], unit_flags=unit_flags)
    except (ProgramError, ManyProblems) as error:
        problems: tuple[PantileError, ...] = error.problems if isinstance(error, ManyProblems) else (error,)
        for problem in problems:
            problem.mend = problem.mend or _MEND
        raise
    same = {key: kept[key] for key in kept.keys() - _SAID} == {
        key: made.parameters[key] for key in made.parameters.keys() - _SAID
    }
    return same and made.names == program.names and made.pieces == program.pieces


def _lost(kept: Mapping[str, Any]) -> Iterator[str]:
    """What a core program must have that is not there."""
    lost = [name for name in _LISTS if not _is_row(kept.get(name))]
    if lost:
        yield f"a core program lacks {', '.join(lost)}"
    elif len({len(kept[name]) for name in ("stream", "lines", "starts")}) > 1:
        yield "a core program keeps another number of instructions than of lines"
    if type(kept.get("event_ids")) is not int:
        yield "a core program lacks event_ids"


def _wrong(kept: Mapping[str, Any], operations: int) -> Iterator[str]:
    """What else a core program keeps that cannot be."""
    count = len(kept["stream"])
    lines = kept["lines"]
    whole = (
        np.issubdtype(lines.dtype, np.integer) if isinstance(lines, np.ndarray) else all(map(_is_line, lines))
    )
    if not whole:
        yield "parameters: lines are no whole numbers"
    kinds: dict[str, tuple[str, Callable[[Any], bool]]] = {
        "remarks": ("a text", _is_text),
        "calls": ("a call of a function", partial(_is_call, instructions=count)),
        "emission": ("a finding", partial(_is_finding, operations=operations)),
    }
    for name, (what, fits) in kinds.items():
        values = kept.get(name, ())
        if not isinstance(values, list | tuple):
            yield f"parameters: {name} are no list"
            continue
        wrong = [at for at, each in enumerate(values) if not fits(each)]
        if wrong:
            more = f", nor are {len(wrong) - 1} others" if len(wrong) > 1 else ""
            yield f"parameters: {name}[{wrong[0]}] is not {what}{more}"


def _is_row(value: object) -> bool:
    """Whether a value is a row of things: a list, or as programs made in columns have it."""
    return isinstance(value, Sequence | np.ndarray) and not isinstance(value, str)


def _is_line(value: object) -> bool:
    return type(value) is int and -_LAST_LINE <= value < _LAST_LINE


def _fields(value: Any, fields: Mapping[str, Callable[[Any], bool]]) -> bool:
    """Whether a value is an object of exactly these fields."""
    return (
        isinstance(value, dict)
        and value.keys() == fields.keys()
        and all(fits(value[name]) for name, fits in fields.items())
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) == 3
        and all(each in PIPES for each in value[:2])
        and type(value[2]) is int
    )


def _is_declared(value: Any) -> bool:
    return value is None or (
        isinstance(value, list | tuple)
        and len(value) == 2
        and all(isinstance(part, list | tuple) and all(map(_is_flag, part)) for part in value)
    )


def _is_call(value: Any, instructions: int) -> bool:
    fields: dict[str, Callable[[Any], bool]] = {
        "name": _is_text,
        "begin": lambda each: type(each) is int,
        "end": lambda each: type(each) is int,
        "line": lambda each: type(each) is int,
        "library": lambda each: isinstance(each, bool),
        "declared": _is_declared,
    }
    return _fields(value, fields) and 0 <= value["begin"] <= value["end"] <= instructions


def _is_finding(value: Any, operations: int) -> bool:
    def are_operations(each: Any) -> bool:
        return isinstance(each, list | tuple) and all(type(op) is int and 0 <= op < operations for op in each)

    fields: dict[str, Callable[[Any], bool]] = {
        "code": lambda each: each in CODES,
        "severity": lambda each: each in get_args(Severity),
        "sentence": _is_text,
        "operations": are_operations,
        "evidence": _is_text,
        "grade": lambda each: each in get_args(Grade),
        "mend": _is_text,
    }
    return _fields(value, fields)
