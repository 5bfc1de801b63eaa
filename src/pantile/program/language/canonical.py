"""One legal order of a program's synchronisation, where program order does not tell what follows what.

Which slot an acquire gets, when several threads acquire from one buffer, and which generation a reader sees,
when it neither writes nor destroys, depend on the timing. The order here gives every thread one operation in
turn; the checker decides whether another timing could break it.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from pantile.program.tables import Edge, Test

if TYPE_CHECKING:
    from pantile.program.language.geometry import Ints


def canonical_order(starts: Ints, sync: np.ndarray, counter: np.ndarray) -> Ints:
    """Return the operations that synchronise in the order in which they happen if threads take turns.

    Operations that would wait for ever follow at the end, thread by thread.

    Args:
        starts: First operation of each thread, and the count of all.
        sync: Rows of the table ``sync``, in order of operations.
        counter: Rows of the table ``counter``; ``id`` is the position.
    """
    value: list[int] = counter["initial"].tolist()
    posted = [0] * len(value)
    rows: dict[int, list[tuple[int, int, int, int]]] = {}
    for op, edge, number, test, amount in zip(
        *(sync[column].tolist() for column in ("op", "edge", "counter", "test", "amount")), strict=True
    ):
        rows.setdefault(op, []).append((edge, number, test, amount))
    threads = np.searchsorted(starts, list(rows), side="right")
    waiting: dict[int, deque[int]] = {}
    for op, thread in zip(rows, threads.tolist(), strict=True):
        waiting.setdefault(thread, deque()).append(op)
    order: list[int] = []
    moved = True
    while moved:
        moved = False
        for queue in waiting.values():
            if queue and _holds(rows[queue[0]], value, posted):
                op = queue.popleft()
                order.append(op)
                _apply(rows[op], value, posted)
                moved = True
    for queue in waiting.values():
        order.extend(queue)
    return np.array(order, np.int64)


def _holds(rows: list[tuple[int, int, int, int]], value: list[int], posted: list[int]) -> bool:
    for edge, number, test, amount in rows:
        if edge != Edge.BEFORE_START or test == Test.POST:
            continue
        if test == Test.TAKE and value[number] < amount:
            return False
        if test == Test.REACH and posted[number] < amount:
            return False
        if test == Test.ZERO and value[number] != 0:
            return False
    return True


def _apply(rows: list[tuple[int, int, int, int]], value: list[int], posted: list[int]) -> None:
    for _, number, test, amount in rows:
        if test == Test.TAKE:
            value[number] -= amount
        elif test == Test.POST:
            value[number] += amount
            posted[number] += max(0, amount)
