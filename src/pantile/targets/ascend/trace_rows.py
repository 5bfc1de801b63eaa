"""Rows of a core program's tables under construction: names, operations, bytes, counters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pantile.program.tables import TABLES, Completes, Edge, Kind, Mode, Overflow, Test, empty_tables
from pantile.targets.ascend.hand_over import MATRIX, OUT, hand_overs
from pantile.targets.ascend.pipes import PIPELINED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pantile.targets.ascend.hand_over import Touch
    from pantile.targets.ascend.ranges import Range
    from pantile.targets.ascend.work import Work

LAST_BYTE = 1 << 48
"""What no address on a chip reaches."""

UNIT_FLAG = "unit flag"
"""What the counters of unit flags are called."""


def thread_rows(threads: Mapping[str, int], number: Callable[[str], int]) -> list[tuple[Any, ...]]:
    """Return a row of the table of threads for each pipe; *number* gives the number of a text."""
    return [
        (at, number(pipe), 0, Completes.PIPELINED if pipe in PIPELINED else Completes.IN_ORDER, -1, -1)
        for pipe, at in threads.items()
    ]


@dataclass(slots=True)
class Rows:
    """Tables of a core program, row by row.

    Attributes:
        threads: Number of each pipe that something is issued to.
        names: Texts, and their numbers.
        spaces: Buffers, and their numbers.
        works: Distinct amounts of work, and their numbers from 1.
    """

    threads: dict[str, int]
    names: dict[str, int] = field(default_factory=dict)
    spaces: dict[str, int] = field(default_factory=dict)
    works: dict[Work, int] = field(default_factory=dict)
    _rows: dict[str, list[tuple[Any, ...]]] = field(
        default_factory=lambda: {"op": [], "sync": [], "access": [], "counter": []}
    )

    @property
    def operations(self) -> int:
        """Operations so far."""
        return len(self._rows["op"])

    def text(self, text: str) -> int:
        """Return the number of a text."""
        return self.names.setdefault(text, len(self.names))

    def op(
        self, line: int, pipe: str, opcode: str, kind: Kind, work: Work | None = None, macs: int = 0
    ) -> int:
        """Add an operation; return its number."""
        ops = self._rows["op"]
        number = len(ops)
        model = -1 if work is None else self.works.setdefault(work, len(self.works) + 1)
        moved = work.amount if work is not None and ">" in work.kind else 0
        row = (number, self.threads[pipe], -1, number, kind, self.text(opcode), -1, 1, moved, macs, model)
        ops.append((*row, line))
        return number

    def touch(self, op: int, ranges: Sequence[Range]) -> None:
        """Let an operation read and write bytes.

        Raises:
            ValueError: If no buffer has them.
        """
        for each in ranges:
            if not 0 <= each.lo < each.hi <= LAST_BYTE:
                raise ValueError(f"bytes {each.lo} to {each.hi} of {each.buffer} are beyond every buffer")
            space = self.spaces.setdefault(each.buffer, len(self.spaces))
            mode = Mode.WRITE if each.writes else Mode.READ
            self._rows["access"].append((op, mode, space, each.lo, each.hi - each.lo, 1, 0, -1, space, 0))

    def counter(self, src: str, dst: str, key: int, capacity: int, overflow: Overflow) -> int:
        """Add a counter; return its number."""
        counters = self._rows["counter"]
        counters.append((len(counters), self.text(src), self.text(dst), key, 0, capacity, overflow))
        return len(counters) - 1

    def post(self, op: int, counter: int, shown: str, amount: int = 1) -> None:
        """Let an operation raise a counter when it has ended."""
        self._sync(op, Edge.AFTER_FINISH, counter, Test.POST, amount, shown)

    def wait(self, op: int, counter: int, test: Test, shown: str, amount: int = 1) -> None:
        """Let an operation begin when a counter passes a test."""
        self._sync(op, Edge.BEFORE_START, counter, test, amount, shown)

    def _sync(self, op: int, edge: Edge, counter: int, test: Test, amount: int, shown: str) -> None:
        self._rows["sync"].append((op, edge, counter, test, amount, -1, self.text(shown)))

    def hand_over(self, touches: Sequence[Touch]) -> dict[str, Any]:
        """Add what unit flags order; return how it goes block by block, which timing takes up.

        Here a hand-over is one event at the end of its instruction, and what needs it begins after. That
        orders no other bytes than block by block would: who gives and who takes touch the blocks in the same
        order, and FIX, which alone may begin early, completes in order.
        """
        found = hand_overs(touches)
        counters: dict[int, int] = {}
        for number, touch in enumerate(touches):
            if touch.gives:
                name = f"blocks {touch.blocks[0]} to {touch.blocks[-1]} from {touch.pipe}"
                counters[number] = self.counter(UNIT_FLAG, name, number, 0, Overflow.NONE)
                self.post(touch.last, counters[number], UNIT_FLAG, len(touch.blocks))
        along = []
        for wait in found.waits:
            touch, counter, count = touches[wait.touch], counters.get(wait.giver, -1), 1
            if counter < 0:
                name = f"blocks from {OUT if touch.pipe == MATRIX else MATRIX}"
                counter = self.counter(UNIT_FLAG, name, wait.touch, 0, Overflow.NONE)
            else:
                count = len(touches[wait.giver].blocks)
            for op, early in {touch.op: wait.first, touch.last: wait.every}.items():
                self.wait(op, counter, Test.REACH, UNIT_FLAG, count)
                along.append([op, counter, early])
        self._rows["sync"].sort(key=lambda row: row[0])
        kept = [[touches[number].last, count] for number, count in found.kept]
        return {"along": along, "kept": kept}

    def tables(self) -> dict[str, np.ndarray]:
        """Return the tables."""
        tables = empty_tables()
        threads = thread_rows(self.threads, self.text)
        for table, rows in {**self._rows, "thread": threads}.items():
            tables[table] = np.array(rows, TABLES[table])
        return tables
