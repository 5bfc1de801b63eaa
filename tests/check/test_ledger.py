"""The ledger: lists, sums, and what closes what."""

from __future__ import annotations

from typing import Any

import numpy as np

from pantile.check.chains import chains_of
from pantile.check.ledger import ADDS, FREE, LISTS, TAKES, Ledger, ledger_of, posts_of_their_own
from pantile.check.order_kernel import CHAINS, ENTRY_POST, OPEN_WAIT
from pantile.program.tables import Test


def ledger_for(made: Any) -> Ledger:
    tables = made.program().pieces[0].tables
    return ledger_of(tables, chains_of(tables))[0]


def entries(ledger: Ledger, counter: int, kind: int) -> list[tuple[int, int]]:
    first, stop = ledger.list_first[LISTS * counter + kind : LISTS * counter + kind + 2]
    span = slice(ledger.seg_first[first], ledger.seg_first[stop])
    return list(zip(ledger.entry_op[span].tolist(), ledger.entry_sum[span].tolist(), strict=True))


def test_columns_of_the_kernel_are_the_fields() -> None:
    assert len(Ledger._fields) == ENTRY_POST + 1
    assert OPEN_WAIT < CHAINS


def test_posts_and_takes_sum_up_by_chain(literal: Any) -> None:
    made = literal()
    a, b, counter = made.thread("a"), made.thread("b"), made.counter("c")
    for thread, amount in ((a, 2), (b, 1), (a, 3)):
        made.sync(thread, "post", posts=[(counter, amount)])
    made.sync(b, "take", waits=[(counter, Test.TAKE, 4)])
    ledger = ledger_for(made)
    assert entries(ledger, counter, ADDS) == [(0, 2), (2, 5), (1, 1)]
    assert entries(ledger, counter, TAKES) == [(3, 4)]
    assert ledger.list_sum[LISTS * counter + ADDS] == 6
    assert ledger.shared[LISTS * counter + ADDS] == 0  # two chains add


def test_what_a_thread_closes_covers_what_it_opened(literal: Any) -> None:
    made = literal()
    reader, owner, readers = made.thread("r"), made.thread("o"), made.counter("readers")
    opens = [made.sync(reader, "open", posts=[(readers, 1)]) for _ in range(2)]
    closes = [made.sync(reader, "close", posts=[(readers, -1)]) for _ in range(2)]
    last = made.sync(reader, "open", posts=[(readers, 1)])
    made.sync(owner, "zero", waits=[(readers, Test.ZERO, 0)])
    ledger = ledger_for(made)
    first = ledger.seg_first[ledger.list_first[LISTS * readers + ADDS]]
    assert ledger.cover_op[first : first + 3].tolist() == [closes[1], closes[1], -1]
    assert ledger.entry_open[first : first + 3].tolist() == [0, 0, 1]
    assert [op for op, _ in entries(ledger, readers, ADDS)] == [*opens, last]
    assert entries(ledger, readers, FREE) == []


def test_a_close_of_what_another_thread_opened_is_free(literal: Any) -> None:
    made = literal()
    a, b, busy = made.thread("a"), made.thread("b"), made.counter("busy", initial=1)
    close = made.sync(a, "finish", posts=[(busy, -1)])
    opening = made.sync(b, "destroy", waits=[(busy, Test.ZERO, 0)], begins=[(busy, 1)])
    ledger = ledger_for(made)
    assert entries(ledger, busy, FREE) == [(close, 1)]
    first = ledger.seg_first[ledger.list_first[LISTS * busy + ADDS]]
    assert (ledger.entry_op[first], ledger.entry_open[first]) == (opening, 1)


def test_work_of_a_pipelined_thread_that_posts_at_its_end_posts_alone(literal: Any) -> None:
    made = literal()
    cube, counter = made.thread("M", pipelined=True), made.counter("c")
    made.op(cube, "mad", posts=[(counter, 1)])
    made.sync(cube, "set", posts=[(counter, 1)])
    tables = made.program().pieces[0].tables
    chains = chains_of(tables)
    assert posts_of_their_own(tables, chains).tolist() == [True, False]
    ledger, _ = ledger_of(tables, chains)
    assert np.diff(ledger.list_first)[LISTS * counter + ADDS] == 2
