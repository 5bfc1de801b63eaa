"""The tokens of a one-line text such as ``gemm:m=32,n=32,k=64,bias``, each with its place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from pantile.errors import PantileError, Place, WorkloadError, raise_all, suggestion
from pantile.workload.sizes import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

T = TypeVar("T")
Otherwise = TypeVar("Otherwise")

_LONGEST_LABEL = 120


@dataclass(frozen=True, slots=True)
class Token:
    """One ``key=value``, or one ``key`` alone.

    Attributes:
        key: What stands before the equals sign.
        value: What stands after it; ``None`` where there is none.
        place: Where the token begins in its text.
    """

    key: str
    value: str | None
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """What a text of one scheme may hold.

    Attributes:
        name: What stands before the colon.
        keys: Every key, with an example of its use.
        flags: Keys that take no value.
        optional_values: Keys that may have a value or not.
        elsewhere: Keys that another scheme has, with the mend that says so.
    """

    name: str
    keys: Mapping[str, str]
    flags: frozenset[str] = frozenset()
    optional_values: frozenset[str] = frozenset()
    elsewhere: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Fields:
    """The tokens of *text* by key, the first where one is repeated, and every problem met so far."""

    text: str
    scheme: Scheme
    tokens: dict[str, Token] = field(default_factory=dict)
    problems: list[PantileError] = field(default_factory=list)

    def __post_init__(self) -> None:
        start = self.text.index(":") + 1
        body = self.text[start:]
        for piece in body.split(",") if body.strip() else ():
            blanks = len(piece) - len(piece.lstrip())
            self._add(piece.strip(), Place(label(self.text), column=start + blanks + 1))
            start += len(piece) + 1

    def _add(self, piece: str, place: Place) -> None:
        key, equals, value = (part.strip() for part in piece.partition("="))
        token = Token(key, value if equals else None, place)
        wrong = self._wrong(token, piece)
        if wrong:
            self.problems.append(wrong)
        # A key with a wrong value is kept, so that it does not count as missing as well.
        if key in self.scheme.keys:
            self.tokens.setdefault(key, token)

    def _wrong(self, token: Token, piece: str) -> WorkloadError | None:
        key, value, place, scheme = token.key, token.value, token.place, self.scheme
        if not key:
            return WorkloadError(f"expected KEY=VALUE, got {quoted(piece)}", place=place)
        if key not in scheme.keys:
            problem = f"unknown key {quoted(key)} in {scheme.name}:"
            mend = scheme.elsewhere.get(key) or suggestion(key.lower(), scheme.keys)
            return WorkloadError(problem, place=place, mend=mend)
        if key in self.tokens:
            return WorkloadError(f"{key} is given twice", place=place)
        if key in scheme.flags and value is not None:
            problem = f"{key} takes no value, got {quoted(value)}"
            return WorkloadError(problem, place=place, mend=f"write {key}, or leave it out")
        value_may_lack = key in scheme.flags or (key in scheme.optional_values and value is None)
        if not value and not value_may_lack:
            return WorkloadError(f"{key} needs a value", place=place, mend=f"write {scheme.keys[key]}")
        return None

    def __contains__(self, key: str) -> bool:
        return key in self.tokens

    def read(self, key: str, reader: Callable[[str], T], otherwise: Otherwise) -> T | Otherwise:
        """Return what *reader* makes of the value of *key*; *otherwise* where it has none or a wrong one."""
        token = self.tokens.get(key)
        if token is None or not token.value:
            return otherwise
        try:
            return reader(token.value)
        except WorkloadError as error:
            self.note(key, error.problem, error.mend)
            return otherwise

    def note(self, key: str, problem: str, mend: str | None = None) -> None:
        """Keep a problem of the token of *key*."""
        self.problems.append(WorkloadError(problem, place=self.tokens[key].place, mend=mend))

    def require(self, *keys: str, mend: str | None = None) -> None:
        """Keep one problem that names all *keys* which are missing, if any."""
        missing = [key for key in keys if key not in self.tokens]
        if missing:
            examples = ",".join(self.scheme.keys[key] for key in missing)
            problem = f"{self.scheme.name}: lacks {', '.join(missing)}"
            place = Place(label(self.text), column=1)
            self.problems.append(WorkloadError(problem, place=place, mend=mend or f"add {examples}"))

    def raise_problems(self) -> None:
        """Raise every problem, in the order of the text."""
        raise_all(sorted(self.problems, key=lambda problem: problem.place.column if problem.place else 0))


def label(text: str) -> str:
    """Return *text* on one line, cut where it is long, to stand as the path of a place."""
    line = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
    return line if len(line) <= _LONGEST_LABEL else f"{line[:_LONGEST_LABEL]}…"
