"""Lines and columns of the keys of a TOML text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.machine.checks import Loc

_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_KEYS = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*"
_HEADER = re.compile(rf"[ \t]*(?P<open>\[\[?)[ \t]*(?P<keys>{_KEYS})[ \t]*\]")
_ENTRY = re.compile(rf"[ \t]*(?P<keys>{_KEYS})[ \t]*=")
_TOKEN = re.compile(r"""[\"]{3}|'{3}|"(?:[^"\\]|\\.)*"|'[^']*'|\#""")
"""What decides whether the end of a line is inside a text: delimiters, whole texts, comments."""


class Locator:
    """Finds where the tables and keys of a well-formed TOML text stand, by scanning it once.

    Keys inside inline tables stand where the key that holds the table does.
    """

    def __init__(self, text: str) -> None:
        self._found: dict[Loc, tuple[int, int]] = {}
        self._counts: dict[Loc, int] = {}
        table: Loc = ()
        quote = ""  # the delimiter of the multi-line text that the scan is inside of
        for number, line in enumerate(text.split("\n"), start=1):
            if not quote:
                if header := _HEADER.match(line):
                    table = self._enter(_split(header["keys"]), repeated=header["open"] == "[[")
                    self._note(table, (number, header.start("open") + 1))
                elif entry := _ENTRY.match(line):
                    self._note((*table, *_split(entry["keys"])), (number, entry.start("keys") + 1))
            quote = _quote_after(line, quote)

    def find(self, loc: Loc) -> tuple[int, int]:
        """Return line and column of *loc*, or of the nearest table around it; ``(0, 0)`` if none stands."""
        while loc and loc not in self._found:
            loc = loc[:-1]
        return self._found.get(loc, (0, 0))

    def lines(self, label: Callable[[Loc], str]) -> dict[str, int]:
        """Return the line of every key and table by its *label*."""
        return {label(loc): line for loc, (line, _) in self._found.items() if loc}

    def _note(self, loc: Loc, place: tuple[int, int]) -> None:
        for length in range(1, len(loc) + 1):
            self._found.setdefault(loc[:length], place)

    def _enter(self, keys: list[str], *, repeated: bool) -> Loc:
        """Return the table that a header opens; a repeated table gets the next position."""
        loc: Loc = ()
        for depth, key in enumerate(keys, start=1):
            loc = (*loc, key)
            if depth == len(keys) and repeated:
                self._counts[loc] = self._counts.get(loc, -1) + 1
            if loc in self._counts:
                loc = (*loc, self._counts[loc])
        return loc


def _split(keys: str) -> list[str]:
    return [part.strip("\"'") for part in re.findall(_PART, keys)]


def _quote_after(line: str, quote: str) -> str:
    """Return the multi-line delimiter still open after *line*, given the one open before it."""
    position = 0
    while True:
        if quote:
            end = line.find(quote, position)
            if end < 0:
                return quote
            position, quote = end + 3, ""
        token = _TOKEN.search(line, position)
        if token is None or token[0] == "#":
            return ""
        quote = token[0] if token[0] in ('"""', "'''") else ""
        position = token.end()
