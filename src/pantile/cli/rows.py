"""Results of a table, printed one by one as they come, with a progress bar where somebody is watching."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, TypeVar

from pantile.cli.output import emit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pantile.verbs.result import Result

    R = TypeVar("R", bound=Result)

_WORTH_A_BAR = 100


def emit_rows(results: Iterable[R], count: int, render: Callable[[R], str] | None) -> bool:
    """Print each result when it is there, and return whether every answer is a yes.

    Args:
        results: In input order.
        count: How many there will be, for the progress bar.
        render: What gives the text of one; ``None`` prints JSON lines, and a summary at the end.
    """
    from pantile.verbs.result import summary_of

    printed = good = 0
    for result in _watched(results, count):
        if render is None:
            emit(json.dumps(result.to_json()))
        else:
            emit(f"\n{render(result)}" if printed else render(result))
        printed += 1
        good += result.ok
    if render is None:
        emit(json.dumps(summary_of(printed, good)))
    return good == printed


def _watched(results: Iterable[R], count: int) -> Iterator[R]:
    """Yield *results*; a bar on standard error shows how far they are, if that alone is a terminal."""
    if count < _WORTH_A_BAR or not sys.stderr.isatty() or sys.stdout.isatty():
        yield from results
        return
    from rich.console import Console
    from rich.progress import Progress

    # Left alone, rich would take what is printed meanwhile to the terminal: the very data.
    bar = Progress(console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False)
    with bar as progress:
        yield from progress.track(results, total=count, description="planning")
