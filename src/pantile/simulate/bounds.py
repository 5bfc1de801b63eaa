"""What no run of a program can stay below: the work of each resource, and what must follow what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pantile.program.tables import Completes, Edge, Kind, ResourceKind, Test

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pantile.simulate.bound import BoundProgram, Ints, Rows

CHAIN_LIMIT = 200_000
"""Operations up to which the longest chain is looked for; above, the longest thread has to do."""


def least_ticks(bound: BoundProgram) -> Ints:
    """Return the ticks that each operation takes at least: as if it had everything to itself."""
    ticks = bound.ticks.copy()
    np.maximum.at(ticks, bound.use["op"], bound.use_ticks)
    np.add.at(ticks, bound.use["op"], bound.resources["latency"][bound.use["resource"]])
    return ticks


def lower_bounds(bound: BoundProgram, times: Rows) -> dict[str, int]:
    """Return ticks by what binds: each resource, the longest thread, the longest chain.

    Args:
        bound: What ran.
        times: Its run, which gives an order that the chain can be followed in; bounds are those of the
            operations that happened.
    """
    done = times["finish"] >= 0
    least = np.where(done, least_ticks(bound), 0)
    bounds = {}
    for resource, work in enumerate(_resource_work(bound, least, done).tolist()):
        kind = ResourceKind(bound.resources["kind"][resource]).name.lower()
        bounds[f"{kind} {bound.resource_names[resource]}"] = work
    in_order = bound.tables["thread"]["completes"] == Completes.IN_ORDER
    threads = np.zeros(len(in_order), np.int64)
    np.add.at(threads, bound.tables["op"]["thread"], least)
    for thread in np.flatnonzero(in_order & (threads > 0)).tolist():
        name = bound.program.text(int(bound.tables["thread"]["name"][thread])) or str(thread)
        bounds[f"thread {name}"] = max(int(threads[thread]), bounds.get(f"thread {name}", 0))
    if bound.operations <= CHAIN_LIMIT:
        bounds["chain"] = longest_chain(bound, times)
    return bounds


def _resource_work(bound: BoundProgram, least: Ints, done: npt.NDArray[np.bool_]) -> Ints:
    """Ticks that each resource serves; what is only held is held for the whole operation."""
    use = bound.use
    held = bound.resources["rate"][use["resource"]] == 0
    ticks = np.where(held, least[use["op"]], bound.use_ticks) * done[use["op"]]
    work = np.zeros(len(bound.resources), np.int64)
    np.add.at(work, use["resource"], ticks)
    return work


def longest_chain(bound: BoundProgram, times: Rows) -> int:
    """Return the ticks of the longest chain of operations that follow one another under every timing.

    Counted are the order of threads, and pairings that are forced: the posts of a counter come from one
    in-order thread and its takes from one thread, or a ``reach`` needs every post that is ever made.
    """
    before = _forced(bound)
    least, threads = least_ticks(bound).tolist(), bound.tables["op"]["thread"].tolist()
    pipelined = (bound.tables["thread"]["completes"] == Completes.PIPELINED).tolist()
    kinds = bound.tables["op"]["kind"].tolist()
    start, finish = [0] * bound.operations, [0] * bound.operations
    turn, ended = [0] * len(pipelined), [0] * len(pipelined)  # by thread: next operation may start; all ended
    happened = np.flatnonzero(times["finish"] >= 0)
    waits = _waits(bound)
    for op in happened[np.argsort(times["order"][happened], kind="stable")].tolist():
        thread = threads[op]
        only_posts = pipelined[thread] and kinds[op] == Kind.SYNC and op not in waits
        begin = max(turn[thread], ended[thread] if only_posts else 0)
        for other, at_finish in before.get(op, ()):
            begin = max(begin, finish[other] if at_finish else start[other])
        start[op], finish[op] = begin, begin + least[op]
        ended[thread] = max(ended[thread], finish[op])
        if not pipelined[thread]:
            turn[thread] = finish[op]
        elif not only_posts:
            turn[thread] = begin
    return max(finish, default=0)


def _waits(bound: BoundProgram) -> set[int]:
    sync = bound.tables["sync"]
    return set(sync["op"][sync["test"] != Test.POST].tolist())


def _forced(bound: BoundProgram) -> dict[int, list[tuple[int, bool]]]:
    """By operation, those whose posts it needs, and whether they post at their finish."""
    sync = bound.tables["sync"]
    order = np.lexsort(
        (sync["edge"], sync["op"], sync["counter"])
    )  # of an operation, posts at its start first
    edges = np.searchsorted(sync["counter"][order], np.arange(len(bound.tables["counter"]) + 1))
    found: dict[int, list[tuple[int, bool]]] = {}
    for counter, first, stop in zip(range(len(edges) - 1), edges, edges[1:], strict=False):
        rows = sync[order[first:stop]]
        for op, post in _pairings(bound, int(bound.tables["counter"]["initial"][counter]), rows):
            found.setdefault(op, []).append((int(post["op"]), post["edge"] == Edge.AFTER_FINISH))
    return found


def _pairings(bound: BoundProgram, initial: int, rows: Rows) -> Iterator[tuple[int, np.void]]:
    """Waits of one counter and the posts that each must come after."""
    threads = bound.tables["op"]["thread"]
    posts = rows[(rows["test"] == Test.POST) & (rows["amount"] > 0)]
    if not len(posts):
        return
    poster = np.unique(threads[posts["op"]])
    completes = bound.tables["thread"]["completes"][poster]
    in_turn = len(poster) == 1 and completes[0] == Completes.IN_ORDER and np.all(posts["edge"] != Edge.ALONG)
    made = np.cumsum(posts["amount"])
    takes = rows[rows["test"] == Test.TAKE]
    only_positive = not np.any((rows["test"] == Test.POST) & (rows["amount"] < 0))
    if in_turn and only_positive and len(np.unique(threads[takes["op"]])) == 1:
        for row, needed in zip(takes, np.cumsum(takes["amount"]) - initial, strict=True):
            if 0 < needed <= made[-1]:
                yield int(row["op"]), posts[np.searchsorted(made, needed)]
    for row in rows[rows["test"] == Test.REACH]:
        if row["amount"] == made[-1]:
            yield from ((int(row["op"]), post) for post in posts if post["edge"] != Edge.ALONG)
        elif in_turn and 0 < row["amount"] < made[-1]:
            yield int(row["op"]), posts[np.searchsorted(made, row["amount"])]
