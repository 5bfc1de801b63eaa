"""Accesses of two groups that are not ordered; see :mod:`pantile.check.conflicts`.

A kernel in the sense of :mod:`pantile.check.compiled`. A group holds accesses of one chain in its order, so
what is over before an access is a prefix of the other group, and what begins after it is a rest of it.
"""

from __future__ import annotations

from typing import Any

# Columns of p, the packed ledger, as in order_kernel.py.
CHAIN, POSITION = 2, 3

# Columns of g.
(
    PAIR_FIRST,  # by pair of groups
    PAIR_SECOND,
    GROUP_FIRST,  # by group, and one more: its members
    GROUP_CHAIN,
    MEMBER,  # operations
    FINISH,  # by operation: what must be known of FINISH_CHAIN for it to be over
    FINISH_CHAIN,
    ROW_OF,
) = range(8)

# Columns of s, and after them single numbers.
FOUND_FIRST, FOUND_SECOND, FOUND_PAIR, FOUND, CHAINS = range(5)


def run(p: Any, g: Any, clock: Any, s: Any) -> int:
    """Write the unordered pairs of members of every pair of groups; stop when there is no room for more."""
    for pair in range(g[PAIR_SECOND] - g[PAIR_FIRST]):
        a, b = g[g[PAIR_FIRST] + pair], g[g[PAIR_SECOND] + pair]
        if g[g[GROUP_CHAIN] + a] != g[g[GROUP_CHAIN] + b]:
            scan_across(p, g, clock, s, pair, a, b)
        else:
            scan_along(p, g, clock, s, pair, a, b, False)
            if a != b:
                scan_along(p, g, clock, s, pair, b, a, True)
    return int(s[FOUND])


def scan_across(p: Any, g: Any, clock: Any, s: Any, pair: int, a: int, b: int) -> None:
    """Pair members of groups of two chains."""
    begin, stop = g[g[GROUP_FIRST] + b], g[g[GROUP_FIRST] + b + 1]
    for i in range(g[g[GROUP_FIRST] + a], g[g[GROUP_FIRST] + a + 1]):
        first = g[g[MEMBER] + i]
        while begin < stop and is_over(p, g, clock, s, g[g[MEMBER] + begin], first):
            begin += 1
        for j in range(begin, stop):
            if is_over(p, g, clock, s, first, g[g[MEMBER] + j]):
                break
            note(s, pair, first, g[g[MEMBER] + j])


def scan_along(p: Any, g: Any, clock: Any, s: Any, pair: int, a: int, b: int, turned: bool) -> None:
    """Pair every member of group *a* with later ones of group *b*, of the same chain.

    What is noted has the member of the pair's first group first, which is *b* if it is *turned*.
    """
    begin, stop = g[g[GROUP_FIRST] + b], g[g[GROUP_FIRST] + b + 1]
    for i in range(g[g[GROUP_FIRST] + a], g[g[GROUP_FIRST] + a + 1]):
        first = g[g[MEMBER] + i]
        while begin < stop and p[p[POSITION] + g[g[MEMBER] + begin]] <= p[p[POSITION] + first]:
            begin += 1
        for j in range(begin, stop):
            second = g[g[MEMBER] + j]
            if is_over(p, g, clock, s, first, second):
                break
            note(s, pair, second if turned else first, first if turned else second)


def is_over(p: Any, g: Any, clock: Any, s: Any, first: int, second: int) -> bool:
    """Whether one operation is over before another one begins."""
    chain = g[g[FINISH_CHAIN] + first]
    if chain == p[p[CHAIN] + second]:
        known = 2 * p[p[POSITION] + second] + 1
    else:
        known = clock[g[g[ROW_OF] + second] * s[CHAINS] + chain]
    return bool(known >= g[g[FINISH] + first])


def note(s: Any, pair: int, first: int, second: int) -> None:
    """Write one pair of operations, if there is room."""
    found = s[FOUND]
    if found < s[FOUND_SECOND] - s[FOUND_FIRST]:
        s[s[FOUND_FIRST] + found], s[s[FOUND_SECOND] + found] = first, second
        s[s[FOUND_PAIR] + found] = pair
        s[FOUND] = found + 1
