"""Machine files in TOML."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from pantile.errors import MachineError, Place
from pantile.machine.document import read_document
from pantile.machine.locate import Locator
from pantile.machine.machine import Machine
from pantile.machine.text_file import read_text

_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def read_machine(path: str | Path) -> Machine:
    """Return the machine that the TOML file at *path* describes; see ``docs/machines.md``.

    Raises:
        MachineError: If the file cannot be read, is not TOML, or has one problem.
        ManyProblems: If it has several; each names line, key, value and what is allowed.
    """
    text = read_text(path)
    document = parse_toml(text, str(path))
    return read_document(document, name=Path(path).stem, file=str(path), locator=Locator(text))


def parse_toml(text: str, file: str) -> dict[str, object]:
    """Return the document of a TOML *text*.

    Raises:
        MachineError: If it is not TOML, at the line and column where it stops being so.
    """
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise MachineError("expected TOML, got tables nested too deeply", place=Place(file)) from None
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        at = _AT.search(message)
        last = (text.count("\n") + 1, 0)
        line, column = (int(at[1]), int(at[2])) if at and at[1] else last  # else "at end of document"
        reason = _AT.sub("", message)
        problem = f"expected TOML: {reason[:1].lower()}{reason[1:]}"
        raise MachineError(problem, place=Place(file, line, column)) from None
    except ValueError:  # Python converts no more than 4300 digits
        raise MachineError("expected TOML, got a number of too many digits", place=Place(file)) from None
