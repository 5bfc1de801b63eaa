"""Drain and preload: closed forms, and a plain simulation of the ports."""

from __future__ import annotations

from collections import defaultdict
from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pantile.errors import MappingError
from pantile.tiling.maps import SpatialMapping
from pantile.tiling.notation import tiling
from pantile.tiling.ports import PortPhase, drain, preload
from pantile.tiling.streaming import StreamingEquation


def output_stationary(
    rows: int, columns: int, steps: int, text: str = "tau = row + col + it"
) -> StreamingEquation:
    cut = tiling(total=(rows, columns, steps), T=(1, 1, steps), S=(rows, columns, 1))
    return StreamingEquation(text, cut, SpatialMapping("S.t->row", "S.o->col"))


def drained(rows: int, columns: int, steps: int, ports: int | None = None) -> PortPhase:
    phase = drain(output_stationary(rows, columns, steps), ports)
    assert phase is not None
    return phase


def test_n_squared_results_leave_through_n_ports() -> None:
    """Section 9, 4 x 4 with 6 steps: 16 results, 4 steps at 4 a step, after 4 + 4 + 6 - 2 steps of work."""
    phase = drained(4, 4, 6)
    assert (phase.operand, phase.data, phase.ports, phase.steps, phase.compute_steps) == ("Y", 16, 4, 4, 12)
    assert phase.serial_period == 16


@pytest.mark.parametrize(("rows", "columns", "steps"), [(4, 4, 4), (8, 4, 3), (3, 5, 20), (128, 128, 512)])
def test_without_overlap_it_is_the_known_formula(rows: int, columns: int, steps: int) -> None:
    """2 R + C + K - 2 cycles a tile: fill, work, and rows shifted out one after the other."""
    assert drained(rows, columns, steps).serial_period == 2 * rows + columns + steps - 2


def test_results_that_leave_as_they_get_ready_expose_one_step() -> None:
    """One anti-diagonal a step is never more than n results."""
    assert drained(4, 4, 6).exposed_steps == 1


def test_tiles_follow_one_another_as_fast_as_work_or_drain_allow() -> None:
    """6 steps of work against 4 of drain; 2 of work against 4 of drain."""
    assert drained(4, 4, 6).period == 6
    assert drained(4, 4, 2).period == 4
    assert drained(4, 4, 6).total_steps(10) == 9 * 6 + 12 + 1
    assert drained(4, 4, 6).total_steps(10, overlap=False) == 10 * 16


def test_fewer_ports_make_results_wait() -> None:
    """4 x 4 through 2 ports: arrivals 1 2 3 4 3 2 1 leave 2 a step; 6 wait after the last, 3 steps."""
    phase = drained(4, 4, 6, ports=2)
    assert (phase.steps, phase.exposed_steps) == (8, 3)
    assert phase.period == 8


def test_the_period_may_exceed_work_and_drain() -> None:
    """A unit that starts anew after its 8 steps of work gives its result no time to wait: 2 more."""
    phase = drained(4, 4, 8, ports=2)
    assert (phase.steps, phase.period) == (8, 10)


def test_arrays_whose_output_moves_have_no_drain_but_a_preload() -> None:
    """12 weights through 4 ports; the array works on 5 rows, longer than the 3 steps of loading."""
    cut = tiling(total=(5, 4, 3), T=(5, 1, 1), S=(1, 4, 3))
    equation = StreamingEquation("tau = row + col + tt", cut, SpatialMapping("S.i->row", "S.o->col"))
    assert drain(equation) is None
    phase = preload(equation)
    assert phase is not None
    assert (phase.operand, phase.data, phase.steps, phase.exposed_steps, phase.period) == ("W", 12, 3, 1, 5)
    assert preload(output_stationary(4, 4, 6)) is None


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(MappingError, match="Y needs at least 1 port to pass through, got 0"):
        drained(4, 4, 6, ports=0)
    with pytest.raises(MappingError, match="steps can be counted of at least 1 tile, got 0"):
        drained(4, 4, 6).total_steps(0)


def fits(equation: StreamingEquation, ports: int, period: int, tiles: int) -> tuple[bool, int]:
    """Serve results first come, first served; say whether all leave in time, and when the last one leaves."""
    ready: dict[int, list[int]] = defaultdict(list)
    coefficients = [each.coefficient for each in equation.variables]
    counts = [each.count for each in equation.variables]
    for tile, place in product(range(tiles), product(*map(range, counts[:2]))):
        base = tile * period + sum(c * x for c, x in zip(coefficients, place, strict=False))
        times = [base + coefficients[2] * step for step in range(counts[2])]
        ready[max(times) + 1].append(
            min(times) + period
        )  # may leave from here on; needed by the next tile then
    waiting: list[int] = []
    now, late = min(ready), False
    last = now
    while waiting or any(time >= now for time in ready):
        waiting = sorted(waiting + ready.get(now, []))
        leaving, waiting = waiting[:ports], waiting[ports:]
        late = late or any(deadline < now for deadline in leaving)
        if leaving:
            last = now
        now += 1
    return not late, last


@settings(max_examples=40, deadline=None)
@given(
    st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(1, 7)),
    st.integers(1, 6),
    st.sampled_from(
        ["tau = row + col + it", "tau = row + it", "tau = 2*row - col + it", "tau = row + col + 2*it"]
    ),
)
@example((4, 4, 8), 2, "tau = row + col + it")
def test_the_period_is_the_least_that_a_queue_can_hold(
    shape: tuple[int, int, int], ports: int, text: str
) -> None:
    equation = output_stationary(*shape, text)
    phase = drain(equation, ports)
    if phase is None:  # nothing is stationary where only one step is taken
        return
    tiles = 6
    in_time, last = fits(equation, ports, phase.period, tiles)
    assert in_time
    start = equation.range().start
    assert last == start + phase.total_steps(tiles) - 1
    floor = max(equation.busy_steps, phase.steps)
    if phase.period > floor:
        assert not fits(equation, ports, phase.period - 1, tiles)[0]
    _, alone = fits(equation, ports, phase.period, 1)
    assert alone == equation.range().stop - 1 + phase.exposed_steps
