"""The state of the pass that finds happens-before, before, between and after its runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pantile.check.compiled import pack, run_kernel
from pantile.check.ledger import ADDS, FREE, LISTS, TAKES, Ledger, posts_of_their_own
from pantile.check.order_kernel import CHAINS, GIVE_UP, NEXT_ROW, STACKED, STRICT
from pantile.program.tables import Test

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.check.chains import Chains

EDGE = np.dtype([("src", "i8"), ("index", "i8"), ("dst", "i8"), ("wait", "i8")])
"""One forced pairing: the operation that posts, the index of the post in its chain, the operation that waits,
and its wait."""


def never_ordered(tables: dict[str, np.ndarray], chains: Chains, ledger: Ledger) -> np.ndarray:
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


def fresh(chains: Chains, ledger: Ledger, loose: np.ndarray) -> tuple[np.ndarray, Pass, np.ndarray]:
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


def advance(
    given: np.ndarray, state: np.ndarray, clock: np.ndarray, fast: bool, on_compile: Callable[[], None]
) -> None:
    """Let the pass go on as far as it comes, compiled if *fast*."""
    kernel = "pantile.check.order_kernel"
    run_kernel(kernel, "run", (given,), (state, clock), compiled=fast, on_compile=on_compile)


def give_up(ledger: Ledger, state: np.ndarray, columns: Pass) -> None:
    """Let the pass carry on without what is left waits for, so that every operation has its row."""
    going = np.flatnonzero(columns.at < ledger.first[1:])
    columns.op_parked[:], columns.list_parked[:] = -1, -1
    columns.stack[: len(going)] = going[::-1]
    state[STACKED], state[GIVE_UP] = len(going), 1


def edges_of(columns: Pass, count: int) -> np.ndarray:
    """Return the first *count* pairings as rows of :data:`EDGE`."""
    edges = np.zeros(count, EDGE)
    for name, column in (
        ("src", columns.edge_src),
        ("index", columns.edge_index),
        ("dst", columns.edge_dst),
        ("wait", columns.edge_wait),
    ):
        edges[name] = column[:count]
    return edges
