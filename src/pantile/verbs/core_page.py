"""What a page shows of a core program alone: instructions as they are printed, and buffers byte by byte."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pantile.program.tables import Mode
from pantile.targets.ascend.trace_text import print_instruction
from pantile.verbs.ascend_check import buffers_of
from pantile.view.byte_residency import ENDINGS, RANGES
from pantile.view.columns import MODES, Table, table
from pantile.view.pagedata import MemoryCard

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.program.program import Program
    from pantile.verbs.program_rows import ProgramRows

_READ, _WRITE, _UPDATE = (MODES.index(name) for name in ("read", "write", "update"))


def core_statements(program: Program) -> Callable[[int], str]:
    """Return what gives the instruction that an operation of *program* comes from, as a trace prints it."""
    starts, stream = np.asarray(program.parameters["starts"]), program.parameters["stream"]

    def statement(op: int) -> str:
        return print_instruction(stream[int(np.searchsorted(starts, op, side="right")) - 1])

    return statement


@dataclass(frozen=True, eq=False)
class CoreMemories:
    """The buffers that a program touches, in the machine's order; global memory is not among them.

    Attributes:
        rows: The rows of the page.
    """

    rows: ProgramRows

    @cached_property
    def _capacities(self) -> dict[str, int]:
        """Bytes of every buffer on the core that the program touches, by name."""
        spaces = self.rows.program.parameters["spaces"]
        return {name: size for name, size in buffers_of(self.rows.machine)[0].items() if name in spaces}

    @property
    def left_out(self) -> tuple[str, ...]:
        """Names of what else the program touches."""
        spaces = self.rows.program.parameters["spaces"]
        return tuple(name for name in spaces if name not in self._capacities)

    @property
    def cards(self) -> tuple[MemoryCard, ...]:
        """The buffers as the page shows them."""
        return tuple(
            MemoryCard(name=name, capacity_bytes=size, placed=True, by_bytes=True)
            for name, size in self._capacities.items()
        )

    @property
    def ranges(self) -> Table:
        """Bytes that operations touch, of each operation first what it reads.

        What an instruction reads and writes alike, as a product that goes on with a sum does, it adds to.
        """
        spaces = list(self.rows.program.parameters["spaces"])
        numbers = {spaces.index(name): at for at, name in enumerate(self._capacities)}
        access = self.rows.timeline.bound.tables["access"]
        access = access[np.isin(access["space"], list(numbers)) & self.rows.concerns(access["op"])]
        found: dict[tuple[int, int, int, int], set[int]] = {}
        for op, space, lo, length, mode in access[["op", "space", "lo", "length", "mode"]].tolist():
            found.setdefault((int(self.rows.row_of[op]), numbers[space], lo, length), set()).add(mode)
        rows = [
            (op, _mode(modes), 0, memory, 0, lo, length, 1, 0)
            for (op, memory, lo, length), modes in found.items()
        ]
        names = [spec.name for spec in RANGES.specs]
        columns = np.array(sorted(rows), np.int64).reshape(-1, len(names)).T
        return table(RANGES, **dict(zip(names, columns, strict=True)))

    @property
    def endings(self) -> Table:
        """None: what a buffer holds stays until something else is written there."""
        return table(ENDINGS, operation=[], memory=[], lo=[], length=[])


def _mode(modes: set[int]) -> int:
    if len(modes) > 1:
        return _UPDATE
    return _WRITE if Mode.WRITE in modes else _READ
