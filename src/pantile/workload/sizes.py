"""Sizes as people write them in texts, cells and options."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pantile.errors import WorkloadError

if TYPE_CHECKING:
    from pantile.errors import Place

LARGEST_SIZE = 2**31 - 1
"""Largest element count of one dimension that a text, a cell or an option may give."""

_INTEGER = re.compile(r"-?[0-9]+")
_LONGEST_QUOTE = 40


def parse_size(text: str, name: str, *, least: int = 1, place: Place | None = None) -> int:
    """Return the element count that *text* spells in decimal digits.

    Args:
        text: What the user wrote.
        name: What it is the size of, for messages.
        least: Smallest count that makes sense there.
        place: Where it was written.

    Raises:
        WorkloadError: If *text* is no integer, or lies outside *least* to :data:`LARGEST_SIZE`.
    """
    if not _INTEGER.fullmatch(text):
        raise WorkloadError(
            f"{name} must be an integer, got {quoted(text)}",
            place=place,
            mend=f"write a whole number from {least} to {LARGEST_SIZE}",
        )
    digits = text.lstrip("-").lstrip("0") or "0"
    # Python refuses to convert thousands of digits; those are too many anyway.
    magnitude = int(digits) if len(digits) <= len(str(LARGEST_SIZE)) else LARGEST_SIZE + 1
    size = -magnitude if text.startswith("-") else magnitude
    if size < least:
        raise WorkloadError(f"{name} must be at least {least}, got {_cut(text)}", place=place)
    if size > LARGEST_SIZE:
        raise WorkloadError(
            f"{name} must be at most {LARGEST_SIZE} (2^31 - 1), got {_cut(text)}", place=place
        )
    return size


def quoted(text: str) -> str:
    r"""Return *text* in quotes, on one line, cut where it is long.

    >>> quoted("two\nlines")
    "'two\\nlines'"
    """
    return repr(_cut(text))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}…"
