"""Atoms: bytes of memories that each of some sets holds all of, or none.

What is true of one byte of an atom is true of all, whoever reads or writes those sets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

MOST_RANGES, MOST_PARTS = 1 << 21, 1 << 23
"""Ranges of all sets, and parts that they are cut into, at most."""


class Atoms(NamedTuple):
    """The atoms of sets of bytes.

    Attributes:
        first: By set, and one more: where its atoms begin in *atom*.
        atom: Atoms, set by set.
        number: How many there are.
    """

    first: np.ndarray
    atom: np.ndarray
    number: int


def atoms_of(spans: np.ndarray) -> Atoms | None:
    """Return the atoms of *spans*, rows of :data:`~pantile.check.overlap.SPAN`; ``None`` if too many.

    Every set draws a number; the bytes of an atom lie in the same sets, so their numbers sum up to
    the same. That two atoms have one sum by chance is as likely as drawing one of 2⁶⁴ numbers.

    >>> from pantile.check.overlap import SPAN
    >>> made = atoms_of(np.array([(0, 0, 8, 1, 0), (0, 0, 2, 2, 4), (0, 2, 2, 2, 4)], SPAN))
    >>> made.number, np.diff(made.first).tolist()
    (2, [2, 1, 1])
    """
    if int(spans["rows"].sum()) > MOST_RANGES:
        return None
    known: dict[bytes, Atoms] = {}
    counts, count = np.zeros(len(spans), np.int64), 0
    parts: list[tuple[np.ndarray, np.ndarray]] = []
    by_space = np.argsort(spans["space"], kind="stable")
    for mine in np.split(by_space, np.flatnonzero(np.diff(spans["space"][by_space])) + 1):
        here = spans[mine]
        here["space"] = 0
        ranges = here.tobytes()  # memories that are used alike are cut alike
        made = known[ranges] if ranges in known else _of_one_space(here)
        if made is None:
            return None
        known[ranges] = made
        counts[mine] = np.diff(made.first)
        parts.append((mine, made.atom + count))
        count += made.number
    first = np.concatenate([[0], np.cumsum(counts)])
    atom = np.empty(first[-1], np.int64)
    for mine, atoms in parts:
        many = counts[mine]
        shift = np.repeat(first[mine] - np.cumsum(many) + many, many)
        atom[shift + np.arange(len(atoms))] = atoms
    return Atoms(first, atom, count)


def _of_one_space(spans: np.ndarray) -> Atoms | None:
    """Return the atoms of the sets of one memory."""
    spans = _one_row_each(spans)
    rows = spans["rows"]
    owner = np.repeat(np.arange(len(spans)), rows)
    row = np.arange(len(owner)) - np.repeat(np.cumsum(rows) - rows, rows)
    begin = spans["lo"][owner] + row * spans["pitch"][owner]
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
    first = np.searchsorted(whole, np.arange(len(spans) + 1) * max(len(used), 1))
    return Atoms(first, whole % max(len(used), 1), len(used))


def _one_row_each(spans: np.ndarray) -> np.ndarray:
    """Return the first row of every set, where it can stand for the others.

    It can where sets are blocks of one matrix, and the rows of any two are the same or none. Elsewhere sets
    are returned as they are.
    """
    rows, pitch = spans["rows"], int(spans["pitch"].max(initial=0))
    if not pitch or np.any(spans["pitch"] != pitch) or np.any(spans["lo"] % pitch + spans["length"] > pitch):
        return spans
    top = spans["lo"] // pitch
    order = np.argsort(top, kind="stable")
    same = np.diff(top[order]) == 0
    apart = top[order][1:] >= (top + rows)[order][:-1]
    if not np.all(np.where(same, np.diff(rows[order]) == 0, apart)):
        return spans
    flat = spans.copy()
    flat["rows"], flat["pitch"] = 1, 0
    return flat
