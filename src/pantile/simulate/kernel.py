"""The compiled event engine: the rules of the dynamic executor, over one array.

``m`` is the memory that ``layout.py`` describes; threads, operations, counters and resources are addresses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numba import carray, cfunc, int64, types
from numba.core.caching import FunctionCache
from numba.core.registry import cpu_target

from pantile.program.tables import ArbiterPolicy, Overflow, ReleasedBy
from pantile.simulate import layout as at
from pantile.simulate.kernel_heaps import (
    ASKED,
    BELOW_THREAD,
    CHUNK_POSTS,
    CONCERNS,
    END,
    EVENT_BITS,
    GOAL,
    ISSUE,
    PART,
    POST,
    START,
    THREAD_BITS,
    TURN,
    WAIT,
    compiled,
    defer,
    pop_event,
    pop_pending,
    schedule,
)
from pantile.simulate.kernel_links import arrive, chunks_of, serve_goal

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.simulate.kernel_heaps import Memory

DONE_ALL, PAUSED, FAULTY = range(3)
"""Why the kernel returns."""

_COUNTER, _ARBITER = int(ReleasedBy.COUNTER), int(ReleasedBy.ARBITER)
_PROGRAM, _RESOURCE = int(ReleasedBy.PROGRAM), int(ReleasedBy.RESOURCE)
_ERROR, _SATURATE = int(Overflow.ERROR), int(Overflow.SATURATE)
_FIXED = int(ArbiterPolicy.FIXED)

_PER_CALL = 1 << 20  # then the interpreter gets a chance to notice an interruption


_SIGNATURE = int64(types.CPointer(int64), int64)


def entry(stamp: int) -> Callable[..., int]:
    """Return what the interpreter calls: with the address of the memory and its size.

    An address, because counting references to an array at every call would take longer than the work.
    Numba's cache knows only the file of the function itself; *stamp*, which stands for all files, is part
    of what it compares, and the kernel writes it into its memory.
    """

    def run(address: Any, size: int) -> int:
        m = carray(address, size)
        m[at.STAMP] = stamp
        return _run(m)

    return run


def build(stamp: int) -> Any:
    """Return the compiled :func:`entry`, from the disk if it is there."""
    return cfunc(_SIGNATURE, cache=True, error_model="numpy")(entry(stamp)).ctypes


def is_cached(stamp: int) -> bool:
    """Whether :func:`build` would find the compiled form on the disk."""
    return FunctionCache(entry(stamp)).load_overload(_SIGNATURE, cpu_target.target_context) is not None


@compiled
def _run(m: Memory) -> int:
    """Carry out actions until there are none, a counter leaves its range, or it is time to pause."""
    if m[at.BEGUN] == 0:
        m[at.BEGUN] = 1
        for thread in range(m[at.THREADS], m[at.THREADS_END], at.THREAD_WIDTH):
            _next(m, thread, at.NONE)
    for _ in range(_PER_CALL):
        if m[at.FAULT_OP] >= 0:
            return FAULTY
        if m[at.EVENTS] > 0 and m[m[at.EVENT_HEAP]] == m[at.NOW]:
            _event(m, pop_event(m))
        else:
            rank, code = pop_pending(m)
            if rank < 0:
                if m[at.EVENTS] == 0:
                    return DONE_ALL
                m[at.NOW] = m[m[at.EVENT_HEAP]]
            elif rank < WAIT:
                _posts(m, (code & BELOW_THREAD) >> 1, code & 1)
            elif rank < ISSUE:
                _wait(m, code >> THREAD_BITS)
            elif rank < START:
                _issue(m, rank & ASKED)
            else:
                _take(m, code >> THREAD_BITS)
    return PAUSED


@compiled
def _event(m: Memory, code: int) -> None:
    kind, which = code >> EVENT_BITS, code & CONCERNS
    if kind == PART:
        _own_part(m, which)
    elif kind == END:
        _finish(m, which)
    elif kind == GOAL:
        op, first, stop = serve_goal(m, which)
        for chunk in range(first, stop):
            _reach(m, op, chunk)
    elif kind == CHUNK_POSTS:
        _defer_posts(m, which, 0)
    else:
        defer(m, ISSUE | which, 0, 0, 0)


# Program order.


@compiled
def _next(m: Memory, thread: int, before: int) -> None:
    """Let *thread* reach its next operation; a pipelined one passes by those that only post."""
    while m[thread + at.POSITION] < m[thread + at.STOP]:
        op = m[m[thread + at.POSITION]]
        m[thread + at.POSITION] += 1
        _clear(m, op)
        if m[thread + at.PIPELINED] and m[op + at.FLAGS] & at.ONLY_POSTS:
            if m[thread + at.PREFIX] == m[thread + at.POSITION] - 1:
                _settle(m, thread, before)
            continue
        m[thread + at.HEAD], m[thread + at.BEFORE] = op, before
        m[thread + at.NEXT_ROW], m[thread + at.NEXT_USE] = m[op + at.ROW], m[op + at.EXCLUSIVE]
        defer(m, WAIT | m[at.NOW], thread, op, 0)
        return
    m[thread + at.HEAD] = at.NONE


@compiled
def _clear(m: Memory, op: int) -> None:
    """Begin the result of *op*, whose turn has come."""
    for field in range(op + at.FIRST_TIME, op + at.OP_WIDTH):
        m[field] = at.NONE
    m[op + at.ASKED], m[op + at.CAUSE] = m[at.NOW], _PROGRAM


@compiled
def _settle(m: Memory, thread: int, cause: int) -> None:
    """Drop finished operations from the front of a pipelined thread; posts that get there happen."""
    now = m[at.NOW]
    while m[thread + at.PREFIX] < m[thread + at.POSITION]:
        op = m[m[thread + at.PREFIX]]
        if m[op + at.FINISH] == now:
            cause = op
        elif m[op + at.FINISH] < 0:
            if not m[op + at.FLAGS] & at.ONLY_POSTS:
                return
            m[op + at.READY] = m[op + at.ISSUE] = m[op + at.START] = m[op + at.FINISH] = now
            m[op + at.RELEASER] = cause
            _number_releaser(m, op)
            _defer_posts(m, op, 1)
        m[thread + at.PREFIX] += 1


@compiled
def _number_releaser(m: Memory, op: int) -> None:
    """Turn the address of what released *op*, which has finished, into its number."""
    if m[op + at.RELEASER] >= 0:
        m[op + at.RELEASER] = (m[op + at.RELEASER] - m[at.OPS]) // at.OP_WIDTH


# Counters.


@compiled
def _holds(m: Memory, row: int) -> bool:
    counter = m[row + at.ROW_COUNTER]
    if m[row + at.ROW_CODE] == at.CODE_TAKE:
        return m[counter + at.VALUE] >= m[row + at.ROW_AMOUNT]
    if m[row + at.ROW_CODE] == at.CODE_REACH:
        return m[counter + at.POSTED] >= m[row + at.ROW_AMOUNT]
    return m[counter + at.VALUE] == 0


@compiled
def _wait(m: Memory, thread: int) -> None:
    """Carry out the next step of a thread's waits if it holds; with the last, all that follows."""
    op = m[thread + at.HEAD]
    first, stop = m[thread + at.NEXT_ROW], m[op + at.OP_WIDTH + at.ROW]
    if first < stop and m[first + at.ROW_CODE] < at.POST_BEFORE:
        last = first
        while True:
            if not _holds(m, last):
                counter = m[last + at.ROW_COUNTER]
                m[thread + at.WATCHED], m[thread + at.NEXT_WAITER] = counter, m[counter + at.WAITERS]
                m[counter + at.WAITERS] = thread
                return
            if m[last + at.ROW_LAST]:
                break
            last += at.ROW_WIDTH
        if m[thread + at.WATCHED] >= 0 and m[at.NOW] > m[op + at.ASKED]:
            m[op + at.CAUSE], m[op + at.RELEASER] = _COUNTER, m[thread + at.WOKEN_BY]
        after = last + at.ROW_WIDTH
        m[thread + at.WATCHED], m[thread + at.NEXT_ROW] = at.NONE, after
        for row in range(first, after, at.ROW_WIDTH):
            if m[row + at.ROW_CODE] == at.CODE_TAKE:
                _change(m, op, m[row + at.ROW_COUNTER], -m[row + at.ROW_AMOUNT])
        if after < stop and m[after + at.ROW_CODE] < at.POST_BEFORE:
            defer(m, WAIT | m[op + at.ASKED], thread, op, 0)
            return
    _pass(m, thread, op)


