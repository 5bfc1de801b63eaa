"""The synchronisation of a program as processes that take steps: what an exploration walks through.

Every chain is a process. An operation's start is a step if it waits or posts, its end if it posts; nothing
else matters to who waits for whom. A post of a pipelined thread stands in a process of its own that may not
overtake the thread's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pantile.check.chains import Chains, chains_of, only_posts
from pantile.program.tables import Edge, Kind, Overflow, Test

if TYPE_CHECKING:
    import numpy as np

ADD, SUB, TAKE, REACH, ZERO, SEE, ACTIONS = range(7)
"""What a row does to its counter: raise, lower, take, wait for so many, wait for zero, or look without
waiting."""


class Row(NamedTuple):
    """One effect or condition of a step."""

    counter: int
    action: int
    amount: int


@dataclass(slots=True)
class Step:
    """One indivisible step of a process.

    Attributes:
        op: The operation it belongs to.
        waits: Conditions, which hold together.
        posts: Effects, once they hold.
        after: Processes, and how many of their steps must have been taken before.
        rows: Conditions and effects.
    """

    op: int
    waits: tuple[Row, ...] = ()
    posts: tuple[Row, ...] = ()
    after: tuple[tuple[int, int], ...] = ()
    rows: tuple[Row, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.rows = self.waits + self.posts


@dataclass(slots=True)
class Processes:
    """All steps of a program, and what counters hold at first.

    Attributes:
        steps: By process.
        initial: By counter.
        capacity: By counter: what a post cannot raise it above where it saturates, else ``None``.
        chain: By process: the chain it came from.
        last: By counter and action: processes that do it, and the place of the last such step.
    """

    steps: list[list[Step]]
    initial: list[int]
    capacity: list[int | None]
    chain: list[int]
    last: list[dict[int, dict[int, int]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.last = [{} for _ in self.initial]
        for process, steps in enumerate(self.steps):
            for place, step in enumerate(steps):
                for row in step.rows:
                    self.last[row.counter].setdefault(row.action, {})[process] = place


def processes_of(
    tables: dict[str, np.ndarray],
    *,
    posts_hold_up: bool = False,
    one_bit: bool = False,
    looks: tuple[int, int] | None = None,
    watch: int | None = None,
) -> Processes:
    """Return the processes of a literal program.

    Args:
        tables: Its tables.
        posts_hold_up: In threads that complete pipelined, take what follows a post to start after it.
        one_bit: Whether posts to saturating counters that are full are lost.
        looks: Two operations: the start of the second looks whether the first is over. The counter that it
            looks at is the last.
        watch: A counter whose posts above its capacity are of interest: they are taken to be lost.
    """
    chains = chains_of(tables, posts_hold_up=posts_hold_up)
    starts, ends = _rows(tables)
    counters = tables["counter"]
    initial = counters["initial"].tolist()
    limited = [
        at == watch or (one_bit and overflow == Overflow.SATURATE)
        for at, overflow in enumerate(counters["overflow"].tolist())
    ]
    capacity = [
        limit if bounded else None
        for limit, bounded in zip(counters["capacity"].tolist(), limited, strict=True)
    ]
    if looks is not None:
        ends.setdefault(looks[0], []).append(Row(len(initial), ADD, 1))
        starts.setdefault(looks[1], []).append(Row(len(initial), SEE, 0))
        initial, capacity = [*initial, 0], [*capacity, None]
    steps, owner = _steps(tables, chains, starts, ends)
    return Processes(steps, initial, capacity, owner)


def _rows(tables: dict[str, np.ndarray]) -> tuple[dict[int, list[Row]], dict[int, list[Row]]]:
    """Return what operations do at their start and at their end."""
    sync, ids = tables["sync"], tables["counter"]["id"].tolist()
    position = {number: at for at, number in enumerate(ids)}
    starts: dict[int, list[Row]] = {}
    ends: dict[int, list[Row]] = {}
    waits = {int(Test.TAKE): TAKE, int(Test.REACH): REACH, int(Test.ZERO): ZERO}
    columns = (sync[name].tolist() for name in ("op", "edge", "counter", "test", "amount"))
    for op, edge, counter, test, amount in zip(*columns, strict=True):
        if test == Test.POST:
            row = Row(position[counter], ADD if amount > 0 else SUB, abs(amount))
            (starts if edge == Edge.BEFORE_START else ends).setdefault(op, []).append(row)
        else:
            starts.setdefault(op, []).append(Row(position[counter], waits[test], amount))
    return starts, ends


def _steps(
    tables: dict[str, np.ndarray],
    chains: Chains,
    starts: dict[int, list[Row]],
    ends: dict[int, list[Row]],
) -> tuple[list[list[Step]], list[int]]:
    """Return the steps of every process, and the chain of each."""
    steps: list[list[Step]] = [[] for _ in range(chains.count)]
    owner = list(range(chains.count))
    alone, posts = chains.pipelined & (tables["op"]["kind"] != Kind.SYNC), only_posts(tables)
    taken: dict[int, int] = {}
    apart: list[list[tuple[int, int]]] = [[] for _ in range(chains.count)]  # ends posted earlier, by thread
    for chain in range(chains.count):
        thread = int(chains.thread_of_chain[chain])
        for op in chains.order[chains.first[chain] : chains.first[chain + 1]].tolist():
            main = int(chains.main_before[op])
            after = [(int(chains.chain[main]), taken[main])] if main >= 0 else []
            if posts[op]:
                after += [(each, 1) for other, each in apart[thread] if other < op]
            if op in starts:
                rows = starts[op]
                waits = tuple(row for row in rows if TAKE <= row.action <= ZERO)
                effects = tuple(row for row in rows if not TAKE <= row.action <= ZERO)
                steps[chain].append(Step(op, waits, effects, tuple(after)))
            taken[op] = len(steps[chain])
            if op in ends and alone[op]:
                apart[thread].append((op, len(steps)))
                steps.append([Step(op, posts=tuple(ends[op]), after=((chain, len(steps[chain])),))])
                owner.append(chain)
            elif op in ends:
                steps[chain].append(Step(op, posts=tuple(ends[op]), after=tuple(after)))
            taken[op] = len(steps[chain])
    return steps, owner
