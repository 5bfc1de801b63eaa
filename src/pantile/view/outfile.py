"""Files that appear whole or not at all.

The bytes go to a temporary file beside the target, which then takes the
target's name in one step; a reader never meets half a file, and a failure
leaves whatever stood there before.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from pantile.errors import OutputError, Place

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Yield a binary stream whose content becomes *path* when the block ends well.

    A symbolic link is followed, so that the file it names is the one replaced;
    an existing file keeps its permission bits. If the block raises, the
    temporary file is removed and *path* stays as it was; an ``OSError`` in the
    block counts as the disk refusing.

    Raises:
        OutputError: If the folder is missing or closed to us, if *path* is a
            folder or a special file, or if the disk refuses the bytes.
    """
    shown = os.fspath(path)
    target = Path(os.path.realpath(shown))
    if os.path.exists(target) and not os.path.isfile(target):
        kind = "a folder" if os.path.isdir(target) else "not a regular file"
        raise OutputError(f"cannot write: it is {kind}", place=Place(shown), mend="name a file")
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(
            prefix=f".{target.name[:64]}.", suffix=".part", dir=target.parent
        )
        with os.fdopen(handle, "wb") as stream:
            yield stream
        os.chmod(temporary, _mode_of(target))
        os.replace(temporary, target)
    except BaseException as error:
        if temporary:
            with suppress(OSError):
                os.unlink(temporary)
        if isinstance(error, OSError) and not isinstance(error, OutputError):
            raise _unwritable(shown, target, error) from error
        raise


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write *content* to *path*, beside and renamed.

    Raises:
        OutputError: As :func:`replacing`.
    """
    with replacing(path) as stream:
        stream.write(content)


def _mode_of(target: Path) -> int:
    """Return the permission bits of *target*, or those that a plain ``open`` would give a new file."""
    try:
        return target.stat().st_mode & 0o777
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask


def _unwritable(shown: str, target: Path, error: OSError) -> OutputError:
    """Return the one line for *error* met while writing *target*."""
    if not os.path.isdir(target.parent):
        return OutputError(
            f"cannot write: there is no folder {str(target.parent)!r}",
            place=Place(shown),
            mend="create it, or write elsewhere",
        )
    why = (error.strerror or str(error)).lower()
    return OutputError(
        f"cannot write: {why}", place=Place(shown), mend="write where you have permission and room"
    )
