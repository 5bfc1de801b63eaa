"""Abstract accesses and calls in printed traces: what a trace of intrinsics has no words for.

// call tile, line 20
access(PIPE_MTE1, load a, reads=L1[0:32768], writes=L0A[0:32768], cycles=12)
// return
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pantile.targets.ascend.calls import Call

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ACCESS = "access"
LABEL = re.compile(r"\w(?:[\w .:*-]*\w)?")
"""What an access may be called, so that its line can be read back."""

_SPAN = re.compile(r"(?P<buffer>\w+)\[(?P<lo>\d+):(?P<hi>\d+)\]")
_SPANS, _NUMBERS = ("reads", "writes"), ("cycles", "unit_flag")
_CALL = re.compile(r"//\s*call (?P<name>\S+), line (?P<line>\d+)(?P<library>, library)?\s*")
_RETURN = re.compile(r"//\s*return\s*")


def print_access(args: Mapping[str, Any]) -> str:
    """Return an access as a line.

    >>> span = {"buf": "L0C", "lo": 0, "hi": 8}
    >>> print_access({"pipe": "PIPE_M", "label": "x", "reads": [], "writes": [span], "cycles": 4})
    'access(PIPE_M, x, writes=L0C[0:8], cycles=4)'
    """
    parts = [args["pipe"], args["label"]]
    for key in _SPANS:
        spans = "+".join(f"{each['buf']}[{each['lo']}:{each['hi']}]" for each in args[key])
        parts += [f"{key}={spans}"] if spans else []
    parts += [f"{key}={args[key]}" for key in _NUMBERS if key in args]
    return f"{ACCESS}({', '.join(parts)})"


def parse_access(texts: Sequence[str]) -> dict[str, Any]:
    """Return the arguments of an access from their texts.

    Raises:
        ValueError: If they are none; says what was expected.
    """
    if len(texts) < 2 or "=" in texts[0] + texts[1]:
        raise ValueError("a pipe and a label")
    args: dict[str, Any] = {"pipe": texts[0], "label": texts[1], "reads": [], "writes": []}
    for text in texts[2:]:
        key, equals, value = text.partition("=")
        if key in _SPANS and equals:
            args[key] = [_span(each) for each in value.split("+")]
        elif key in _NUMBERS and value.isdigit():
            args[key] = int(value)
        else:
            raise ValueError("reads=, writes=, cycles= or unit_flag=")
    return args


def _span(text: str) -> dict[str, Any]:
    found = _SPAN.fullmatch(text.strip())
    if found is None or int(found["lo"]) >= int(found["hi"]):
        raise ValueError("bytes such as L0A[0:512]")
    return {"buf": found["buffer"], "lo": int(found["lo"]), "hi": int(found["hi"])}


def call_lines(calls: Sequence[Call], position: int) -> Iterator[str]:
    """Yield the comments that stand before the instruction at *position*: returns first, then calls."""
    yield from ("// return" for each in calls if each.end == position > each.begin)
    for each in calls:
        if each.begin == position:
            yield f"// call {each.name}, line {each.line}{', library' if each.from_library else ''}"
            if each.end == position:
                yield "// return"


def read_calls(text: str, lines: Sequence[int]) -> tuple[Call, ...]:
    """Return the calls that the comments of a printed trace mark.

    Args:
        text: The trace.
        lines: The line of each instruction.
    """
    calls: list[tuple[Call, int]] = []
    open_calls: list[int] = []
    done = 0
    for number, line in enumerate(text.splitlines(), 1):
        while done < len(lines) and lines[done] < number:
            done += 1
        begins = _CALL.fullmatch(line.strip())
        if begins is not None:
            open_calls.append(len(calls))
            library = begins["library"] is not None
            calls.append((Call(begins["name"], done, done, int(begins["line"]), library), -1))
        elif _RETURN.fullmatch(line.strip()) and open_calls:
            at = open_calls.pop()
            calls[at] = (calls[at][0], done)
    ends = ((call, len(lines) if end < 0 else end) for call, end in calls)
    return tuple(Call(each.name, each.begin, end, each.line, each.from_library) for each, end in ends)
