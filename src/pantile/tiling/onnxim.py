"""ONNXim's mapping notation: ``[T] N32 C64 M32 - [O] N2 C2 M2 - [I] N16 C32 M16``.

Letters are ONNXim's: N rows (or pictures), C reduction (or input channels), M output columns (or output
channels), and for convolutions S and R kernel rows and columns, Q and P output rows and columns. ``[T]``
counts elements of the whole, ``[O]`` tiles along each loop, ``[I]`` nominal elements of one tile.

Counts that a section leaves out are 1. A letter repeated in ``[T]`` or ``[O]`` overwrites, in ``[I]`` it
multiplies; sections after the third multiply into ``[I]``. ``X`` after a count of M and ``Y`` after one of
C, S, R, Q or P mark spatial loops, which no supported array reads.

Source: onnxim-model.md section 3, quirks Q16 and Q20.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Literal

from pantile.errors import ManyProblems, MappingError, PantileError, Place, raise_all

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Semantics = Literal["fixed", "faithful"]
"""``faithful`` reads and plans as ONNXim does; ``fixed`` differs only where that fails or is wrong."""

LETTERS = "NCMSRQP"
SECTIONS = "TOI"
COUNT_LIMIT = 2**31 - 1
"""Largest count that ONNXim's signed 32-bit reading accepts."""


@dataclass(frozen=True, slots=True)
class LoopCounts:
    """One count per loop, in ONNXim's letters; loops that a product does not have count 1."""

    N: int
    C: int
    M: int
    S: int = 1
    R: int = 1
    Q: int = 1
    P: int = 1

    def __getitem__(self, letter: str) -> int:
        if letter not in LETTERS:
            raise KeyError(letter)
        count: int = getattr(self, letter)
        return count

    def items(self) -> Iterator[tuple[str, int]]:
        """Return every letter with its count, in the order N C M S R Q P."""
        return ((letter, self[letter]) for letter in LETTERS)

    def to_json(self) -> dict[str, int]:
        """Return all seven counts by letter."""
        return dict(self.items())

    @property
    def volume(self) -> int:
        """Product of all counts; of a whole convolution or product, its MACs."""
        return prod(count for _, count in self.items())

    def __str__(self) -> str:
        """Print N, C and M always, the convolution's letters where they are not 1."""
        return " ".join(f"{letter}{count}" for letter, count in self.items() if letter in "NCM" or count != 1)


@dataclass(frozen=True, slots=True)
class Mapping:
    """How often each loop is cut, and into what.

    Two mappings are equal if their counts are, wherever they were read.

    Attributes:
        total: Elements of the whole.
        outer: Tiles along each loop.
        inner: Nominal elements of one tile along each loop.
        place: Where the line stands that it was read from, if it was read.
        text: That line.
        columns: Column of the last token of each section and letter, e.g. ``(("O", "N"), 18)``.
        remarks: What a reader of the line may have missed, one sentence each.
    """

    total: LoopCounts
    outer: LoopCounts
    inner: LoopCounts
    place: Place | None = field(default=None, compare=False)
    text: str = field(default="", compare=False, repr=False)
    columns: tuple[tuple[tuple[str, str], int], ...] = field(default=(), compare=False, repr=False)
    remarks: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def at(self, section: str, letter: str) -> Place | None:
        """Return where a section's count of *letter* stands, or the line where it is left out."""
        if self.place is None:
            return None
        return Place(self.place.path, self.place.line, dict(self.columns).get((section, letter), 0))

    def __str__(self) -> str:
        return format_mapping(self)


