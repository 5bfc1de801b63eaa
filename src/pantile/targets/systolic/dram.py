"""DRAM models of the tick-by-tick simulation.

Source: onnxim-model.md section 9. A model serves requests of one machine; other models join here.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Protocol


@dataclass(slots=True)
class Request:
    """One memory request on its way; tick fields are filled as it passes."""

    op: int
    address: int
    write: bool
    core: int
    space: int
    half: int
    entry: int
    channel: int
    enqueued: int
    port: int = -1
    injected: int = -1
    pushed: int = -1
    dram_before: int = -1
    popped: int = -1
    response_tick: int = -1
    response_cycle: int = -1


class Dram(Protocol):
    """What the simulation asks of a DRAM."""

    ticks: int

    def push(self, channel: int, request: Request) -> None:
        """Take a request."""

    def response(self, channel: int) -> Request | None:
        """Return, and forget, the oldest finished request of a channel, if there is one."""

    def tick(self) -> None:
        """Advance one DRAM cycle."""


class SimpleDram:
    """Fixed latency, one request per channel per cycle, reads and writes alike."""

    def __init__(self, channels: int, latency: int) -> None:
        self.ticks = 0
        self._latency = latency
        self._last_ready = 0  # never initialised in the original (Q15); shared by all channels
        self._queues: list[deque[tuple[int, Request]]] = [deque() for _ in range(channels)]
        self._done: list[deque[Request]] = [deque() for _ in range(channels)]

    def push(self, channel: int, request: Request) -> None:
        """Take a request; it is ready after the latency, and not before any taken earlier."""
        self._last_ready = max(self.ticks + self._latency, self._last_ready)
        self._queues[channel].append((self._last_ready, request))

    def response(self, channel: int) -> Request | None:
        """Return, and forget, the oldest finished request of a channel, if there is one."""
        done = self._done[channel]
        return done.popleft() if done else None

    def tick(self) -> None:
        """Finish at most one request per channel, then count the cycle."""
        for queue, done in zip(self._queues, self._done, strict=True):
            if queue and queue[0][0] <= self.ticks:
                done.append(queue.popleft()[1])
        self.ticks += 1
