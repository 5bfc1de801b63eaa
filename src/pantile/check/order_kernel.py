"""One pass over a program in an order that forced pairings allow; see :mod:`pantile.check.order`.

A kernel in the sense of :mod:`pantile.check.compiled`: *g* is the packed ledger, *s* the packed state, and
``g[g[COLUMN] + i]`` is row *i* of a column. What an operation's start is known to follow is a row of
*clock*: by chain, the highest index that comes before it. A chain's own clock is its position, so its
column stays 0. Operations without waits share the row of the one before them.
"""

from __future__ import annotations

from typing import Any

ADDS, TAKES, FREE, LISTS = range(4)  # as in ledger.py
TAKE, REACH = 1, 2  # as Test
EARLY, HINDERED = 1, 2
"""A wait that may pass before all that is known to come before it suffices; one that may never pass."""

# Columns of g: the fields of Ledger.
(
    FIRST,
    ORDER,
    CHAIN,
    POSITION,
    MAIN_BEFORE,
    WAIT_FIRST,
    WAIT_TEST,
    WAIT_COUNTER,
    WAIT_AMOUNT,
    WAIT_BEFORE,
    INITIAL,
    MIXED,
    LIST_FIRST,
    LIST_SUM,
    SHARED,
    SEG_CHAIN,
    SEG_FIRST,
    ENTRY_OP,
    ENTRY_INDEX,
    ENTRY_SUM,
    COVER_OP,
    COVER_INDEX,
    ENTRY_OPEN,
    SHARED_FIRST,
    SHARED_ENTRY,
    ENTRY_LIST,
    SHARED_BASE,
    ENTRY_POST,
) = range(28)

# Columns of s: the fields of Pass, and after them single numbers.
(
    AT,
    ROW,
    STACK,
    NEXT_PARKED,
    OP_PARKED,
    LIST_PARKED,
    ROW_OF,
    TOPO,
    SEEN,
    SEEN_SUM,
    SEEN_COUNT,
    LOOSE,
    UNORDERED,
    EDGE_SRC,
    EDGE_INDEX,
    EDGE_DST,
    EDGE_WAIT,
    PAIR_WAIT,
    PAIR_ENTRY,
    SURPLUS,
    OPEN_WAIT,
    NEXT_ROW,  # of clock that is free
    EDGES,  # written, and with those of the operation at hand
    NEW_EDGES,
    PAIRS,
    NEW_PAIRS,
    STACKED,  # chains on the stack
    DONE,  # operations reached
    CHAINS,
    GIVE_UP,  # whether waits are passed by
    STRICT,  # whether a wait that asks for more than is ever given holds its chain for good
) = range(31)


def run(g: Any, s: Any, clock: Any) -> int:
    """Go on until every chain has ended or waits; return how many operations have been reached."""
    while s[STACKED] > 0:
        s[STACKED] -= 1
        advance(g, s, clock, s[s[STACK] + s[STACKED]])
    return int(s[DONE])


def advance(g: Any, s: Any, clock: Any, c: int) -> None:
    """Reach operations of chain *c* until one must wait."""
    stop = g[g[FIRST] + c + 1]
    while s[s[AT] + c] < stop:
        op = g[g[ORDER] + s[s[AT] + c]]
        if not enter(g, s, clock, op):
            return
        reach(g, s, clock, op)


def enter(g: Any, s: Any, clock: Any, op: int) -> bool:
    """Make the row of an operation, or park its chain and return false."""
    main, c = g[g[MAIN_BEFORE] + op], g[g[CHAIN] + op]
    waits = g[g[WAIT_FIRST] + op] < g[g[WAIT_FIRST] + op + 1] and not s[GIVE_UP]
    if main < 0 and not waits:
        return True
    if main >= 0 and s[s[ROW_OF] + main] < 0:
        park_on_op(s, c, main)
        return False
    width = s[CHAINS]
    work, current = s[NEXT_ROW] * width, s[s[ROW] + c] * width
    for d in range(width):
        clock[work + d] = clock[current + d]
    changed = 0
    if main >= 0:
        changed = join(g, s, clock, c, work, main, 2 * g[g[POSITION] + main] + 2)
    if waits:
        outcome = settle(g, s, clock, op, work)
        if outcome < 0:
            return False
        changed += outcome
    if changed:
        s[s[ROW] + c] = s[NEXT_ROW]
        s[NEXT_ROW] += 1
    return True


