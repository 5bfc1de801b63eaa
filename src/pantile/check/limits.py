"""Posts that can find their counter full: a flag that is up already, a slot that was never taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.check.ledger import ADDS, LISTS, TAKES
from pantile.program.tables import Overflow

if TYPE_CHECKING:
    from pantile.check.order import Order

OVERFLOW = np.dtype([("op", "i8"), ("counter", "i8"), ("most", "i8"), ("least", "i8")])
"""A post, its counter, and the highest and the lowest value that the counter can have after it."""


def overflows_of(order: Order) -> np.ndarray:
    """Return the posts that can raise their counter above its capacity, as rows of :data:`OVERFLOW`.

    A value is highest if every post that need not come later has come, and only what must have been taken
    before has been taken.
    """
    ledger, counters = order.ledger, order.tables["counter"]
    limited = counters["overflow"] != Overflow.NONE
    lists = ledger.entry_list
    entries = np.flatnonzero((lists % LISTS == ADDS) & limited[lists // LISTS])
    if not len(entries):
        return np.zeros(0, OVERFLOW)
    counter = lists[entries] // LISTS
    posted = _surely_before(order, entries, LISTS * counter + ADDS, inclusive=True)
    taken = _surely_before(order, entries, LISTS * counter + TAKES, inclusive=False)
    possibly = _not_later(order, entries, LISTS * counter + ADDS, posted)
    rows = np.zeros(len(entries), OVERFLOW)
    rows["op"], rows["counter"] = ledger.entry_op[entries], counter
    rows["most"] = counters["initial"][counter] + possibly - taken
    full = np.flatnonzero(rows["most"] > counters["capacity"][counter])
    rows, counter = rows[full], counter[full]
    others = _not_later(order, entries[full], LISTS * counter + TAKES, taken[full])
    rows["least"] = counters["initial"][counter] + posted[full] - others
    return rows


def _surely_before(order: Order, entries: np.ndarray, which: np.ndarray, *, inclusive: bool) -> np.ndarray:
    """Return what the entries of a list amount to that come before each entry, itself among them or not."""
    ledger, chains = order.ledger, order.chains
    op = ledger.entry_op[entries]
    first, many = ledger.list_first[which], ledger.list_first[which + 1] - ledger.list_first[which]
    at = np.repeat(np.arange(len(entries)), many)
    seg = np.arange(len(at)) - np.repeat(np.cumsum(many) - many, many) + first[at]
    chain = ledger.seg_chain[seg]
    own = chain == chains.chain[op[at]]
    mine = ledger.entry_index[entries[at]] if inclusive else chains.start[op[at]] - 1
    known = np.where(own, mine, order.clock[order.row_of[op[at]], chain])
    far = int(chains.start.max(initial=0)) + 3
    segment = np.repeat(np.arange(len(ledger.seg_chain)), np.diff(ledger.seg_first))
    keys = segment * far + np.minimum(ledger.entry_index, far - 1)
    last = np.searchsorted(keys, seg * far + known, "right") - 1
    sums = np.where(last >= ledger.seg_first[seg], ledger.entry_sum[last], 0)
    return np.bincount(at, sums, len(entries)).astype(np.int64)


def _not_later(order: Order, entries: np.ndarray, which: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Return what the entries of a list amount to that need not come after each entry.

    Of a list that one chain fills, and the entry belongs to it, that is what comes *before*.
    """
    ledger = order.ledger
    op = ledger.entry_op[entries]
    alone = ledger.list_first[which + 1] - ledger.list_first[which] == 1
    single = np.zeros(len(entries), bool)
    single[alone] = ledger.seg_chain[ledger.list_first[which[alone]]] == order.chains.chain[op[alone]]
    found = before.copy()
    amounts = order.sync.row["amount"][order.sync.entry_row]
    for at in np.flatnonzero(~single):
        begin, end = ledger.seg_first[ledger.list_first[which[at] : which[at] + 2]]
        others = np.arange(begin, end)
        later = order.started_before(np.full(len(others), op[at]), ledger.entry_op[others])
        later &= ledger.entry_op[others] != op[at]
        found[at] = amounts[others[~later]].sum()
    return found
