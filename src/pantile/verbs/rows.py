"""Operations of a literal program as lines, each as what it does to which memories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.program.tables import Kind, Mode
from pantile.verbs.listing import MAX_LISTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pantile.program.program import Program


def row_numbers(program: Program, core: tuple[int, ...] | None, window: range | None) -> range | list[int]:
    """Return the numbers of the operations to list.

    Args:
        program: A literal program.
        core: Coordinates of the core whose threads are listed; all if ``None``.
        window: Numbers among which to choose; all if ``None``.
    """
    chosen = range(program.operations)
    if window is not None:
        chosen = range(window.start, min(window.stop, program.operations))
    if core is None:
        return chosen
    tables, cores = program.tables(), program.parameters["cores"]
    mine = [number for number, at in enumerate(cores) if tuple(at) == core]
    threads = np.isin(tables["thread"]["core"], mine)[tables["op"]["thread"]]
    return [number for number in chosen if threads[number]]


def listed_rows(rows: Sequence[int]) -> int:
    """Return how many rows are too many for a listing; 0 if they are not."""
    return len(rows) if len(rows) > MAX_LISTED else 0


def row_texts(program: Program, rows: Sequence[int]) -> list[str]:
    """Return one line per operation: thread, opcode, and the bytes it reads and writes where."""
    tables = program.tables()
    ops, access = tables["op"], tables["access"]
    first = np.searchsorted(access["op"], np.arange(len(ops) + 1)).tolist()
    threads = [program.text(int(row["name"])) for row in tables["thread"]]
    width = max((len(name) for name in threads), default=0)
    lines = []
    for number in rows:
        row = ops[number]
        opcode = program.text(int(row["opcode"]))
        touched = " ".join(_touched(program, each) for each in access[first[number] : first[number + 1]])
        macs = f"  {row['macs']} MACs" if row["kind"] == Kind.COMPUTE else ""
        line = f"{threads[int(row['thread'])]:<{width}}  {opcode:<14}  {touched}{macs}"
        lines.append(line.rstrip())
    return lines


_ARROWS = {Mode.READ: "<-", Mode.WRITE: "->", Mode.UPDATE: "+="}


def _touched(program: Program, row: np.void) -> str:
    operand = program.operands[int(row["operand"])].name
    space = program.parameters["spaces"][int(row["space"])]
    return f"{_ARROWS[Mode(row['mode'])]} {operand} {space} {row['length'] * row['rows']} B"