def reach(g: Any, s: Any, clock: Any, op: int) -> None:
    """Note that an operation has been reached, and let go on what waits for it."""
    c = g[g[CHAIN] + op]
    s[s[ROW_OF] + op] = s[s[ROW] + c]
    s[s[TOPO] + s[DONE]] = op
    s[DONE] += 1
    s[s[AT] + c] += 1
    s[s[OP_PARKED] + op] = wake(s, s[s[OP_PARKED] + op])
    for at in range(g[g[SHARED_FIRST] + op], g[g[SHARED_FIRST] + op + 1]):
        see(g, s, clock, g[g[SHARED_ENTRY] + at])


def wake(s: Any, c: int) -> int:
    """Put parked chains from *c* on onto the stack; return -1, for none is parked any more."""
    while c >= 0:
        s[s[STACK] + s[STACKED]] = c
        s[STACKED] += 1
        c = s[s[NEXT_PARKED] + c]
    return -1


def see(g: Any, s: Any, clock: Any, entry: int) -> None:
    """Note an entry of a shared list as it comes, and whether the one before it comes before it."""
    which = g[g[ENTRY_LIST] + entry]
    shared = g[g[SHARED] + which]
    base, count = g[g[SHARED_BASE] + shared], s[s[SEEN_COUNT] + shared]
    amount = g[g[ENTRY_SUM] + entry]
    if entry > 0 and g[g[ENTRY_LIST] + entry - 1] == which and follows_in_segment(g, entry):
        amount -= g[g[ENTRY_SUM] + entry - 1]
    if count:
        before = s[s[SEEN] + base + count - 1]
        a, b = g[g[ENTRY_OP] + before], g[g[ENTRY_OP] + entry]
        ordered = g[g[CHAIN] + a] == g[g[CHAIN] + b]
        if not ordered:
            row = s[s[ROW_OF] + b] * s[CHAINS]
            ordered = clock[row + g[g[CHAIN] + a]] >= g[g[ENTRY_INDEX] + before]
        if not ordered:
            s[s[UNORDERED] + shared] = 1
        amount += s[s[SEEN_SUM] + base + count - 1]
    s[s[SEEN] + base + count] = entry
    s[s[SEEN_SUM] + base + count] = amount
    s[s[SEEN_COUNT] + shared] = count + 1
    s[s[LIST_PARKED] + shared] = wake(s, s[s[LIST_PARKED] + shared])


def follows_in_segment(g: Any, entry: int) -> bool:
    """Whether an entry has another of its own chain before it."""
    return bool(g[g[CHAIN] + g[g[ENTRY_OP] + entry - 1]] == g[g[CHAIN] + g[g[ENTRY_OP] + entry]])


def settle(g: Any, s: Any, clock: Any, op: int, work: int) -> int:
    """Join all that the waits of an operation force to come before it; return -1 if its chain was parked.

    What one wait forces may bring along what makes another, or itself, force more.
    """
    changed, again = 0, 1
    while again:
        again = 0
        s[NEW_EDGES] = s[EDGES]
        s[NEW_PAIRS] = s[PAIRS]
        for wait in range(g[g[WAIT_FIRST] + op], g[g[WAIT_FIRST] + op + 1]):
            outcome = gather(g, s, clock, op, wait, work)
            if outcome < 0:
                return -1
            again += outcome
        changed += again
    s[EDGES] = s[NEW_EDGES]
    s[PAIRS] = s[NEW_PAIRS]
    return changed


def gather(g: Any, s: Any, clock: Any, op: int, wait: int, work: int) -> int:
    """Join what one wait forces; return how much that changed, or -1 if the chain was parked."""
    counter = g[g[WAIT_COUNTER] + wait]
    adds = LISTS * counter + ADDS
    s[s[OPEN_WAIT] + wait] = HINDERED if g[g[MIXED] + counter] else 0
    if g[g[WAIT_TEST] + wait] == REACH:
        return require(g, s, clock, op, wait, work, adds, g[g[WAIT_AMOUNT] + wait])
    if g[g[WAIT_TEST] + wait] != TAKE:
        return gather_zero(g, s, clock, op, wait, work)
    need = g[g[WAIT_AMOUNT] + wait] + g[g[WAIT_BEFORE] + wait] - g[g[INITIAL] + counter]
    for seg in range(g[g[LIST_FIRST] + adds + 1], g[g[LIST_FIRST] + adds + 2]):  # what others take
        if g[g[SEG_CHAIN] + seg] != g[g[CHAIN] + op]:
            last = last_known(g, clock, op, work, seg)
            if last >= g[g[SEG_FIRST] + seg]:
                need += g[g[ENTRY_SUM] + last]
            if last + 1 < g[g[SEG_FIRST] + seg + 1]:
                add_pair(s, wait, last + 1)
    return require(g, s, clock, op, wait, work, adds, need)


