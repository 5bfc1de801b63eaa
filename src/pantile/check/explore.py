"""All orders in which a program can synchronise, up to those that make no difference.

A walk through the states of its processes. In every state only the steps of a persistent set are tried: a
set of processes whose next steps no other process can disturb, enable or be disturbed by, whatever the
others do first. All final states are found that way. A single such process is let go on without any record;
states with a choice are remembered, so that none is walked through twice.

Source: P. Godefroid, Partial-Order Methods for the Verification of Concurrent Systems, 1996.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pantile.check.steps import ACTIONS, ADD, REACH, SEE, SUB, TAKE, ZERO

if TYPE_CHECKING:
    from pantile.check.steps import Processes, Row, Step

STEPS_PER_STATE = 50
"""Steps that may be taken per state of the budget; states without a choice are not counted otherwise."""

_DISTURBED_BY = {
    ADD: (ZERO, SEE),
    SUB: (TAKE, ZERO),
    TAKE: (TAKE, SUB, ZERO),
    REACH: (),
    ZERO: (ADD, SUB, TAKE),
    SEE: (ADD,),
}
"""Actions on one counter whose order makes a difference."""

_SATURATED = _DISTURBED_BY | {ADD: (ZERO, SEE, TAKE), TAKE: (TAKE, SUB, ZERO, ADD)}
"""The same where a post to a full counter is lost."""

_ENABLED_BY = {TAKE: (ADD,), REACH: (ADD,), ZERO: (SUB, TAKE)}


@dataclass(frozen=True, slots=True)
class Stop:
    """A state in which nothing moves any more.

    Attributes:
        path: The steps that led there, as operations.
        at: By process: how many steps it has taken.
        value: By counter.
    """

    path: tuple[int, ...]
    at: tuple[int, ...]
    value: tuple[int, ...]


@dataclass(slots=True)
class Outcome:
    """What an exploration found.

    Attributes:
        complete: A state in which all processes have ended, if one was found.
        dead: A state in which some have not.
        seen: A complete path on which a look found its counter at 0.
        seen_dead: The same, of a path that did not come to its end.
        lost: A path on which a post found its counter full.
        states: States with a choice that were met.
        finished: Whether all of them were walked through.
    """

    complete: Stop | None = None
    dead: Stop | None = None
    seen: tuple[int, ...] | None = None
    seen_dead: tuple[int, ...] | None = None
    lost: tuple[int, ...] | None = None
    states: int = 0
    finished: bool = True


def explore(processes: Processes, budget: int, *, until_seen: bool = False) -> Outcome:
    """Walk through all orders of steps.

    Stops early once a complete and a dead end are found; or, if *until_seen*, once a look found its counter
    at 0 and the run to the end was complete.

    Args:
        processes: What runs.
        budget: States with a choice that may be met.
        until_seen: Whether to search for a look that found its counter at 0.
    """
    walk = _Walk(processes, budget, until_seen)
    walk.run()
    return walk.outcome


@dataclass(slots=True)
class _Walk:
    """A depth-first walk; steps are taken and taken back in place. Sets of processes are bits of a number.

    Attributes:
        at: By process: how many steps it has taken.
        value: By counter.
        ever: By counter: what was ever added to it.
        alive: By counter: for every action the processes that have such a step before them.
        path: The steps taken: process, counters before, whether something was seen or lost by then.
        visited: States with a choice that were met.
        looked: Whether a look found its counter at 0.
        losing: Whether a post found its counter full.
    """

    processes: Processes
    budget: int
    until_seen: bool
    at: list[int] = field(init=False)
    value: list[int] = field(init=False)
    ever: list[int] = field(init=False)
    alive: list[list[int]] = field(init=False)
    path: list[tuple[int, list[tuple[int, int, int]], bool, bool]] = field(default_factory=list)
    visited: set[tuple[int, ...]] = field(default_factory=set)
    looked: bool = False
    losing: bool = False
    taken: int = 0
    outcome: Outcome = field(default_factory=Outcome)

    def __post_init__(self) -> None:
        self.at = [0] * len(self.processes.steps)
        self.value = list(self.processes.initial)
        self.ever = [0] * len(self.value)
        self.alive = [
            [sum(1 << process for process in last.get(action, ())) for action in range(ACTIONS)]
            for last in self.processes.last
        ]

    def run(self) -> None:
        """Try every choice of every state."""
        frames: list[tuple[int, list[int]]] = []
        choices = self._go_on()
        while True:
            if choices:
                frames.append((len(self.path), choices))
            while frames and not frames[-1][1]:
                frames.pop()
            if not frames or self._enough():
                return
            depth, rest = frames[-1]
            self._back_to(depth)
            self._take(rest.pop())
            choices = self._go_on()

    def _enough(self) -> bool:
        found = self.outcome
        if self.until_seen:
            if found.seen is not None:
                return True
        elif found.complete is not None and found.dead is not None:
            return True
        most = STEPS_PER_STATE * max(self.budget, 1) + len(self.at) * 1000
        if found.states > self.budget or self.taken > most:
            found.finished = False
            return True
        return False

    def _go_on(self) -> list[int]:
        """Take steps until there is a choice or an end; return the choices of a state not met before."""
        last = self.path[-1][0] if self.path else 0
        while True:
            choices = self._persistent(last)
            if not choices:
                self._stop()
                return []
            if len(choices) > 1:
                key = (*self.at, *self._bits(), self.looked, self.losing)
                if key in self.visited:
                    return []
                self.visited.add(key)
                self.outcome.states += 1
                return choices[::-1]
            last = choices[0]
            self._take(last)

    def _bits(self) -> list[int]:
        limits = self.processes.capacity
        return [value for value, limit in zip(self.value, limits, strict=True) if limit is not None]

    def _stop(self) -> None:
        found, steps = self.outcome, self.processes.steps
        ended = all(at == len(each) for at, each in zip(self.at, steps, strict=True))
        seen = found.seen if ended else found.seen_dead
        known = (found.complete if ended else found.dead) is not None
        if known and not (self.looked and seen is None) and not (self.losing and found.lost is None):
            return
        path = tuple(steps[process][place].op for process, place in self._places())
        stop = Stop(path, tuple(self.at), tuple(self.value))
        if ended:
            found.complete = found.complete or stop
        else:
            found.dead = found.dead or stop
        if self.looked and ended:
            found.seen = found.seen or path
        elif self.looked:
            found.seen_dead = found.seen_dead or path
        if self.losing:
            found.lost = found.lost or path

    def _places(self) -> list[tuple[int, int]]:
        count = [0] * len(self.at)
        places = []
        for process, *_ in self.path:
            places.append((process, count[process]))
            count[process] += 1
        return places

    def _take(self, process: int) -> None:
        place = self.at[process]
        step = self.processes.steps[process][place]
        undo: list[tuple[int, int, int]] = []
        looked, losing = self.looked, self.losing
        for counter, action, amount in step.rows:
            undo.append((counter, self.value[counter], self.ever[counter]))
            if action in (TAKE, SUB):
                self.value[counter] -= amount
            elif action == ADD:
                raised, limit = self.value[counter] + amount, self.processes.capacity[counter]
                self.losing |= limit is not None and raised > limit
                self.value[counter] = raised if limit is None else min(raised, limit)
                self.ever[counter] += amount
            elif action == SEE and self.value[counter] == 0:
                self.looked = True
            if self.processes.last[counter][action][process] == place:
                self.alive[counter][action] &= ~(1 << process)
        self.path.append((process, undo, looked, losing))
        self.at[process] += 1
        self.taken += 1

    def _back_to(self, depth: int) -> None:
        while len(self.path) > depth:
            process, undo, self.looked, self.losing = self.path.pop()
            self.at[process] -= 1
            for counter, value, ever in reversed(undo):
                self.value[counter], self.ever[counter] = value, ever
            for counter, action, _ in self.processes.steps[process][self.at[process]].rows:
                self.alive[counter][action] |= 1 << process

    def _failing(self, step: Step) -> Row | None:
        """Return a condition of a step that does not hold."""
        for row in step.waits:
            counter, action, amount = row
            if action == TAKE and self.value[counter] < amount:
                return row
            if action == REACH and self.ever[counter] < amount:
                return row
            if action == ZERO and self.value[counter] != 0:
                return row
        return None

    def _may_go(self, process: int) -> bool:
        steps, at = self.processes.steps[process], self.at[process]
        if at == len(steps):
            return False
        step = steps[at]
        return self._failing(step) is None and all(self.at[other] >= count for other, count in step.after)

    def _persistent(self, last: int) -> list[int]:
        """Return the processes of a small persistent set that can go on; none at an end.

        Starts from what a process needs, and looks for less among what that brings along.
        """
        able = []
        for process in self._from(last):
            if self._may_go(process):
                if not self._disturbers(process):
                    return [process]
                able.append(process)
        if not able:
            return []
        wanted = sum(1 << process for process in able)
        best = self._closure(able[0])
        tried, rest = 1 << able[0], best & wanted
        while rest & ~tried:
            process = (rest & ~tried).bit_length() - 1
            tried |= 1 << process
            found = self._closure(process)
            if (found & wanted).bit_count() < (best & wanted).bit_count():
                best, rest = found, found & wanted
        return [process for process in sorted(able) if best >> process & 1]

    def _from(self, last: int) -> list[int]:
        return [*range(last, len(self.at)), *range(last)]

    def _closure(self, process: int) -> int:
        """Return a set of processes that no other one can interfere with."""
        found = rest = 1 << process
        while rest:
            each = rest.bit_length() - 1
            rest &= ~(1 << each)
            more = (self._disturbers(each) | self._enablers(each)) & ~found
            found |= more
            rest |= more
        return found

    def _disturbers(self, process: int) -> int:
        steps, at = self.processes.steps[process], self.at[process]
        found = 0
        if at < len(steps):
            for counter, action, _ in steps[at].rows:
                alive = self.alive[counter]
                limited = self.processes.capacity[counter] is not None
                for each in (_SATURATED if limited else _DISTURBED_BY)[action]:
                    found |= alive[each]
        return found & ~(1 << process)

    def _enablers(self, process: int) -> int:
        """Return the processes that could let a process go on that cannot."""
        steps, at = self.processes.steps[process], self.at[process]
        if at == len(steps):
            return 0
        missing = sum(1 << other for other, count in steps[at].after if self.at[other] < count)
        if missing:
            return missing
        row, found = self._failing(steps[at]), 0
        if row is not None:
            for action in _ENABLED_BY[row.action]:
                found |= self.alive[row.counter][action]
        return found & ~(1 << process)
