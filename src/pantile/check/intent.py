"""Which of two conflicting operations was meant to come first.

In a trace, the one that is listed first. The tile language lists thread by thread; there the copies tell:
what belongs to a copy that was born earlier comes first, and of one copy its writing. Of registers, which no
statement brackets, the accesses say which load they mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.program.tables import Kind

if TYPE_CHECKING:
    from pantile.check.order import Order
    from pantile.program.program import Program

OPENS = ("start_writing", "start_reading")
CLOSES = {"finish_writing": "start_writing", "finish_reading": "start_reading"}


class Intent:
    """What a program's copies say about the order of its operations."""

    def __init__(self, program: Program, order: Order) -> None:
        self.program, self.order = program, order
        self.births: dict[int, list[tuple[int, int, int]]] = {}
        for space, lo, length, born, _ in program.parameters.get("lives", ()):
            self.births.setdefault(space, []).append((lo, lo + length, born))
        self._born: dict[tuple[int, int, int], int] = {}
        self._threads: dict[int, np.ndarray] = {}

    def of(self, kind: str, first: int, second: int, row: np.void) -> tuple[str, int, int]:
        """Return kind and operations of a conflict in the order that was meant."""
        if not self.births:
            return kind, first, second
        space, lo = int(row["space"]), int(row["lo"])
        if self._is_register(space, lo):
            ages = [self._generation(op, space, lo) for op in (first, second)]
        else:
            ages = [self._birth(op, space, lo) for op in (first, second)]
        writes = {"RAW": (True, False), "WAR": (False, True), "WAW": (True, True)}[kind]
        if min(ages) < 0:
            return kind, first, second
        keys = [(age, not write) for age, write in zip(ages, writes, strict=True)]
        if keys[0] <= keys[1]:
            return kind, first, second
        return {"RAW": "WAR", "WAR": "RAW", "WAW": "WAW"}[kind], second, first

    def _is_register(self, space: int, lo: int) -> bool:
        """Whether no copy with a state ever lies at a byte of a memory that tiles move through."""
        kinds = self.order.tables["op"]["kind"]
        born = [born for a, b, born in self.births.get(space, ()) if a <= lo < b]
        return bool(born) and all(kinds[each] != Kind.SYNC for each in born)

    def _generation(self, op: int, space: int, lo: int) -> int:
        """Return which load of a register *op* means at a byte, or -1."""
        access = self.order.tables["access"]
        rows = access[slice(*access["op"].searchsorted([op, op + 1]))]
        end = rows["lo"] + (rows["rows"] - 1) * rows["pitch"] + rows["length"]
        rows = rows[(rows["space"] == space) & (rows["lo"] <= lo) & (lo < end)]
        return int(rows["generation"].max(initial=-1))

    def _birth(self, op: int, space: int, lo: int) -> int:
        """Return the operation at which the copy was born that *op* touches at a byte, or -1."""
        key = (op, space, lo)
        if key not in self._born:
            self._born[key] = self._find(op, space, lo)
        return self._born[key]

    def _find(self, op: int, space: int, lo: int) -> int:
        here = {born: self._copies(born) for a, b, born in self.births.get(space, ()) if a <= lo < b}
        closed: dict[tuple[str, int], int] = {}
        mine = self._listed(int(self.order.tables["op"]["thread"][op]))
        before = mine[: int(np.searchsorted(mine, op, side="right"))]
        for each in before[::-1].tolist():
            if self.order.tables["op"]["kind"][each] != Kind.SYNC:
                continue
            opcode = self.program.text(int(self.order.tables["op"]["opcode"][each]))
            for copy in self._copies(each) if opcode in OPENS or opcode in CLOSES else ():
                if opcode in CLOSES:
                    closed[CLOSES[opcode], copy] = closed.get((CLOSES[opcode], copy), 0) + 1
                elif closed.get((opcode, copy), 0):
                    closed[opcode, copy] -= 1
                else:
                    births = [born for born, copies in here.items() if copy in copies]
                    if births:
                        return self._latest(each, births)
        return -1

    def _listed(self, thread: int) -> np.ndarray:
        """Return the operations of a thread as they are listed; of a pipelined one, posts included."""
        if thread not in self._threads:
            self._threads[thread] = np.flatnonzero(self.order.tables["op"]["thread"] == thread)
        return self._threads[thread]

    def _copies(self, op: int) -> set[int]:
        """Return the copies that a statement means, by the keys of their counters."""
        rows, counters = self.order.sync.row, self.order.tables["counter"]
        begin, end = rows["op"].searchsorted([op, op + 1])
        return {int(counters["key"][counter]) for counter in self.order.sync.counter[begin:end].tolist()}

    def _latest(self, op: int, births: list[int]) -> int:
        """Return the last of the births of one copy that comes before *op* starts, or is *op* itself."""
        earlier = [
            born
            for born in births
            if born == op or bool(self.order.started_before([born], [op])[0])  # type: ignore[arg-type]
        ]
        return max(earlier) if earlier else min(births)
