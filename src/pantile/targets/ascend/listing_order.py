"""Accesses that flags put in the opposite order of the listing.

A race is two accesses in no order. Two in the wrong one are worse: they go wrong under every timing. A wait
that takes the set before the one that was meant does that, or a copy under the unit flag that goes ahead with
what the product before left. The listing says which order was meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.check.conflicts import KINDS
from pantile.check.naming import Naming
from pantile.check.report import Finding, Report
from pantile.program.tables import Mode

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.check.order import Order
    from pantile.program.program import Program

LISTED = 20
"""Pairs that are told one by one."""


def turned_pairs(program: Program, order: Order) -> np.ndarray:
    """Return pairs of operations, in the order of the listing, of which the second is over before the first.

    Of all accesses to a byte only neighbours are looked at: a write, what reads it before the next write,
    and that write. If those are in the order of the listing, no others are turned.

    Returns:
        Rows of first, second, space and the byte at which they meet; shape ``(pairs, 4)``.
    """
    access = order.tables["access"]
    private = program.parameters.get("private", ())
    found = [
        _neighbours(access[access["space"] == space], space)
        for space in np.unique(access["space"]).tolist()
        if space not in private
    ]
    pairs = np.concatenate([np.zeros((0, 4), np.int64), *found])
    _, first = np.unique(pairs[:, :2], axis=0, return_index=True)
    pairs = pairs[np.sort(first)]
    return np.asarray(pairs[order.before(pairs[:, 1], pairs[:, 0])])


def _neighbours(access: np.ndarray, space: int) -> np.ndarray:
    """Return the pairs of accesses to common bytes of one buffer with no write between them."""
    lo, hi = access["lo"].astype(np.int64), (access["lo"] + access["length"]).astype(np.int64)
    edges = np.unique(np.concatenate([lo, hi]))
    begin, end = np.searchsorted(edges, lo), np.searchsorted(edges, hi)
    rows = np.repeat(np.arange(len(access)), end - begin)
    piece = np.arange(len(rows)) - np.repeat(np.cumsum(end - begin) - (end - begin), end - begin)
    piece += begin[rows]
    sort = np.argsort(piece, kind="stable")
    rows, piece = rows[sort], piece[sort]
    writes = access["mode"][rows] != Mode.READ
    place = np.arange(len(rows))
    starts = np.searchsorted(piece, piece)
    last = np.maximum.accumulate(np.where(writes, place, -1))
    before = np.concatenate([[-1], last[:-1]])[: len(rows)]
    reads_or_writes = before >= starts
    ahead = np.minimum.accumulate(np.where(writes, place, len(rows))[::-1])[::-1]
    stops = np.searchsorted(piece, piece, side="right")
    overwritten = ~writes & (ahead < stops)
    firsts = np.concatenate([rows[before[reads_or_writes]], rows[overwritten]])
    seconds = np.concatenate([rows[reads_or_writes], rows[ahead[overwritten]]])
    pieces = np.concatenate([piece[reads_or_writes], piece[overwritten]])
    ops = access["op"].astype(np.int64)
    return np.column_stack(
        [ops[firsts], ops[seconds], np.full(len(pieces), space), edges[pieces] if len(pieces) else pieces]
    )


def check_listing_order(program: Program, order: Order, tell: Callable[[np.ndarray], str]) -> Report:
    """Report accesses that come in the opposite order of the listing under every timing.

    Args:
        program: The program of a trace.
        order: Its happens-before.
        tell: Carries an order of all operations out, and says what became of the values.
    """
    if order.stuck:
        return Report()
    naming, pairs = Naming(program), turned_pairs(program, order)
    findings: list[Finding] = []
    for first, second, space, byte in pairs[:LISTED].tolist():
        kind = _kind(order, first, second, space, byte)
        findings.append(
            Finding(
                code="PT-RACE",
                severity="error",
                sentence=f"{kind} on {naming.space(space)} at byte {byte}: {naming.op(second)} is over "
                f"before {naming.op(first)} begins, under every timing, and is listed behind it",
                operations=(first, second),
                evidence=tell(order.topo) if not findings else "",
                grade="wrong value",
                mend=f"let {naming.thread(second)} wait for what {naming.thread(first)} sets after {first}: "
                "its wait takes an earlier set",
            )
        )
    if len(pairs) > LISTED:
        more = f"{len(pairs) - LISTED} more pairs of accesses in the opposite order of the listing"
        findings.append(Finding(code="PT-RACE", severity="error", sentence=more, grade="wrong value"))
    return Report(tuple(findings))


def _kind(order: Order, first: int, second: int, space: int, byte: int) -> str:
    access = order.tables["access"]
    here = (access["space"] == space) & (access["lo"] <= byte) & (byte < access["lo"] + access["length"])
    writes = [
        bool(np.any(access["mode"][here & (access["op"] == op)] != Mode.READ)) for op in (first, second)
    ]
    return KINDS[2] if all(writes) else KINDS[0] if writes[0] else KINDS[1]
