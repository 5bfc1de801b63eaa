"""Systolic arrays: runs worked out by hand, inputs that broke other tools, and laws over random ones."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from pantile.errors import MappingError, UsageError
from pantile.tiling.array import SystolicArray
from pantile.tiling.cut import ceil_div
from pantile.tiling.maps import SpatialMapping
from pantile.tiling.notation import tiling
from pantile.tiling.ports import drain, preload
from pantile.tiling.streaming import StreamingEquation
from pantile.tiling.tile import Tile

Shape = tuple[int, int, int]


def array_of(kind: str, shape: Shape, sides: tuple[int, int], per_unit: int = 1) -> SystolicArray:
    """An array of *sides* on a product of *shape* (t, o, i); a step of a unit takes *per_unit* elements."""
    space, time = {"output": ((0, 1), 2), "weight": ((2, 1), 0), "input": ((0, 2), 1)}[kind]
    runs, steps, units = [1, 1, 1], [1, 1, 1], [1, 1, 1]
    for axis, side in zip(space, sides, strict=True):
        runs[axis], units[axis] = ceil_div(shape[axis], side), side
    steps[time] = ceil_div(shape[time], per_unit)
    cut = tiling(total=shape, C=runs, T=steps, S=units, E=[per_unit if at == time else 1 for at in range(3)])
    names = [f"S.{'toi'[axis]}->{name}" for axis, name in zip(space, ("row", "col"), strict=True)]
    return SystolicArray(StreamingEquation(f"tau = row + col + {'toi'[time]}t", cut, SpatialMapping(*names)))


def test_a_square_product_on_an_array_of_its_size_takes_ten_steps() -> None:
    """A03 of docs/bug-inputs.md by hand: 4 steps of work, 3 + 3 of skew; one more to drain."""
    array = array_of("output", (4, 4, 4), (4, 4))
    (tile,) = array.tiles()
    run = array.run(tile)
    assert (run.steps, run.total, run.held) == (10, 11, 4)
    assert (run.units, run.macs, run.injections) == ((4, 4), 64, (("X", 16), ("W", 16), ("Y", 16)))


def test_on_a_smaller_array_the_steps_are_at_least_the_work() -> None:
    """A03 on 2 x 2: 4 runs of 4 + 1 + 1 steps, 4 apart; 64 MACs on 4 units could not take fewer than 16."""
    array = array_of("output", (4, 4, 4), (2, 2))
    assert [(run.steps, run.held, run.total) for run in map(array.run, array.tiles())] == [(6, 4, 7)] * 4
    assert array.steps() == 3 * 4 + 7
    assert replace(array, overlap=False).steps() == 4 * (2 * 2 + 2 + 4 - 2)


def test_one_row_costs_far_less_than_many_and_wastes_the_array() -> None:
    """A05: 12 tiles of weights; 256 rows hide their loading of 128 steps, one row cannot."""
    many, one = (array_of("weight", (rows, 256, 768), (128, 128)) for rows in (256, 1))
    assert many.steps() == 12 * 256 + 128 + 128 - 2 + 1
    assert one.steps() == 11 * 128 + (128 + 128 + 1 - 2) + 1
    assert one.steps() * 128 * 128 > 100 * 256 * 768  # below 1 % of the array
    assert many.steps() * 128 * 128 < 1.1 * 256 * 256 * 768


def test_a_four_by_four_array_computes_a_product_run_by_run() -> None:
    """A47: 6 x 7 x 9 in runs of 4 x 4, 4 x 3, 2 x 4 and 2 x 3."""
    array = array_of("output", (6, 7, 9), (4, 4))
    runs = [array.run(tile) for tile in array.tiles()]
    assert [run.units for run in runs] == [(4, 4), (4, 3), (2, 4), (2, 3)]
    assert sum(run.macs for run in runs) == 6 * 7 * 9
    assert array.sides == {"row": 4, "col": 4}


def test_several_reduction_steps_in_a_unit_shorten_the_run() -> None:
    """I per unit may exceed 1: 7 in pairs are 4 steps, all 7 elements of each row still enter."""
    array = array_of("output", (2, 2, 7), (2, 2), per_unit=2)
    (run,) = map(array.run, array.tiles())
    assert (run.steps, run.held, run.macs, run.injected("X")) == (2 + 2 + 4 - 2, 4, 28, 14)


def test_without_overlap_a_run_keeps_the_array_until_its_results_have_left() -> None:
    array = replace(array_of("output", (4, 4, 6), (4, 4)), overlap=False)
    (run,) = map(array.run, array.tiles())
    assert run.held == run.total == 2 * 4 + 4 + 6 - 2


def test_fewer_ports_hold_the_array_longer() -> None:
    array = replace(array_of("output", (4, 4, 8), (4, 4)), ports=2)
    (run,) = map(array.run, array.tiles())
    assert (run.held, run.total) == (10, 14 + 3)


def test_what_no_run_takes_at_once_is_refused() -> None:
    array = array_of("output", (8, 4, 4), (4, 4))
    with pytest.raises(MappingError, match="the array does 64 of the 128 multiply-accumulates of"):
        array.run(Tile(array.tiling))
    cut = array.tiling
    with pytest.raises(MappingError, match=r"fixes T.i, which the array runs over"):
        array.run(Tile(cut, ((0, 0, 0), (0, 0, 1))))
    with pytest.raises(UsageError, match="says nothing without the tiling and the array"):
        SystolicArray(StreamingEquation("tau = row + col + it"))


SIZES = [1, 2, 3, 5, 7, 8, 15, 16, 17, 27, 31, 33, 63, 65, 72, 100, 127, 129, 200, 257, 320, 584, 1152]
SIDES = [1, 2, 4, 8, 16, 32, 128, 256]


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["output", "weight", "input"]),
    st.tuples(*[st.sampled_from(SIZES)] * 3),
    st.tuples(*[st.sampled_from(SIDES)] * 2),
)
@example("output", (12544, 32, 27), (16, 16))
@example("weight", (12544, 32, 27), (128, 128))
@example("weight", (1, 1752, 584), (256, 8))
def test_no_part_of_a_time_is_negative_and_none_is_below_the_work(
    kind: str, shape: Shape, sides: tuple[int, int]
) -> None:
    """A01: elsewhere loading took -976 cycles. Here each part counts up, whatever the shape and the sides."""
    cuts = [ceil_div(size, side) for size, side in zip(sorted(shape)[:2], sorted(sides), strict=True)]
    assume(prod(cuts) <= 2000)
    array = array_of(kind, shape, sides)
    for run in map(array.run, {tile.size: tile for tile in array.tiles()}.values()):
        assert run.phase is None or min(run.phase.steps, run.phase.exposed_steps) >= 0
        assert 0 < run.held <= run.total
        assert 0 < run.steps <= run.total
    assert array.steps() >= ceil_div(prod(shape), prod(sides))


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["output", "weight", "input"]),
    st.tuples(*[st.sampled_from([1, 2, 3, 5, 7, 8, 15, 16, 17])] * 3),
    st.tuples(*[st.sampled_from([1, 2, 4, 8])] * 2),
    st.integers(1, 3),
)
@example("output", (4, 4, 4), (2, 2), 1)
@example("weight", (1, 16, 17), (8, 8), 1)
def test_runs_cover_the_product_and_never_beat_the_work(
    kind: str, shape: Shape, sides: tuple[int, int], per_unit: int
) -> None:
    """Every MAC in one run, every element of an operand as often as runs need it, no time below the work."""
    array = array_of(kind, shape, sides, per_unit)
    tiles = list(array.tiles())
    runs = [array.run(tile) for tile in tiles]
    assert sum(run.macs for run in runs) == prod(shape)
    for tile, run in zip(tiles, runs, strict=True):
        for operand in "XWY":
            assert run.injected(operand) == tile.operand(operand).elements
        assert all(units <= side for units, side in zip(run.units, sides, strict=True))
        assert run.held * prod(run.units) * per_unit >= run.macs
        assert run.total >= max(run.held, run.steps)
        alone = replace(array, overlap=False).run(tile)
        assert alone.total >= run.held
    assert array.steps() * prod(sides) * per_unit >= prod(shape)
    assert array.steps() <= replace(array, overlap=False).steps() + max(run.total for run in runs)


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["output", "weight", "input"]),
    st.tuples(*[st.integers(1, 6)] * 3),
    st.integers(1, 5),
    st.integers(1, 5),
)
def test_equal_runs_take_what_the_ports_say(kind: str, sizes: Shape, count: int, ports: int) -> None:
    """n equal runs: the closed form of :class:`PortPhase`."""
    space = {"output": (0, 1), "weight": (2, 1), "input": (0, 2)}[kind]
    shape = [*sizes]
    shape[space[1]] *= count
    array = replace(
        array_of(kind, (shape[0], shape[1], shape[2]), (sizes[space[0]], sizes[space[1]])), ports=ports
    )
    bound = array.equation.bind(within=next(iter(array.tiles())))
    phase = drain(bound, ports) or preload(bound, ports)
    assert phase is not None
    assert array.steps() == phase.total_steps(count)
    assert replace(array, overlap=False).steps() == phase.total_steps(count, overlap=False)
