"""Recording a core program as Python emits it: instructions with their source lines, calls, event ids."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, overload

from pantile.errors import PantileError, Place, ProgramError, suggestion
from pantile.targets.ascend.access_text import LABEL
from pantile.targets.ascend.buffers import Bytes
from pantile.targets.ascend.calls import Call, Declared
from pantile.targets.ascend.composition import with_calls
from pantile.targets.ascend.events import Event, EventIds, Flag
from pantile.targets.ascend.instructions import (
    SIGNATURES,
    call,
    pipe_barrier,
    set_flag,
    signature,
    wait_flag,
)
from pantile.targets.ascend.pipes import ALL, EVENT_IDS, PIPES
from pantile.targets.ascend.trace import program_of_trace

if TYPE_CHECKING:
    from types import FrameType

    from pantile.program.program import Program
    from pantile.targets.ascend.instructions import Instruction

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Emitter = TypeVar("Emitter", bound="Recorder")


class Recorder:
    """What a core is told, in the order in which its scalar unit walks the program.

    Args:
        name: What findings call the program; by default the file that makes the recorder.
        event_ids: Ids that each pair of pipes has.
        kept_ids: Ids that ``alloc`` and ``fetch`` never hand out.
        file: The file whose lines are recorded; by default the one that makes the recorder.
    """

    def __init__(
        self,
        name: str = "",
        *,
        event_ids: int = EVENT_IDS,
        kept_ids: Collection[int] = (),
        file: str | None = None,
    ) -> None:
        self._file = file or sys._getframe(1).f_code.co_filename
        self.name = name or Path(self._file).name
        self.instructions: list[Instruction] = []
        self.lines: list[int] = []
        self.calls: list[Call] = []
        self._ids = EventIds(event_ids, tuple(kept_ids), self._place)

    def set(self, source: str | Event, destination: str = "", event: int | Event = 0) -> None:
        """Let pipe *source* raise a flag for *destination* when it has done all that it was told before.

        Args:
            source: The pipe, or an event that ``alloc`` or ``fetch`` returned.
            destination: The pipe that waits.
            event: The id, or an event of that pair.
        """
        flag, used = self._flag(source, destination, event)
        self._ids.set(used, self._line())
        self._emit(set_flag(*flag))

    def wait(self, source: str | Event, destination: str = "", event: int | Event = 0) -> None:
        """Let pipe *destination* go on when *source* has raised a flag, and lower it; arguments as of set."""
        flag, used = self._flag(source, destination, event)
        self._ids.wait(used, self._line())
        self._emit(wait_flag(*flag))

    def barrier(self, pipe: str = ALL) -> None:
        """Let a pipe, or all of them, finish what they were told before anything later begins."""
        self._emit(pipe_barrier(pipe if pipe == ALL else self._pipe(pipe)))

    def access(
        self,
        pipe: str,
        *,
        reads: Bytes | Iterable[Bytes] = (),
        writes: Bytes | Iterable[Bytes] = (),
        label: str = "access",
        cycles: int | None = None,
        unit_flag: int = 0,
    ) -> None:
        """Let a pipe touch bytes: an instruction of which nothing else matters.

        Args:
            pipe: The pipe that carries it out.
            reads: Bytes that it reads.
            writes: Bytes that it writes.
            label: What findings call it.
            cycles: How long it takes; by default what moving its bytes takes, where that is all it does.
            unit_flag: Mode of the hand-over of L0C between M and FIX, 0 to 3.
        """
        if not 0 <= unit_flag <= 3:
            raise self._error(f"expected a unit flag of 0 to 3, got {unit_flag}")
        if not LABEL.fullmatch(label):
            raise self._error(f"expected a label of letters, digits and blanks, got {label!r}")
        if cycles is not None and cycles < 0:
            raise self._error(f"expected cycles of at least 0, got {cycles}")
        args: dict[str, Any] = {"pipe": self._pipe(pipe), "label": label}
        for key, spans in (("reads", reads), ("writes", writes)):
            args[key] = [each.to_json() for each in self._spans(key, spans)]
        args |= {} if cycles is None else {"cycles": cycles}
        args |= {"unit_flag": unit_flag} if unit_flag else {}
        self._emit({"op": "access", "args": args})

    def issue(self, op: str, *values: object) -> None:
        """Issue an intrinsic by its name, arguments in the order of the call.

        Raises:
            ProgramError: If it is not known, or has another number of arguments.
        """
        if op not in SIGNATURES:
            raise self._error(f"unknown intrinsic {op!r}", suggestion(op, SIGNATURES))
        wanted = signature(op, len(values))
        if len(wanted) != len(values):
            names = ", ".join(each.name for each in wanted)
            raise self._error(f"{op} has {len(wanted)} arguments ({names}), got {len(values)}")
        self._emit(call(op, *values))

    def include(self, instructions: Iterable[Instruction], *, name: str, library: bool = False) -> None:
        """Issue a stream that something else made, as one call of a function.

        Args:
            instructions: What it issues.
            name: What the function is called.
            library: Whether it may use the ids that the template library keeps.
        """
        begin, line = len(self.instructions), self._line()
        for each in instructions:
            self.instructions.append(each)
            self.lines.append(line)
        self.calls.append(Call(name, begin, len(self.instructions), line, library))

    def alloc(self, source: str, destination: str) -> Event:
        """Return an id of a pair that nobody holds, and hold it until it is released."""
        return self._ids.alloc(self._pipe(source), self._pipe(destination), self._line())

    def fetch(self, source: str, destination: str) -> Event:
        """Return an id of a pair that nobody holds, without holding it: the next call may return it again."""
        return self._ids.fetch(self._pipe(source), self._pipe(destination), self._line())

    def release(self, event: Event) -> None:
        """Give an id back that ``alloc`` returned."""
        if not isinstance(event, Event):
            raise self._error(f"expected an event that alloc returned, got {event!r}")
        self._ids.release(event, self._line())

    def enter(self, name: str, declared: Declared | None, *, library: bool) -> int:
        """Begin a call; return what :meth:`leave` is handed."""
        begin = len(self.instructions)
        self.calls.append(Call(name, begin, begin, self._line(), library, declared))
        return len(self.calls) - 1

    def leave(self, number: int) -> None:
        """End the call that :meth:`enter` began."""
        self.calls[number] = replace(self.calls[number], end=len(self.instructions))

    def tables(self) -> Program:
        """Return the literal program of all that was emitted.

        Its parameters hold the instructions, the calls, and what was done wrong with events and contracts.

        Raises:
            ProgramError: If an instruction lacks an argument or names what a core has not; all of them.
        """
        ids = replace(self._ids, findings=list(self._ids.findings))
        ids.end()
        program = program_of_trace(self.instructions, self.name, lines=self.lines, unit_flags=True)
        program = with_calls(program, self.calls, ids.findings)
        return replace(program, parameters={**program.parameters, "event_ids": self._ids.count})

    def _spans(self, key: str, spans: object) -> list[Bytes]:
        """Return the bytes that an access names, whether they are in one piece or in several."""
        found: list[Bytes] = []
        for each in spans if isinstance(spans, Iterable) and not isinstance(spans, str) else [spans]:
            if not isinstance(each, Bytes):
                raise self._error(f"{key}: expected bytes such as L1[0:512], got {each!r}")
            found.append(each)
        return found

    def _emit(self, instruction: Instruction) -> None:
        self.instructions.append(instruction)
        self.lines.append(self._line())

    def _flag(self, source: str | Event, destination: str, event: int | Event) -> tuple[Flag, Flag | Event]:
        if isinstance(source, Event):
            return source.flag, source
        source, destination = self._pipe(source), self._pipe(destination)
        if isinstance(event, Event):
            if event.flag[:2] != (source, destination):
                raise self._error(f"expected an event of {source} to {destination}, got {event.flag}")
            return event.flag, event
        if isinstance(event, bool) or not isinstance(event, int):
            raise self._error(f"expected an event or its id, got {event!r}")
        flag = Flag(source, destination, event)
        return flag, flag

    def _pipe(self, pipe: str) -> str:
        if pipe not in PIPES:
            raise self._error(f"expected a pipe, got {pipe!r}", suggestion(str(pipe), PIPES))
        return pipe

    def _line(self) -> int:
        """Return the line of the recorder's file that is being carried out; 0 if none is."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != self._file:
            frame = frame.f_back
        return frame.f_lineno if frame is not None else 0

    def _place(self, line: int) -> str:
        return f"{self.name}:{line}" if line else self.name

    def _error(self, problem: str, mend: str | None = None) -> PantileError:
        return ProgramError(problem, place=Place(self.name, self._line()), mend=mend)