def gather_zero(g: Any, s: Any, clock: Any, op: int, wait: int, work: int) -> int:
    """Join what closes all that is known to have been opened."""
    counter = g[g[WAIT_COUNTER] + wait]
    if g[g[MIXED] + counter]:
        return 0
    need, changed = g[g[INITIAL] + counter], 0
    adds = LISTS * counter + ADDS
    for seg in range(g[g[LIST_FIRST] + adds], g[g[LIST_FIRST] + adds + 1]):
        last = last_known(g, clock, op, work, seg)
        if g[g[SEG_CHAIN] + seg] != g[g[CHAIN] + op] and last + 1 < g[g[SEG_FIRST] + seg + 1]:
            add_pair(s, wait, last + 1)
        if last >= g[g[SEG_FIRST] + seg]:
            need += g[g[ENTRY_OPEN] + last]
            if g[g[COVER_OP] + last] >= 0:
                outcome = follow(g, s, clock, op, wait, work, g[g[COVER_OP] + last], g[g[COVER_INDEX] + last])
                if outcome < 0:
                    return -1
                changed += outcome
    outcome = require(g, s, clock, op, wait, work, adds + FREE, need)
    watch_closing(g, s, clock, op, wait, work, adds + FREE, need)
    return -1 if outcome < 0 else changed + outcome


def watch_closing(g: Any, s: Any, clock: Any, op: int, wait: int, work: int, which: int, need: int) -> None:
    """Note what would close more than was opened if it came before a wait for zero."""
    for seg in range(g[g[LIST_FIRST] + which], g[g[LIST_FIRST] + which + 1]):
        last = last_known(g, clock, op, work, seg)
        if last >= g[g[SEG_FIRST] + seg]:
            need -= g[g[ENTRY_SUM] + last]
        if g[g[SEG_CHAIN] + seg] != g[g[CHAIN] + op] and last + 1 < g[g[SEG_FIRST] + seg + 1]:
            add_pair(s, wait, last + 1)
    if need < 0:
        s[s[OPEN_WAIT] + wait] = HINDERED


def last_known(g: Any, clock: Any, op: int, work: int, seg: int) -> int:
    """Return the last entry of a segment that comes before *op*, or one less than its first."""
    chain = g[g[SEG_CHAIN] + seg]
    known = 2 * g[g[POSITION] + op] if chain == g[g[CHAIN] + op] else clock[work + chain]
    low, high = g[g[SEG_FIRST] + seg], g[g[SEG_FIRST] + seg + 1]
    while low < high:
        middle = (low + high) // 2
        if g[g[ENTRY_INDEX] + middle] <= known:
            low = middle + 1
        else:
            high = middle
    return int(low - 1)


def require(g: Any, s: Any, clock: Any, op: int, wait: int, work: int, which: int, need: int) -> int:
    """Join the entries of a list without which *need* cannot be met."""
    if need <= 0:
        return 0
    if g[g[LIST_SUM] + which] < need:
        s[s[SURPLUS] + wait] = 1
        return int(-s[STRICT])
    first, stop = g[g[LIST_FIRST] + which], g[g[LIST_FIRST] + which + 1]
    if stop - first == 1:
        return follow_entry(g, s, clock, op, wait, work, nth(g, first, need))
    shared = g[g[SHARED] + which]
    if s[s[LOOSE] + shared]:
        return require_each(g, s, clock, op, wait, work, which, need)
    entry = nth_seen(g, s, shared, need)
    if entry < 0:
        c = g[g[CHAIN] + op]
        s[s[NEXT_PARKED] + c] = s[s[LIST_PARKED] + shared]
        s[s[LIST_PARKED] + shared] = c
        return -1
    return follow_entry(g, s, clock, op, wait, work, entry)


