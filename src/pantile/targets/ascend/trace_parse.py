"""Reading printed traces: every line is a call, and what is wrong with any is told together.

Intrinsics that are not known are left out of the stream and listed: a trace of a whole kernel holds more than
the cube side.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pantile.errors import PantileError, Place, ProgramError, raise_all, suggestion
from pantile.targets.ascend.access_text import ACCESS, parse_access
from pantile.targets.ascend.instructions import SIGNATURES, signature
from pantile.targets.ascend.pipes import ALL, PIPES
from pantile.targets.ascend.ranges import ELEMENT_BITS
from pantile.targets.ascend.trace_text import CALL, COMMENT, GM, QUALIFIERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.targets.ascend.instructions import Instruction, Parameter

_NUMBERED_PIPES = ("PIPE_S", "PIPE_V", "PIPE_M", "PIPE_MTE1", "PIPE_MTE2", "PIPE_MTE3", "PIPE_ALL")
"""Pipes as the library's trace header numbers them; PIPE_FIX it lacks."""

_BUFFERS = {qualifier: buffer for buffer, qualifier in QUALIFIERS.items()}
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|[0-9]+")
_LARGEST, _LONGEST = 1 << 64, 66
_EVENT = re.compile(r"EVENT_ID(\d+)")
_NAME = re.compile(r"[A-Za-z_]\w*")
_POINTER = re.compile(
    r"(?:\(\s*(?P<qualifier>__\w+__)?\s*(?P<element>\w+)\s*\*\s*\)\s*)?"
    r"(?:(?P<tensor>[A-Za-z_]\w*)\s*\+?\s*)?(?P<offset>0[xX][0-9a-fA-F]+|\d+)?"
)
_DECLARATION = re.compile(r"(?://|#)\s*elements:\s*(?P<element>\w+)")
_ASSUMED = "half"


@dataclass(frozen=True, slots=True)
class ParsedTrace:
    """What a printed trace says.

    Attributes:
        instructions: Its known instructions, in order.
        lines: The line of each, from 1.
        unknown: Intrinsics that are not known, each with the lines that call it.
        untyped: Lines with a pointer whose type was not printed, and taken from elsewhere.
    """

    instructions: tuple[Instruction, ...]
    lines: tuple[int, ...]
    unknown: tuple[tuple[str, tuple[int, ...]], ...] = ()
    untyped: tuple[int, ...] = ()


def parse_trace(text: str, place: str) -> ParsedTrace:
    """Return the stream that *text* prints.

    A comment begins with ``//`` or ``#``. The comment ``// elements: float`` says what pointers below it
    point to where they carry no type; without it they are taken as half.

    Args:
        text: The printed trace.
        place: Name of its file, for messages.

    Raises:
        ProgramError: If a line is no call, or a known intrinsic has an argument that cannot be; all of them.
    """
    reader = _Reader(place)
    for number, line in enumerate(text.splitlines(), 1):
        reader.read(number, line)
    raise_all(reader.problems)
    unknown = tuple((name, tuple(lines)) for name, lines in reader.unknown.items())
    return ParsedTrace(tuple(reader.instructions), tuple(reader.lines), unknown, tuple(reader.untyped))


class _Wrong(Exception):
    """An argument that cannot be; says what was expected, and how to mend it."""

    def __init__(self, expected: str, mend: str | None = None) -> None:
        super().__init__(expected)
        self.expected, self.mend = expected, mend


