"""Machine files in JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from pantile.errors import MachineError, Place
from pantile.machine.text_file import read_text
from pantile.machine.units import shown

if TYPE_CHECKING:
    from pantile.machine.machine import Machine


def read_json_machine(path: str | Path) -> Machine:
    """Return the machine of a JSON file: one that Pantile wrote, which has a key ``schema``, or ONNXim's.

    Raises:
        MachineError: If the file cannot be read, is not JSON, or has one problem.
        ManyProblems: If it has several.
    """
    from pantile.machine.document import read_document
    from pantile.machine.onnxim import onnxim_machine

    document = read_json(path)
    if "schema" in document:
        return read_document(document, name=Path(path).stem, file=str(path))
    return onnxim_machine(document, Path(path).stem, file=str(path))


def read_json(path: str | Path) -> dict[str, object]:
    """Return the JSON object of the file at *path*.

    Raises:
        MachineError: If the file cannot be read, holds something else, or has a key twice in one object.
    """
    text, place = read_text(path), Place(str(path))
    try:
        document = json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        place = Place(str(path), error.lineno, error.colno)
        raise MachineError(f"expected JSON: {error.msg[:1].lower()}{error.msg[1:]}", place=place) from None
    except RecursionError:
        raise MachineError("expected JSON, got lists or objects nested too deeply", place=place) from None
    except MachineError as error:
        raise MachineError(error.problem, place=place) from None
    except ValueError:  # Python converts no more than 4300 digits
        raise MachineError("expected JSON, got a number of too many digits", place=place) from None
    if not isinstance(document, dict):
        raise MachineError(f"expected a JSON object, got {shown(document)}", place=place)
    return document


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table = dict(pairs)
    if len(table) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise MachineError(f"key {twice!r} stands twice in one object")
    return table
