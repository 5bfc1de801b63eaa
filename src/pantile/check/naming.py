"""What findings call operations, threads, counters and memories of a program."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from pantile.check.chains import literal_tables
from pantile.program.tables import Overflow

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pantile.program.program import Program


_WANTED = {
    "unborn": "the copy {} to be destroyed",
    "busy": "the copy {} to be written",
    "ready": "the copy {} to be written",
    "readers": "the readers of the copy {}",
    "free slots": "a free slot of {}",
    "barrier": "the barrier {}",
}
"""What a wait on a counter waits for, by what the counter counts."""


class Naming:
    """Names of what a program's tables mention, made when they are asked for."""

    def __init__(self, program: Program) -> None:
        self.program, self.tables = program, literal_tables(program)
        self._threads = {number: at for at, number in enumerate(self.tables["thread"]["id"].tolist())}

    def opcode(self, op: int) -> str:
        """Return the name of the operation's instruction or statement."""
        return self.program.text(int(self.tables["op"]["opcode"][op]))

    def thread(self, op: int) -> str:
        """Return the name of the operation's thread."""
        number = int(self.tables["op"]["thread"][op])
        return self.program.text(int(self.tables["thread"]["name"][self._threads[number]]))

    def place(self, op: int) -> str:
        """Return file and line of an operation, or an empty text."""
        line = int(self.tables["op"]["line"][op])
        if line <= 0:
            return ""
        files = self.program.parameters.get("files", "")
        if not isinstance(files, str):
            at = self._threads[int(self.tables["op"]["thread"][op])]
            files = files[at] if at < len(files) else ""
        return f"{PurePath(files).name}:{line}" if files else f"line {line}"

    def op(self, op: int) -> str:
        """Return an operation as sentences name it: ``operation 7 'load_store' of load (ping.py:12)``."""
        place = self.place(op)
        return f"operation {op} {self.opcode(op)!r} of {self.thread(op)}" + (f" ({place})" if place else "")

    def lines(self, ops: Iterable[int]) -> list[tuple[int, str]]:
        """Return the first operation of every line, and how many more there are in words; in their order."""
        table = self.tables["op"]
        groups: dict[tuple[str, int], list[int]] = {}
        for op in ops:
            key = (self.place(op) or str(op), int(table["opcode"][op]))
            groups.setdefault(key, []).append(op)
        return [
            (mine[0], f"; so do {len(mine) - 1} more of that line" if len(mine) > 1 else "")
            for mine in groups.values()
        ]

    def ops(self, ops: Iterable[int]) -> str:
        """Return several operations, one after another."""
        return ", ".join(self.op(op) for op in ops)

    def counter(self, counter: int) -> str:
        """Return what a counter stands for: a flag, a state of a copy, slots of a buffer, a barrier."""
        row = self.tables["counter"][counter]
        src, dst = self.program.text(int(row["src"])), self.program.text(int(row["dst"]))
        if row["overflow"] == Overflow.SATURATE:
            return f"flag {int(row['key'])} of {src} to {dst}"
        return f"{src} of {dst}" if dst else f"{src} {int(row['key'])}"

    def wanted(self, counter: int) -> str:
        """Return what a wait on a counter waits for, in words."""
        row = self.tables["counter"][counter]
        words = _WANTED.get(self.program.text(int(row["src"])))
        return words.format(self.program.text(int(row["dst"]))) if words else self.counter(counter)

    def space(self, space: int) -> str:
        """Return the name of a memory."""
        spaces = self.program.parameters.get("spaces", [])
        return str(spaces[space]) if 0 <= space < len(spaces) else f"memory {space}"
