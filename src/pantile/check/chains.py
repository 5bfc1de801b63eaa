"""Chains: what the threads of a literal program order by themselves.

Starts of the operations of a thread follow one another. A chain numbers these events: operation *q* of a
chain starts at index 2q + 1 and ends at 2q + 2, and knowing one index of a chain means knowing all below.

* A thread that completes in order is one chain.
* In a thread that completes pipelined an end is known only through what waits for it: a wait holds up
  what follows, and a post starts after all earlier ends. Its posts hold up nothing, so they form a second
  chain beside the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pantile.program.tables import Completes, Kind, Test

if TYPE_CHECKING:
    from pantile.program.program import Program

NEVER = np.int64(1) << 40
"""Index of an event that nothing waits for."""


@dataclass(frozen=True, slots=True, eq=False)
class Chains:
    """The chains of a program; columns are by operation unless said otherwise.

    Attributes:
        count: How many chains.
        thread: The operation's thread, as a position in the thread table.
        chain: The operation's chain.
        position: Its place there.
        finish_chain: Chain in which its end is marked: who knows *finish* there knows that it ended.
        finish: That index, or :data:`NEVER`.
        first: By chain, and one more: where its operations begin in *order*.
        order: All operations, chain by chain.
        main_before: For a post of a pipelined thread, the operation of the main chain that it follows; -1
            for every other.
        pipelined: Whether the thread completes pipelined.
        thread_of_chain: By chain: its thread.
    """

    count: int
    thread: np.ndarray
    chain: np.ndarray
    position: np.ndarray
    finish_chain: np.ndarray
    finish: np.ndarray
    first: np.ndarray
    order: np.ndarray
    main_before: np.ndarray
    pipelined: np.ndarray
    thread_of_chain: np.ndarray

    @property
    def start(self) -> np.ndarray:
        """Index of every operation's start in its chain."""
        return 2 * self.position + 1

    def __len__(self) -> int:
        return len(self.chain)


def literal_tables(program: Program) -> dict[str, np.ndarray]:
    """Return the rows of a literal program without copying them; of any other, unrolled."""
    if len(program.pieces) == 1 and not program.pieces[0].loops:
        return program.pieces[0].tables
    return program.tables()


def chains_of(tables: dict[str, np.ndarray], *, posts_hold_up: bool = False) -> Chains:
    """Return the chains of a literal program.

    Args:
        tables: Its tables.
        posts_hold_up: Read a pipelined thread so that what follows a post starts after it.
    """
    ops, threads = tables["op"], tables["thread"]
    by_id = np.argsort(threads["id"], kind="stable")
    thread = by_id[np.searchsorted(threads["id"][by_id], ops["thread"])] if len(ops) else np.zeros(0, int)
    is_pipelined = threads["completes"] == Completes.PIPELINED
    pipelined = is_pipelined[thread]
    posts = only_posts(tables) if is_pipelined.any() else np.zeros(len(ops), bool)
    beside = pipelined & posts & (not posts_hold_up)
    chain = thread.astype(np.int64)
    second = np.full(len(threads), -1)
    used = np.flatnonzero(is_pipelined & (np.bincount(thread, beside, len(threads)) > 0))
    second[used] = len(threads) + np.arange(len(used))
    chain[beside] = second[thread[beside]]
    count = len(threads) + len(used)
    order = np.argsort(chain.astype(np.uint16) if count < 1 << 16 else chain, kind="stable")
    first = np.searchsorted(chain[order], np.arange(count + 1))
    position = np.empty(len(ops), np.int64)
    position[order] = np.arange(len(ops)) - first[chain[order]]
    finish_chain, finish, main_before = chain.copy(), 2 * position + 2, np.full(len(ops), -1)
    for each in np.flatnonzero(is_pipelined):
        mine = np.flatnonzero(thread == each)
        holds = posts[mine] if posts_hold_up else beside[mine]
        waits = (ops["kind"][mine] == Kind.SYNC) & ~posts[mine]
        _mark_ends(mine, holds, waits, (chain, position, finish_chain, finish))
        if not posts_hold_up:
            _follow_main(mine, holds, main_before)
    owner = np.concatenate([np.arange(len(threads)), used])
    return Chains(
        count, thread, chain, position, finish_chain, finish, first, order, main_before, pipelined, owner
    )


def only_posts(tables: dict[str, np.ndarray]) -> np.ndarray:
    """Whether an operation is a synchronisation that posts and waits for nothing."""
    ops, sync = tables["op"], tables["sync"]
    posts, waits = np.zeros(len(ops), bool), np.zeros(len(ops), bool)
    posts[sync["op"][sync["test"] == Test.POST]] = True
    waits[sync["op"][sync["test"] != Test.POST]] = True
    return np.asarray((ops["kind"] == Kind.SYNC) & posts & ~waits)


def _mark_ends(
    mine: np.ndarray, holds: np.ndarray, waits: np.ndarray, columns: tuple[np.ndarray, ...]
) -> None:
    """Mark the end of an ordinary operation of a pipelined thread by the start of the next post."""
    chain, position, finish_chain, finish = columns
    places = np.arange(len(mine))
    following = np.where(holds, places, len(mine))[::-1]
    following = np.minimum.accumulate(following)[::-1]  # of a post, itself
    ordinary = ~holds & ~waits
    marked = ordinary & (following < len(mine))
    post = mine[following[marked]]
    finish_chain[mine[marked]], finish[mine[marked]] = chain[post], 2 * position[post] + 1
    finish[mine[ordinary & ~marked]] = NEVER


def _follow_main(mine: np.ndarray, beside: np.ndarray, main_before: np.ndarray) -> None:
    """Note, for every post, the last operation of the main chain before it."""
    last = np.maximum.accumulate(np.where(beside, -1, np.arange(len(mine))))[beside]
    main_before[mine[beside]] = np.where(last >= 0, mine[last], -1)
