"""Waits and barriers that order nothing.

A wait is redundant if what follows it would come after the post without it: by its thread, or by what other
waits, before it or right behind it, force. A barrier is redundant if that holds for all that comes before it
in other threads. Priming and draining flags is not: it keeps the count.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pantile.check.chains import NEVER
from pantile.check.compiled import COMPILED_FROM, pack, run_kernel
from pantile.check.naming import Naming
from pantile.check.redundant_kernel import BESIDE, MARKS, MEETS, MERE, PASSIVE
from pantile.check.report import Finding, Report
from pantile.check.statements import role_of_counters
from pantile.program.tables import Kind, Test

if TYPE_CHECKING:
    from pantile.check.order import Order
    from pantile.program.program import Program

Cost = Callable[[tuple[int, ...]], str]
"""Says in words what time the given operations cost; empty if none."""


@dataclass(frozen=True, slots=True)
class Redundant:
    """Synchronisation that orders nothing, and can be left out together.

    Attributes:
        operations: The waits of one line, or arrivals and departures of barriers of one line.
        barrier: Whether these are barriers.
    """

    operations: tuple[int, ...]
    barrier: bool


class _Given(NamedTuple):
    """What the kernel reads beside the ledger, in the order of its columns."""

    waits: np.ndarray
    flags: np.ndarray
    row_of: np.ndarray
    edge_first: np.ndarray
    edge_src: np.ndarray
    edge_index: np.ndarray


class _Verdicts(NamedTuple):
    idle: np.ndarray


def redundant_of(
    program: Program,
    order: Order,
    *,
    compiled: bool | None = None,
    on_compile: Callable[[], None] = lambda: None,
) -> list[Redundant]:
    """Return the waits and barriers that order nothing, by line; a line counts only as a whole.

    Statements on copies are not among them, for they do more than wait. A program that stops, or has waits
    that something left open could disturb, is not judged.

    Args:
        program: What runs.
        order: Its happens-before.
        compiled: As of :func:`~pantile.check.order.happens_before`.
        on_compile: Called before anything is compiled.
    """
    if order.stuck or not order.exact:
        return []
    flags = _flags(program, order)
    waits = _judged(program, order, flags)
    if not len(waits):
        return []
    fast = len(order.topo) >= COMPILED_FROM if compiled is None else compiled
    idle = _idle(order, waits, flags, fast, on_compile)
    barriers = flags[waits] & MEETS > 0
    return [
        *(Redundant(ops, False) for ops in _by_line(order, waits[~barriers], idle[~barriers])),
        *(Redundant(ops, True) for ops in _barriers(order, waits[barriers], idle[barriers])),
    ]


def _flags(program: Program, order: Order) -> np.ndarray:
    """Return, by operation, what the kernel asks of it."""
    rows, chains, count = order.sync.row, order.chains, len(order.topo)
    posts, waits, reaches = (np.zeros(count, bool) for _ in range(3))
    is_post = rows["test"] == Test.POST
    posts[rows["op"][is_post]] = True
    waits[rows["op"][~is_post]] = True
    reaches[rows["op"][rows["test"] == Test.REACH]] = True
    sync = order.tables["op"]["kind"] == Kind.SYNC
    passive = sync & waits & ~posts
    flags = passive * PASSIVE + (sync & posts & ~waits) * MERE + (passive & reaches) * MEETS
    beside = chains.main_before >= 0
    if chains.pipelined.any():
        marked = np.flatnonzero((chains.finish_chain != chains.chain) & (chains.finish < NEVER))
        marks = chains.order[chains.first[chains.finish_chain[marked]] + (chains.finish[marked] - 1) // 2]
        flags[beside] += BESIDE
        flags[np.unique(marks)] += MARKS
    return np.asarray(flags)


def _judged(program: Program, order: Order, flags: np.ndarray) -> np.ndarray:
    """Return the operations that only wait, and for no copy."""
    roles = role_of_counters(program, order.tables)
    chosen = flags & PASSIVE > 0
    if (roles >= 0).any():
        chosen[order.sync.row["op"][roles[order.sync.counter] >= 0]] = False
    return np.flatnonzero(chosen)


def _idle(
    order: Order, waits: np.ndarray, flags: np.ndarray, fast: bool, on_compile: Callable[[], None]
) -> np.ndarray:
    edges = order.edges[np.argsort(order.edges["dst"], kind="stable")]
    given, _ = pack(
        _Given(
            waits=waits,
            flags=flags,
            row_of=order.row_of,
            edge_first=np.searchsorted(edges["dst"], np.arange(len(order.topo) + 1)),
            edge_src=edges["src"],
            edge_index=edges["index"],
        )
    )
    state, judged = pack(_Verdicts(np.zeros(len(waits), np.int64)), 1)
    state[1] = order.chains.count
    run_kernel(
        "pantile.check.redundant_kernel",
        "run",
        (order.packed, given, order.clock.reshape(-1)),
        (state, np.zeros(order.chains.count, np.int64)),
        compiled=fast,
        on_compile=on_compile,
    )
    return judged.idle.astype(bool)


def _by_line(order: Order, waits: np.ndarray, idle: np.ndarray) -> list[tuple[int, ...]]:
    """Return the operations of every line all of which are idle."""
    ops = order.tables["op"]
    lines = np.where(ops["line"][waits] > 0, ops["line"][waits], -1 - waits)
    keys = lines * (int(ops["opcode"].max(initial=0)) + 1) + ops["opcode"][waits]
    _, group = np.unique(keys, return_inverse=True)
    needed = np.bincount(group, ~idle) > 0
    idle_groups = np.unique(group[~needed[group]]).tolist()
    return [tuple(waits[group == each].tolist()) for each in idle_groups]


def _barriers(order: Order, leaves: np.ndarray, idle: np.ndarray) -> list[tuple[int, ...]]:
    """Return arrivals and departures of every line all of whose barriers are idle."""
    rows, counter = order.sync.row, order.sync.counter
    reach = rows["test"] == Test.REACH
    barrier_of = dict(zip(rows["op"][reach].tolist(), counter[reach].tolist(), strict=True))
    barriers = np.array([barrier_of[op] for op in leaves.tolist()], np.int64)
    useful = set(barriers[~idle].tolist())
    lines = order.tables["op"]["line"]
    groups: dict[int, list[int]] = defaultdict(list)
    needed: set[int] = set()
    for op, barrier in zip(leaves.tolist(), barriers.tolist(), strict=True):
        line = int(lines[op]) if lines[op] > 0 else -1 - barrier
        groups[line].append(barrier)
        if barrier in useful:
            needed.add(line)
    return [
        tuple(np.unique(rows["op"][np.isin(counter, members)]).tolist())
        for line, members in groups.items()
        if line not in needed
    ]


def check_redundant(
    program: Program,
    order: Order,
    *,
    cost: Cost | None = None,
    compiled: bool | None = None,
    on_compile: Callable[[], None] = lambda: None,
) -> Report:
    """Note every wait and barrier that orders nothing.

    Args:
        program: What runs.
        order: Its happens-before.
        cost: Says what time it costs; what an engine can tell.
        compiled: As of :func:`~pantile.check.order.happens_before`.
        on_compile: Called before anything is compiled.
    """
    naming = Naming(program)
    findings = []
    for each in redundant_of(program, order, compiled=compiled, on_compile=on_compile):
        first, count = each.operations[0], len(each.operations)
        if each.barrier:
            what = f"the barrier at {naming.op(first)} orders nothing that is not ordered without it"
        else:
            what = f"{naming.op(first)} never makes anything wait that is not ordered without it"
        more = f"; so do all {count} operations of that line" if count > 1 and not each.barrier else ""
        findings.append(
            Finding(
                code="PT-REDUNDANT",
                severity="note",
                sentence=what + more,
                operations=each.operations[:100],
                evidence=cost(each.operations) if cost else "",
                mend="leave it out" if each.barrier else "leave it and its post out, or ask for fewer slots",
            )
        )
    return Report(tuple(findings))
