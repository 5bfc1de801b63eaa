"""Conflicts: accesses to common bytes, at least one of them a write, that happens-before does not order.

Works per distinct set of bytes and per thread, so that work grows with the accesses, not with their pairs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypedDict

import numpy as np

from pantile.check.chains import NEVER
from pantile.check.compiled import COMPILED_FROM, pack, run_kernel
from pantile.check.conflict_kernel import CHAINS, FOUND
from pantile.check.forwarded import Forwarded
from pantile.check.group_kernel import NOBODY, PRIVATE
from pantile.check.overlap import common_range, normal, overlaps, stop
from pantile.program.tables import Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from pantile.check.order import Order
    from pantile.program.program import Program

KINDS = ("RAW", "WAR", "WAW")

CONFLICT = np.dtype(
    [
        ("kind", "i1"),
        ("space", "i4"),
        ("lo", "i8"),
        ("hi", "i8"),
        ("first", "i8"),
        ("second", "i8"),
        ("same_thread", "?"),
    ]
)
"""Two operations, in listing order, that touch the bytes from *lo* to *hi*; *kind* is a place in
:data:`KINDS`. Of strided sets the first common range is given."""

MOST = 1_000_000
"""Pairs of accesses that are listed; a program with more is wrong in one way many times."""


class _Groups(NamedTuple):
    """Accesses of one set, chain and mode, by group.

    Attributes:
        spans: The set.
        chain: The chain.
        mode: How it is touched.
        first: By group, and one more: its members.
        member: Operations.
    """

    spans: np.ndarray
    chain: np.ndarray
    mode: np.ndarray
    first: np.ndarray
    member: np.ndarray


class _Scan(NamedTuple):
    """What the kernel reads beside the ledger, in the order of its columns."""

    pair_first: np.ndarray
    pair_second: np.ndarray
    group_first: np.ndarray
    group_chain: np.ndarray
    member: np.ndarray
    finish: np.ndarray
    finish_chain: np.ndarray
    row_of: np.ndarray


class _Found(NamedTuple):
    first: np.ndarray
    second: np.ndarray
    pair: np.ndarray


def conflicts_of(
    order: Order,
    *,
    private: Collection[int] = (),
    forwarding: Collection[int] = (),
    accumulating: Sequence[Sequence[int]] = (),
    compiled: bool | None = None,
    on_compile: Callable[[], None] = lambda: None,
) -> np.ndarray:
    """Return every unordered conflict once, as rows of :data:`CONFLICT`, sorted by their columns.

    Args:
        order: Happens-before.
        private: Spaces in which nothing conflicts, for every access has bytes of its own.
        forwarding: Operations whose results later computes of their thread see although they overlap.
        accumulating: Pairs of an operation and the number of a sum: later ones of the same sum and thread see
            what it adds although they overlap.
        compiled: Whether to use the compiled scan; by default, only where the program is large.
        on_compile: Called before anything is compiled.
    """
    fast = len(order.topo) >= COMPILED_FROM if compiled is None else compiled
    groups = _grouped(order, private, fast, on_compile)
    spans, which = np.unique(groups.spans, return_inverse=True)
    written = np.zeros(len(spans), bool)
    written[which[groups.mode != Mode.READ]] = True
    pairs = _group_pairs(order, groups, which, meeting(spans, written))
    if not len(pairs):
        return np.zeros(0, CONFLICT)
    found = _unordered(order, groups, pairs, fast, on_compile)
    forwarded = Forwarded.of(order, forwarding, accumulating)
    if not forwarded.any:
        return _conflicts(order, groups, pairs, found)
    kept = ~forwarded.sees(found.first, found.second)
    rows = _conflicts(order, groups, pairs, _Found(*(column[kept] for column in found)))
    return np.asarray(rows[~forwarded.handed_on(rows)])


class Exemptions(TypedDict):
    """What a program's parameters say that is no conflict; arguments of :func:`conflicts_of`."""

    private: Collection[int]
    forwarding: Collection[int]
    accumulating: Sequence[Sequence[int]]


def exemptions_of(program: Program) -> Exemptions:
    """Return what a program itself says that is no conflict."""
    given = program.parameters
    return {
        "private": given.get("private", ()),
        "forwarding": given.get("forwarding", ()),
        "accumulating": given.get("accumulating", ()),
    }


def _grouped(order: Order, private: Collection[int], fast: bool, on_compile: Callable[[], None]) -> _Groups:
    """Return the accesses that can conflict by set, chain and mode, in the order of their chain."""
    access, chains = order.tables["access"], order.chains
    spaces = int(access["space"].max(initial=-1)) + 1
    user, low, high = np.full(spaces, NOBODY), np.full(spaces, NEVER), np.zeros(spaces, np.int64)
    user[[each for each in private if each < spaces]] = PRIVATE
    columns = tuple(access[name] for name in ("op", "mode", "space", "lo", "length", "rows", "pitch"))
    count, room = -1, _ROOM
    while count < 0:
        group, first = np.full(len(access), -1, np.int32), np.zeros(room, np.int32)
        count = run_kernel(
            "pantile.check.group_kernel",
            "run",
            (*columns, chains.chain, _pipelined_chains(order)),
            (user, low, high, np.full(room, -1, np.int32), group, first),
            compiled=fast,
            on_compile=on_compile,
        )
        room *= 16
    chosen, at = np.flatnonzero(group >= 0), first[:count]
    group = group[chosen]
    member = np.argsort(group.astype(np.uint16) if count < 1 << 16 else group, kind="stable")
    return _Groups(
        normal(access[at]),
        chains.chain[access["op"][at]],
        access["mode"][at].astype(np.int64),
        np.concatenate([[0], np.cumsum(np.bincount(group, minlength=count))]),
        access["op"][chosen[member]],
    )


