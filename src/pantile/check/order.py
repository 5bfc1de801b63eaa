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
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pantile.check.chains import Chains, chains_of, literal_tables
from pantile.check.compiled import COMPILED_FROM, pack, run_kernel
from pantile.check.ledger import ADDS, FREE, LISTS, TAKES, Ledger, SyncRows, ledger_of, posts_of_their_own
from pantile.check.order_kernel import (
    CHAINS,
    DONE,
    EDGES,
    GIVE_UP,
    HINDERED,
    NEXT_ROW,
    PAIRS,
    STACKED,
    STRICT,
)
from pantile.program.tables import Test

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.program.program import Program

EDGE = np.dtype([("src", "i8"), ("index", "i8"), ("dst", "i8"), ("wait", "i8")])
"""One forced pairing: the operation that posts, the index of the post in its chain, the operation that waits,
and its wait."""


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
        edges: All forced pairings, rows of :data:`EDGE`.
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
        for at in zip(*np.nonzero(~found & self._own_posts[first]), strict=True):
            ends = (self.edges["src"] == first[at]) & (self.edges["index"] == chains.start[first[at]] + 1)
            out = self.edges["dst"][ends]
            found[at] = bool(self.started_before(out, second[at]).any())
        return found

    def started_before(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return whether the start of each *first* operation comes before the start of each *second*."""
        return self.knows(second, self.chains.chain[first], self.chains.start[first])

    def knows(self, op: np.ndarray, chain: np.ndarray, index: np.ndarray) -> np.ndarray:
        """Return whether event *index* of *chain* is, or comes before, the start of each operation *op*."""
        own = self.chains.chain[op] == chain
        known = np.where(own, self.chains.start[op], self.clock[self.row_of[op], chain])
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
    fast = len(chains) >= COMPILED_FROM if compiled is None else compiled
    loose = _never_ordered(tables, chains, ledger)
    while True:
        state, columns, clock = _fresh(chains, ledger, loose)
        _advance(given, state, clock, fast, on_compile)
        if not (columns.unordered > loose).any():
            break
        loose = np.maximum(loose, columns.unordered)
    blocked = columns.row_of < 0
    pairs = int(state[PAIRS])
    if state[DONE] < len(chains):
        _give_up(ledger, state, columns)
        _advance(given, state, clock, fast, on_compile)
    reached = ~blocked
    if columns.surplus.any():
        strict, its, room = _fresh(chains, ledger, loose)
        strict[STRICT] = 1
        _advance(given, strict, room, fast, on_compile)
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
        edges=_edges(columns, int(state[EDGES])),
        open_waits=columns.open_wait > 0,
        hindered=columns.open_wait == HINDERED,
        disturbing=np.zeros((0, 2), np.int64),
        posts_hold_up=posts_hold_up,
    )
    return _with_open_pairs(order, np.column_stack([columns.pair_wait[:pairs], columns.pair_entry[:pairs]]))


def _never_ordered(tables: dict[str, np.ndarray], chains: Chains, ledger: Ledger) -> np.ndarray:
    """Return the shared lists with a post whose end no later operation of its thread waits for."""
    loose = np.zeros(len(ledger.shared_base) - 1, np.int64)
    alone = posts_of_their_own(tables, chains)
    if alone.any():
        lists = ledger.shared[ledger.entry_list[alone[ledger.entry_op]]]
        loose[lists[lists >= 0]] = 1
    return loose


class Pass(NamedTuple):
    """State of the pass; vectors of int64.

    Attributes:
        at: By chain: where it stands in the order of operations.
        row: By chain: its current row.
        stack: Chains that may go on.
        next_parked: By chain: the next chain that waits for the same.
        op_parked: By operation: the first chain that waits for it, or -1.
        list_parked: By shared list: the first chain that waits for more entries.
        row_of: By operation: its row, or -1 while it has not been reached.
        topo: Operations in the order in which they were reached.
        seen: Entries of shared lists in that order, list by list.
        seen_sum: Their sum so far.
        seen_count: By shared list.
        loose: By shared list: whether its entries are taken not to be ordered among themselves.
        unordered: By shared list: whether that was found out.
        edge_src: By edge of a forced pairing: the operation that posts.
        edge_index: Index of the post in its chain.
        edge_dst: The operation that waits.
        edge_wait: Its wait.
        pair_wait: A wait, and
        pair_entry: an entry that would disturb it, unless that comes after.
        surplus: By wait: whether more is asked than is ever given.
        open_wait: By wait: :data:`~pantile.check.order_kernel.EARLY` or ``HINDERED``, or 0.
    """

    at: np.ndarray
    row: np.ndarray
    stack: np.ndarray
    next_parked: np.ndarray
    op_parked: np.ndarray
    list_parked: np.ndarray
    row_of: np.ndarray
    topo: np.ndarray
    seen: np.ndarray
    seen_sum: np.ndarray
    seen_count: np.ndarray
    loose: np.ndarray
    unordered: np.ndarray
    edge_src: np.ndarray
    edge_index: np.ndarray
    edge_dst: np.ndarray
    edge_wait: np.ndarray
    pair_wait: np.ndarray
    pair_entry: np.ndarray
    surplus: np.ndarray
    open_wait: np.ndarray


def _fresh(chains: Chains, ledger: Ledger, loose: np.ndarray) -> tuple[np.ndarray, Pass, np.ndarray]:
    """Return the state before the pass, packed and by column, and room for the clocks."""
    ops, width, waits = len(chains), chains.count, len(ledger.wait_test)
    rows = 2 + int(((np.diff(ledger.wait_first) > 0) | (chains.main_before >= 0)).sum())
    segments = np.diff(ledger.list_first)
    adds, takes, free = (segments[LISTS * ledger.wait_counter + kind] for kind in (ADDS, TAKES, FREE))
    zero = ledger.wait_test == Test.ZERO
    edges = int(adds.sum() + free[zero].sum())
    pairs = int(takes[ledger.wait_test == Test.TAKE].sum() + (adds + free)[zero].sum())
    none, entries = np.zeros(len(loose), np.int64), np.zeros(len(ledger.shared_entry), np.int64)
    edge, pair = np.zeros(edges, np.int64), np.zeros(pairs, np.int64)
    columns = Pass(
        at=ledger.first[:-1],
        row=np.zeros(width, np.int64),
        stack=np.arange(width)[::-1],
        next_parked=np.full(width, -1),
        op_parked=np.full(ops, -1),
        list_parked=none - 1,
        row_of=np.full(ops, -1),
        topo=np.zeros(ops, np.int64),
        seen=entries,
        seen_sum=entries,
        seen_count=none,
        loose=loose,
        unordered=loose,
        edge_src=edge,
        edge_index=edge,
        edge_dst=edge,
        edge_wait=edge,
        pair_wait=pair,
        pair_entry=pair,
        surplus=np.zeros(waits, np.int64),
        open_wait=np.zeros(waits, np.int64),
    )
    state, columns = pack(columns, STRICT + 1 - len(columns))
    state[NEXT_ROW], state[CHAINS], state[STACKED] = 1, width, width
    return state, columns, np.zeros(rows * width, np.int32)


def _advance(
    given: np.ndarray, state: np.ndarray, clock: np.ndarray, fast: bool, on_compile: Callable[[], None]
) -> None:
    kernel = "pantile.check.order_kernel"
    run_kernel(kernel, "run", (given,), (state, clock), compiled=fast, on_compile=on_compile)


def _give_up(ledger: Ledger, state: np.ndarray, columns: Pass) -> None:
    """Let the pass carry on without what is left waits for, so that every operation has its row."""
    going = np.flatnonzero(columns.at < ledger.first[1:])
    columns.op_parked[:], columns.list_parked[:] = -1, -1
    columns.stack[: len(going)] = going[::-1]
    state[STACKED], state[GIVE_UP] = len(going), 1


def _edges(columns: Pass, count: int) -> np.ndarray:
    edges = np.zeros(count, EDGE)
    for name, column in (
        ("src", columns.edge_src),
        ("index", columns.edge_index),
        ("dst", columns.edge_dst),
        ("wait", columns.edge_wait),
    ):
        edges[name] = column[:count]
    return edges


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
