"""Reading the text of a machine file."""

from __future__ import annotations

from pathlib import Path

from pantile.errors import MachineError, Place

LARGEST_BYTES = 4 * 2**20
"""More than any machine file has; what is larger was named by mistake."""


def read_text(path: str | Path) -> str:
    """Return the text of the machine file at *path*.

    Raises:
        MachineError: If there is no such file, or it is a directory, too large, or not UTF-8 text.
    """
    place = Place(str(path))
    try:
        with Path(path).open("rb") as file:
            data = file.read(LARGEST_BYTES + 1)
    except FileNotFoundError:
        raise MachineError("there is no such file", place=place) from None
    except IsADirectoryError:
        raise MachineError("expected a machine file, got a directory", place=place) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise MachineError(f"the file cannot be read: {reason}", place=place) from None
    if len(data) > LARGEST_BYTES:
        raise MachineError(f"expected at most {LARGEST_BYTES} bytes, got more", place=place)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = f"expected UTF-8 text, got byte 0x{data[error.start]:02x} at offset {error.start}"
        raise MachineError(problem, place=place) from None
