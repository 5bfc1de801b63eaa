"""The ledger: what every counter is given and asked, list by list, as vectors that a kernel reads.

Each counter has three lists: what is added to it (positive posts), what its takes take, and which
negative posts close nothing that their own thread opened. A list falls into segments, one per chain, each
in the order of its chain; sums run within a segment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pantile.check.chains import Chains
from pantile.check.compiled import vector
from pantile.program.tables import Edge, Kind, Test

ADDS, TAKES, FREE, LISTS = range(4)
"""Lists of counter *x* are 3x, 3x + 1 and 3x + 2."""


class Ledger(NamedTuple):
    """Vectors of int64, read only.

    Attributes:
        first: By chain, and one more: its operations in *order*.
        order: Operations, chain by chain.
        chain: By operation.
        position: By operation: its place in its chain.
        main_before: By operation: as of :class:`Chains`.
        wait_first: By operation, and one more: its waits.
        wait_test: By wait: a code of :class:`Test`.
        wait_counter: Its counter, as a position in the table.
        wait_amount: What it takes or must reach.
        wait_before: What the takes of its own chain take before it.
        initial: By counter.
        mixed: By counter: whether some wait takes from it although others lower it or want it to be zero.
        list_first: By list, and one more: its segments.
        list_sum: By list: the sum of its amounts.
        shared: By list: its number among lists of several segments, or -1.
        seg_chain: By segment.
        seg_first: By segment, and one more: its entries.
        entry_op: By entry: the operation that posts or takes.
        entry_index: Index of that event in the chain of its segment.
        entry_sum: Sum of the segment up to here.
        cover_op: By entry added to a counter that some wait wants to be zero: the operation whose post
            closes all that its chain opened up to here and closes at all; -1 where it closed before.
        cover_index: The index of that event.
        entry_open: What its chain opened up to here and never closes.
        shared_first: By operation, and one more: its entries in *shared_entry*.
        shared_entry: Entries of shared lists, by operation.
        entry_list: By entry: its list.
        shared_base: By shared list, and one more: where its entries are noted as they come.
        entry_post: By entry: index of the event in its operation's chain, not always that of its segment.
    """

    first: np.ndarray
    order: np.ndarray
    chain: np.ndarray
    position: np.ndarray
    main_before: np.ndarray
    wait_first: np.ndarray
    wait_test: np.ndarray
    wait_counter: np.ndarray
    wait_amount: np.ndarray
    wait_before: np.ndarray
    initial: np.ndarray
    mixed: np.ndarray
    list_first: np.ndarray
    list_sum: np.ndarray
    shared: np.ndarray
    seg_chain: np.ndarray
    seg_first: np.ndarray
    entry_op: np.ndarray
    entry_index: np.ndarray
    entry_sum: np.ndarray
    cover_op: np.ndarray
    cover_index: np.ndarray
    entry_open: np.ndarray
    shared_first: np.ndarray
    shared_entry: np.ndarray
    entry_list: np.ndarray
    shared_base: np.ndarray
    entry_post: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class SyncRows:
    """The synchronisation table with what the checks ask of it, in the table's order.

    Attributes:
        row: The table itself.
        counter: Position of the row's counter in the counter table.
        index: Index of the row's event in its chain.
        wait_row: Rows that wait, by operation, in the order of the ledger's waits.
        entry_row: The row of every entry of the ledger.
    """

    row: np.ndarray
    counter: np.ndarray
    index: np.ndarray
    wait_row: np.ndarray
    entry_row: np.ndarray


def ledger_of(tables: dict[str, np.ndarray], chains: Chains) -> tuple[Ledger, SyncRows]:
    """Return the ledger of a literal program, and the rows it was made from."""
    counters = tables["counter"]
    names = ("op", "edge", "counter", "test", "amount")
    sync = {name: np.ascontiguousarray(tables["sync"][name]) for name in names}
    counter = _positions(counters["id"], sync["counter"])
    index = 2 * chains.position[sync["op"]] + 1 + (sync["edge"] != Edge.BEFORE_START)
    entry_row, kinds, amount, cover, opened = _entries(sync, counter, index, chains, len(counters))
    alone = posts_of_their_own(tables, chains)[sync["op"]] & (sync["edge"] != Edge.BEFORE_START)
    lists, count = LISTS * counter[entry_row] + kinds, LISTS * len(counters)
    entries = _listed(chains, sync["op"][entry_row], lists, index[entry_row], amount, alone[entry_row], count)
    wait_row = np.flatnonzero(sync["test"] != Test.POST)
    if np.any(np.diff(sync["op"][wait_row]) < 0):
        wait_row = wait_row[np.argsort(sync["op"][wait_row], kind="stable")]
    before = np.zeros(len(counter), np.int64)
    taken = kinds == TAKES
    before[entry_row[taken]] = entries["entry_sum"][taken] - amount[taken]
    has_cover = cover >= 0
    ledger = Ledger(
        first=vector(chains.first),
        order=vector(chains.order),
        chain=vector(chains.chain),
        position=vector(chains.position),
        main_before=vector(chains.main_before),
        wait_first=_starts(sync["op"][wait_row], len(chains)),
        wait_test=vector(sync["test"][wait_row]),
        wait_counter=vector(counter[wait_row]),
        wait_amount=vector(sync["amount"][wait_row]),
        wait_before=before[wait_row],
        initial=vector(counters["initial"]),
        mixed=_mixed(sync, counter, alone, len(counters)),
        cover_op=vector(np.where(has_cover, sync["op"][cover], -1)),
        cover_index=vector(np.where(has_cover, index[cover], 0)),
        entry_open=vector(opened),
        **entries,
        **_shared(chains, entries, sync["op"][entry_row]),
        entry_post=vector(index[entry_row]),
    )
    return ledger, SyncRows(tables["sync"], counter, index, wait_row, entry_row)


def _starts(keys: np.ndarray, count: int) -> np.ndarray:
    """Return where each key from 0 to *count* begins among sorted ones."""
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(keys, minlength=count), out=starts[1:])
    return starts


def _mixed(sync: dict[str, np.ndarray], counter: np.ndarray, alone: np.ndarray, count: int) -> np.ndarray:
    taken, lowered = np.zeros(count, np.int64), np.zeros(count, np.int64)
    zero = sync["test"] == Test.ZERO
    taken[counter[(sync["test"] == Test.TAKE) | alone]] = 1
    lowered[counter[zero | ((sync["test"] == Test.POST) & (sync["amount"] < 0))]] = 1
    return taken & lowered


def _positions(ids: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    if np.array_equal(ids, np.arange(len(ids))):
        return wanted.astype(np.int64)
    by_id = np.argsort(ids, kind="stable")
    return by_id[np.searchsorted(ids[by_id], wanted)].astype(np.int64)


def _entries(
    sync: dict[str, np.ndarray], counter: np.ndarray, index: np.ndarray, chains: Chains, counters: int
) -> tuple[np.ndarray, ...]:
    """Return the rows of all entries in the order of list, chain and event, with their kinds and amounts.

    The last two are the covering row, or -1, and what stays open.
    """
    zero = np.zeros(counters, bool)
    zero[counter[sync["test"] == Test.ZERO]] = True
    kinds = np.full(len(counter), LISTS)
    posts = sync["test"] == Test.POST
    kinds[posts & (sync["amount"] > 0)] = ADDS
    kinds[sync["test"] == Test.TAKE] = TAKES
    amount = sync["amount"].astype(np.int64)
    cover, opened = np.full(len(counter), -1), np.zeros(len(counter), np.int64)
    signed = np.flatnonzero(posts & zero[counter])
    if len(signed):
        signed = signed[_order(counter[signed], chains.chain[sync["op"][signed]], index[signed])]
        free = _match(signed, counter, chains.chain[sync["op"]], amount, cover, opened)
        kinds[signed[free > 0]] = FREE
        amount[signed[free > 0]] = free[free > 0]
    rows = np.flatnonzero(kinds < LISTS)
    rows = rows[_order(LISTS * counter[rows] + kinds[rows], chains.chain[sync["op"][rows]], index[rows])]
    return rows, kinds[rows], amount[rows], cover[rows], opened[rows]


def _order(outer: np.ndarray, chain: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Return what sorts by *outer*, then *chain*, then *index*."""
    width, depth = int(chain.max(initial=0)) + 1, int(index.max(initial=0)) + 1
    assert (int(outer.max(initial=0)) + 1) * width * depth < 1 << 62
    return np.argsort((outer * width + chain) * depth + index)


