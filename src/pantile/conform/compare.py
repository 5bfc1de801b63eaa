"""Comparison of a recorded JSON value with what was computed: exact, or with a tolerance for floats."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

_INDEX = re.compile(r"\[\d+\]")


class _Known:
    """The type of :data:`KNOWN`."""

    def __repr__(self) -> str:
        return "KNOWN"


KNOWN: Final = _Known()
"""Stands in a computed value for what a file may hold there without being a figure: an input, a remark."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A computed value that a file must hold whole: a name that only one of the two has is a difference.

    Attributes:
        value: The value; everything below it counts likewise.
    """

    value: Any


@dataclass(frozen=True, slots=True)
class Difference:
    """The first figure that differs.

    Attributes:
        field: Where it stands in the case, e.g. ``"result.cores[1].total_cycle"``.
        expected: What the file says.
        got: What was computed, or why nothing could be.
        why: A remark where the two values do not speak for themselves.
    """

    field: str
    expected: Any
    got: Any
    why: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What came of comparing one case.

    Attributes:
        compared: Figures that were compared; a list without entries is one.
        difference: The first one that differs, in file order.
        unchecked: Fields of the file that were not computed; positions in lists are left out, so that
            a field of many rows is named once.
    """

    compared: int
    difference: Difference | None = None
    unchecked: tuple[str, ...] = ()


def compare(expected: Any, computed: Any, field: str = "", *, relative: float = 0.0) -> Comparison:
    """Return how *expected*, a value of a case file, differs from *computed*.

    Every figure of the file is looked at; what was computed beyond it only within a :class:`Whole`. Numbers
    are compared by value, exactly unless *relative* allows a recorded float to differ by such a part of
    itself; true and false are no numbers.

    >>> compare({"a": [1, 2], "b": 3}, {"a": [1, 5], "c": 7}).difference
    Difference(field='a[1]', expected=2, got=5, why='')
    >>> compare({"a": [1, 2], "b": 3}, {"a": [1, 5], "c": 7}).unchecked
    ('b',)
    """
    walk = _Walk(relative)
    walk.visit(expected, computed, field)
    return Comparison(walk.compared, walk.difference, tuple(walk.unchecked))


def same(expected: object, computed: object) -> bool:
    """Whether two scalars of JSON are equal; 1 equals 1.0, but not true."""
    if isinstance(expected, bool) is not isinstance(computed, bool):
        return False
    return expected == computed


@dataclass(slots=True)
class _Walk:
    """A comparison under way."""

    relative: float = 0.0
    compared: int = 0
    difference: Difference | None = None
    unchecked: dict[str, None] = field(default_factory=dict)

    def visit(self, expected: Any, computed: Any, at: str, *, whole: bool = False) -> None:
        if computed is KNOWN:
            return
        if isinstance(computed, Whole):
            computed, whole = computed.value, True
        if isinstance(expected, dict) and isinstance(computed, dict):
            self._visit_object(expected, computed, at, whole)
        elif isinstance(expected, list) and isinstance(computed, list):
            self._visit_list(expected, computed, at, whole)
        else:
            self.compared += 1
            if isinstance(expected, dict | list) or not (
                same(expected, computed) or self._near(expected, computed)
            ):
                self._differs(at, expected, _shape(computed))

    def _visit_object(self, expected: dict[str, Any], computed: dict[str, Any], at: str, whole: bool) -> None:
        for key, value in expected.items():
            below = f"{at}.{key}" if at else str(key)
            if key in computed:
                self.visit(value, computed[key], below, whole=whole)
            elif whole:
                self.compared += 1
                self._differs(below, value, None, "nothing of this name was computed")
            else:
                self.unchecked[_INDEX.sub("[]", below)] = None
        for key in sorted(computed.keys() - expected.keys()) if whole else ():
            self.compared += 1
            below = f"{at}.{key}" if at else str(key)
            self._differs(below, None, _shape(computed[key]), "the file has nothing of this name")

    def _near(self, expected: Any, computed: Any) -> bool:
        """Whether two floats differ by no more than is allowed."""
        if (
            not isinstance(expected, float)
            or isinstance(computed, bool)
            or not isinstance(computed, int | float)
        ):
            return False
        return abs(expected - computed) <= self.relative * abs(expected)

    def _visit_list(self, expected: list[Any], computed: list[Any], at: str, whole: bool) -> None:
        self.compared += not expected  # of others, the entries count
        if len(expected) != len(computed):
            self._differs(at, f"{len(expected)} entries", f"{len(computed)} entries")
        for index, (value, mine) in enumerate(zip(expected, computed, strict=False)):
            self.visit(value, mine, f"{at}[{index}]", whole=whole)

    def _differs(self, at: str, expected: Any, computed: Any, why: str = "") -> None:
        if self.difference is None:
            self.difference = Difference(at, expected, computed, why)


def _shape(computed: Any) -> Any:
    """Return a computed value to tell of; of an object or a list only what it is, for it may be anything."""
    if isinstance(computed, dict):
        return "an object"
    return f"a list of {len(computed)}" if isinstance(computed, list) else computed