def require_each(g: Any, s: Any, clock: Any, op: int, wait: int, work: int, which: int, need: int) -> int:
    """Join, chain by chain, what all other chains together cannot give."""
    changed, known = 0, 0
    for seg in range(g[g[LIST_FIRST] + which], g[g[LIST_FIRST] + which + 1]):
        others = g[g[LIST_SUM] + which] - g[g[ENTRY_SUM] + g[g[SEG_FIRST] + seg + 1] - 1]
        if need > others:
            entry = nth(g, seg, need - others)
            outcome = follow_entry(g, s, clock, op, wait, work, entry)
            if outcome < 0:
                return -1
            changed += outcome
        last = last_known(g, clock, op, work, seg)
        if last >= g[g[SEG_FIRST] + seg]:
            known += g[g[ENTRY_SUM] + last]
    if known < need and s[s[OPEN_WAIT] + wait] == 0:
        s[s[OPEN_WAIT] + wait] = EARLY
    return changed


def nth(g: Any, seg: int, need: int) -> int:
    """Return the entry of a segment at which its sum comes to *need*."""
    low, high = g[g[SEG_FIRST] + seg], g[g[SEG_FIRST] + seg + 1] - 1
    guess = low + need - 1  # right where every amount is 1
    if (
        guess <= high
        and g[g[ENTRY_SUM] + guess] == need
        and (guess == low or g[g[ENTRY_SUM] + guess - 1] < need)
    ):
        return int(guess)
    while low < high:
        middle = (low + high) // 2
        if g[g[ENTRY_SUM] + middle] >= need:
            high = middle
        else:
            low = middle + 1
    return int(low)


def nth_seen(g: Any, s: Any, shared: int, need: int) -> int:
    """Return the entry at which a shared list's sum came to *need*, or -1 if it has not."""
    base = g[g[SHARED_BASE] + shared]
    low, high = base, base + s[s[SEEN_COUNT] + shared]
    while low < high:
        middle = (low + high) // 2
        if s[s[SEEN_SUM] + middle] >= need:
            high = middle
        else:
            low = middle + 1
    return int(s[s[SEEN] + low]) if low < base + s[s[SEEN_COUNT] + shared] else -1


def follow_entry(g: Any, s: Any, clock: Any, op: int, wait: int, work: int, entry: int) -> int:
    """Join the post of an entry, or park on it and return -1."""
    src = g[g[ENTRY_OP] + entry]
    return follow(g, s, clock, op, wait, work, src, g[g[ENTRY_POST] + entry])


def follow(g: Any, s: Any, clock: Any, op: int, wait: int, work: int, src: int, index: int) -> int:
    """Join the post at *index* of operation *src*, or park on it and return -1."""
    c, edge = g[g[CHAIN] + op], s[NEW_EDGES]
    if s[s[ROW_OF] + src] < 0:
        park_on_op(s, c, src)
        return -1
    s[s[EDGE_SRC] + edge], s[s[EDGE_INDEX] + edge] = src, index
    s[s[EDGE_DST] + edge], s[s[EDGE_WAIT] + edge] = op, wait
    s[NEW_EDGES] = edge + 1
    return join(g, s, clock, c, work, src, index)


def join(g: Any, s: Any, clock: Any, c: int, work: int, src: int, index: int) -> int:
    """Add to the row at *work* all that comes before an event of *src*; return whether that was news."""
    width, other = s[CHAINS], g[g[CHAIN] + src]
    base, changed = s[s[ROW_OF] + src] * width, 0
    for d in range(width):
        if clock[base + d] > clock[work + d] and d != c:
            clock[work + d] = clock[base + d]
            changed = 1
    if other != c and index > clock[work + other]:
        clock[work + other] = index
        changed = 1
    return changed


def park_on_op(s: Any, c: int, op: int) -> None:
    """Let chain *c* wait until *op* has been reached."""
    s[s[NEXT_PARKED] + c] = s[s[OP_PARKED] + op]
    s[s[OP_PARKED] + op] = c


def add_pair(s: Any, wait: int, entry: int) -> None:
    """Note an entry that would disturb a wait if it came before it."""
    pair = s[NEW_PAIRS]
    s[s[PAIR_WAIT] + pair], s[s[PAIR_ENTRY] + pair] = wait, entry
    s[NEW_PAIRS] = pair + 1