@overload
def function(
    body: Callable[Concatenate[Emitter, Arguments], Result], /
) -> Callable[Concatenate[Emitter, Arguments], Result]: ...


@overload
def function(
    *, needs: Sequence[Flag] | None = None, leaves: Sequence[Flag] | None = None, library: bool = False
) -> Callable[
    [Callable[Concatenate[Emitter, Arguments], Result]], Callable[Concatenate[Emitter, Arguments], Result]
]: ...


def function(
    body: Callable[..., Any] | None = None,
    /,
    *,
    needs: Sequence[Flag] | None = None,
    leaves: Sequence[Flag] | None = None,
    library: bool = False,
) -> Any:
    """Mark a function whose first argument is the core as one that is checked at every call.

    Args:
        body: The function.
        needs: Flags that it says it needs up; with *leaves*, its declared contract.
        leaves: Flags that it says it leaves up.
        library: Whether it may use the ids that the template library keeps.
    """
    declared = None if needs is None and leaves is None else Declared(tuple(needs or ()), tuple(leaves or ()))

    def mark(marked: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(marked)
        def called(core: Recorder, /, *args: Any, **options: Any) -> Any:
            number = core.enter(marked.__name__, declared, library=library)
            try:
                return marked(core, *args, **options)
            finally:
                core.leave(number)

        return called

    return mark if body is None else mark(body)
