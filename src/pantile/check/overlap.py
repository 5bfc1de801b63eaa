"""Where strided sets of bytes meet, decided exactly.

A set is *rows* ranges of *length* bytes, *pitch* apart, from *lo*.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

SPAN = np.dtype([("space", "i8"), ("lo", "i8"), ("length", "i8"), ("rows", "i8"), ("pitch", "i8")])
"""A set of bytes of one memory."""


def normal(access: np.ndarray) -> np.ndarray:
    """Return the sets of an access table as rows of :data:`SPAN`, one range where rows touch or overlap."""
    spans = np.zeros(len(access), SPAN)
    for name in ("space", "lo", "length", "rows", "pitch"):
        spans[name] = access[name]
    empty = (spans["length"] <= 0) | (spans["rows"] <= 0)
    spans["length"][empty], spans["rows"][empty] = 0, 1
    joined = (spans["rows"] > 1) & (spans["pitch"] <= spans["length"])
    spans["length"] += np.where(joined, (spans["rows"] - 1) * spans["pitch"], 0)
    spans["rows"][joined] = 1
    spans["pitch"][spans["rows"] == 1] = 0
    return spans


def stop(spans: np.ndarray) -> np.ndarray:
    """Return the end of every set: one more than its last byte."""
    return np.asarray(spans["lo"] + (spans["rows"] - 1) * spans["pitch"] + spans["length"])


def overlaps(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return whether sets of one memory share a byte, pair by pair.

    Sets of one pitch are decided by their distance; of others, the rows of one are tried in turn.
    """
    met = (first["lo"] < stop(second)) & (second["lo"] < stop(first))
    met &= (first["length"] > 0) & (second["length"] > 0)
    plain = (first["rows"] == 1) & (second["rows"] == 1)
    alike = (first["pitch"] == second["pitch"]) | (first["rows"] == 1) | (second["rows"] == 1)
    decide = np.flatnonzero(met & alike & ~plain)
    met[decide] = _one_pitch(first[decide], second[decide])
    for at in np.flatnonzero(met & ~alike):
        met[at] = next(_rows_that_meet(first[at], second[at]), None) is not None
    return met


def _one_pitch(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Whether some row of *first* meets some row of *second*: their numbers differ by *t*, for some t."""
    pitch = np.maximum(first["pitch"], second["pitch"])
    distance = second["lo"] - first["lo"]
    least = -((first["length"] - 1 - distance) // pitch)  # smallest t with t * pitch > distance - length
    most = (distance + second["length"] - 1) // pitch
    least, most = np.maximum(least, 1 - second["rows"]), np.minimum(most, first["rows"] - 1)
    return np.asarray(least <= most)


def _rows_that_meet(first: np.void, second: np.void) -> Iterator[tuple[int, int]]:
    """Yield the common range of every pair of rows that meet, in ascending order of *first*'s rows."""
    length, pitch = int(second["length"]), max(int(second["pitch"]), 1)
    for row in range(int(first["rows"])):
        lo = int(first["lo"]) + row * int(first["pitch"])
        hi = lo + int(first["length"])
        begin = max(-((length - 1 - (lo - int(second["lo"]))) // pitch), 0)
        end = min((hi - 1 - int(second["lo"])) // pitch, int(second["rows"]) - 1)
        for other in range(begin, end + 1):
            start = int(second["lo"]) + other * int(second["pitch"])
            yield max(lo, start), min(hi, start + length)


def common_range(first: np.void, second: np.void) -> tuple[int, int]:
    """Return the first range of bytes that two overlapping sets share; half-open.

    >>> span = np.array([(0, 0, 4, 3, 10), (0, 12, 10, 1, 0)], SPAN)
    >>> common_range(*span)
    (12, 14)
    """
    return next(_rows_that_meet(first, second))