def _match(
    rows: np.ndarray,
    counter: np.ndarray,
    chain: np.ndarray,
    amount: np.ndarray,
    cover: np.ndarray,
    opened: np.ndarray,
) -> np.ndarray:
    """Match what each chain closes with what it opened before; return what closes nothing, by row.

    *rows* are the posts to counters that some wait wants to be zero, sorted by counter, chain and event.
    Writes the covering row and what stays open of every row.
    """
    values, place = amount[rows], np.arange(len(rows))
    new = np.ones(len(rows), bool)
    new[1:] = (np.diff(counter[rows]) != 0) | (np.diff(chain[rows]) != 0)
    segment = np.cumsum(new) - 1
    total = np.cumsum(values)
    level = total - (total - values)[new][segment]  # of the segment alone
    far = 4 * int(np.abs(values).sum()) + 1
    lowest = np.minimum(np.minimum.accumulate(level - segment * far) + segment * far, 0)
    outstanding = level - lowest
    falls = np.empty_like(lowest)
    falls[0:1], falls[1:] = 0, lowest[:-1]
    falls[new] = 0
    back = segment[::-1].max(initial=0) - segment
    stays = np.minimum.accumulate((outstanding - back * far)[::-1])[::-1] + back * far
    closed = np.where(outstanding == stays, place, len(rows))
    closing = np.minimum.accumulate(closed[::-1])[::-1]
    opened[rows] = stays
    cover[rows] = np.where(closing > place, rows[np.minimum(closing, len(rows) - 1)], -1)
    free: np.ndarray = falls - lowest
    return free


