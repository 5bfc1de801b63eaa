"""What moves where: transfers of every move, found once for all moves that are alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pantile.errors import ProgramError
from pantile.program.tables import Kind, Mode

if TYPE_CHECKING:
    from pantile.simulate.bound import Ints, Rows


class Transfer(NamedTuple):
    """One operand that moves between two memories; all numbers as in the table ``access``."""

    operand: int
    source: int
    target: int
    bytes: int


@dataclass(frozen=True, eq=False, slots=True)
class MoveKinds:
    """The moves of a program, by kind: those of one kind move as many bytes between the same memories.

    Attributes:
        ops: Every move that accesses memory, in order.
        kind: Kind of each of them.
        firsts: First operation of each kind.
        rows: Where its rows of ``access`` begin and end; shape (kinds, 2).
    """

    ops: Ints
    kind: Ints
    firsts: Ints
    rows: Ints


def move_kinds(tables: dict[str, Rows]) -> MoveKinds:
    """Return the kinds of moves, in the order of their first ones.

    Kinds are told apart by a hash, and every move is then compared with the first of its kind.
    """
    access = tables["access"]
    op = np.ascontiguousarray(access["op"])
    rows = np.flatnonzero(tables["op"]["kind"][op] == Kind.MOVE)
    op = op[rows]
    begins = np.ones(len(op), bool)
    begins[1:] = op[1:] != op[:-1]
    starts = np.flatnonzero(begins)
    if not len(starts):
        none = np.zeros(0, np.int64)
        return MoveKinds(none, none, none, np.zeros((0, 2), np.int64))
    position = np.arange(len(op)) - starts[np.cumsum(begins) - 1]
    columns = [access["mode"][rows], access["space"][rows], access["operand"][rows]]
    columns.append(access["length"][rows] * access["rows"][rows])
    numbers = _hashed(columns, position, starts)
    _, first, kind = np.unique(numbers, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    first, kind = np.sort(first), rank[kind]
    sizes = np.diff(np.append(starts, len(op)))
    which = np.repeat(np.arange(len(starts)), sizes)
    alike = starts[first][kind][which] + position
    same = np.all(sizes[first][kind] == sizes) and all(
        np.array_equal(column[np.minimum(alike, len(op) - 1)], column) for column in columns
    )
    if not same:  # two kinds with one hash: every move is then a kind of its own
        first = kind = np.arange(len(starts))
    begin = rows[starts[first]]  # the rows of an operation stand together
    return MoveKinds(op[starts], kind, op[starts][first], np.stack([begin, begin + sizes[first]], axis=1))


def _hashed(columns: list[Ints], position: Ints, starts: Ints) -> Ints:
    """One number for the rows of each move that begins at *starts*."""
    mixed = np.zeros(len(position), np.uint64)
    for column in (*columns, position):
        mixed = (mixed ^ column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return np.add.reduceat(mixed, starts).astype(np.int64)


def transfers_of(access: Rows) -> list[Transfer]:
    """Return what a move with these rows of ``access`` moves: every operand that it writes, and from where.

    Raises:
        ProgramError: If an operand is read nowhere, or in two memories.
    """
    sources: dict[int, int] = {}
    sizes: dict[tuple[int, int], int] = {}
    for row in access:
        operand, space = int(row["operand"]), int(row["space"])
        if row["mode"] != Mode.READ:
            sizes[operand, space] = sizes.get((operand, space), 0) + int(row["rows"] * row["length"])
        elif sources.setdefault(operand, space) != space:
            raise ProgramError("one operation moves an operand from two memories")
    if any(operand not in sources for operand, _ in sizes):
        raise ProgramError("a move writes an operand that it reads nowhere")
    return [Transfer(operand, sources[operand], target, size) for (operand, target), size in sizes.items()]
