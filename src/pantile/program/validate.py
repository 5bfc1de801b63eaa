"""Whether the rows of a literal program that came from a file fit together.

Programs that are recorded or lowered do by construction; what a file says may be anything. Every check, run
and execution counts on what is required here.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pantile.errors import ManyProblems, PantileError
from pantile.program.tables import MAX_AXES, Completes, Edge, Kind, Mode, Overflow, Test
from pantile.tiling.tiling import Tiling

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pantile.program.program import Program

    Tables = Mapping[str, np.ndarray]

LARGEST = 1 << 44
"""Largest figure that a row may hold; addresses, bytes and amounts stay below it."""


class _Reference(NamedTuple):
    """A column whose values are positions in something, or -1 where that is allowed."""

    table: str
    column: str
    what: str
    least: int


_REFERENCES = (
    _Reference("op", "thread", "thread", 0),
    _Reference("box", "op", "operation", 0),
    _Reference("access", "op", "operation", 0),
    _Reference("sync", "op", "operation", 0),
    _Reference("sync", "counter", "counter", 0),
    _Reference("thread", "name", "name", -1),
    _Reference("op", "opcode", "name", 0),
    _Reference("op", "engine", "name", -1),
    _Reference("sync", "shown_as", "name", -1),
    _Reference("counter", "src", "name", -1),
    _Reference("counter", "dst", "name", -1),
    _Reference("access", "space", "space", 0),
    _Reference("access", "operand", "operand", 0),
)

_CODES: tuple[tuple[str, str, type[IntEnum]], ...] = (
    ("op", "kind", Kind),
    ("access", "mode", Mode),
    ("sync", "edge", Edge),
    ("sync", "test", Test),
    ("thread", "completes", Completes),
    ("counter", "overflow", Overflow),
)

_LEAST = {
    ("op", "bytes"): 0,
    ("op", "macs"): 0,
    ("op", "count"): 1,
    ("access", "lo"): 0,
    ("access", "length"): 1,
    ("access", "rows"): 1,
    ("access", "pitch"): 0,
    ("counter", "initial"): 0,
    ("counter", "capacity"): 0,
}


def is_literal(program: Program) -> bool:
    """Whether the rows of *program* stand for themselves: one piece, which does not repeat."""
    return len(program.pieces) == 1 and not program.pieces[0].loops


def problems_of(program: Program) -> list[str]:
    """Return what does not fit together in a literal program, the most basic things first."""
    for check in (_header, _rows, _sizes, _parameters):
        found = list(check(program))
        if found:
            return found
    return []


def _header(program: Program) -> Iterator[str]:
    """Texts, letters, figures and operands."""
    for name in ("name", "family", "semantics"):
        if not isinstance(getattr(program, name), str):
            yield f"{name!r} is no text"
    if not all(isinstance(text, str) for text in (*program.names, *program.axes, *program.reductions)):
        yield "names and axes are not all texts"
    if not _counts(program.extents) or len(program.extents) != len(program.axes):
        yield "extents are not one count per axis"
    if len(program.axes) > MAX_AXES:
        yield f"{len(program.axes)} axes are more than {MAX_AXES}"
    parameters: object = program.parameters
    if not isinstance(parameters, dict):
        yield "parameters are no object"
    for at, operand in enumerate(program.operands):
        whole = (
            _counts(operand.dims)
            and _counts(operand.strides)
            and _counts((operand.base, operand.element_bytes))
        )
        texts = isinstance(operand.name, str) and isinstance(operand.parameters, dict)
        if not whole or not texts or len(operand.strides) != len(program.axes) or not operand.element_bytes:
            yield f"operand {at} has no name, or no whole sizes for every axis"


def _counts(values: Any) -> bool:
    return all(type(value) is int and 0 <= value < LARGEST for value in values)


def _texts(values: Any) -> bool:
    return isinstance(values, list | tuple) and all(isinstance(value, str) for value in values)


def _rows(program: Program) -> Iterator[str]:
    """Numbers that stand for rows, texts and codes."""
    tables = program.pieces[0].tables
    for name in ("op", "thread", "counter"):
        if not np.array_equal(tables[name]["id"], np.arange(len(tables[name]))):
            yield f"table {name!r}: ids are not 0, 1, 2 …"
    for name in ("box", "access", "sync"):
        if np.any(np.diff(tables[name]["op"]) < 0):
            yield f"table {name!r}: rows do not stand in the order of operations"
    counts = {
        "thread": len(tables["thread"]),
        "operation": len(tables["op"]),
        "counter": len(tables["counter"]),
        "name": len(program.names),
        "space": _length(program.parameters, "spaces"),
        "operand": len(program.operands),
    }
    for each in _REFERENCES:
        values = tables[each.table][each.column]
        least = each.least if each.what != "operand" or program.operands else -1  # a trace names none
        wrong = np.flatnonzero((values < least) | (values >= counts[each.what]))
        if len(wrong):
            yield f"table {each.table!r}, row {wrong[0]}: there is no {each.what} {values[wrong[0]]}"
    for name, column, codes in _CODES:
        wrong = np.flatnonzero(tables[name][column] >= len(codes))
        if len(wrong):
            yield f"table {name!r}, row {wrong[0]}: {column} {tables[name][column][wrong[0]]} means nothing"
    if len(tables["task"]) or np.any(tables["thread"]["task"] >= 0):
        yield "threads belong to tasks, which only planned products have"


def _length(parameters: Mapping[str, Any], name: str) -> int:
    values = parameters.get(name, ())
    return len(values) if isinstance(values, list | tuple) else 0


def _sizes(program: Program) -> Iterator[str]:
    """Figures: none too large, none negative that cannot be, boxes within the space, elements whole."""
    tables = program.pieces[0].tables
    for name, rows in tables.items():
        for column in rows.dtype.names or ():
            values = rows[column]
            least = _LEAST.get((name, column), -LARGEST)
            if values.size and (int(values.max()) >= LARGEST or int(values.min()) < least):
                yield f"table {name!r}: {column} is outside {least} to {LARGEST}"
    access = tables["access"]
    reach = (access["rows"].astype(float) - 1) * access["pitch"] + access["lo"]
    if np.any(reach >= LARGEST):
        yield f"table 'access': a range reaches beyond {LARGEST}"
    widths = np.array([operand.element_bytes for operand in program.operands] or [1], np.int64)
    if np.any(access["length"] % widths[access["operand"]]):
        yield "table 'access': a range holds no whole elements"
    box, count = tables["box"], len(program.extents)
    ends = box["lo"][:, :count] + box["length"][:, :count]
    if (
        np.any(box["lo"] < 0)
        or np.any(box["length"] < 0)
        or np.any(ends > np.array(program.extents, np.int64))
    ):
        yield "table 'box': a box leaves the iteration space"
    if len(np.unique(box["op"])) != len(box):
        yield "table 'box': an operation has several boxes"


def _parameters(program: Program) -> Iterator[str]:
    """What parameters say of rows."""
    given = program.parameters
    if not _texts(given.get("spaces", [])):
        yield "parameters: spaces are no list of texts"
    files = given.get("files", "")
    if not isinstance(files, str) and not _texts(files):
        yield "parameters: files are neither a text nor a list of texts"
    if not isinstance(given.get("slot_order", ""), str) or not isinstance(given.get("output", ""), str):
        yield "parameters: slot_order and output are texts"
    durations = given.get("durations", [])
    if not isinstance(durations, list | tuple) or not all(
        _counts(each if isinstance(each, list | tuple) else [each]) for each in durations
    ):
        yield "parameters: durations are no counts, or lists of them"
    works = given.get("works", [])
    if not isinstance(works, list | tuple) or not all(
        isinstance(each, list | tuple) and len(each) == 2 and isinstance(each[0], str) and _counts(each[1:])
        for each in works
    ):
        yield "parameters: works are no pairs of a kind and an amount"
        works = []
    models = program.pieces[0].tables["op"]["duration_model"]
    known = max(len(durations) if isinstance(durations, list | tuple) else 0, len(works))
    if ("tiling" in given or works) and np.any((models < -1) | (models > known)):
        yield f"table 'op': a duration model that is none of {known}"
    for name in ("private", "forwarding"):
        if not isinstance(values := given.get(name, []), list | tuple) or not _counts(values):
            yield f"parameters: {name} are no list of counts"
    yield from _tiling(given)
    yield from _lives(given, len(program.pieces[0].tables["op"]))


def _tiling(given: Mapping[str, Any]) -> Iterator[str]:
    """Why the tiling that parameters state cannot be one; it may be missing."""
    stated = given.get("tiling")
    if not stated:
        return
    try:
        tiling = Tiling.from_json(stated)
        if not _texts(tiling.dimensions) or not _counts(tiling.total):
            yield "parameters: tiling is of no texts and whole numbers"
    except ManyProblems as error:
        yield from (f"parameters: tiling: {problem.problem}" for problem in error.problems)
    except PantileError as error:
        yield f"parameters: tiling: {error.problem}"
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        yield f"parameters: tiling is none: {type(error).__name__} {error}"


def _lives(given: Mapping[str, Any], operations: int) -> Iterator[str]:
    """Return the first time in a buffer that cannot be."""
    lives = given.get("lives", [])
    if not isinstance(lives, list | tuple):
        yield "parameters: lives are no list"
        return
    for at, life in enumerate(lives):
        whole = isinstance(life, list | tuple) and len(life) == 5 and all(type(each) is int for each in life)
        if not whole or not (
            0 <= life[0] < _length(given, "spaces")
            and _counts(life[1:3])
            and 0 <= life[3] < operations
            and -1 <= life[4] < operations
        ):
            yield f"parameters: life {at} is no [space, first byte, bytes, from, until]"
            return
