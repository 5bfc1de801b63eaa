"""A shared link: transfers under way are served round-robin, a quantum each, in closed form.

The quanta of one transfer take ``S(q) - S(q - 1)`` ticks, where ``S(q)`` is the service of its first q
quanta. Over R full rounds a link therefore spends the sum of ``S(done + R) - S(done)`` over its transfers,
which needs no loop over quanta: the link jumps from arrival to departure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pantile.simulate.service import service_ticks


@dataclass(eq=False, slots=True)
class Transfer:
    """One transfer's share of a link.

    Attributes:
        amount: Bytes.
        goals: Quanta after which the link reports, ascending; the last are all of them.
        tag: Whom it belongs to.
        done: Quanta served.
        reported: Goals reached.
    """

    amount: int
    goals: tuple[int, ...]
    tag: Any = None
    done: int = 0
    reported: int = 0

    @property
    def goal(self) -> int:
        """The next goal."""
        return self.goals[self.reported]


@dataclass(eq=False, slots=True)
class SharedLink:
    """A link that divides its rate among the transfers under way.

    A transfer that arrives joins the end of the queue; one whose quantum has ended goes there too, before
    any that arrives at that instant. A quantum once begun is finished.

    Attributes:
        rate: Bytes per second.
        quantum: Bytes of one quantum.
        queue: Transfers; the first is being served.
        began: When its quantum began.
    """

    rate: int
    quantum: int
    queue: list[Transfer] = field(default_factory=list)
    began: int = 0

    def quanta(self, amount: int) -> int:
        """Return the quanta of *amount* bytes, the last one perhaps clipped."""
        return -(-amount // self.quantum)

    def arrive(self, transfer: Transfer, now: int) -> None:
        """Begin to serve *transfer*, the events until *now* having been taken."""
        if self.queue:
            self._advance(now)
        else:
            self.began = now
        self.queue.append(transfer)

    def next_event(self) -> int | None:
        """Return when the next goal of any transfer is reached, if no other arrives; ``None`` when idle."""
        if not self.queue:
            return None
        rounds = min(each.goal - each.done for each in self.queue) - 1
        time = self.began + self._rounds_ticks(rounds)
        for each in self.queue:
            time += self._span(each, each.done + rounds, each.done + rounds + 1)
            if each.goal == each.done + rounds + 1:
                return time
        raise AssertionError("the least goal is reached in its round")

    def take_event(self, now: int) -> tuple[Transfer, range]:
        """Return the transfer that reaches a goal at *now*, the time of the next event, and which goals.

        Goals count from 1; with its last one the transfer leaves the link.
        """
        self._skip(min(each.goal - each.done for each in self.queue) - 1)
        while True:
            first = self._serve_first()
            if first.done == first.goal:
                break
        assert self.began == now
        before = first.reported
        while first.reported < len(first.goals) and first.goal <= first.done:
            first.reported += 1
        if first.reported == len(first.goals):
            self.queue.pop()
        return first, range(before + 1, first.reported + 1)

    def _advance(self, now: int) -> None:
        """Carry out every quantum that ends by *now*; no goal is reached by then."""
        low, high = 0, min(each.goal - each.done for each in self.queue) - 1
        while low < high:
            middle = (low + high + 1) // 2
            if self.began + self._rounds_ticks(middle) <= now:
                low = middle
            else:
                high = middle - 1
        self._skip(low)
        for _ in range(len(self.queue)):
            first = self.queue[0]
            if self.began + self._span(first, first.done, first.done + 1) > now:
                break
            self._serve_first()

    def _skip(self, rounds: int) -> None:
        self.began += self._rounds_ticks(rounds)
        for each in self.queue:
            each.done += rounds

    def _serve_first(self) -> Transfer:
        first = self.queue.pop(0)
        self.began += self._span(first, first.done, first.done + 1)
        first.done += 1
        self.queue.append(first)
        return first

    def _rounds_ticks(self, rounds: int) -> int:
        return sum(self._span(each, each.done, each.done + rounds) for each in self.queue)

    def _span(self, transfer: Transfer, start: int, stop: int) -> int:
        """Ticks of the quanta from *start* to *stop* of a transfer."""
        first, last = (min(each * self.quantum, transfer.amount) for each in (start, stop))
        return service_ticks(last, self.rate) - service_ticks(first, self.rate)
