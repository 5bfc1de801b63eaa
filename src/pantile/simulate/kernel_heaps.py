"""The compiled engine's two binary heaps: events by time, and what is pending at this instant.

What is pending is ranked by its kind, by the time at which it was asked for, and by thread and operation;
all of that is packed into two numbers. An event says its kind and the address of what it concerns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from numba import njit

from pantile.simulate import layout as at


class Memory(Protocol):
    """The array that ``layout.py`` describes, as compiled functions read and write it."""

    def __getitem__(self, address: int) -> int:
        """Read."""

    def __setitem__(self, address: int, value: int) -> None:
        """Write."""


_Function = TypeVar("_Function", bound=Callable[..., object])

compiled: Callable[[_Function], _Function] = njit(error_model="numpy")
"""Compiles without a test for division by zero: rates, quanta and turns are positive."""

_KIND_BITS = 60  # below the kind of what is pending: the time at which it was asked for
POST, WAIT, ISSUE, START = 1 << _KIND_BITS, 2 << _KIND_BITS, 3 << _KIND_BITS, 4 << _KIND_BITS
ASKED = (1 << _KIND_BITS) - 1

THREAD_BITS = 41  # below the thread: the operation and, lowest, whether its posts are those after the finish
BELOW_THREAD = (1 << THREAD_BITS) - 1

EVENT_BITS = 40  # below the kind of an event: what it concerns
CONCERNS = (1 << EVENT_BITS) - 1
PART, END, CHUNK_POSTS, GOAL, TURN = range(5)


@compiled
def schedule(m: Memory, time: int, kind: int, which: int) -> None:
    """Let an event happen at *time*."""
    _rise(m, m[at.EVENT_HEAP], m[at.EVENTS], time, (kind << EVENT_BITS) | which)
    m[at.EVENTS] += 1


@compiled
def pop_event(m: Memory) -> int:
    """Remove the first event and return its code."""
    code = m[m[at.EVENT_HEAP] + 1]
    m[at.EVENTS] -= 1
    _sink(m, m[at.EVENT_HEAP], m[at.EVENTS])
    return code


@compiled
def defer(m: Memory, rank: int, thread: int, op: int, after: int) -> None:
    """Put something off until everything of a lower rank has been done."""
    code = (thread << THREAD_BITS) | (op << 1) | after
    first = m[at.FIRST_RANK]
    if first < 0 and m[at.PENDING] == 0:
        m[at.FIRST_RANK], m[at.FIRST_CODE] = rank, code
        return
    if first >= 0 and (rank < first or (rank == first and code < m[at.FIRST_CODE])):
        m[at.FIRST_RANK], rank = rank, first
        m[at.FIRST_CODE], code = code, m[at.FIRST_CODE]
    _rise(m, m[at.PENDING_HEAP], m[at.PENDING], rank, code)
    m[at.PENDING] += 1


@compiled
def pop_pending(m: Memory) -> tuple[int, int]:
    """Remove what is pending first, and return its rank and code; the rank is -1 if nothing is."""
    rank, code = m[at.FIRST_RANK], m[at.FIRST_CODE]
    if rank >= 0:
        m[at.FIRST_RANK] = at.NONE
    elif m[at.PENDING] > 0:
        rank, code = m[m[at.PENDING_HEAP]], m[m[at.PENDING_HEAP] + 1]
        m[at.PENDING] -= 1
        _sink(m, m[at.PENDING_HEAP], m[at.PENDING])
    return rank, code


@compiled
def _rise(m: Memory, heap: int, place: int, key: int, code: int) -> None:
    """Put an entry in at *place*, the end, and move it up to where it belongs."""
    while place > 0:
        above = (place - 1) >> 1
        here, there = heap + 2 * place, heap + 2 * above
        if m[there] < key or (m[there] == key and m[there + 1] <= code):
            break
        m[here], m[here + 1] = m[there], m[there + 1]
        place = above
    m[heap + 2 * place], m[heap + 2 * place + 1] = key, code


@compiled
def _sink(m: Memory, heap: int, count: int) -> None:
    """Move the entry at *count*, the last one, to the top and down to where it belongs."""
    key, code = m[heap + 2 * count], m[heap + 2 * count + 1]
    place = 0
    while True:
        below = 2 * place + 1
        if below >= count:
            break
        there = heap + 2 * below
        if below + 1 < count and (
            m[there + 2] < m[there] or (m[there + 2] == m[there] and m[there + 3] < m[there + 1])
        ):
            below, there = below + 1, there + 2
        if key < m[there] or (key == m[there] and code <= m[there + 1]):
            break
        here = heap + 2 * place
        m[here], m[here + 1] = m[there], m[there + 1]
        place = below
    m[heap + 2 * place], m[heap + 2 * place + 1] = key, code
