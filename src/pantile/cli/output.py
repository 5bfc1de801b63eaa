"""Where results go: data to standard output or a file, remarks to standard error."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from pantile.errors import OutputError, Place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pantile.verbs.result import Many, Result

    R = TypeVar("R", bound=Result)

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def remark(text: str) -> None:
    """Print one line on standard error; control characters of names are spelled out."""
    line = _CONTROL.sub(lambda found: repr(found.group())[1:-1], text)
    with suppress(OSError):  # nobody is left to be told
        print(line, file=sys.stderr, flush=True)


def announce_compile() -> None:
    """Say that the exact simulation is compiled, which happens once per installation."""
    remark("compiling the simulation (once per installation, about half a minute) ...")


def emit(text: str, output: str | None = None) -> None:
    """Print *text*, or write it to the file *output* whole or not at all.

    Raises:
        OutputError: If the file or standard output cannot be written.
        typer.Exit: If whoever read standard output has seen enough; that is no failure.
    """
    if output is not None:
        from pantile.view.outfile import write_atomically

        write_atomically(output, (text + "\n").encode(errors="backslashreplace"))
        remark(f"wrote {output}")
        return
    try:
        with _whole():
            print(text, flush=True)
    except BrokenPipeError:
        _abandon_stdout()
        raise typer.Exit(0) from None
    except OSError as error:
        _abandon_stdout()
        why = (error.strerror or str(error)).lower()
        raise OutputError(f"cannot write: {why}", place=Place("standard output")) from None


@contextmanager
def _whole() -> Iterator[None]:
    """Put an interruption off until what is being written has been written; a second one is not."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before, asked = signal.getsignal(signal.SIGINT), False

    def put_off(number: int, frame: object) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True

    signal.signal(signal.SIGINT, put_off)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if asked:
        raise KeyboardInterrupt


def _abandon_stdout() -> None:
    """Keep the interpreter from flushing what is left into a closed pipe or a full disk at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def json_text(result: Any) -> str:
    """Return a result's JSON: one object, or one a line with a summary for many."""
    found = result.to_json()
    # Plain ASCII, so that no terminal's encoding can spoil it.
    return "\n".join(json.dumps(each) for each in (found if isinstance(found, list) else [found]))


def shown(result: R | Many[R], render: Callable[[R], str]) -> str:
    """Return the text of one result, or those of many, each as *render* gives it."""
    from pantile.verbs.result import Many

    return result.shown(render) if isinstance(result, Many) else render(result)
