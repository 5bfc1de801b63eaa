"""Memories as bytes: what operations read and overwrite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.simulate.elements import Bytes

if TYPE_CHECKING:
    from pantile.simulate.bound import Rows

POISON = 0xFF
"""What a byte holds that nobody has written: not a number in every floating type, -1 in integers."""


class Storage:
    """Every memory instance that a program accesses.

    Attributes:
        bytes: Contents by space.
    """

    def __init__(self, access: Rows, spaces: int) -> None:
        """Make each of *spaces* memories as large as *access* needs, full of poison."""
        ends = np.zeros(spaces, np.int64)
        if len(access):
            reach = access["lo"] + (access["rows"] - 1) * access["pitch"] + access["length"]
            np.maximum.at(ends, access["space"], reach)
        self.bytes: list[Bytes] = [np.full(end, POISON, np.uint8) for end in ends.tolist()]

    def put(self, space: int, start: int, data: Bytes) -> None:
        """Write *data* from *start* on, enlarging the memory if need be."""
        missing = start + len(data) - len(self.bytes[space])
        if missing > 0:
            self.bytes[space] = np.append(self.bytes[space], np.full(missing, POISON, np.uint8))
        self.bytes[space][start : start + len(data)] = data

    def read(self, row: Rows) -> Bytes:
        """Return a copy of the bytes of one row of ``ACCESS``, row after row."""
        return self._view(row).reshape(-1)  # of a strided view, which copies

    def write(self, row: Rows, data: Bytes) -> None:
        """Overwrite the bytes of one row of ``ACCESS``."""
        self._view(row)[...] = data.reshape(int(row["rows"]), int(row["length"]))

    def _view(self, row: Rows) -> Bytes:
        rows, length, pitch = int(row["rows"]), int(row["length"]), int(row["pitch"])
        start = self.bytes[int(row["space"])][int(row["lo"]) :]
        return np.lib.stride_tricks.as_strided(start, (rows, length), (pitch, 1))
