"""Threads: in-order hardware units, written as functions.

Source: tile-language.md section 8.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, overload

from pantile.errors import Place as SourcePlace
from pantile.errors import ProgramError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.program.language.places import Place


class Thread:
    """A function whose statements one hardware unit carries out in order.

    Attributes:
        function: What records the statements.
        name: How listings call the unit.
        core: The core it belongs to, if that is said; its tiles compute there unless they say otherwise.
        pipelined: Whether it starts an operation when the one before has started, as the issue of an array
            does: what only posts happens when all before it has finished, a wait holds up all that follows.
    """

    __slots__ = ("core", "function", "name", "pipelined")

    def __init__(
        self,
        function: Callable[[], object],
        name: str = "",
        core: Place | None = None,
        pipelined: bool = False,
    ) -> None:
        self.function, self.core, self.pipelined = function, core, pipelined
        self.name = name or getattr(function, "__name__", "thread")
        _require_plain(function)

    def __call__(self) -> object:
        """Call the function, as part of the thread that calls."""
        return self.function()

    def run(self) -> None:
        """Call the function as a thread of its own.

        Raises:
            ProgramError: If it returns a generator, whose statements nobody would call.
        """
        if inspect.isgenerator(self.function()):
            raise ProgramError(
                f"thread {self.name} returned a generator, which nobody runs",
                place=self.place,
                mend="call the statements in the function itself",
            )

    def __repr__(self) -> str:
        return f"<thread {self.name}>"

    @property
    def place(self) -> SourcePlace:
        """Where the function stands."""
        return _place(self.function)


@overload
def thread(function: Callable[[], object]) -> Thread: ...
@overload
def thread(
    *, name: str = "", core: Place | None = None, pipelined: bool = False
) -> Callable[[Callable[[], object]], Thread]: ...
def thread(
    function: Callable[[], object] | None = None,
    *,
    name: str = "",
    core: Place | None = None,
    pipelined: bool = False,
) -> Thread | Callable[[Callable[[], object]], Thread]:
    """Mark a function as a thread; plainly, or with a name, the core it belongs to, and how it completes.

    Raises:
        ProgramError: If it is a generator, a coroutine, or takes arguments.
    """
    if function is None:
        return lambda marked: Thread(marked, name, core, pipelined)
    return Thread(function, name, core, pipelined)


def _require_plain(function: Callable[..., Any]) -> None:
    """Refuse what would record nothing, or cannot be called.

    Raises:
        ProgramError: With the place of the function.
    """
    name = getattr(function, "__name__", "thread")
    if not callable(function):
        raise ProgramError(f"expected a function, got {function!r}")
    if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
        raise ProgramError(
            f"thread {name} is a generator: calling it would record nothing",
            place=_place(function),
            mend="write a plain function without yield, async or await",
        )
    needed = [
        each.name
        for each in inspect.signature(function).parameters.values()
        if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    ]
    if needed:
        raise ProgramError(
            f"thread {name} takes arguments ({', '.join(needed)}), but is called without",
            place=_place(function),
            mend="use the names of the enclosing scope, or give defaults",
        )


def _place(function: Callable[..., Any]) -> SourcePlace:
    code = getattr(function, "__code__", None)
    return SourcePlace("thread") if code is None else SourcePlace(code.co_filename, code.co_firstlineno)
