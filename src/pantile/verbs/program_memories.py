"""The memories of a program's page: their slots, the bytes that operations touch, and when copies end."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pantile.program.tables import Mode
from pantile.view.byte_residency import ENDINGS, RANGES
from pantile.view.columns import MODES, OPERANDS, Table, table
from pantile.view.pagedata import MemoryCard

if TYPE_CHECKING:
    import numpy.typing as npt

    from pantile.verbs.program_axes import Roles
    from pantile.verbs.program_rows import ProgramRows

    Ints = npt.NDArray[np.int64]

MOST_SLOTS = 16
"""Ranges of one memory that are shown as slots of their own; more of them are shown as one."""


@dataclass(frozen=True, eq=False)
class ProgramMemories:
    """The memories that hold copies, in the order of the program's spaces.

    Attributes:
        rows: The rows of the page.
        roles: Which matrices are which.
    """

    rows: ProgramRows
    roles: Roles

    @cached_property
    def lives(self) -> Ints:
        """Memory, first byte, bytes, first and last operation of whatever takes up room."""
        return np.array(self.rows.program.parameters.get("lives", ()), np.int64).reshape(-1, 5)

    @cached_property
    def slots(self) -> dict[int, tuple[Ints, Ints]]:
        """Starts and stops of the slots of every memory, by its number as a space."""
        spaces = np.unique(self.lives[:, 0]).tolist()
        return {space: _slots(self.lives[self.lives[:, 0] == space]) for space in spaces}

    @property
    def cards(self) -> tuple[MemoryCard, ...]:
        """The memories as the page shows them: each an instance of its own."""
        return tuple(
            MemoryCard(
                name=self.rows.program.parameters["spaces"][space],
                capacity_bytes=int((stops - starts).max()),
                slots=len(starts),
                placed=True,
                slot_names=tuple(f"bytes {a}:{b}" for a, b in np.stack([starts, stops], axis=1).tolist()),
                slot_bytes=tuple((stops - starts).tolist()),
            )
            for space, (starts, stops) in self.slots.items()
        )

    @property
    def ranges(self) -> Table:
        """Bytes that operations touch in these memories."""
        columns: dict[str, list[int]] = {spec.name: [] for spec in RANGES.specs}
        access = self.rows.timeline.bound.tables["access"]
        access = access[self.rows.concerns(access["op"])]
        numbers = {space: number for number, space in enumerate(self.slots)}
        matrices = dict(zip(self.roles.operands, "abc", strict=True))
        for row in access[np.argsort(self.rows.row_of[access["op"]], kind="stable")]:
            space = int(row["space"])
            if space not in numbers:
                continue
            starts, _ = self.slots[space]
            values = {
                "operation": int(self.rows.row_of[row["op"]]),
                "mode": MODES.index(Mode(int(row["mode"])).name.lower()),
                "operand": OPERANDS.index(matrices[int(row["operand"])]),
                "memory": numbers[space],
                "slot": max(0, int(np.searchsorted(starts, row["lo"], side="right")) - 1),
                **{name: int(row[name]) for name in ("lo", "length", "rows", "pitch")},
            }
            for name, value in values.items():
                columns[name].append(value)
        return table(RANGES, **columns)

    @property
    def endings(self) -> Table:
        """Bytes whose copies end, at which operation."""
        numbers = {space: number for number, space in enumerate(self.slots)}
        tiles, row_of = self.rows.tiles[1], self.rows.row_of
        lives = self.lives[self.lives[:, 4] >= 0]
        rows = [
            (row_of[until], numbers[space], lo, size, tiles[row_of[since]], tiles[row_of[until]])
            for space, lo, size, since, until in lives[self.rows.concerns(lives[:, 4])].tolist()
        ]
        names = [spec.name for spec in ENDINGS.specs]
        columns = np.array(sorted(rows), np.int64).reshape(-1, len(names)).T
        return table(ENDINGS, **dict(zip(names, columns, strict=True)))


def _slots(lives: Ints) -> tuple[Ints, Ints]:
    """Starts and stops of the ranges that lives take up: one for all, if they are too many."""
    order = np.argsort(lives[:, 1], kind="stable")
    starts, stops = lives[order, 1], np.maximum.accumulate(lives[order, 1] + lives[order, 2])
    first = np.flatnonzero(np.append(True, starts[1:] >= stops[:-1]))
    last = np.append(first[1:], len(starts)) - 1
    if len(first) > MOST_SLOTS:
        return starts[:1], stops[-1:]
    return starts[first], stops[last]
