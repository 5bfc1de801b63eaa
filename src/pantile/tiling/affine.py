"""Affine expressions in named integers, and the texts they are written as.

    2*row + col - 3                an expression
    0 <= t - o < 8, i <= 4         relations; a comma or ``and`` joins them
    tau = row + col + it           an equation

Coefficients and constants are whole numbers of any size. Names may be dotted (``T.it``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.errors import MappingError, Place

if TYPE_CHECKING:
    from collections.abc import Mapping

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+)(?![A-Za-z_])|(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)"
    r"|(?P<sign><=|>=|==|[-+*()<>=,]))"
)
_RELATIONS = ("<=", ">=", "==", "<", ">")
_LONGEST, _DEEPEST = 1000, 50
"""Most characters of a text, and most brackets or signs around one number of it."""


@dataclass(frozen=True, slots=True)
class Affine:
    """A sum of names with whole coefficients, and a constant.

    Attributes:
        coefficients: Names with their coefficients, in order of appearance, none 0.
        constant: The summand without a name.
    """

    coefficients: tuple[tuple[str, int], ...] = ()
    constant: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Names that the value depends on."""
        return tuple(name for name, _ in self.coefficients)

    def coefficient(self, name: str) -> int:
        """Return the coefficient of a name, 0 where it does not occur."""
        return dict(self.coefficients).get(name, 0)

    def plus(self, other: Affine, times: int = 1) -> Affine:
        """Return the sum of this expression and *times* the other."""
        total = dict(self.coefficients)
        for name, coefficient in other.coefficients:
            total[name] = total.get(name, 0) + times * coefficient
        kept = tuple((name, coefficient) for name, coefficient in total.items() if coefficient)
        return Affine(kept, self.constant + times * other.constant)

    def at(self, values: Mapping[str, int]) -> int:
        """Return the value where every name has one."""
        return self.constant + sum(factor * values[name] for name, factor in self.coefficients)

    def renamed(self, names: Mapping[str, str]) -> Affine:
        """Return the expression in other names; names that become one are added up."""
        total = Affine((), self.constant)
        for name, coefficient in self.coefficients:
            total = total.plus(Affine(((names.get(name, name), coefficient),)))
        return total

    def __str__(self) -> str:
        """Print as it is written by hand.

        >>> print(Affine((("row", 1), ("it", -2)), 3))
        row - 2*it + 3
        """
        parts = [
            (factor, name if abs(factor) == 1 else f"{abs(factor)}*{name}")
            for name, factor in self.coefficients
        ]
        if self.constant or not parts:
            parts.append((self.constant, str(abs(self.constant))))
        text = "".join(f" {'-' if factor < 0 else '+'} {term}" for factor, term in parts)
        return text[3:] if text.startswith(" + ") else "-" + text[3:]


def parse_relations(text: str) -> tuple[Affine, ...]:
    """Return expressions that are all at least 0 exactly where the relations of *text* hold.

    >>> [str(each) for each in parse_relations("0 <= t - o < 8")]
    ['t - o', '-t + o + 7']

    Raises:
        MappingError: If the text is no list of affine relations; names the column.
    """
    reader = _Reader(text)
    found: list[Affine] = []
    while True:
        left = reader.sum()
        if reader.sign not in _RELATIONS:
            raise reader.error(f"expected one of {' '.join(_RELATIONS)}")
        while reader.sign in _RELATIONS:
            relation = reader.take()
            right = reader.sum()
            found += _at_least_zero(left, relation, right)
            left = right
        if reader.sign != "," and reader.word != "and":
            break
        reader.take()
    reader.end()
    return tuple(found)


def parse_equation(text: str) -> tuple[str, Affine]:
    """Return the name and the expression of ``name = expression``.

    >>> name, value = parse_equation("tau = row + col + it")
    >>> print(name, "is", value)
    tau is row + col + it

    Raises:
        MappingError: If the text is no such equation; names the column.
    """
    reader = _Reader(text)
    if reader.word == "":
        raise reader.error("expected a name, as in 'tau = row + col + it'")
    name = reader.take()
    if reader.sign not in ("=", "=="):
        raise reader.error("expected '='")
    reader.take()
    value = reader.sum()
    reader.end()
    if name in value.names:
        raise MappingError(f"{name!r} stands on both sides of {text!r}")
    return name, value


def _at_least_zero(left: Affine, relation: str, right: Affine) -> list[Affine]:
    """Return what must be at least 0 for one relation between integers to hold."""
    up, down = right.plus(left, -1), left.plus(right, -1)
    strict = Affine((), -1)
    return {
        "<=": [up],
        ">=": [down],
        "<": [up.plus(strict)],
        ">": [down.plus(strict)],
        "==": [down, up],
    }[relation]


class _Reader:
    """Reads a text token by token; of *word*, *sign* and *number* the next one is not empty."""

    def __init__(self, text: str) -> None:
        self.text, self.column, self.depth = text, 0, 0
        if len(text) > _LONGEST:
            raise MappingError(f"expected at most {_LONGEST} characters of arithmetic, got {len(text)}")
        self.take()

    def take(self) -> str:
        """Move to the next token, and return the one that was next so far."""
        taken = getattr(self, "token", "")
        rest = self.text[self.column :]
        match = _TOKEN.match(rest)
        if match is None and rest.strip():
            self.start = self.column + len(rest) - len(rest.lstrip())
            self.token = rest.strip()[0]
            raise self.error("expected a name, a whole number or one of + - * ( )")
        self.word = (match["name"] or "") if match else ""
        self.sign = (match["sign"] or "") if match else ""
        self.number = (match["number"] or "") if match else ""
        self.token = self.word or self.sign or self.number
        self.column += match.end() if match else len(rest)
        self.start = self.column - len(self.token)
        return taken

    def error(self, expected: str) -> MappingError:
        """Return the error for the next token."""
        got = repr(self.token) if self.token else "the end"
        return MappingError(f"{expected}, got {got}", place=Place(self.text, column=self.start + 1))

    def end(self) -> None:
        """Raise unless everything was read."""
        if self.token:
            raise self.error("expected the end or an operator")

    def sum(self) -> Affine:
        """Read a sum of products."""
        total = self.product()
        while self.sign in ("+", "-"):
            times = 1 if self.take() == "+" else -1
            total = total.plus(self.product(), times)
        return total

    def product(self) -> Affine:
        """Read a product, of which at most one factor may have names."""
        result = self.factor()
        while self.sign == "*":
            self.take()
            start, token = self.start, self.token
            other = self.factor()
            if result.names and other.names:
                self.start, self.token = start, token
                raise self.error(f"expected a whole number beside {result}, which is not affine otherwise")
            scaled, times = (result, other.constant) if result.names else (other, result.constant)
            result = Affine().plus(scaled, times)
        return result

    def factor(self) -> Affine:
        """Read a number, a name, a parenthesis, or one of these with a sign before it."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.error(f"expected at most {_DEEPEST} brackets and signs in one another")
        try:
            return self.inside()
        finally:
            self.depth -= 1

    def inside(self) -> Affine:
        """Read a factor; :meth:`factor` counts how deep it stands."""
        if self.sign in ("+", "-"):
            times = 1 if self.take() == "+" else -1
            return Affine().plus(self.factor(), times)
        if self.sign == "(":
            self.take()
            inside = self.sum()
            if self.sign != ")":
                raise self.error("expected ')'")
            self.take()
            return inside
        if self.number:
            return Affine((), int(self.take()))
        if self.word and self.word != "and":
            return Affine(((self.take(), 1),))
        raise self.error("expected a name or a whole number")
