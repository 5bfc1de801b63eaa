"""Atoms: bytes of memories that each of some sets holds all of, or none.

What is true of one byte of an atom is true of all, whoever reads or writes those sets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pantile.check.overlap import stop

MOST_RANGES, MOST_PARTS = 1 << 21, 1 << 23
"""Ranges of all sets, and parts that they are cut into, at most."""


class Atoms(NamedTuple):
    """The atoms of sets of bytes.

    Attributes:
        first: By set, and one more: where its atoms begin in *atom*.
        atom: Atoms, set by set.
        count: How many there are.
        size: By atom: its bytes.
    """

    first: np.ndarray
    atom: np.ndarray
    count: int
    size: np.ndarray


def atoms_of(spans: np.ndarray) -> Atoms | None:
    """Return the atoms of *spans*, rows of :data:`~pantile.check.overlap.SPAN`; ``None`` if too many.

    Every set draws a number; the bytes of an atom lie in the same sets, so their numbers sum up to
    the same. That two atoms have one sum by chance is as likely as drawing one of 2⁶⁴ numbers.

    >>> from pantile.check.overlap import SPAN
    >>> made = atoms_of(np.array([(0, 0, 8, 1, 0), (0, 0, 2, 2, 4), (0, 2, 2, 2, 4)], SPAN))
    >>> made.count, np.diff(made.first).tolist(), made.size.tolist()
    (2, [2, 1, 1], [4, 4])
    """
    rows = spans["rows"]
    if int(rows.sum()) > MOST_RANGES:
        return None
    owner = np.repeat(np.arange(len(spans)), rows)
    row = np.arange(len(owner)) - np.repeat(np.cumsum(rows) - rows, rows)
    far = int(stop(spans).max(initial=0)) + 1
    begin = spans["space"][owner] * far + spans["lo"][owner] + row * spans["pitch"][owner]
    end = begin + spans["length"][owner]
    cuts, place = np.unique(np.concatenate([begin, end]), return_inverse=True)
    begin, end = place[: len(owner)], place[len(owner) :]
    parts = end - begin
    if int(parts.sum()) > MOST_PARTS:
        return None
    drawn = np.random.default_rng(0).integers(1 << 63, size=len(spans), dtype=np.uint64)[owner]
    sums = np.zeros(len(cuts) + 1, np.uint64)
    np.add.at(sums, begin, drawn)
    np.subtract.at(sums, end, drawn)
    _, atom = np.unique(np.cumsum(sums)[: len(cuts)], return_inverse=True)
    held = np.repeat(begin, parts) + np.arange(int(parts.sum())) - np.repeat(np.cumsum(parts) - parts, parts)
    used, atom_of = np.unique(atom[held], return_inverse=True)
    whole = np.unique(np.repeat(owner, parts) * max(len(used), 1) + atom_of)
    size = np.bincount(atom[:-1], np.diff(cuts), len(atom) + 1).astype(np.int64)[used]
    first = np.searchsorted(whole, np.arange(len(spans) + 1) * max(len(used), 1))
    return Atoms(first, whole % max(len(used), 1), len(used), size)
