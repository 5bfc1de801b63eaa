"""Results that later operations of a pipelined thread see although they overlap.

An array takes the next tile while the last one drains, and a long product ends so late that the next one of
its sum finds what it needs: neither is a conflict, and what waits for the later one finds both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pantile.program.tables import Kind, Mode

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pantile.check.order import Order


@dataclass(frozen=True, eq=False)
class Forwarded:
    """Which results later operations of a thread see although they overlap.

    Attributes:
        order: Happens-before.
        forwards: By operation: whether every later compute of its thread sees what it leaves.
        sums: By operation: the sum whose later ones do; -1 for none.
    """

    order: Order
    forwards: np.ndarray
    sums: np.ndarray

    @classmethod
    def of(
        cls, order: Order, forwarding: Collection[int], accumulating: Sequence[Sequence[int]]
    ) -> Forwarded:
        """Return what the arguments of :func:`~pantile.check.conflicts.conflicts_of` say."""
        forwards = np.zeros(len(order.topo), bool)
        forwards[np.array(list(forwarding), np.int64)] = True
        return cls(order, forwards, sums_by_operation(accumulating, len(order.topo)))

    @property
    def any(self) -> bool:
        """Whether there are such results at all."""
        return bool(self.forwards.any() or (self.sums >= 0).any())

    def sees(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Return of which pairs of operations the later one sees what the earlier one leaves."""
        first, second = np.minimum(one, other), np.maximum(one, other)
        thread, computes = self.order.chains.thread, self.order.tables["op"]["kind"] == Kind.COMPUTE
        sees = self.forwards[first] & computes[second]
        sees |= (self.sums[first] >= 0) & (self.sums[first] == self.sums[second])
        return np.asarray(sees & (thread[first] == thread[second]))

    def handed_on(self, rows: np.ndarray) -> np.ndarray:
        """Return which conflicts no timing shows, because a later operation goes on with what is left.

        It reads those bytes before it ends: where it is over before the second, so is what it goes on with.
        """
        found, heir = np.zeros(len(rows), bool), rows["first"].astype(np.int64)
        follows = self._heirs()
        at = np.flatnonzero((follows[heir] >= 0) & ~rows["same_thread"])
        access = self.order.tables["access"]
        reads = access[(access["mode"] != Mode.WRITE) & (access["rows"] == 1)]
        while len(at):
            heir[at] = follows[heir[at]]
            at = at[_reads(reads, heir[at], rows[at])]
            found[at] = self.order.before(heir[at], rows["second"][at])
            at = at[~found[at] & (follows[heir[at]] >= 0)]
        return found

    def _heirs(self) -> np.ndarray:
        """Return, by operation, the next one that sees what it leaves; -1 if there is none."""
        thread, follows = self.order.chains.thread, np.full(len(self.sums), -1)
        computes = np.flatnonzero(self.order.tables["op"]["kind"] == Kind.COMPUTE)
        members = np.flatnonzero(self.sums >= 0)
        for ops, kin, heirs in (
            (computes, thread[computes], self.forwards[computes]),
            (members, self.sums[members], np.ones(len(members), bool)),
        ):
            sort = np.argsort(kin, kind="stable")
            ops, kin, heirs = ops[sort], kin[sort], heirs[sort]
            has = (kin[1:] == kin[:-1]) & (thread[ops[1:]] == thread[ops[:-1]]) & heirs[:-1]
            follows[ops[:-1][has]] = ops[1:][has]
        return follows


def _reads(reads: np.ndarray, ops: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return whether each of *ops* reads all bytes of its conflict."""
    first, last = (np.searchsorted(reads["op"], ops, side) for side in ("left", "right"))
    which = np.repeat(np.arange(len(ops)), last - first)
    mine = reads[
        np.arange(len(which)) + np.repeat(first - np.cumsum(last - first) + last - first, last - first)
    ]
    wanted = rows[which]
    whole = mine["space"] == wanted["space"]
    whole &= (mine["lo"] <= wanted["lo"]) & (mine["lo"] + mine["length"] >= wanted["hi"])
    found = np.zeros(len(ops), bool)
    found[which[whole]] = True
    return found


def sums_by_operation(accumulating: Sequence[Sequence[int]], count: int) -> np.ndarray:
    """Return the number of the sum that each of *count* operations adds to, -1 for those of none."""
    sums = np.full(count, -1)
    member, number = np.array(accumulating, np.int64).reshape(-1, 2).T
    sums[member] = number
    return sums
