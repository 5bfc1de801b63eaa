"""What a race comes to, by the legal orders that were carried out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pantile.check.order import happens_before
from pantile.check.outcome import EQUAL, Outcome, broken_pair, worst_outcome
from pantile.check.races import races_of


@pytest.mark.parametrize(
    ("outcome", "grade"),
    [
        (Outcome(), (EQUAL, "warning")),
        (Outcome(difference="byte 0 differs"), ("wrong value", "error")),
        (Outcome(untried="too long"), ("timing-dependent", "error")),
    ],
)
def test_an_outcome_says_how_bad_a_race_is(outcome: Outcome, grade: tuple[str, str]) -> None:
    assert outcome.grade == grade


@pytest.fixture
def race(literal: Any) -> Any:
    """A write and a read that nothing orders, and what else their threads do."""
    made = literal()
    a, b = made.thread("a"), made.thread("b")
    made.space("sram")
    made.op(a, "write", writes=[("sram", 0, 4)])
    made.op(b, "read", reads=[("sram", 0, 4)])
    program = made.program()
    order = happens_before(program)
    (found,) = races_of(program, order).races
    return found, order


def test_the_order_farthest_from_a_harmless_witness_is_tried_too(race: Any) -> None:
    tried: list[np.ndarray] = []

    def second_is_wrong(operations: np.ndarray) -> Outcome:
        tried.append(operations)
        return Outcome("byte 0 differs" if len(tried) > 1 else "")

    outcome, how = worst_outcome(*race, second_is_wrong)
    assert (outcome.difference, how) == (
        "byte 0 differs",
        f"with operation {race[0].first} as late as can be",
    )
    assert len(tried) == 2
    first = Outcome("byte 1 differs")
    assert worst_outcome(*race, lambda _: first) == (first, "in that order")
    untried = Outcome(untried="too long")
    assert worst_outcome(*race, lambda _: untried) == (untried, "in that order")


def test_a_run_breaks_the_pair_whose_second_starts_too_early(race: Any) -> None:
    times = np.array([(0, 5), (5, 9)], [("start", "i8"), ("finish", "i8")])
    assert broken_pair(race[0], times) is None
    times["start"][1] = 4
    assert broken_pair(race[0], times) == (0, 1)
