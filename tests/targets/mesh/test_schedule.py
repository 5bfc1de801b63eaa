"""Who needs which shard when: the algorithms against what defines them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pantile.targets.mesh.schedule import Exchange, Schedule


@st.composite
def schedules(draw: st.DrawFn) -> Schedule:
    exchange: Exchange = draw(st.sampled_from(["cannon", "summa", "direct", "skewed"]))
    rows = draw(st.integers(1, 4))
    if exchange in ("cannon", "skewed"):
        return Schedule(exchange, rows, rows, rows * draw(st.integers(1, 3)))
    return Schedule(exchange, rows, draw(st.integers(1, 4)), draw(st.integers(1, 9)))


@given(schedules())
def test_every_chiplet_works_on_every_piece_once(schedule: Schedule) -> None:
    for chiplet in schedule:
        pieces = [schedule.piece(chiplet, step) for step in range(schedule.steps)]
        assert sorted(pieces) == list(range(schedule.steps))


@given(schedules())
def test_a_giver_is_a_neighbour_that_has_the_same_shard(schedule: Schedule) -> None:
    ends = {"a": (0, 1), "b": (1, 0)}
    for operand, along in ends.items():
        for chiplet in schedule:
            for step in range(schedule.steps):
                giver = schedule.giver(operand, chiplet, step)  # type: ignore[arg-type]
                if giver is None:
                    continue
                before = step - schedule.lag
                assert schedule.piece(giver, before) == schedule.piece(chiplet, step)
                away = [abs(one - other) for one, other in zip(giver, chiplet, strict=True)]
                sizes = (schedule.rows, schedule.columns)
                near = [gap in (1, size - 1) for gap, size in zip(away, sizes, strict=True)]
                assert [gap > 0 for gap in away] == [bool(each) for each in along]
                assert near[along.index(1)]
                assert chiplet in schedule.takers(operand, giver, before)  # type: ignore[arg-type]


@given(schedules())
def test_takers_are_those_whose_giver_it_is(schedule: Schedule) -> None:
    for operand in ("a", "b"):
        pairs = {
            (chiplet, schedule.giver(operand, chiplet, step), step)  # type: ignore[arg-type]
            for chiplet in schedule
            for step in range(schedule.steps)
        }
        given_on = {(taker, giver, step) for taker, giver, step in pairs if giver is not None}
        found = {
            (taker, chiplet, step + schedule.lag)
            for chiplet in schedule
            for step in range(schedule.steps)
            for taker in schedule.takers(operand, chiplet, step)  # type: ignore[arg-type]
        }
        assert found == given_on


@given(schedules())
def test_with_exchange_a_shard_comes_from_off_chip_to_one_chiplet(schedule: Schedule) -> None:
    for operand, line in (("a", 0), ("b", 1)):
        loads = [
            (chiplet[line], schedule.piece(chiplet, step))
            for chiplet in schedule
            for step in range(schedule.steps)
            if schedule.giver(operand, chiplet, step) is None  # type: ignore[arg-type]
        ]
        times = (schedule.columns, schedule.rows)[line]
        expected = times if schedule.exchange in ("direct", "skewed") else 1
        assert all(loads.count(each) == expected for each in loads)
        assert len(set(loads)) == (schedule.rows, schedule.columns)[line] * schedule.steps


def test_cannon_begins_with_a_skew_and_shifts_to_the_left_and_up() -> None:
    schedule = Schedule("cannon", 3, 3, 3)
    assert [schedule.piece((1, 2), step) for step in range(3)] == [0, 1, 2]
    assert [schedule.piece((2, 2), step) for step in range(3)] == [1, 2, 0]
    assert schedule.owner("a", (2, 2), 0) == (2, 1)
    assert schedule.owner("b", (2, 2), 0) == (1, 2)
    assert schedule.giver("a", (2, 2), 0) is None
    assert schedule.giver("a", (2, 2), 1) == (2, 0)
    assert schedule.giver("b", (1, 0), 1) == (2, 0)


def test_summa_broadcasts_from_the_owner_to_both_sides() -> None:
    schedule = Schedule("summa", 2, 4, 4)
    assert schedule.owner("a", (0, 3), 1) == (0, 1)
    assert [schedule.giver("a", (0, column), 1) for column in range(4)] == [(0, 1), None, (0, 1), (0, 2)]
    assert schedule.takers("a", (0, 1), 1) == [(0, 0), (0, 2)]
    assert schedule.takers("a", (0, 3), 1) == []
    assert [schedule.lane("a", (0, column), 1) for column in range(4)] == [
        "passed",
        "own",
        "passed",
        "passed",
    ]


@pytest.mark.parametrize("exchange", ["direct", "skewed", "cannon"])
def test_others_have_one_buffer_for_each_input(exchange: Exchange) -> None:
    schedule = Schedule(exchange, 2, 2, 2)
    assert {schedule.lane("a", chiplet, step) for chiplet in schedule for step in range(2)} == {""}
