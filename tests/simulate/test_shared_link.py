"""Shared links: the closed form equals quantum by quantum."""

from __future__ import annotations

import doctest
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from pantile.simulate.service import service_ticks
from pantile.simulate.shared_link import SharedLink, Transfer


@dataclass
class Quanta:
    """One quantum after the other: (arrival, amount, goals) in, times at which goals are reached out."""

    rate: int
    quantum: int
    queue: list[list[int]] = field(default_factory=list)  # transfer, bytes served

    def run(self, arrivals: list[tuple[int, int, list[int]]]) -> dict[tuple[int, int], int]:
        reached: dict[tuple[int, int], int] = {}
        coming = sorted(range(len(arrivals)), key=lambda each: (arrivals[each][0], each))
        now = 0
        while coming or self.queue:
            if not self.queue:
                now = max(now, arrivals[coming[0]][0])
                self.queue.append([coming.pop(0), 0])
                continue
            transfer, served = self.queue[0]
            amount, goals = arrivals[transfer][1:]
            upto = min(served + self.quantum, amount)
            ends = now + service_ticks(upto, self.rate) - service_ticks(served, self.rate)
            while coming and arrivals[coming[0]][0] < ends:
                self.queue.append([coming.pop(0), 0])
            now = ends
            self.queue.pop(0)
            for number, goal in enumerate(goals):
                if served < goal * self.quantum <= upto or (goal * self.quantum >= amount == upto > served):
                    reached.setdefault((transfer, number), now)
            if upto < amount:
                self.queue.append([transfer, upto])
        return reached


def closed(rate: int, quantum: int, arrivals: list[tuple[int, int, list[int]]]) -> dict[tuple[int, int], int]:
    link = SharedLink(rate, quantum)
    reached = {}

    def until(limit: float) -> None:
        while (at := link.next_event()) is not None and at <= limit:
            transfer, goals = link.take_event(at)
            reached.update({(transfer.tag, goal - 1): at for goal in goals})

    for number, (time, amount, goals) in sorted(enumerate(arrivals), key=lambda each: (each[1][0], each[0])):
        until(time)
        link.arrive(Transfer(amount, tuple(goals), number), time)
    until(float("inf"))
    return reached


def test_two_transfers_take_turns() -> None:
    """100 B and 40 B at 1 B/ps in quanta of 16: turns of 16 each until the short one has had 40.

    Both get 16, 16 by 64; the long one 16 more by 80; the short one its last 8 by 88; 52 are left: 140.
    """
    assert closed(10**12, 16, [(0, 100, [7]), (0, 40, [3])]) == {(1, 0): 88, (0, 0): 140}


def test_a_quantum_that_has_begun_is_finished_first() -> None:
    assert closed(10**12, 10, [(0, 20, [2]), (5, 10, [1])]) == {(1, 0): 20, (0, 0): 30}


def test_rounding_does_not_add_up() -> None:
    """A byte at 3 B in 10 ps takes 3 or 4 ps, so that 30 bytes take 100."""
    assert closed(3 * 10**11, 1, [(0, 30, [30])]) == {(0, 0): 100}


amounts = st.integers(1, 60)
arrivals = st.lists(st.tuples(st.integers(0, 200), amounts, st.integers(1, 3)), min_size=1, max_size=6)


@given(st.sampled_from([10**12, 3 * 10**11, 7 * 10**12, 1_234_567_890_123]), st.integers(1, 20), arrivals)
@example(7 * 10**12, 1, [(0, 60, 3), (0, 60, 1), (3, 5, 1)])  # several quanta end at one instant
def test_closed_form_equals_quantum_by_quantum(
    rate: int, quantum: int, plan: list[tuple[int, int, int]]
) -> None:
    cut = []
    for time, amount, parts in plan:
        ends = [(part * amount + parts - 1) // parts for part in range(1, parts + 1)]
        cut.append((time, amount, [(end + quantum - 1) // quantum for end in ends]))
    assert closed(rate, quantum, cut) == Quanta(rate, quantum).run(cut)


def test_the_page_on_simulation_works_the_same_example() -> None:
    page = Path(__file__).parents[2] / "docs" / "simulation.md"
    results = doctest.testfile(str(page), module_relative=False)
    assert (results.attempted, results.failed) == (4, 0)
