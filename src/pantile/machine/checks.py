"""The error of one constant, and the checks that raise it."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from pantile.errors import MachineError, Place, suggestion
from pantile.machine.units import COUNT, LARGEST, Unit, parse_quantity, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

Loc: TypeAlias = "tuple[str | int, ...]"
"""Where something stands in a document: keys and list positions, e.g. ``("memory", 1, "slots")``."""

_T = TypeVar("_T")

NAME = re.compile(r"[A-Za-z0-9_-]+")
"""What a name may look like: a bare TOML key, so that dotted labels stay unambiguous."""


class ConstantError(MachineError):
    """One constant of one table that no machine can have.

    Attributes:
        table: Label of the table, e.g. ``"memory.scratchpad"``; empty for the top of a file.
        key: The key inside it.
        reason: What is wrong, without label and key.
    """

    def __init__(
        self, table: str, key: str, reason: str, *, place: Place | None = None, mend: str | None = None
    ) -> None:
        super().__init__(f"{table}.{key}: {reason}".removeprefix("."), place=place, mend=mend)
        self.table, self.key, self.reason = table, key, reason


def parse_name(value: object) -> str:
    """Return *value* if it is a name.

    Raises:
        MachineError: If it is not made of letters, digits, ``_`` and ``-``.
    """
    if not isinstance(value, str) or not NAME.fullmatch(value):
        raise MachineError(f"expected a name of letters, digits, _ and -, got {shown(value)}")
    return value


def parse_choice(value: object, allowed: Collection[str]) -> str:
    """Return *value* if it is one of *allowed*.

    Raises:
        MachineError: If it is none of them, with the likeliest one.
    """
    if isinstance(value, str) and value in allowed:
        return value
    expected = " or ".join(repr(word) for word in allowed)
    mend = suggestion(value, allowed) if isinstance(value, str) else ""
    near = mend if mend.startswith("did") else None  # else it is the list, which the sentence has already
    raise MachineError(f"expected {expected}, got {shown(value)}", mend=near)


def check_name(table: str, key: str, value: object) -> str:
    """Return *value* if it is a name; like the checks below it raises :class:`ConstantError` if not."""
    return _labelled(table, key, partial(parse_name, value))


def check_choice(table: str, key: str, value: object, allowed: Collection[str]) -> str:
    """Return *value* if it is one of *allowed*."""
    return _labelled(table, key, partial(parse_choice, value, allowed))


def check_quantity(
    table: str, key: str, value: object, unit: Unit = COUNT, minimum: int = 1, maximum: int = LARGEST
) -> int:
    """Return *value* in base units of *unit* if it is such a quantity and within the bounds."""
    return _labelled(table, key, partial(parse_quantity, value, unit, minimum, maximum))


def check_known(table: str, keys: Collection[str], allowed: Collection[str]) -> None:
    """Raise :class:`ConstantError` for the first of *keys* that is none of *allowed*."""
    for key in keys:
        if key not in allowed:
            raise unknown_key(table, key, allowed)


def unknown_key(table: str, key: str, allowed: Collection[str]) -> ConstantError:
    """Return the error for a key that nothing reads, with the likeliest spelling."""
    return ConstantError(table, key, "nothing reads this key", mend=suggestion(key, allowed))


def _labelled(table: str, key: str, parse: Callable[[], _T]) -> _T:
    try:
        return parse()
    except MachineError as error:
        raise ConstantError(table, key, error.problem, mend=error.mend) from None
