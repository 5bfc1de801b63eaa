"""Happens-before of a literal program: which operation is over before which begins, under every timing.

Nodes are the start and the end of every operation. Six kinds of edges order them: an operation's start and
its end; the thread; the forced pairings of take, reach and zero; and barriers, which are pairings too. What
is forced is what no execution can do without:

* a take needs as many posts as all takes ordered before it, and itself, use up beyond the initial value;
* a wait to reach *v* needs posts of *v*;
* a wait for zero needs the close of all that is ordered before it to have been opened.

Where the posts of a counter follow one another these are the first ones; where they do not, only what
all other threads together cannot give is forced. The pass takes posts in the order in which it reaches them,
checks that each follows the one before, and starts over without that if it finds otherwise. What remains
open is listed: a program without open waits runs, in every order that these edges allow, to its end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pantile.check.chains import Chains, chains_of, literal_tables
from pantile.check.compiled import COMPILED_FROM, pack
from pantile.check.ledger import ADDS, LISTS, TAKES, Ledger, SyncRows, ledger_of, posts_of_their_own
from pantile.check.order_kernel import DONE, EDGES, HINDERED, NEXT_ROW, PAIRS, STRICT
from pantile.check.order_pass import Pass, advance, edges_of, fresh, give_up, never_ordered
from pantile.program.tables import Test

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.program.program import Program


@dataclass(frozen=True, eq=False)
class Order:
    """Happens-before of one program.

    Attributes:
        tables: The program's tables.
        chains: What its threads order by themselves.
        ledger: What each counter is given and asked.
        packed: The same, packed for kernels.
        sync: Rows of the synchronisation table, by wait and by entry of the ledger.
        row_of: By operation: its row of *clock*.
        clock: By row and chain: the highest index known to come before; see :mod:`pantile.check.chains`.
        topo: All operations in an order that happens-before allows; those that are blocked come last.
        blocked: By operation: whether it waits, directly or not, for a post that waits for it.
        surplus: By wait: whether more is asked of its counter than is ever given.
        reached: By operation: whether it ever starts.
        edges: All forced pairings, rows of :data:`~pantile.check.order_pass.EDGE`.
        open_waits: By wait: whether another order of events could hinder it, or let it pass sooner.
        hindered: By wait: whether one could hinder it.
        disturbing: Pairs (wait, entry) of which that is so because of one entry.
        posts_hold_up: Whether what follows a post in a pipelined thread was taken to start after it.
    """

    tables: dict[str, np.ndarray]
    chains: Chains
    ledger: Ledger
    packed: np.ndarray
    sync: SyncRows
    row_of: np.ndarray
    clock: np.ndarray
    topo: np.ndarray
    blocked: np.ndarray
    surplus: np.ndarray
    reached: np.ndarray
    edges: np.ndarray
    open_waits: np.ndarray
    hindered: np.ndarray
    disturbing: np.ndarray
    posts_hold_up: bool

    @cached_property
    def exact(self) -> bool:
        """Whether nothing is open: two operations that are not ordered can then run in either order."""
        return not self.open_waits.any()

    @property
    def heads(self) -> np.ndarray:
        """The operation at which each chain comes to a stop before its end."""
        chains = self.chains
        count = np.add.reduceat(np.append(self.reached[chains.order], 0), chains.first[:-1])
        count[np.diff(chains.first) == 0] = 0
        at = chains.first[:-1] + count
        return np.asarray(chains.order[at[at < chains.first[1:]]])

    @cached_property
    def stuck(self) -> bool:
        """Whether some operation never starts, whatever the timing."""
        return bool(self.blocked.any() or self.surplus.any())

    @cached_property
    def _own_posts(self) -> np.ndarray:
        return posts_of_their_own(self.tables, self.chains)

    def before(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return whether the end of each *first* operation comes before the start of each *second*."""
        chains = self.chains
        first, second = np.broadcast_arrays(np.asarray(first), np.asarray(second))
        found = self.knows(second, chains.finish_chain[first], chains.finish[first])
        own = np.nonzero(~found & self._own_posts[first])
        if len(own[0]):
            found[own] = self._through_own_posts(first[own], second[own])
        return found

    @cached_property
    def _own_edges(self) -> np.ndarray:
        """Pairings of posts at an operation's own end, by operation."""
        ends: np.ndarray = self.edges[self.edges["index"] == 2 * self.chains.position[self.edges["src"]] + 2]
        return np.asarray(ends[np.argsort(ends["src"], kind="stable")])

    def _through_own_posts(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return whether what waits for the own end of each *first* starts before each *second*."""
        edges = self._own_edges
        begin, end = (np.searchsorted(edges["src"], first, side) for side in ("left", "right"))
        counts = end - begin
        which = np.repeat(np.arange(len(first)), counts)
        out = edges["dst"][np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts - begin, counts)]
        found = np.zeros(len(first), bool)
        found[which[self.started_before(out, second[which])]] = True
        return found

    def started_before(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return whether the start of each *first* operation comes before the start of each *second*."""
        return self.knows(second, self.chains.chain[first], 2 * self.chains.position[first] + 1)

    def knows(self, op: np.ndarray, chain: np.ndarray, index: np.ndarray) -> np.ndarray:
        """Return whether event *index* of *chain* is, or comes before, the start of each operation *op*."""
        own = self.chains.chain[op] == chain
        known = np.where(own, 2 * self.chains.position[op] + 1, self.clock[self.row_of[op], chain])
        return np.asarray(known >= index)


def happens_before(
    program: Program,
    *,
    posts_hold_up: bool = False,
    compiled: bool | None = None,
    on_compile: Callable[[], None] = lambda: None,
) -> Order:
    """Return the happens-before of a literal program.

    Args:
        program: What runs.
        posts_hold_up: In threads that complete pipelined, take what follows a post to start after it.
        compiled: Whether to use the compiled pass; by default, only where the program is large.
        on_compile: Called before anything is compiled.
    """
    tables = literal_tables(program)
    chains = chains_of(tables, posts_hold_up=posts_hold_up)
    ledger, sync = ledger_of(tables, chains)
    given, ledger = pack(ledger)
    clocks = len(chains) * chains.count // 50  # of many threads, clocks are long
    fast = max(len(chains), clocks) >= COMPILED_FROM if compiled is None else compiled
    state, columns, clock = _passed(tables, chains, (given, ledger), fast, on_compile)
    blocked, pairs = columns.row_of < 0, int(state[PAIRS])
    if state[DONE] < len(chains):
        give_up(ledger, state, columns)
        advance(given, state, clock, fast, on_compile)
    reached = ~blocked
    if columns.surplus.any():
        strict, its, room = fresh(chains, ledger, columns.loose)
        strict[STRICT] = 1
        advance(given, strict, room, fast, on_compile)
        reached = its.row_of >= 0
    order = Order(
        tables=tables,
        chains=chains,
        ledger=ledger,
        packed=given,
        sync=sync,
        row_of=columns.row_of,
        clock=clock[: state[NEXT_ROW] * chains.count].reshape(state[NEXT_ROW], chains.count),
        topo=columns.topo,
        blocked=blocked,
        surplus=columns.surplus.astype(bool),
        reached=reached,
        edges=edges_of(columns, int(state[EDGES])),
        open_waits=columns.open_wait > 0,
        hindered=columns.open_wait == HINDERED,
        disturbing=np.zeros((0, 2), np.int64),
        posts_hold_up=posts_hold_up,
    )
    return _with_open_pairs(order, np.column_stack([columns.pair_wait[:pairs], columns.pair_entry[:pairs]]))


def _passed(
    tables: dict[str, np.ndarray],
    chains: Chains,
    packed: tuple[np.ndarray, Ledger],
    fast: bool,
    on_compile: Callable[[], None],
) -> tuple[np.ndarray, Pass, np.ndarray]:
    """Return the state after a pass that took no posts for ordered that are not, as *fresh* does."""
    given, ledger = packed
    loose = never_ordered(tables, chains, ledger)
    while True:
        state, columns, clock = fresh(chains, ledger, loose)
        advance(given, state, clock, fast, on_compile)
        if not (columns.unordered > loose).any():
            return state, columns, clock
        loose = np.maximum(loose, columns.unordered)


def _with_open_pairs(order: Order, pairs: np.ndarray) -> Order:
    """Return *order* with the waits marked that an entry disturbs which need not come after them.

    Others that take from the same counter disturb a take only if there is not enough for all.
    """
    if not len(pairs):
        return order
    ledger, sync = order.ledger, order.sync
    wait_op, entry_op = sync.row["op"][sync.wait_row[pairs[:, 0]]], ledger.entry_op[pairs[:, 1]]
    loose = ~order.started_before(wait_op, entry_op)
    pairs = pairs[loose]
    takes = ledger.wait_test[pairs[:, 0]] == Test.TAKE
    enough = np.zeros(len(pairs), bool)
    for wait in np.unique(pairs[takes, 0]):
        enough[pairs[:, 0] == wait] = _suffices(order, int(wait))
    pairs = pairs[~enough]
    open_waits, hindered = order.open_waits.copy(), order.hindered.copy()
    open_waits[pairs[:, 0]] = hindered[pairs[:, 0]] = True
    return replace(order, open_waits=open_waits, hindered=hindered, disturbing=pairs)


def _suffices(order: Order, wait: int) -> bool:
    """Whether a take is met by what surely came before it, however many others may have taken first."""
    ledger, sync = order.ledger, order.sync
    op, counter = sync.row["op"][sync.wait_row[wait]], ledger.wait_counter[wait]
    given = _entries_of(order, LISTS * counter + ADDS)
    taken = _entries_of(order, LISTS * counter + TAKES)
    amounts = sync.row["amount"][sync.entry_row]
    chain = ledger.chain[ledger.entry_op]
    sure = order.knows(np.full(len(given), op), chain[given], ledger.entry_index[given])
    later = order.started_before(np.full(len(taken), op), ledger.entry_op[taken])
    others = taken[~later & (ledger.entry_op[taken] != op)]
    value = ledger.initial[counter] + amounts[given[sure]].sum() - amounts[others].sum()
    return bool(value >= ledger.wait_amount[wait])


def _entries_of(order: Order, which: int) -> np.ndarray:
    first, stop = order.ledger.list_first[which : which + 2]
    return np.arange(order.ledger.seg_first[first], order.ledger.seg_first[stop])