@compiled
def _pass(m: Memory, thread: int, op: int) -> None:
    """All waits of *op* hold: post what it posts at its start and ask for what it needs."""
    m[op + at.READY] = m[op + at.ISSUE] = m[at.NOW]
    if m[op + at.CAUSE] == _PROGRAM:
        m[op + at.RELEASER] = m[thread + at.BEFORE]
    for row in range(m[thread + at.NEXT_ROW], m[op + at.OP_WIDTH + at.ROW], at.ROW_WIDTH):
        if m[row + at.ROW_CODE] != at.POST_BEFORE:
            break
        _change(m, op, m[row + at.ROW_COUNTER], m[row + at.ROW_AMOUNT])
    arbiter = m[thread + at.ARBITER]
    if arbiter >= 0 and not m[op + at.FLAGS] & at.IS_SYNC:
        m[thread + at.CANDIDATE] = 1
        m[arbiter + at.WAITING] += 1
        _plan_issue(m, arbiter)
    else:
        _request(m, thread, op)


@compiled
def _posts(m: Memory, op: int, after: int) -> None:
    """Make the posts of *op* after its finish, or one of each that it spreads along."""
    if m[op + at.RANK] < 0:  # an operation of a pipelined thread that only posts
        m[op + at.RANK] = m[at.STARTS]
        m[at.STARTS] += 1
    for row in range(m[op + at.ROW], m[op + at.OP_WIDTH + at.ROW], at.ROW_WIDTH):
        code, amount = m[row + at.ROW_CODE], m[row + at.ROW_AMOUNT]
        if after and code == at.POST_AFTER:
            _change(m, op, m[row + at.ROW_COUNTER], amount)
        elif not after and code == at.POST_ALONG:
            _change(m, op, m[row + at.ROW_COUNTER], 1 if amount > 0 else -1)