def format_mapping(mapping: Mapping) -> str:
    """Return the notation's text, which :func:`parse_mapping` reads back to an equal mapping.

    >>> one = LoopCounts(N=16, C=32, M=16)
    >>> format_mapping(Mapping(LoopCounts(32, 64, 32), LoopCounts(2, 2, 2), one))
    '[T] N32 C64 M32 - [O] N2 C2 M2 - [I] N16 C32 M16'
    """
    return f"[T] {mapping.total} - [O] {mapping.outer} - [I] {mapping.inner}"


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of a line: its section, its column (from 1), its text."""

    section: str
    column: int
    text: str


def parse_mapping(text: str, place: Place | None = None, *, semantics: Semantics = "fixed") -> Mapping:
    """Return the mapping of one line.

    ``faithful`` splits as ONNXim does (section labels are not looked at, a second space in a row is an
    error, a blank line is the mapping of ones); ``fixed`` wants the labels and forgives spaces.

    Args:
        text: The line, without its end.
        place: Where it starts; by default the command line's ``--mapping``.
        semantics: How to read it.

    Raises:
        MappingError: If a token cannot be read; several together as ``ManyProblems``.
    """
    place = place or Place("--mapping", 1)
    problems: list[PantileError] = []
    words = _faithful_words(text) if semantics == "faithful" else _fixed_words(text, place, problems)
    counts: dict[str, dict[str, int]] = {section: {} for section in SECTIONS}
    columns: dict[tuple[str, str], int] = {}
    remarks: list[str] = []
    for word in words:
        at = Place(place.path, place.line, word.column)
        try:
            letter, count = _read_count(word, at, semantics)
        except MappingError as problem:
            problems.append(problem)
            continue
        before = counts[word.section].get(letter)
        if before is not None and word.section == "I":
            count *= before
            if semantics == "faithful":
                count %= 2**32  # unsigned in the original
            elif count > COUNT_LIMIT:
                problems.append(_out_of_range(f"{letter}{count} (its counts multiplied)", letter, at, 1))
        elif before is not None:
            remarks.append(f"{at}: {letter} is given twice, {count} replaces {before}")
        counts[word.section][letter] = count
        columns[word.section, letter] = word.column
    raise_all(problems)
    total, outer, inner = (_loop_counts(counts[section]) for section in SECTIONS)
    return Mapping(total, outer, inner, place, text, tuple(columns.items()), tuple(remarks))


def read_mapping_file(text: str, path: str, semantics: Semantics = "fixed") -> tuple[Mapping, ...]:
    """Return the mappings of a file's *text*, one per line.

    Raises:
        MappingError: If a line cannot be read; all problems of the file together.
    """
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()  # the end of the last line, or an empty file
    mappings: list[Mapping] = []
    problems: list[PantileError] = []
    for number, line in enumerate(lines, start=1):
        try:
            mappings.append(parse_mapping(line, Place(path, number), semantics=semantics))
        except ManyProblems as many:
            problems.extend(many.problems)
        except MappingError as problem:
            problems.append(problem)
    raise_all(problems)
    return tuple(mappings)


def _loop_counts(counts: dict[str, int]) -> LoopCounts:
    return LoopCounts(**{letter: counts.get(letter, 1) for letter in LETTERS})


def _section(index: int) -> str:
    return SECTIONS[min(index, 2)]


def _faithful_words(text: str) -> list[_Word]:
    """Split as ONNXim does: at every dash, then at every single space; drop the label's words."""
    words = []
    column = 1
    for index, piece in enumerate(_getline_split(text, "-")):
        label_words = 1 if index == 0 else 2  # what stands before the dash's space is empty, then the label
        start = column
        for place, word in enumerate(_getline_split(piece, " ")):
            if place >= label_words:
                words.append(_Word(_section(index), start, word))
            start += len(word) + 1
        column += len(piece) + 1
    return words


def _getline_split(text: str, separator: str) -> Sequence[str]:
    """Split like C++'s getline: nothing follows a separator at the very end."""
    parts = text.split(separator)
    return parts[:-1] if parts[-1] == "" else parts


_DASH = re.compile(r"-(?![0-9])")  # a dash before a digit is a sign, told apart for the message


def _fixed_words(text: str, place: Place, problems: list[PantileError]) -> list[_Word]:
    """Split at dashes and any white space, and check the labels."""
    if not text.strip():
        blank = "a blank line, which ONNXim reads as the mapping of a 1x1x1 product (Q16)"
        problems.append(MappingError(blank, place=place, mend="remove the line"))
        return []
    words: list[_Word] = []
    start = 0
    ends = [*(match.start() for match in _DASH.finditer(text)), len(text)]
    for index, end in enumerate(ends):
        section = _section(index)
        found = [
            _Word(section, start + match.start() + 1, match.group())
            for match in re.finditer(r"\S+", text[start:end])
        ]
        label = found[0].text if found else ""
        if label != f"[{section}]":
            problems.append(
                MappingError(
                    f"expected the label [{section}], got {label!r}",
                    place=Place(place.path, place.line, found[0].column if found else end + 1),
                    mend="write [T] counts - [O] counts - [I] counts",
                )
            )
        words.extend(found if _FIXED_COUNT.fullmatch(label) else found[1:])
        start = end + 1
    return words


_FIXED_COUNT = re.compile(r"([NCMSRQP])([+-]?[0-9]+)([XY]?)")
_FAITHFUL_COUNT = re.compile(r"([NCMSRQP])\s*(\+?[0-9]+)()")  # what follows the digits is not looked at


def _read_count(word: _Word, at: Place, semantics: Semantics) -> tuple[str, int]:
    """Return letter and count of one token.

    Raises:
        MappingError: If it is no letter with a count in range.
    """
    if semantics == "faithful":
        if not word.text:
            raise MappingError(
                "two spaces in a row, on which ONNXim stops (Q20)",
                place=at,
                mend="leave one space, or use --semantics fixed",
            )
        match = _FAITHFUL_COUNT.match(word.text)
    else:
        match = _FIXED_COUNT.fullmatch(word.text)
    if match is None:
        raise MappingError(
            f"expected a letter of N C M S R Q P and a count, got {word.text!r}",
            place=at,
            mend="write for example N16",
        )
    letter, digits, spatial = match.groups()
    if spatial and not (word.section == "I" and letter in ("M" if spatial == "X" else "CSRQP")):
        raise MappingError(
            f"{spatial!r} does not belong to {letter} in section [{word.section}], got {word.text!r}",
            place=at,
            mend="X may follow a count of M, Y one of C, S, R, Q or P, in [I] alone",
        )
    count = int(digits) if len(digits) <= 4000 else COUNT_LIMIT + 1  # longer ones int() itself refuses
    lowest = 0 if semantics == "faithful" else 1
    if not lowest <= count <= COUNT_LIMIT:
        raise _out_of_range(repr(word.text), letter, at, lowest)
    return letter, count


def _out_of_range(got: str, letter: str, at: Place, lowest: int) -> MappingError:
    return MappingError(
        f"expected a count between {lowest} and {COUNT_LIMIT}, got {got}",
        place=at,
        mend=f"give {letter} a count in that range",
    )
