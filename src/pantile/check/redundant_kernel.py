"""Which waits order nothing that is not ordered without them; see :mod:`pantile.check.redundant`.

A kernel in the sense of :mod:`pantile.check.compiled`.
"""

from __future__ import annotations

from typing import Any

# Columns of p, the packed ledger, as in order_kernel.py.
FIRST, ORDER, CHAIN, POSITION = range(4)

# Columns of g.
(
    WAITS,  # operations to judge
    FLAGS,  # by operation
    ROW_OF,
    EDGE_FIRST,  # by operation, and one more: the pairings it waits for
    EDGE_SRC,
    EDGE_INDEX,
) = range(6)

# Bits of FLAGS: it only waits; only posts; leaves a barrier; is a post that marks the end of something;
# stands beside its thread.
PASSIVE, MERE, MEETS, MARKS, BESIDE = 1, 2, 4, 8, 16

# Columns of s, and after them single numbers.
IDLE, CHAINS = range(2)


def run(p: Any, g: Any, clock: Any, s: Any, work: Any) -> int:
    """Mark, for every operation to be judged, whether it orders nothing."""
    for at in range(g[FLAGS] - g[WAITS]):
        s[s[IDLE] + at] = judge(p, g, clock, s, work, g[g[WAITS] + at])
    return 0


def judge(p: Any, g: Any, clock: Any, s: Any, work: Any, op: int) -> int:
    """Return 1 if all that an operation waits for comes before what follows it anyway.

    What is last in its thread drains a flag; a barrier there is of no use.
    """
    meets = 1 if g[g[FLAGS] + op] & MEETS else 0
    if not gather(p, g, clock, s, work, op):
        return meets
    for edge in range(g[g[EDGE_FIRST] + op], g[g[EDGE_FIRST] + op + 1]):
        src = g[g[EDGE_SRC] + edge]
        if meets:
            needless = brought(p, g, clock, s, work, op, src)
        elif primes(p, g, clock, s, src):
            needless = False
        else:
            c = p[p[CHAIN] + src]
            needless = c == p[p[CHAIN] + op] or work[c] >= g[g[EDGE_INDEX] + edge]
        if not needless:
            return 0
    return 1


def primes(p: Any, g: Any, clock: Any, s: Any, src: int) -> bool:
    """Whether nothing at all comes before a post, which is there for the count."""
    width, base = s[CHAINS], g[g[ROW_OF] + src] * s[CHAINS]
    for d in range(width):
        if clock[base + d] > 0:
            return False
    return brings(p, g, src) == 0


def brings(p: Any, g: Any, src: int) -> int:
    """Return the index of the last end in its chain that a post brings.

    In a thread that completes in order that is the end of what does more than wait or post; what waits bring
    is in the clocks. Beside a pipelined thread it is the start of the last post that an end is marked by,
    which may be the post itself.
    """
    at = p[p[POSITION] + src]
    base = p[p[FIRST] + p[p[CHAIN] + src]]
    if g[g[FLAGS] + src] & BESIDE:
        while at >= 0 and not g[g[FLAGS] + p[p[ORDER] + base + at]] & MARKS:
            at -= 1
        return int(2 * at + 1) if at >= 0 else 0
    at -= 1
    while at >= 0 and g[g[FLAGS] + p[p[ORDER] + base + at]] & (MERE | PASSIVE):
        at -= 1
    return int(2 * at + 2)


def brought(p: Any, g: Any, clock: Any, s: Any, work: Any, op: int, src: int) -> bool:
    """Whether all that comes before a post is known, whatever became of the post itself."""
    width, base = s[CHAINS], g[g[ROW_OF] + src] * s[CHAINS]
    for d in range(width):
        wanted = brings(p, g, src) if d == p[p[CHAIN] + src] else clock[base + d]
        if d != p[p[CHAIN] + op] and work[d] < wanted:
            return False
    return True


def gather(p: Any, g: Any, clock: Any, s: Any, work: Any, op: int) -> bool:
    """Write what the next operation that is not passive knows without *op*; return whether there is one."""
    c, width = p[p[CHAIN] + op], s[CHAINS]
    start, stop = p[p[FIRST] + c], p[p[FIRST] + c + 1]
    at = start + p[p[POSITION] + op]
    for d in range(width):
        work[d] = clock[g[g[ROW_OF] + p[p[ORDER] + at - 1]] * width + d] if at > start else 0
    while at + 1 < stop:
        at += 1
        other = p[p[ORDER] + at]
        for edge in range(g[g[EDGE_FIRST] + other], g[g[EDGE_FIRST] + other + 1]):
            add(p, g, clock, s, work, op, edge)
        if not g[g[FLAGS] + other] & PASSIVE:
            return True
    return False


def add(p: Any, g: Any, clock: Any, s: Any, work: Any, op: int, edge: int) -> None:
    """Add what a pairing brings, unless *op* waits for the very same post, or comes before it."""
    src, index, width = g[g[EDGE_SRC] + edge], g[g[EDGE_INDEX] + edge], s[CHAINS]
    if clock[g[g[ROW_OF] + src] * width + p[p[CHAIN] + op]] > 2 * p[p[POSITION] + op]:
        return
    for mine in range(g[g[EDGE_FIRST] + op], g[g[EDGE_FIRST] + op + 1]):
        if g[g[EDGE_SRC] + mine] == src:
            return
    base = g[g[ROW_OF] + src] * width
    for d in range(width):
        if clock[base + d] > work[d]:
            work[d] = clock[base + d]
    if index > work[p[p[CHAIN] + src]]:
        work[p[p[CHAIN] + src]] = index
