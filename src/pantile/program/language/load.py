"""Programs from files: Python that leaves one, or its JSON, or its listing.

Source: design section 4 (PROGRAM).
"""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pantile.errors import ManyProblems, PantileError, Place, ProgramError, place_in, raise_all, suggestion
from pantile.program.language.listing import parse_text
from pantile.program.program import Program
from pantile.program.validate import is_literal, problems_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

SCHEMA = "pantile/program/1"

SUFFIXES = (".py", ".json", ".txt")


def load_program(
    path: str | PathLike[str],
    name: str | None = None,
    *,
    read_text: Callable[[str, str], Program] = parse_text,
) -> Program:
    """Return the program of a file.

    A ``.py`` file is executed, and must leave exactly one program, or the one called *name*, which may also
    stand behind the path: ``mesh.py:exchange``. A ``.json`` file is what ``to_json`` gives, a ``.txt`` file
    what ``to_text`` gives, unless *read_text* knows other texts, too.

    Args:
        path: The file.
        name: Which of the programs that a ``.py`` file leaves.
        read_text: From a text and its path to the program.

    Raises:
        ProgramError: If the file cannot be read or executed, or leaves none or several programs.
    """
    text = str(path)
    head, _, tail = text.rpartition(":")
    if name is None and Path(head).suffix.lower() in SUFFIXES:
        text, name = head, tail
    suffix = Path(text).suffix.lower()
    if suffix not in SUFFIXES:
        raise ProgramError(
            f"expected FILE.py, FILE.json or FILE.txt, got {text!r}", mend="name a file that holds a program"
        )
    try:
        source = Path(text).read_text(encoding="utf-8")
    except OSError as error:
        raise ProgramError(f"cannot be read: {error.strerror}", place=Place(text)) from None
    except UnicodeDecodeError:
        raise ProgramError("is no text in UTF-8", place=Place(text)) from None
    if suffix == ".py":
        return _chosen(_execute(source, text), text, name)
    if name is not None:
        raise ProgramError(
            f"holds one program, got the name {name!r}", place=Place(text), mend="leave it out"
        )
    return _fitting(_from_json(source, text) if suffix == ".json" else read_text(source, text), text)


def _execute(source: str, path: str) -> dict[str, Any]:
    """Return what the file leaves in its namespace.

    Raises:
        PantileError: For what the program is refused; or for anything else, with the line it came from.
    """
    namespace: dict[str, Any] = {"__name__": "__pantile__", "__file__": path}
    sys.path.insert(0, str(Path(path).resolve().parent))  # as when Python runs the file
    try:
        with redirect_stdout(sys.stderr):  # what it prints is no part of the answer
            exec(compile(source, path, "exec"), namespace)
    except KeyboardInterrupt:
        raise
    except PantileError as error:
        problems = error.problems if isinstance(error, ManyProblems) else (error,)
        for problem in problems:
            problem.place = problem.place or place_in(path, error)
        raise
    except SyntaxError as error:
        if error.filename != path:
            raise ProgramError(f"imports what is not Python: {error}", place=place_in(path, error)) from None
        raise ProgramError(f"not Python: {error.msg}", place=Place(path, error.lineno or 0)) from None
    except BaseException as error:
        what = f"{type(error).__name__}: {error}".splitlines()[0].rstrip(": ")
        raise ProgramError(f"raised {what}", place=place_in(path, error)) from None
    finally:
        sys.path.pop(0)
    return namespace


def _chosen(namespace: dict[str, Any], path: str, name: str | None) -> Program:
    """Return the program that is meant.

    Raises:
        ProgramError: If that is not one.
    """
    programs: dict[str, Program] = {key: each for key, each in namespace.items() if isinstance(each, Program)}
    if name is not None:
        if name not in programs:
            found = f"programs there: {', '.join(programs)}" if programs else "there is none"
            mend = (
                suggestion(name, programs)
                if programs
                else "make one: program = Program(tiling, load, multiply)"
            )
            raise ProgramError(f"leaves no program called {name!r}; {found}", place=Place(path), mend=mend)
        return programs[name]
    distinct = {id(each): each for each in programs.values()}
    if len(distinct) == 1:
        return next(iter(distinct.values()))
    if not distinct:
        raise ProgramError(
            "leaves no program", place=Place(path), mend="make one: program = Program(tiling, load, multiply)"
        )
    listed = ", ".join(programs)
    raise ProgramError(
        f"leaves {len(distinct)} programs ({listed})",
        place=Place(path),
        mend=f"write {path}:NAME to choose one",
    )


def _fitting(program: Program, path: str) -> Program:
    """Return *program* if its rows stand for themselves and fit together.

    Raises:
        ProgramError: If they do not; all such problems at once.
    """
    if not is_literal(program):
        raise ProgramError(
            "its pieces repeat: it was lowered from a product, which says more than its rows",
            place=Place(path),
            mend="name the product itself",
        )
    raise_all([ProgramError(problem, place=Place(path)) for problem in problems_of(program)])
    return program


def _from_json(source: str, path: str) -> Program:
    try:
        data = json.loads(source)
    except RecursionError:
        raise ProgramError("not a JSON file: endless nesting", place=Place(path)) from None
    except json.JSONDecodeError as error:
        raise ProgramError("not a JSON file", place=Place(path, error.lineno, error.colno)) from None
    schema = data.get("schema") if isinstance(data, dict) else type(data).__name__
    if schema != SCHEMA:
        raise ProgramError(f"expected an object of schema {SCHEMA!r}, got {schema!r}", place=Place(path))
    try:
        return Program.from_json(data)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, AssertionError) as error:
        raise ProgramError(
            f"not a whole program: {type(error).__name__} {error}".splitlines()[0],
            place=Place(path),
            mend="write it with Program.to_json",
        ) from None
