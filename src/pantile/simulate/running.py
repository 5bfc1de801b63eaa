"""What the dynamic executor keeps about a run under way."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pantile.program.tables import ArbiterPolicy, ReleasedBy, Test
from pantile.simulate.outcome import NEVER

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from pantile.simulate.shared_link import SharedLink
    from pantile.simulate.statement import CounterSpec, ResourceSpec, Statement, Sync

Key = tuple[int, int, int]
"""What decides ties: when it was asked for, the thread's place, the operation's number."""


@dataclass(frozen=True, slots=True)
class ThreadSource:
    """One thread.

    Attributes:
        statements: What it does, in order; a generator is sent the answer to its queries.
        pipelined: Whether an operation may start when the one before it has started, not finished.
        arbiter: Place of the arbiter that issues its operations; -1 where there is none.
    """

    statements: Iterator[Statement]
    pipelined: bool = False
    arbiter: int = -1


@dataclass(frozen=True, slots=True)
class ArbiterSpec:
    """An arbiter: at most *issues* operations in every *ticks*, chosen by *policy*."""

    policy: ArbiterPolicy
    issues: int
    ticks: int


@dataclass(eq=False, slots=True)
class Operation:
    """One statement under way: its times, what it holds and what it still waits for."""

    thread: Thread
    statement: Statement
    number: int
    asked: int
    before: int  # the operation that let it come
    steps: list[list[Sync]]
    ready: int = NEVER
    issue: int = NEVER
    start: int = NEVER
    finish: int = NEVER
    order: int = NEVER
    released_by: ReleasedBy = ReleasedBy.PROGRAM
    releaser: int = -1
    watched: Counter | None = None  # the counter whose change may let it go on
    woken_by: int = -1
    taken: list[Resource] = field(default_factory=list)
    requested: int = NEVER  # when it asked for the resource that it takes next
    awaits: Resource | None = None
    put_off: bool = False  # whether a query was made to wait for others
    parts: int = 0  # links, or a duration, that serve it side by side
    milestones: dict[int, int] = field(default_factory=dict)  # parts that have reached each

    @property
    def key(self) -> Key:
        """What orders its waits and posts among those of one instant."""
        return self.asked, self.thread.place, self.number

    @property
    def request(self) -> Key:
        """What orders its request for a resource."""
        return self.requested, self.thread.place, self.number


@dataclass(eq=False, slots=True)
class Thread:
    """A thread under way; *unfinished* are the operations of a pipelined one, in order."""

    place: int
    source: ThreadSource
    head: Operation | None = None
    answer: int | None = None
    asked: int = 0  # queries since its last statement
    unfinished: deque[Operation] = field(default_factory=deque)


@dataclass(eq=False, slots=True)
class Counter:
    """A counter; *posted* is the sum of all positive posts so far."""

    key: Hashable
    spec: CounterSpec
    value: int
    posted: int = 0
    waiting: dict[Operation, None] = field(default_factory=dict)

    def holds(self, sync: Sync) -> bool:
        """Whether the test of *sync* holds now."""
        if sync.test == Test.TAKE:
            return self.value >= sync.amount
        return self.posted >= sync.amount if sync.test == Test.REACH else self.value == 0


@dataclass(eq=False, slots=True)
class Resource:
    """An exclusive resource with its queue, or a shared one with its *link*."""

    key: Hashable
    spec: ResourceSpec
    link: SharedLink | None = None
    version: int = 0  # of the link's next event
    holder: Operation | None = None
    last_holder: int = -1
    waiting: list[tuple[Key, Operation]] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Arbiter:
    """An arbiter with at most one candidate per thread; *awake*: its next turn is planned."""

    place: int
    spec: ArbiterSpec
    tick: int = -1
    issued: int = 0
    last_thread: int = -1
    last_op: int = -1
    awake: bool = False
    candidates: dict[int, Operation] = field(default_factory=dict)

    def choose(self, threads: int) -> Operation:
        """Remove and return the candidate whose turn it is."""
        if self.spec.policy == ArbiterPolicy.FIXED:
            return self.candidates.pop(min(self.candidates))
        last = max(0, self.last_thread)
        nearest = min(self.candidates, key=lambda place: (place - last) % threads)
        return self.candidates.pop(nearest)
