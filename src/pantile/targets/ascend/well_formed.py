"""Whether the arguments of an instruction can be what they stand for.

Instructions that a printed trace gave are right by construction; what a recorded case, a file or a caller
from Python says may be anything. Nothing is converted: an id of 0.5 or ``"0"`` is no id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pantile.targets.ascend.instructions import BIAS_ADDRESS, SIGNATURES
from pantile.targets.ascend.unit_flag import UnitFlag

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


def wrong_arguments(op: str, args: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the arguments that *op* is given; those that are missing are left to others.

    >>> wrong_arguments("set_flag", {"src_pipe": "PIPE_V", "dst_pipe": "PIPE_M", "event_id": 0.5})
    ['event_id is no whole number but 0.5']
    """
    if op == "access":
        return list(_wrong_access(args))
    given = ((name, args[name], kind) for name, kind in _KINDS.get(op, ()) if name in args)
    return [
        _expected(name, value, kind)
        for name, value, kind in given
        if _wrong(value, kind) or _is_no_mode(name, value)
    ]


_KINDS = {
    op: tuple(
        (each.name, each.kind) for each in (*parameters, *([BIAS_ADDRESS] if op.startswith("mad") else []))
    )
    for op, parameters in SIGNATURES.items()
}
_MODES = ("unit_flag", "unit_flag_mode")
_WORDS = {
    "pointer": "pointer of buf, off and elem",
    "int": "whole number",
    "bool": "choice (true or false)",
    "name": "name",
    "pipe": "pipe",
    "text": "text",
    "list": "list of byte ranges",
}


def _is_pointer(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and type(value.get("off")) is int
        and isinstance(value.get("buf"), str)
        and isinstance(value.get("elem"), str)
    )


_IS: dict[str, Callable[[Any], bool]] = {
    "pointer": _is_pointer,
    "int": lambda value: type(value) is int,
    "bool": lambda value: value is True or value is False or (type(value) is int and 0 <= value <= 1),
    "name": lambda value: type(value) in (str, int),
    "pipe": lambda value: isinstance(value, str),
    "text": lambda value: isinstance(value, str),
    "list": lambda value: isinstance(value, list | tuple),
}


def _wrong(value: Any, kind: str) -> bool:
    return not _IS[kind](value)


def _is_no_mode(name: str, value: Any) -> bool:
    """Whether a value stands for a mode of the unit flag, and is none."""
    return name in _MODES and value not in range(len(UnitFlag))


def _expected(name: str, value: Any, kind: str) -> str:
    if not _wrong(value, kind):
        return f"{name}: expected a mode of 0 to {int(max(UnitFlag))}, got {_short(value)}"
    return f"{name} is no {_WORDS[kind]} but {_short(value)}"


def _wrong_access(args: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with an abstract instruction: its byte ranges, its label, its figures."""
    optional = (("label", "text"), ("cycles", "int"), ("unit_flag", "int"))
    kinds = [
        ("reads", "list"),
        ("writes", "list"),
        *((name, kind) for name, kind in optional if args.get(name) is not None),
    ]
    for name, kind in kinds:
        if name in args and (_wrong(args[name], kind) or _is_no_mode(name, args[name])):
            yield _expected(name, args[name], kind)
    for name in ("reads", "writes"):
        ranges = args.get(name, ())
        for at, each in enumerate(ranges if isinstance(ranges, list | tuple) else ()):
            problem = _wrong_range(each)
            if problem:
                yield f"{name}[{at}] {problem}"


def _wrong_range(each: Any) -> str:
    """Return what is wrong with a byte range; nothing if it is one."""
    if not isinstance(each, dict) or not {"buf", "lo", "hi"} <= each.keys():
        return f"is no byte range of buf, lo and hi but {_short(each)}"
    if not isinstance(each["buf"], str):
        return f"names no buffer but {_short(each['buf'])}"
    if type(each["lo"]) is not int or type(each["hi"]) is not int:
        return f"is of no whole numbers: lo is {_short(each['lo'])}, hi is {_short(each['hi'])}"
    return "" if each["lo"] < each["hi"] else f"holds no byte: lo is {each['lo']}, hi is {each['hi']}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