_ROOM = 1 << 17
"""Room for hashing at first; most programs touch few distinct sets of bytes."""


def meeting(spans: np.ndarray, written: np.ndarray) -> np.ndarray:
    """Return the pairs of sets that share a byte and one of which is written, as rows (i, j), i <= j."""
    by_place = np.lexsort((spans["lo"], spans["space"]))
    by_place = by_place[spans["length"][by_place] > 0]
    spans, written = spans[by_place], written[by_place]
    far = int(stop(spans).max(initial=0)) + 1
    lo = spans["space"] * far + spans["lo"]
    ends = np.searchsorted(lo, spans["space"] * far + stop(spans))
    counts = ends - np.arange(len(spans)) - 1
    first = np.repeat(np.arange(len(spans)), counts)
    second = np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts) + first + 1
    wanted = written[first] | written[second]
    first, second = first[wanted], second[wanted]
    met = overlaps(spans[first], spans[second])
    alone = np.flatnonzero(written)
    pairs = np.column_stack([np.concatenate([alone, first[met]]), np.concatenate([alone, second[met]])])
    return np.sort(by_place[pairs], axis=1)


def _group_pairs(order: Order, groups: _Groups, which: np.ndarray, sets: np.ndarray) -> np.ndarray:
    """Return the pairs of groups whose accesses can conflict.

    Args:
        order: Happens-before.
        groups: The groups.
        which: The set of each.
        sets: Pairs of sets that meet.
    """
    by_set = np.argsort(which, kind="stable")
    sorted_sets = which[by_set]
    begin, other = (np.searchsorted(sorted_sets, sets[:, side]) for side in (0, 1))
    many, others = (np.searchsorted(sorted_sets, sets[:, side], "right") for side in (0, 1))
    many, others = many - begin, others - other
    counts = many * others
    at = np.repeat(np.arange(len(sets)), counts)
    place = np.arange(len(at)) - np.repeat(np.cumsum(counts) - counts, counts)
    first, second = by_set[begin[at] + place // others[at]], by_set[other[at] + place % others[at]]
    once = (sets[at, 0] != sets[at, 1]) | (first <= second)
    writes = (groups.mode[first] != Mode.READ) | (groups.mode[second] != Mode.READ)
    pipelined = _pipelined_chains(order)
    apart = (groups.chain[first] != groups.chain[second]) | pipelined[groups.chain[first]]
    return np.asarray(np.column_stack([first, second])[once & writes & apart])


def _pipelined_chains(order: Order) -> np.ndarray:
    chains = order.chains
    pipelined = np.zeros(chains.count, bool)
    pipelined[chains.chain[chains.pipelined]] = True
    return pipelined


def _unordered(
    order: Order, groups: _Groups, pairs: np.ndarray, fast: bool, on_compile: Callable[[], None]
) -> _Found:
    """Return pairs of operations that are not ordered, and the pair of groups they belong to."""
    chains = order.chains
    scan = _Scan(
        pair_first=pairs[:, 0],
        pair_second=pairs[:, 1],
        group_first=groups.first,
        group_chain=groups.chain,
        member=groups.member,
        finish=chains.finish,
        finish_chain=chains.finish_chain,
        row_of=order.row_of,
    )
    given, _ = pack(scan)
    room = np.zeros(MOST if fast else min(MOST, len(groups.member) ** 2), np.int64)
    state, found = pack(_Found(room, room, room), CHAINS + 1 - 3)
    state[CHAINS] = chains.count
    run_kernel(
        "pantile.check.conflict_kernel",
        "run",
        (order.packed, given, order.clock.reshape(-1)),
        (state,),
        compiled=fast,
        on_compile=on_compile,
    )
    count = int(state[FOUND])
    return _Found(found.first[:count], found.second[:count], found.pair[:count])


def _conflicts(order: Order, groups: _Groups, pairs: np.ndarray, found: _Found) -> np.ndarray:
    """Return the table of conflicts: of two operations one row per kind and range."""
    a, b, pair = found
    real = ~(order.before(a, b) | order.before(b, a)) & (a != b)
    a, b, pair = a[real], b[real], pair[real]
    used, place = np.unique(pair, return_inverse=True)
    common = [common_range(*groups.spans[each]) for each in pairs[used]]
    ranges = np.array(common, np.int64).reshape(-1, 2)
    modes = [groups.mode[pairs[pair, side]] for side in (0, 1)]
    swap = a > b
    first, second = np.where(swap, b, a), np.where(swap, a, b)
    first_mode, second_mode = np.where(swap, modes[::-1], modes)
    thread = order.chains.thread
    rows = np.zeros(len(pair), CONFLICT)
    rows["space"] = groups.spans["space"][pairs[pair, 0]]
    rows["first"], rows["second"] = first, second
    rows["lo"], rows["hi"] = ranges[place].T
    rows["same_thread"] = thread[first] == thread[second]
    parts = []
    for kind, (writes, also) in enumerate(((True, False), (False, True), (True, True))):
        part = rows[_does(first_mode, writes) & _does(second_mode, also)]
        part["kind"] = kind
        parts.append(part)
    return np.unique(np.concatenate(parts))


def _does(mode: np.ndarray, writes: bool) -> np.ndarray:
    """Whether an access writes, or reads; an update does both."""
    return np.asarray(mode != (Mode.READ if writes else Mode.WRITE))
