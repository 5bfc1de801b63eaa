"""Files that a workload is read from."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from pantile.errors import Place, WorkloadError


def read_source(path: str) -> bytes:
    """Return the bytes of the file at *path*.

    Raises:
        WorkloadError: If there is no such file, or it cannot be read.
    """
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise WorkloadError("there is no such file", place=Place(path), mend=_near(Path(path))) from None
    except IsADirectoryError:
        raise WorkloadError("expected a file, got a directory", place=Place(path)) from None
    except OSError as error:
        raise WorkloadError(f"cannot be read: {error.strerror}", place=Place(path)) from None
    except ValueError:
        raise WorkloadError(f"expected a path, got {path!r}") from None


def _near(path: Path) -> str | None:
    """Return the mend that names the likeliest file beside *path*, or ``None``."""
    try:
        names = sorted(entry.name for entry in path.parent.iterdir())
    except OSError:
        return None
    near = get_close_matches(path.name, names, n=1)
    return f"did you mean {str(path.with_name(near[0]))!r}?" if near else None
