"""Operations as objects: what the dynamic executor carries out, one statement at a time.

A statement says the same as the rows of one operation in the program's tables. Counters and resources are
named by any hashable key, so that they can be mentioned before anyone knows how many there are.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from pantile.program.tables import Edge, Kind, Overflow, Sharing, Test


@dataclass(frozen=True, slots=True)
class CounterSpec:
    """A counter before anything happened.

    Attributes:
        initial: Its first value.
        capacity: Largest value, where *overflow* is not ``NONE``.
        overflow: What a post above the capacity does; ``ERROR`` also forbids values below 0.
    """

    initial: int = 0
    capacity: int = 0
    overflow: Overflow = Overflow.NONE


@dataclass(frozen=True, slots=True)
class ResourceSpec:
    """An engine or a link.

    Attributes:
        policy: Exclusive, one operation at a time; or shared, round-robin in quanta.
        rate: Units per second; 0 for what is held as long as the operation takes and serves nothing itself.
        latency: Ticks between the end of service and the end of the operation; the resource is free
            again meanwhile.
        quantum: Units that a shared resource serves of one operation before it turns to the next.
    """

    policy: Sharing
    rate: int
    latency: int = 0
    quantum: int = 1


@dataclass(frozen=True, slots=True)
class Sync:
    """One row of the table ``sync``, its counter by key."""

    counter: Hashable
    test: Test
    amount: int = 1
    edge: Edge = Edge.BEFORE_START
    group: int = -1
    shown_as: str = ""


@dataclass(frozen=True, slots=True)
class Use:
    """One row of the table ``use``, its resource by key; uses stand in route order."""

    resource: Hashable
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One operation of a thread.

    Attributes:
        kind: What it does; a ``SYNC`` operation takes no time.
        opcode: Its name.
        syncs: What it waits for and posts.
        uses: What it occupies.
        ticks: Time that it takes at least, whatever it uses.
        query: A counter whose present value the thread's generator is sent; the statement does nothing else.
        number: Its number in the program, where it has one; else statements are numbered as they are
            reached.
    """

    kind: Kind = Kind.SYNC
    opcode: str = ""
    syncs: tuple[Sync, ...] = ()
    uses: tuple[Use, ...] = ()
    ticks: int = 0
    query: Hashable | None = None
    number: int = -1

    @property
    def only_posts(self) -> bool:
        """Whether it is a synchronisation without any wait."""
        return self.kind == Kind.SYNC and self.query is None and not any(each.test for each in self.syncs)

    def steps(self) -> list[list[Sync]]:
        """Return its waits: a group together, other waits each alone, in the order of their first rows."""
        steps: dict[int, list[Sync]] = {}
        for position, sync in enumerate(self.syncs):
            if sync.test != Test.POST:
                steps.setdefault(sync.group if sync.group >= 0 else -1 - position, []).append(sync)
        return list(steps.values())

    def posts(self, edge: Edge) -> list[Sync]:
        """Return its posts at *edge*, in order."""
        return [sync for sync in self.syncs if sync.test == Test.POST and sync.edge == edge]
