"""On-chip network models of the tick-by-tick simulation.

Source: onnxim-model.md section 9. Nodes are the ports of all cores, core by core, then the channels.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pantile.targets.systolic.dram import Request


class Network(Protocol):
    """What the simulation asks of a network."""

    ticks: int

    def inject(self, source: int, destination: int, request: Request) -> None:
        """Take a packet at a source node."""

    def deliver(self, node: int) -> Request | None:
        """Return, and forget, the oldest packet that reached a node, if there is one."""

    def tick(self) -> None:
        """Advance one network cycle."""


class SimpleNetwork:
    """Fixed latency; each destination takes one packet per tick, round robin over sources."""

    def __init__(self, nodes: int, latency: int) -> None:
        self.ticks = 0
        self._nodes, self._latency = nodes, latency
        self._waiting: list[dict[int, deque[tuple[int, Request]]]] = [{} for _ in range(nodes)]
        self._pointer = [0] * nodes
        self._arrived: list[deque[Request]] = [deque() for _ in range(nodes)]

    def inject(self, source: int, destination: int, request: Request) -> None:
        """Queue a packet; behind another it is ready one tick after that one, else after the latency."""
        queue = self._waiting[destination].setdefault(source, deque())
        ready = queue[-1][0] + 1 if queue else self.ticks + self._latency
        queue.append((ready, request))

    def deliver(self, node: int) -> Request | None:
        """Return, and forget, the oldest packet that reached a node, if there is one."""
        arrived = self._arrived[node]
        return arrived.popleft() if arrived else None

    def tick(self) -> None:
        """Move at most one packet to every destination, then count the cycle."""
        for destination, queues in enumerate(self._waiting):
            if not queues:
                continue
            pointer = self._pointer[destination]
            ready = [source for source, queue in queues.items() if queue[0][0] <= self.ticks]
            if not ready:
                continue
            source = min(ready, key=lambda at: (at - pointer) % self._nodes)
            queue = queues[source]
            self._arrived[destination].append(queue.popleft()[1])
            if not queue:
                del queues[source]
            self._pointer[destination] = (source + 1) % self._nodes
        self.ticks += 1
