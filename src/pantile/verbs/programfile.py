"""Programs as an input of the verbs: values, and files that hold one.

Source: design section 4 (PROGRAM).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

from pantile.errors import OutsideModelError, Place, ProgramError, UsageError, WorkloadError, raise_all
from pantile.program.language.listing import TITLE, parse_text
from pantile.program.language.load import SCHEMA, SUFFIXES, load_program
from pantile.program.program import Program
from pantile.targets.ascend.kept_trace import require_trace
from pantile.targets.ascend.trace import FAMILY as ASCEND
from pantile.targets.ascend.trace_file import read_trace
from pantile.targets.ascend.trace_text import begins_trace
from pantile.verbs.planfile import SCHEMA as PLAN_SCHEMA

if TYPE_CHECKING:
    from pantile.errors import PantileError
    from pantile.program.language.dynamic import DynamicSource

ProgramLike = str | os.PathLike[str] | Program


class TextFamily(NamedTuple):
    """One kind of text that is a program.

    Attributes:
        name: What messages call it.
        begins: Whether a text whose first line that is not blank this is belongs to it.
        expected: What that first line is, in words.
        read: From a text and its path to the program.
    """

    name: str
    begins: Callable[[str], bool]
    expected: str
    read: Callable[[str, str], Program]


TEXT_FAMILIES = (
    TextFamily("a listing of the tile language", TITLE.__eq__, f"{TITLE!r}", parse_text),
    TextFamily("a printed trace of an Ascend core", begins_trace, "a call 'NAME(ARGUMENT, …)'", read_trace),
)
"""Every kind of ``.txt`` file that is a program; the first one that fits reads it."""


def is_program(value: object) -> TypeGuard[ProgramLike]:
    """Whether *value* is a program or names the file of one: FILE.py[:name], FILE.txt, or such a FILE.json.

    Any other ``.json`` is left to whoever reads plans; see :func:`refuse_other_json` for what is neither.
    """
    if isinstance(value, Program):
        return True
    if not isinstance(value, str | os.PathLike):
        return False
    path, name = _split(os.fspath(value))
    suffix = Path(path).suffix.lower()
    if suffix == ".json":
        return name is not None or schema_in(path) == SCHEMA
    return suffix in SUFFIXES


def program_of(value: ProgramLike) -> Program:
    """Return the program that *value* is or names.

    Raises:
        PantileError: If the file cannot be read, or leaves none or several programs; all problems at once.
    """
    if isinstance(value, Program):
        return value
    path, name = _split(os.fspath(value))
    program = load_program(path, name, read_text=read_listing)
    if program.family == ASCEND and Path(path).suffix.lower() == ".json":
        require_trace(program, rows=True)
    return program


def dynamic_source(program: Program) -> DynamicSource | None:
    """Return what a program runs that is recorded only when it runs; ``None`` for any other."""
    source: DynamicSource | None = getattr(program, "source", None)
    return source


def read_listing(text: str, path: str) -> Program:
    """Return the program in a text, by the first of :data:`TEXT_FAMILIES` that it fits.

    Raises:
        ProgramError: If it fits none, with its first line; or what its reader refuses.
    """
    lines = enumerate(text.splitlines(), 1)
    number, first = next(((at, line.strip()) for at, line in lines if line.strip()), (1, ""))
    for family in TEXT_FAMILIES:
        if family.begins(first):
            return family.read(text, path)
    wanted = " or ".join(f"{family.expected} ({family.name})" for family in TEXT_FAMILIES)
    shown = first if len(first) <= 60 else f"{first[:60]}…"
    raise ProgramError(f"expected {wanted}, got {shown!r}", place=Place(path, number))


def schema_in(path: str) -> str | None:
    """Return the schema that a JSON object in a file states: ``""`` if none, ``None`` if it is no object."""
    try:
        data = json.loads(Path(path).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return str(data.get("schema", "")) if isinstance(data, dict) else None


def refuse_other_json(value: object) -> None:
    """Do nothing unless *value* names a JSON object that is neither a plan nor a program.

    Raises:
        WorkloadError: If it does.
    """
    if not isinstance(value, str | os.PathLike) or not os.fspath(value).lower().endswith(".json"):
        return
    schema = schema_in(os.fspath(value))
    if schema is None and Path(value).is_file():
        raise WorkloadError(_why_no_object(Path(value)), place=Place(os.fspath(value)))
    if schema is not None and schema != PLAN_SCHEMA:
        raise WorkloadError(
            f"expected a plan ({PLAN_SCHEMA!r}) or a program ({SCHEMA!r}), got {schema or 'no schema'!r}",
            place=Place(os.fspath(value)),
            mend="write one with `pantile plan … --json`, or with Program.to_json",
        )


def _why_no_object(path: Path) -> str:
    """Say what keeps a file from holding a JSON object, and where."""
    try:
        data = json.loads(path.read_bytes().decode())
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    except UnicodeDecodeError as error:
        return f"not a text file: byte {error.start} is no UTF-8"
    except json.JSONDecodeError as error:
        return f"not a JSON file: {error.msg} at line {error.lineno}, column {error.colno}"
    except (ValueError, RecursionError) as error:
        return f"not a JSON file: {error}".splitlines()[0]
    return f"expected a JSON object, got {type(data).__name__}"


def refuse_for_programs(**options: object) -> None:
    """Check that no option was given that chooses how a product is planned.

    Args:
        options: Their values by the names that the command line has for them; ``None`` and empty ones are
            not given.

    Raises:
        UsageError: If one was given; each such one.
    """
    given = [
        f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}"
        for name, value in options.items()
        if value not in (None, {}, ())
    ]
    problems: list[PantileError] = [
        UsageError(
            "means nothing for a program, which is planned already", place=Place(name), mend="leave it out"
        )
        for name in given
    ]
    raise_all(problems)


def refuse_for_workloads(**options: tuple[object, str]) -> None:
    """Check that no option was given that only programs have.

    Args:
        options: By their names on the command line: their value, and why only programs have them.

    Raises:
        UsageError: If one was given; each such one.
    """
    problems: list[PantileError] = [
        UsageError(why, place=Place(f"--{name.replace('_', '-')}"), mend="leave it out")
        for name, (value, why) in options.items()
        if value not in (None, (), {})
    ]
    raise_all(problems)


def refuse_programs(value: object, verb: str) -> None:
    """Check that *value* is no program, which is planned and lowered already.

    Raises:
        OutsideModelError: If it is one.
    """
    if not is_program(value):
        return
    shown = value.name if isinstance(value, Program) else os.fspath(value)
    raise OutsideModelError(
        f"is a program, which {verb} does not take: it is planned and lowered already",
        place=Place(shown),
        mend="use check, simulate or view",
    )


def _split(text: str) -> tuple[str, str | None]:
    """Return path and name of ``FILE.py:name``; no name where none is said."""
    head, colon, tail = text.rpartition(":")
    if colon and Path(head).suffix.lower() in SUFFIXES:
        return head, tail
    return text, None
