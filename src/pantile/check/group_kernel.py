"""Accesses that touch the same bytes in the same way from the same chain; see :mod:`pantile.check.conflicts`.

A kernel in the sense of :mod:`pantile.check.compiled`; its first arguments are columns of the access table.
"""

from __future__ import annotations

from typing import Any

READ = 0  # as Mode
NOBODY, SEVERAL, PRIVATE = -1, -2, 1 << 40

_MIX = 0x2545F4914F6CDD1D


def run(
    op: Any,
    mode: Any,
    space: Any,
    lo: Any,
    length: Any,
    rows: Any,
    pitch: Any,
    chain: Any,
    pipelined: Any,
    user: Any,
    low: Any,
    high: Any,
    table: Any,
    group: Any,
    first: Any,
) -> int:
    """Write the group of every access, or -1, and the first access of every group; return their number.

    Stops when the table for hashing is half full, and returns -1.

    Left out are memories that one chain alone touches, if it does not complete pipelined, and what lies
    outside of all that is written.

    Args:
        op: By access: its operation; then the other columns.
        mode: How it touches.
        space: The memory.
        lo: First byte.
        length: Bytes of one row.
        rows: Rows.
        pitch: Bytes from row to row.
        chain: By operation.
        pipelined: By chain.
        user: By memory: the chain that touches it; at first :data:`NOBODY`, or :data:`PRIVATE` to skip it.
        low: By memory: the lowest byte written; at first above all.
        high: One more than the highest; at first 0.
        table: Room for hashing: a power of two, filled with -1.
        group: By access.
        first: By group.
    """
    survey(op, mode, space, lo, length, rows, pitch, chain, pipelined, user, low, high)
    count, mask = 0, len(table) - 1
    for i in range(len(group)):
        home = space[i]
        end = lo[i] + length[i] + (rows[i] - 1) * pitch[i] * (rows[i] > 1)
        if user[home] != SEVERAL or length[i] <= 0 or lo[i] >= high[home] or end <= low[home]:
            continue
        c = chain[op[i]]
        mixed = ((lo[i] * 31 + home) * 31 + length[i]) * 31 + rows[i]
        mixed = ((mixed * 31 + pitch[i]) * 31 + c) * 31 + mode[i]
        slot = ((mixed * _MIX) >> 17) & mask
        while table[slot] >= 0:
            j = first[table[slot]]
            alike = lo[i] == lo[j] and home == space[j] and length[i] == length[j] and rows[i] == rows[j]
            if alike and pitch[i] == pitch[j] and c == chain[op[j]] and mode[i] == mode[j]:
                break
            slot = (slot + 1) & mask
        if table[slot] < 0:
            if 2 * count >= mask:
                return -1
            table[slot] = count
            first[count] = i
            count += 1
        group[i] = table[slot]
    return count


def survey(
    op: Any,
    mode: Any,
    space: Any,
    lo: Any,
    length: Any,
    rows: Any,
    pitch: Any,
    chain: Any,
    pipelined: Any,
    user: Any,
    low: Any,
    high: Any,
) -> None:
    """Write who touches every memory, and where it is written."""
    for i in range(len(op)):
        home, c = space[i], chain[op[i]]
        if user[home] == NOBODY and not pipelined[c]:
            user[home] = c
        elif user[home] < PRIVATE and user[home] != c:
            user[home] = SEVERAL
        if mode[i] != READ:
            end = lo[i] + length[i] + (rows[i] - 1) * pitch[i] * (rows[i] > 1)
            low[home] = min(low[home], lo[i])
            high[home] = max(high[home], end)
