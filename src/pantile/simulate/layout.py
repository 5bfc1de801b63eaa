"""Where everything of a run stands in the compiled engine's memory: one array of 64-bit integers.

One array, because passing several to every function costs more than the work. Records of one kind have one
width; a record is known by the address of its first field, and fields are offsets from it. Addresses rise
with positions, so that they decide ties just as positions do.
"""

from __future__ import annotations

# The head of the memory.
(
    BEGUN,
    NOW,
    STARTS,  # operations started so far
    EVENTS,  # entries in the heap of events
    PENDING,  # entries in the heap of what is pending at this instant
    FIRST_RANK,  # of what is pending first of all, which is kept outside of the heap; NONE if nothing is
    FIRST_CODE,
    FAULT_OP,
    FAULT_COUNTER,
    FAULT_VALUE,
    FAULT_LIMIT,
    STAMP,  # of the sources that were compiled
    SPREAD,  # operations that post along
    THREADS,  # address of the first thread; likewise below
    THREADS_END,
    OPS,
    COUNTERS,
    RESOURCES,
    ARBITERS,
    EVENT_HEAP,
    PENDING_HEAP,
    HEAD_WIDTH,
) = range(22)

# A thread; HEAD is the operation that its turn has come to.
(
    POSITION,  # address of the entry that names its next operation; STOP ends them
    STOP,
    PREFIX,  # entry of the first operation of a pipelined thread that has not finished
    HEAD,
    BEFORE,  # operation that let the head come
    NEXT_ROW,  # of the head's waits
    WATCHED,  # counter that the head waits for
    WOKEN_BY,
    NEXT_WAITER,  # thread behind this one in the list of that counter
    NEXT_USE,  # of the head's exclusive resources
    REQUESTED,  # when the head asked for that resource
    AWAITS,  # the resource, if it is taken
    NEXT_REQUEST,  # thread behind this one in its queue
    PIPELINED,
    ARBITER,
    CANDIDATE,  # whether the head waits for the arbiter
    THREAD_WIDTH,
) = range(17)

# An operation. ROW, EXCLUSIVE and SHARED are addresses; those of the next operation end them.
(
    ROW,
    EXCLUSIVE,
    SHARED,
    HOLD,  # ticks that it takes by itself
    LATENCY,
    THREAD,
    FLAGS,
    ALONG,
    ASKED,
    READY,
    ISSUE,
    START,
    FINISH,
    RELEASER,
    CAUSE,
    RANK,  # among all starts
    OP_WIDTH,
) = range(17)
IS_SYNC, ONLY_POSTS, HAS_USES = 1, 2, 4
"""Bits of FLAGS."""
FIRST_TIME = ASKED
"""The fields from this one on are the result, in the order of ``TIMES``."""

# A wait or a post; the waits of an operation come first, and LAST ends a step of them.
ROW_COUNTER, ROW_CODE, ROW_AMOUNT, ROW_LAST, ROW_WIDTH = range(5)
CODE_TAKE, CODE_REACH, CODE_ZERO, POST_BEFORE, POST_ALONG, POST_AFTER = range(6)
"""Values of CODE: waits come below POST_BEFORE."""

# Posts along an operation: chunks, the next chunk of its own duration, and counts of parts that reached each.
CHUNKS, HOLD_CHUNK, REACHED = range(3)

VALUE, POSTED, CAPACITY, OVERFLOW, WAITERS, COUNTER_WIDTH = range(6)

# A resource; the fields from NUMERATOR on belong to shared ones: ticks of a byte in lowest terms, and the
# queue of transfers.
(
    HOLDER,
    LAST_HOLDER,
    QUEUE,
    QUEUE_END,
    HELD,  # whether it is held as long as the operation takes
    NUMERATOR,
    DENOMINATOR,
    SAFE,  # bytes up to which their product with NUMERATOR stays within 64 bits
    QUANTUM,
    FIRST,
    LAST,
    BEGAN,
    EVENT,  # when the next goal is reached
    RESOURCE_WIDTH,
) = range(14)

# A transfer on one shared link. PARTS, of an operation's first transfer, counts what is still under way.
LINK, AMOUNT, BEHIND, DONE, GOAL, CHUNK, OWNER, PARTS, TRANSFER_WIDTH = range(9)

(
    POLICY,
    ISSUES,
    TICKS,
    TICK,
    ISSUED,
    LAST_THREAD,
    LAST_OP,
    AWAKE,
    WAITING,
    ARBITER_WIDTH,
) = range(10)

NONE = -1
"""The address of nothing."""
