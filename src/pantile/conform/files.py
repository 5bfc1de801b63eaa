"""Finding case files and reading them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pantile.errors import UsageError, raise_all

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class UnreadableFile(Exception):
    """A file that holds no JSON value; says why."""


def find_files(paths: Sequence[str | Path]) -> list[Path]:
    """Return every file that *paths* name or that lies below a folder they name.

    The order is that of *paths*, within a folder that of the file names; a file that is reached twice
    stands once. Links to folders are not followed.

    Raises:
        UsageError: If a path does not exist; all of them together.
    """
    named = [Path(path) for path in paths]
    if not named:
        raise UsageError("no path given", mend="name case files or folders of them")
    raise_all(
        [UsageError(f"{str(path)!r}: there is no such file or folder") for path in named if _missing(path)]
    )
    found: dict[str, Path] = {}
    for path in named:
        for file in _below(path) if os.path.isdir(path) else (path,):
            found.setdefault(os.path.realpath(file), file)
    return list(found.values())


def _missing(path: Path) -> bool:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a NUL in the name
        return True
    except OSError:
        return False  # it may be there; reading it will say what is wrong
    return False


def _below(folder: Path) -> Iterator[Path]:
    """Yield the files below *folder*; one that cannot be listed is yielded itself."""
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        yield folder
        return
    for entry in entries:
        if not os.path.isdir(entry):
            yield entry
        elif not entry.is_symlink():
            yield from _below(entry)


def read_case_file(path: Path) -> Any:
    """Return the JSON value of the file at *path*.

    Raises:
        UnreadableFile: If it cannot be read, is no JSON, or has a key twice in one object.
    """
    if path.exists() and not path.is_file():
        raise UnreadableFile("expected a file, got a folder or a device")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"expected UTF-8 text, got a wrong byte at offset {error.start}") from None
    except OSError as error:
        raise UnreadableFile(f"the file cannot be read: {error.strerror}") from None
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise UnreadableFile(f"expected JSON, but {where}: {error.msg}") from None
    except RecursionError:
        raise UnreadableFile("expected JSON, got lists or objects nested too deeply") from None
    except ValueError:  # Python converts no more than 4300 digits
        raise UnreadableFile("expected JSON, got a number of too many digits") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise UnreadableFile(f"key {twice!r} stands twice in one object")
    return table


def _no_number(name: str) -> Any:
    raise UnreadableFile(f"expected JSON, got {name}")