@compiled
def _defer_posts(m: Memory, op: int, after: int) -> None:
    defer(m, POST | m[op + at.ASKED], m[op + at.THREAD], op, after)


@compiled
def _change(m: Memory, op: int, counter: int, amount: int) -> None:
    """Add to a counter, and wake the threads whose step it keeps waiting no longer."""
    value, overflow = m[counter + at.VALUE] + amount, m[counter + at.OVERFLOW]
    m[counter + at.POSTED] += max(0, amount)
    if overflow == _SATURATE:
        value = min(value, m[counter + at.CAPACITY])
    elif overflow == _ERROR and (value < 0 or value > m[counter + at.CAPACITY]) and m[at.FAULT_OP] < 0:
        m[at.FAULT_OP], m[at.FAULT_COUNTER], m[at.FAULT_VALUE] = op, counter, value
        m[at.FAULT_LIMIT] = m[counter + at.CAPACITY] if value > 0 else 0
    m[counter + at.VALUE] = value
    link, thread = counter + at.WAITERS, m[counter + at.WAITERS]
    while thread >= 0:
        behind = m[thread + at.NEXT_WAITER]
        if _may_hold(m, m[thread + at.NEXT_ROW], counter):
            m[link] = behind
            m[thread + at.WOKEN_BY] = op
            head = m[thread + at.HEAD]
            defer(m, WAIT | m[head + at.ASKED], thread, head, 0)
        else:
            link = thread + at.NEXT_WAITER
        thread = behind


@compiled
def _may_hold(m: Memory, row: int, counter: int) -> bool:
    """Whether the rows of a step that test *counter* hold."""
    while True:
        if m[row + at.ROW_COUNTER] == counter and not _holds(m, row):
            return False
        if m[row + at.ROW_LAST]:
            return True
        row += at.ROW_WIDTH


# Issue and resources.