def _listed(
    chains: Chains,
    op: np.ndarray,
    lists: np.ndarray,
    index: np.ndarray,
    amount: np.ndarray,
    alone: np.ndarray,
    count: int,
) -> dict[str, np.ndarray]:
    """Return the columns of lists, segments and entries; arguments are by entry.

    A post that nothing in its chain waits for makes a segment of its own, known where its end is marked.
    """
    chain = chains.chain[op]
    new = np.ones(len(op), bool)
    new[1:] = (np.diff(lists) != 0) | (np.diff(chain) != 0) | alone[1:] | alone[:-1]
    starts = np.flatnonzero(new)
    sizes = np.diff(np.append(starts, len(op)))
    total = np.cumsum(amount)
    ends = np.concatenate([[0], total])
    return {
        "list_first": _starts(lists[starts], count),
        "list_sum": np.diff(ends[_starts(lists, count)]),
        "seg_chain": vector(np.where(alone, chains.finish_chain[op], chain)[starts]),
        "seg_first": vector(np.append(starts, len(op))),
        "entry_op": vector(op),
        "entry_index": vector(np.where(alone, chains.finish[op], index)),
        "entry_sum": vector(total - np.repeat((total - amount)[starts], sizes)),
        "entry_list": vector(lists),
    }


def _shared(chains: Chains, entries: dict[str, np.ndarray], op: np.ndarray) -> dict[str, np.ndarray]:
    """Return which lists several chains add to, and their entries by operation."""
    several = np.diff(entries["list_first"]) > 1
    several[TAKES::LISTS] = False  # what is taken is counted, never waited for
    number = np.where(several, np.cumsum(several) - 1, -1)
    chosen = np.flatnonzero(several[entries["entry_list"]]) if several.any() else np.zeros(0, np.int64)
    by_op = chosen[np.argsort(op[chosen], kind="stable")]
    sizes = np.bincount(number[entries["entry_list"][chosen]], minlength=int(several.sum()))
    return {
        "shared": vector(number),
        "shared_first": _starts(op[by_op], len(chains)),
        "shared_entry": vector(by_op),
        "shared_base": vector(np.concatenate([[0], np.cumsum(sizes)])),
    }


def posts_of_their_own(tables: dict[str, np.ndarray], chains: Chains) -> np.ndarray:
    """Return whether an operation of a pipelined thread posts at its own end, not through a later post."""
    if not chains.pipelined.any():
        return np.zeros(len(chains), bool)
    sync = tables["sync"]
    ends = (sync["test"] == Test.POST) & (sync["edge"] != Edge.BEFORE_START)
    found = np.zeros(len(chains), bool)
    found[sync["op"][ends]] = True
    return np.asarray(found & chains.pipelined & (tables["op"]["kind"] != Kind.SYNC))
