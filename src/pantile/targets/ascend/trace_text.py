"""Traces as text: one call a line, as a CPU-trace build of the library prints them.

Such a build prints the name of an intrinsic and its arguments: ``set_flag(PIPE_M, PIPE_MTE1, 0)``. Printed
here, pipes and address modes are names, booleans are ``true`` and ``false``, and a pointer carries the buffer
and the type that it is declared with: ``(__ca__ half*)0x8000``. What is read may be barer: numbers of pipes,
``EVENT_ID3``, an address without buffer or type, a semicolon behind the call.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pantile.targets.ascend.access_text import ACCESS, print_access
from pantile.targets.ascend.instructions import SIGNATURES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pantile.targets.ascend.instructions import Instruction

QUALIFIERS = {
    "L1": "__cbuf__",
    "L0A": "__ca__",
    "L0B": "__cb__",
    "L0C": "__cc__",
    "UB": "__ubuf__",
    "FB": "__fbuf__",
}
"""How a pointer into each buffer is declared; into GM, with the tensor's name before the offset."""

GM = "__gm__"

CALL = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*\((?P<arguments>.*)\)\s*;?")
COMMENT = re.compile(r"(//|#).*")


def print_trace(stream: Iterable[Instruction]) -> str:
    """Return a stream as text, one instruction a line.

    >>> from pantile.targets.ascend.instructions import set_flag
    >>> print_trace([set_flag("PIPE_M", "PIPE_MTE1", 0)])
    'set_flag(PIPE_M, PIPE_MTE1, 0)'
    """
    return "\n".join(print_instruction(each) for each in stream)


def print_instruction(instruction: Instruction) -> str:
    """Return one instruction as a line."""
    if instruction["op"] == ACCESS:
        return print_access(instruction["args"])
    return f"{instruction['op']}({', '.join(map(_argument, instruction['args'].values()))})"


def _argument(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, Mapping):
        return str(value)
    buffer, offset, element = value["buf"], value["off"], value["elem"]
    if buffer in QUALIFIERS:
        return f"({QUALIFIERS[buffer]} {element}*){offset:#x}"
    return f"({GM} {element}*){buffer}{f'+{offset:#x}' if offset else ''}"


def begins_trace(line: str) -> bool:
    """Whether a text that begins with this line can be a trace: it is a comment, a call, or a slip in one.

    >>> [begins_trace(line) for line in ("trap();", "set_flag PIPE_M", "// a kernel", "what", "")]
    [True, True, True, False, False]
    """
    code = COMMENT.sub("", line).strip()
    word = re.match(r"\w*", code)
    is_comment = not code and bool(line.strip())
    return is_comment or bool(CALL.fullmatch(code)) or (word is not None and word[0] in SIGNATURES)


def is_trace(text: str) -> bool:
    """Whether *text* is a printed trace: a line of it calls an intrinsic that is known.

    >>> is_trace("set_flag(PIPE_M, PIPE_MTE1, 0);")
    True
    """
    calls = (CALL.fullmatch(COMMENT.sub("", line).strip()) for line in text.splitlines())
    return any(call is not None and call["name"] in SIGNATURES for call in calls)