class _Reader:
    """A trace under way."""

    def __init__(self, place: str) -> None:
        self.place, self.element = place, _ASSUMED
        self.instructions: list[Instruction] = []
        self.lines: list[int] = []
        self.unknown: dict[str, list[int]] = {}
        self.untyped: list[int] = []
        self.problems: list[PantileError] = []

    def read(self, number: int, line: str) -> None:
        """Take one line."""
        declared = _DECLARATION.search(line)
        if declared is not None:
            self._declare(number, declared)
        code = COMMENT.sub("", line).strip()
        if not code:
            return
        call = CALL.fullmatch(code)
        if call is None:
            self._refuse(number, line.index(code) + 1, f"expected NAME(ARGUMENT, …), got {_quoted(code)}")
            return
        name = call["name"]
        if name == ACCESS:
            self._access(number, _split(call["arguments"]), code, line.index(name) + 1)
            return
        if name not in SIGNATURES:
            self.unknown.setdefault(name, []).append(number)
            return
        self._call(number, name, _split(call["arguments"]), line)

    def _declare(self, number: int, declared: re.Match[str]) -> None:
        element = declared["element"]
        if element not in ELEMENT_BITS:
            problem = f"expected an element type, got {element!r}"
            self._refuse(number, declared.start("element") + 1, problem, suggestion(element, ELEMENT_BITS))
            return
        self.element = element

    def _access(self, number: int, texts: list[str], code: str, column: int) -> None:
        try:
            args = parse_access(texts)
        except ValueError as error:
            self._refuse(number, column, f"access: expected {error}, got {_quoted(code)}")
            return
        self.instructions.append({"op": ACCESS, "args": args})
        self.lines.append(number)

    def _call(self, number: int, name: str, texts: list[str], line: str) -> None:
        parameters = signature(name, len(texts))
        if len(texts) != len(parameters):
            wanted = ", ".join(each.name for each in parameters) or "none"
            problem = f"{name} has {len(parameters)} arguments ({wanted}), got {len(texts)}"
            self._refuse(number, line.index(name) + 1, problem)
            return
        args: dict[str, Any] = {}
        for place, (parameter, text) in enumerate(zip(parameters, texts, strict=True)):
            try:
                args[parameter.name] = self._argument(number, name, parameter, text)
            except _Wrong as wrong:
                problem = f"argument {place + 1} of {name}, {parameter.name}: expected {wrong.expected}"
                column = _column(line, texts, place)
                self._refuse(number, column, f"{problem}, got {_quoted(text)}", wrong.mend)
        if len(args) == len(parameters):
            self.instructions.append({"op": name, "args": args})
            self.lines.append(number)

    def _argument(self, number: int, name: str, parameter: Parameter, text: str) -> Any:
        if parameter.kind != "pointer":
            return _READERS[parameter.kind](text)
        pointer = _POINTER.fullmatch(text)
        if pointer is None or (pointer["tensor"] is None and pointer["offset"] is None):
            raise _Wrong("a pointer such as (__ca__ half*)0x8000")
        element = pointer["element"]
        if element is None:
            element = _implied(name, parameter, self.element)
            if element is None:
                element = self.element
                if number not in self.untyped:
                    self.untyped.append(number)
        elif element not in ELEMENT_BITS:
            raise _Wrong("a pointer to a known element type", suggestion(element, ELEMENT_BITS))
        offset = _int(pointer["offset"] or "0")
        return {"buf": _buffer(parameter, pointer), "off": offset, "elem": element}

    def _refuse(self, line: int, column: int, problem: str, mend: str | None = None) -> None:
        self.problems.append(ProgramError(problem, place=Place(self.place, line, column), mend=mend))


def _split(arguments: str) -> list[str]:
    """Return the arguments of a call; none that is known has a comma in it."""
    return [text.strip() for text in arguments.split(",")] if arguments.strip() else []


def _column(line: str, texts: list[str], place: int) -> int:
    """Return the column at which an argument begins."""
    at = line.index("(") + 1
    for text in texts[:place]:
        at = line.index(text, at) + len(text)
    return line.index(texts[place], at) + 1


def _implied(name: str, parameter: Parameter, declared: str) -> str | None:
    """Return the type that an intrinsic's name or the buffer says a pointer has: sums have 4 bytes."""
    if parameter.buffer == "L0C":
        return "int32_t" if name.endswith("_s4") or declared == "int8_t" else "float"
    if name.endswith(("_transpose", "_s4", "_b8")):
        return "int8_t"
    return "uint64_t" if name.endswith("_to_fbuf") else None


def _buffer(parameter: Parameter, pointer: re.Match[str]) -> str:
    """Return the buffer that a pointer is declared in, or that the call implies."""
    qualifier, tensor = pointer["qualifier"], pointer["tensor"]
    expected = parameter.buffer
    if expected:
        declared = _BUFFERS.get(qualifier, qualifier) if qualifier else expected
        if declared != expected or tensor is not None:
            raise _Wrong(f"a pointer into {expected} ({QUALIFIERS[expected]})")
        return expected
    if qualifier not in (None, GM):
        raise _Wrong(f"a pointer into global memory ({GM})")
    return tensor or "GM"


def _int(text: str) -> int:
    event = _EVENT.fullmatch(text)
    if event is not None:
        return _int(event[1])
    if not _NUMBER.fullmatch(text):
        raise _Wrong("a number of at least 0")
    value = int(text, 16 if "x" in text.lower() else 10) if len(text) <= _LONGEST else _LARGEST
    if value >= _LARGEST:
        raise _Wrong("a number of 64 bits")
    return value


def _bool(text: str) -> bool | int:
    if text in ("true", "false"):
        return text == "true"
    if text not in ("0", "1"):
        raise _Wrong("true or false")
    return int(text)


def _pipe(text: str) -> str:
    if text in PIPES or text == ALL:
        return text
    if text.isdigit() and int(text) < len(_NUMBERED_PIPES):
        return _NUMBERED_PIPES[int(text)]
    raise _Wrong("a pipe", suggestion(text, (*PIPES, ALL)))


def _name(text: str) -> str | int:
    if _NAME.fullmatch(text):
        return text
    return _int(text)


_READERS: dict[str, Callable[[str], Any]] = {"int": _int, "bool": _bool, "pipe": _pipe, "name": _name}


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}…")