@compiled
def _plan_issue(m: Memory, arbiter: int) -> None:
    if m[arbiter + at.WAITING] > 0 and m[arbiter + at.AWAKE] == 0:
        m[arbiter + at.AWAKE] = 1
        defer(m, ISSUE | arbiter, 0, 0, 0)


@compiled
def _issue(m: Memory, arbiter: int) -> None:
    """Issue the candidate whose turn it is, or wait for the next tick."""
    now = m[at.NOW]
    tick = now // m[arbiter + at.TICKS]
    if tick != m[arbiter + at.TICK]:
        m[arbiter + at.TICK], m[arbiter + at.ISSUED] = tick, 0
    if m[arbiter + at.ISSUED] == m[arbiter + at.ISSUES]:
        schedule(m, (tick + 1) * m[arbiter + at.TICKS], TURN, arbiter)
        return
    thread = m[at.THREADS]
    if m[arbiter + at.POLICY] != _FIXED:
        thread = max(thread, m[arbiter + at.LAST_THREAD])
    while m[thread + at.ARBITER] != arbiter or not m[thread + at.CANDIDATE]:
        thread += at.THREAD_WIDTH
        if thread == m[at.THREADS_END]:
            thread = m[at.THREADS]
    op = m[thread + at.HEAD]
    m[op + at.ISSUE] = now
    if now > m[op + at.READY]:
        m[op + at.CAUSE], m[op + at.RELEASER] = _ARBITER, m[arbiter + at.LAST_OP]
    m[thread + at.CANDIDATE] = 0
    m[arbiter + at.LAST_THREAD], m[arbiter + at.LAST_OP] = thread, op
    m[arbiter + at.ISSUED] += 1
    m[arbiter + at.WAITING] -= 1
    m[arbiter + at.AWAKE] = 0
    _request(m, thread, op)
    _plan_issue(m, arbiter)


@compiled
def _request(m: Memory, thread: int, op: int) -> None:
    m[thread + at.REQUESTED] = m[at.NOW]
    if m[op + at.FLAGS] & at.HAS_USES:
        defer(m, START | m[at.NOW], thread, op, 0)
    else:
        _begin(m, thread, op)


@compiled
def _take(m: Memory, thread: int) -> None:
    """Take the next exclusive resource of a thread's operation; begin once it has them all."""
    op, use = m[thread + at.HEAD], m[thread + at.NEXT_USE]
    stop = m[op + at.OP_WIDTH + at.EXCLUSIVE]
    if use < stop:
        resource = m[use]
        if m[resource + at.HOLDER] >= 0:
            m[thread + at.AWAITS] = resource
            _queue(m, resource, thread)
            return
        if m[thread + at.REQUESTED] < m[at.NOW]:
            m[op + at.CAUSE], m[op + at.RELEASER] = _RESOURCE, m[resource + at.LAST_HOLDER]
        m[resource + at.HOLDER], m[thread + at.AWAITS] = op, at.NONE
        m[thread + at.NEXT_USE] = use + 1
    if use + 1 < stop:
        _request(m, thread, op)  # behind those who asked for the next one before
    else:
        _begin(m, thread, op)


@compiled
def _comes_before(m: Memory, thread: int, other: int) -> bool:
    """Whether the request of *thread* is older than that of *other*, or as old and declared earlier."""
    if m[thread + at.REQUESTED] != m[other + at.REQUESTED]:
        return m[thread + at.REQUESTED] < m[other + at.REQUESTED]
    return thread < other


@compiled
def _queue(m: Memory, resource: int, thread: int) -> None:
    """Put the request of *thread* where it belongs, most often at the end."""
    end = m[resource + at.QUEUE_END]
    if end >= 0 and _comes_before(m, end, thread):
        link = end + at.NEXT_REQUEST
    else:
        link = resource + at.QUEUE
        while m[link] >= 0 and _comes_before(m, m[link], thread):
            link = m[link] + at.NEXT_REQUEST
    m[thread + at.NEXT_REQUEST] = m[link]
    m[link] = thread
    if m[thread + at.NEXT_REQUEST] < 0:
        m[resource + at.QUEUE_END] = thread


