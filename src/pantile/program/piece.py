"""Pieces: rows that stand once, or repeat jointly over a box of loop indices."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pantile.program.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator

_IDS = {  # columns that hold an id of the named table, and so move with it from instance to instance
    "thread": {"id": "thread", "task": "task"},
    "arbiter": {},
    "task": {"id": "task", "tile": "tile"},
    "slot": {"task": "task"},
    "op": {"id": "op", "thread": "thread", "listing_index": "op", "tile": "tile"},
    "box": {"op": "op"},
    "use": {"op": "op"},
    "access": {"op": "op"},
    "sync": {"op": "op", "counter": "counter"},
    "counter": {"id": "counter"},
    "resource": {},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """One loop that repeats a piece.

    Attributes:
        name: The loop's letter.
        first: Its index in the first instance.
        count: Instances along it.
        ids: Step of every id, by table (``"op"``, ``"tile"``, ``"thread"``, ``"task"``, ``"counter"``).
        offset: Step of the element coordinates, one per axis of the iteration space.
    """

    name: str
    first: int
    count: int
    ids: dict[str, int]
    offset: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Rows of all tables, of the first instance, and the loops that repeat them.

    Attributes:
        tables: Structured arrays by table name; read-only.
        loops: Outermost first; none makes the piece literal.
    """

    tables: dict[str, np.ndarray]
    loops: tuple[Loop, ...] = ()

    def __post_init__(self) -> None:
        for name, rows in self.tables.items():
            assert rows.dtype == TABLES[name], name
            rows.setflags(write=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Piece):
            return NotImplemented
        return self.loops == other.loops and all(
            np.array_equal(rows, other.tables[name]) for name, rows in self.tables.items()
        )

    __hash__ = None  # type: ignore[assignment]  # equal by value, and its tables are arrays

    @property
    def count(self) -> int:
        """Instances of the piece."""
        return prod(loop.count for loop in self.loops)

    @property
    def operations(self) -> int:
        """Operations of one instance, runs counted in full."""
        return int(self.tables["op"]["count"].sum())

    def indices(self) -> Iterator[tuple[int, ...]]:
        """Yield the loop indices of every instance, the last loop fastest."""
        counts = tuple(loop.count for loop in self.loops)
        for steps in np.ndindex(*counts):
            yield tuple(loop.first + step for loop, step in zip(self.loops, steps, strict=True))

    def instance(self, index: tuple[int, ...]) -> dict[str, np.ndarray]:
        """Return the rows of the instance at loop indices *index*, ids and coordinates moved."""
        steps = [i - loop.first for i, loop in zip(index, self.loops, strict=True)]
        moved: dict[str, np.ndarray] = {}
        for name, rows in self.tables.items():
            copy = rows.copy()
            for column, counted in _IDS[name].items():
                shift = sum(s * loop.ids.get(counted, 0) for s, loop in zip(steps, self.loops, strict=True))
                copy[column] = np.where(rows[column] < 0, rows[column], rows[column] + shift)
            moved[name] = copy
        boxes = moved["box"]
        for step, loop in zip(steps, self.loops, strict=True):
            width = len(loop.offset)
            used = boxes["length"][:, :width] > 0
            boxes["lo"][:, :width] += np.where(used, step * np.array(loop.offset, "i8"), 0)
        return moved

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-able description, read back by :meth:`from_json`."""
        return {
            "loops": [
                {
                    "name": loop.name,
                    "first": loop.first,
                    "count": loop.count,
                    "ids": loop.ids,
                    "offset": list(loop.offset),
                }
                for loop in self.loops
            ],
            "tables": {
                name: {
                    "columns": list(rows.dtype.names or ()),
                    "rows": [_plain(row) for row in rows.tolist()],
                }
                for name, rows in self.tables.items()
                if len(rows)
            },
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Piece:
        """Rebuild a piece from :meth:`to_json`'s object."""
        tables = {name: np.zeros(0, row) for name, row in TABLES.items()}
        for name, table in data["tables"].items():
            tables[name] = np.array([tuple(row) for row in table["rows"]], TABLES[name])
        loops = tuple(Loop(**{**loop, "offset": tuple(loop["offset"])}) for loop in data["loops"])
        return cls(tables, loops)


def _plain(row: tuple[Any, ...]) -> list[Any]:
    return [cell.tolist() if isinstance(cell, np.ndarray) else cell for cell in row]
