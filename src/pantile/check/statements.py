"""The statements on copies and buffers that a program's tables hold, as columns.

A copy has four counters, told apart by the name of what they count, and one key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pantile.program.tables import Test

if TYPE_CHECKING:
    from pantile.check.order import Order
    from pantile.program.program import Program

ROLES = ("unborn", "busy", "ready", "readers")
"""What the counters of a copy count."""

START_WRITING, UPDATE, FINISH_WRITING, START_READING, FINISH_READING, DESTROY = range(6)

NAMES = (
    "start_writing",
    "start_writing(update)",
    "finish_writing",
    "start_reading",
    "finish_reading",
    "destroy",
)


@dataclass(frozen=True, slots=True, eq=False)
class Statements:
    """One row per statement and copy that it means, in the order of operations.

    Attributes:
        op: The operation.
        code: Which statement, as a place in :data:`NAMES`.
        copy: Key of the copy.
        thread: Thread of the operation.
    """

    op: np.ndarray
    code: np.ndarray
    copy: np.ndarray
    thread: np.ndarray

    def __len__(self) -> int:
        return len(self.op)


def role_of_counters(program: Program, tables: dict[str, np.ndarray]) -> np.ndarray:
    """Return the role of every counter, as a place in :data:`ROLES`, or -1."""
    number = {program.names.index(role): at for at, role in enumerate(ROLES) if role in program.names}
    roles = np.full(len(tables["counter"]), -1)
    for name, role in number.items():
        roles[tables["counter"]["src"] == name] = role
    return roles


def statements_of(program: Program, order: Order) -> Statements:
    """Return the statements on copies, told by what they do to the copies' counters."""
    roles = role_of_counters(program, order.tables)
    rows, counter = order.sync.row, order.sync.counter
    role, post = roles[counter], rows["test"] == Test.POST
    unborn, busy, readers = (role == ROLES.index(name) for name in ("unborn", "busy", "readers"))
    code = np.full(len(rows), -1)
    code[unborn & ~post] = START_WRITING
    code[busy & post & (rows["amount"] > 0)] = UPDATE
    code[busy & post & (rows["amount"] < 0)] = FINISH_WRITING
    code[readers & post & (rows["amount"] > 0)] = START_READING
    code[readers & post & (rows["amount"] < 0)] = FINISH_READING
    code[unborn & post] = DESTROY
    ends = rows["op"][code == DESTROY] * len(roles) + order.tables["counter"]["key"][counter[code == DESTROY]]
    mine = np.flatnonzero(code >= 0)
    key = order.tables["counter"]["key"][counter[mine]]
    again = (code[mine] == UPDATE) & np.isin(
        rows["op"][mine] * len(roles) + key, ends
    )  # a destroy is busy, too
    mine, key = mine[~again], key[~again]
    op = rows["op"][mine]
    return Statements(op, code[mine], key, order.chains.thread[op])