@compiled
def _release(m: Memory, op: int, held: int) -> None:
    """Free what *op* has taken: what is held as long as it takes, or else what serves at a rate."""
    for use in range(m[op + at.EXCLUSIVE], m[op + at.OP_WIDTH + at.EXCLUSIVE]):
        resource = m[use]
        if m[resource + at.HELD] != held:
            continue
        m[resource + at.HOLDER], m[resource + at.LAST_HOLDER] = at.NONE, op
        thread = m[resource + at.QUEUE]
        if thread >= 0:
            m[resource + at.QUEUE] = m[thread + at.NEXT_REQUEST]
            if m[thread + at.NEXT_REQUEST] < 0:
                m[resource + at.QUEUE_END] = at.NONE
            defer(m, START | m[thread + at.REQUESTED], thread, m[thread + at.HEAD], 0)


# From the start of an operation to its end.


@compiled
def _begin(m: Memory, thread: int, op: int) -> None:
    """Start *op*: its links serve it side by side, and beside them its own duration runs."""
    m[op + at.START], m[op + at.RANK] = m[at.NOW], m[at.STARTS]
    m[at.STARTS] += 1
    hold, first, stop = m[op + at.HOLD], m[op + at.SHARED], m[op + at.OP_WIDTH + at.SHARED]
    if first < stop:
        m[first + at.PARTS] = (stop - first) // at.TRANSFER_WIDTH + (1 if hold > 0 else 0)
        for transfer in range(first, stop, at.TRANSFER_WIDTH):
            arrive(m, transfer, op)
    if m[thread + at.PIPELINED] and not m[op + at.FLAGS] & at.IS_SYNC:
        _next(m, thread, op)
    chunks = chunks_of(m, op)
    if hold > 0:
        schedule(m, m[at.NOW] + (hold + chunks - 1) // chunks, PART, op)
    elif first == stop:
        for chunk in range(1, chunks + 1):
            _reach(m, op, chunk)


@compiled
def _own_part(m: Memory, op: int) -> None:
    """The operation's own duration has come to its next chunk."""
    along, chunk = m[op + at.ALONG], 1
    if along >= 0:
        m[along + at.HOLD_CHUNK] += 1
        chunk, chunks = m[along + at.HOLD_CHUNK], m[along + at.CHUNKS]
        if chunk < chunks:
            later = ((chunk + 1) * m[op + at.HOLD] + chunks - 1) // chunks
            schedule(m, m[op + at.START] + later, PART, op)
    _reach(m, op, chunk)


@compiled
def _reach(m: Memory, op: int, chunk: int) -> None:
    """One part of *op* has done *chunk* of its chunks; the last ends it when all parts have."""
    along, latency, first = m[op + at.ALONG], m[op + at.LATENCY], m[op + at.SHARED]
    alone = first == m[op + at.OP_WIDTH + at.SHARED]
    if along >= 0:
        m[along + at.REACHED + chunk - 1] += 1
        if not alone and m[along + at.REACHED + chunk - 1] < m[first + at.PARTS]:
            return
        if latency > 0:
            schedule(m, m[at.NOW] + latency, CHUNK_POSTS, op)
        else:
            _defer_posts(m, op, 0)
        if chunk < m[along + at.CHUNKS]:
            return
    elif not alone:
        m[first + at.PARTS] -= 1
        if m[first + at.PARTS] > 0:
            return
    _release(m, op, 0)
    if latency > 0:
        schedule(m, m[at.NOW] + latency, END, op)
    else:
        _finish(m, op)


@compiled
def _finish(m: Memory, op: int) -> None:
    m[op + at.FINISH] = m[at.NOW]
    _number_releaser(m, op)
    _release(m, op, 1)
    first, stop, thread = m[op + at.ROW], m[op + at.OP_WIDTH + at.ROW], m[op + at.THREAD]
    if first < stop and m[stop - at.ROW_WIDTH + at.ROW_CODE] == at.POST_AFTER:
        _defer_posts(m, op, 1)
    if m[thread + at.PIPELINED]:
        _settle(m, thread, op)
    if not m[thread + at.PIPELINED] or m[op + at.FLAGS] & at.IS_SYNC:
        _next(m, thread, op)
