"""Streaming equations: hand-worked arrays, and laws against visiting every point."""

from __future__ import annotations

from collections import defaultdict
from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pantile.errors import MappingError, OutsideModelError, UsageError
from pantile.tiling.active import Empty
from pantile.tiling.domain import Domain
from pantile.tiling.index import IndexSpace, LevelIndex
from pantile.tiling.maps import SpatialMapping
from pantile.tiling.notation import tiling
from pantile.tiling.ranges import Range
from pantile.tiling.streaming import ResolveActive, ResolveRange, StreamingEquation
from pantile.tiling.tile import Tile

Point = tuple[int, ...]

OUTPUT = StreamingEquation(
    "tau = row + col + it",
    tiling(total=(2, 2, 3), T=(1, 1, 3), S=(2, 2, 1)),
    SpatialMapping("S.ts->row", "S.os->col"),
)
"""2 x 2 units, three reduction steps."""
WEIGHT = StreamingEquation(
    "tau = row + col + tt",
    tiling(total=(5, 4, 3), T=(5, 1, 1), S=(1, 4, 3)),
    SpatialMapping("S.is->row", "S.os->col"),
)
INPUT = StreamingEquation(
    "tau = row + col + ot",
    tiling(total=(3, 6, 2), T=(1, 6, 1), S=(3, 1, 2)),
    SpatialMapping("S.ts->row", "S.is->col"),
)


def test_the_wavefront_of_a_small_array() -> None:
    """row + col + it = tau, written out."""
    assert OUTPUT.range() == range(5)
    assert [sorted(OUTPUT.active(tau)) for tau in OUTPUT.range()] == [
        [(0, 0, 0)],
        [(0, 0, 1), (0, 1, 0), (1, 0, 0)],
        [(0, 0, 2), (0, 1, 1), (1, 0, 1), (1, 1, 0)],
        [(0, 1, 2), (1, 0, 2), (1, 1, 1)],
        [(1, 1, 2)],
    ]
    assert [len(OUTPUT.active(tau)) for tau in range(-1, 6)] == [0, 1, 3, 4, 3, 1, 0]
    assert OUTPUT.active(1).places == {(0, 0), (0, 1), (1, 0)}
    assert (1, 1, 1) in OUTPUT.active(3)
    assert (1, 1, 1) not in OUTPUT.active(2)
    assert (1, 1, 3) not in OUTPUT.active(5)


def test_what_enters_at_the_edges() -> None:
    """At tau 1: x[0, 1] and x[1, 0] at the left, w[0, 1] and w[1, 0] at the top; two sums begin."""
    assert set(OUTPUT.injected("X", 1)) == {(0, 0, 1), (1, 0, 0)}
    assert set(OUTPUT.injected("W", 1)) == {(0, 0, 1), (0, 1, 0)}
    assert set(OUTPUT.injected("Y", 1)) == {(0, 1, 0), (1, 0, 0)}
    assert set(OUTPUT.ejected("Y", 3)) == {(0, 1, 2), (1, 0, 2)}
    assert set(OUTPUT.ejected("X", 3)) == {(0, 1, 2), (1, 1, 1)}
    assert list(OUTPUT.moves("X", 1)) == [((0, 0), (0, 1))]
    assert list(OUTPUT.moves("W", 1)) == [((0, 0), (1, 0))]
    assert list(OUTPUT.moves("Y", 1)) == []


def test_the_seed_s_loop_injects_what_set_differences_leave() -> None:
    """Section 9: current - last, with the accepted names, is what the edges must be given."""
    last = Empty()
    assert last == frozenset()
    total: dict[str, int] = defaultdict(int)
    for tau in ResolveRange(OUTPUT):
        current = ResolveActive(OUTPUT, tau)
        load = current - last
        for operand in ("X", "W", "Y"):
            assert load[operand] == set(OUTPUT.injected(operand, tau))
            if tau:
                assert load.data(operand) == current.data(operand) - OUTPUT.active(tau - 1).data(operand)
            total[operand] += len(load[operand])
        assert len(load) == sum(len(load[operand]) for operand in ("X", "W", "Y"))
        last = current  # type: ignore[assignment]
    assert total == {"X": 6, "W": 6, "Y": 4}  # every element once


def test_from_an_empty_array_everything_is_new() -> None:
    assert (OUTPUT.active(2) - Empty()).data("X") == {(0, 2), (0, 1), (1, 1), (1, 0)}
    with pytest.raises(TypeError):
        OUTPUT.active(2) - {(0, 0, 0)}


@pytest.mark.parametrize(
    ("equation", "dataflow", "flows"),
    [
        (
            OUTPUT,
            "output stationary",
            ("X hops +1 along col every step", "W hops +1 along row every step", "Y is stationary"),
        ),
        (
            WEIGHT,
            "weight stationary",
            ("X hops +1 along col every step", "W is stationary", "Y hops +1 along row every step"),
        ),
        (
            INPUT,
            "input stationary",
            ("X is stationary", "W hops +1 along row every step", "Y hops +1 along col every step"),
        ),
    ],
)
def test_the_class_of_dataflow_is_derived(
    equation: StreamingEquation, dataflow: str, flows: tuple[str, ...]
) -> None:
    assert equation.dataflow == dataflow
    assert tuple(str(flow) for operand in "XWY" for flow in equation.flows(operand)) == flows


def test_the_same_description_gives_all_three_arrays() -> None:
    """Rows, columns and steps of each: R + C + steps - 2 time steps, and each element enters once."""
    for equation, steps in ((OUTPUT, 2 + 2 + 3 - 2), (WEIGHT, 3 + 4 + 5 - 2), (INPUT, 3 + 2 + 6 - 2)):
        assert len(equation.range()) == steps
        assert equation.tiling is not None
        sizes = dict(zip("toi", equation.tiling.total, strict=True))
        for operand, letters in equation.operands.items():
            entered = sum(equation.injected(operand, tau).weigh(letters) for tau in equation.range())
            assert entered == equation.injections(operand) == sizes[letters[0]] * sizes[letters[1]]


def on_array(text: str) -> StreamingEquation:
    """A 3 x 4 output-stationary array with 5 steps, under another equation."""
    return StreamingEquation(
        text, tiling(total=(3, 4, 5), T=(1, 1, 5), S=(3, 4, 1)), SpatialMapping("S.t->row", "S.o->col")
    )


@pytest.mark.parametrize(
    ("text", "x", "w", "steps"),
    [
        ("tau = row + it", "X is multicast along col", "W hops +1 along row every step", 7),
        ("tau = it", "X is multicast along col", "W is multicast along row", 5),
        ("tau = row + 2*col + it", "X hops +1 along col every 2 steps", "W hops +1 along row every step", 13),
        ("tau = row - col + it + 3", "X hops -1 along col every step", "W hops +1 along row every step", 10),
        ("tau = row + col + 2*it", "X hops +1 along col every step", "W hops +1 along row every step", 14),
        ("tau = row + col - it", "X hops +1 along col every step", "W hops +1 along row every step", 10),
    ],
)
def test_coefficients_say_how_data_move(text: str, x: str, w: str, steps: int) -> None:
    equation = on_array(text)
    assert (str(equation.flows("X")[0]), str(equation.flows("W")[0])) == (x, w)
    assert equation.dataflow == "output stationary"
    assert len(equation.range()) == steps


def test_displacements_and_skews() -> None:
    """x moves by (0, 1); a row further down enters one step later."""
    flow = OUTPUT.flows("X")[0]
    assert (flow.displacement, flow.hop, flow.steps, flow.skew) == ((0, 1), 1, 1, (("row", 1),))
    flow = OUTPUT.flows("Y")[0]
    assert (flow.displacement, flow.axis, flow.hop) == ((0, 0), "", 0)
    assert (flow.steps, flow.skew) == (1, (("row", 1), ("col", 1)))


def test_sums_that_are_formed_at_once() -> None:
    """Rows hold the reduction and add up in the same step: an adder tree, not a chain."""
    equation = StreamingEquation(
        "tau = col + tt",
        tiling(total=(5, 4, 3), T=(5, 1, 1), S=(1, 4, 3)),
        SpatialMapping("S.i->row", "S.o->col"),
    )
    assert str(equation.flows("Y")[0]) == "Y is summed at once along row"
    assert equation.dataflow == "weight stationary"


def test_arrays_in_which_data_are_used_once() -> None:
    """A row of units over t, each step another o: x stays, y is used once; without time nothing stays."""
    cut = tiling(total=(3, 4, 1), T=(1, 4, 1), S=(3, 1, 1))
    row = StreamingEquation("tau = row + ot", cut, SpatialMapping("S.t->row"))
    assert [str(row.flows(operand)[0]) for operand in "XWY"] == [
        "X is stationary", "W hops +1 along row every step", "Y is used once",
    ]  # fmt: skip
    assert row.dataflow == "input stationary"
    still = StreamingEquation(
        "tau = row + col", tiling(total=(3, 4, 1), S=...), SpatialMapping("S.t->row", "S.o->col")
    )
    assert still.dataflow == "nothing is stationary"
    assert str(still.flows("Y")[0]) == "Y is used once"


def test_two_indices_in_time_reuse_the_array_for_several_tiles() -> None:
    """Four output tiles after one another, 3 steps each, pipelined: the weights enter anew for each of t."""
    cut = tiling(total=(4, 4, 3), T=(2, 2, 3), S=(2, 2, 1))
    equation = StreamingEquation(
        "tau = row + col + it + 3*ot + 6*tt", cut, SpatialMapping("S.t->row", "S.o->col")
    )
    assert len(equation.range()) == 4 * 3 + 2
    assert sum(equation.macs(tau) for tau in equation.range()) == 4 * 4 * 3
    assert equation.injections("X") == 2 * (4 * 3)  # each x for both tiles of o
    for operand, letters in equation.operands.items():
        entered = sum(equation.injected(operand, tau).weigh(letters) for tau in equation.range())
        assert entered == equation.injected_elements(operand)
    assert equation.busy_steps == 12


def test_a_unit_may_work_on_several_reduction_steps_at_once() -> None:
    """Section 9: I per unit may exceed 1; 7 in pairs are 4 steps, of which the last has one."""
    cut = tiling(total=(2, 2, 7), T=(1, 1, 4), S=(2, 2, 2))
    equation = StreamingEquation("tau = row + col + it", cut, SpatialMapping("S.t->row", "S.o->col"))
    assert len(equation.range()) == 2 + 2 + 4 - 2
    assert [equation.macs(tau) for tau in equation.range()] == [2, 6, 8, 7, 4, 1]
    assert equation.injected("X", 3).weigh("ti") == 1 + 2  # x[0, 6], and x[1, 4:6]


def test_ragged_edges_clip_the_array() -> None:
    """The last tile of 5 x 3 x 4 in 2 x 2 blocks is one row of one column."""
    cut = tiling(total=(5, 3, 4), D=(3, 2, 1), T=(1, 1, 4), S=(2, 2, 1))
    whole = StreamingEquation("tau = row + col + it", cut, SpatialMapping("S.t->row", "S.o->col"))
    corner = whole.bind(within=Tile(cut, (2, 1, 0)))
    assert [axis.count for axis in whole.axes] == [2, 2]
    assert [axis.count for axis in corner.axes] == [1, 1]
    assert corner.range() == range(4)
    volumes = [
        sum(whole.bind(within=tile).macs(tau) for tau in whole.bind(within=tile).range())
        for tile in Tile(cut).children()
    ]
    assert volumes == [tile.volume for tile in Tile(cut).children()]


def test_other_loops_fix_the_indices_between_tile_and_array() -> None:
    """T.t = 1 of a tile of 3 rows in blocks of 2: one row is left."""
    cut = tiling(total=(3, 4, 6), D=(1, 1, 2), T=(2, 2, 3), S=(2, 2, 1))
    equation = StreamingEquation("tau = row + col + it", cut, SpatialMapping("S.t->row", "S.o->col"))
    counts = {
        tuple(index): [axis.count for axis in equation.bind(within=Tile(cut, (0, 0, 1)), at=index).axes]
        for index in Range(cut.T.t, cut.T.o)
    }
    assert counts == {(0, 0): [2, 2], (0, 1): [2, 2], (1, 0): [1, 2], (1, 1): [1, 2]}
    assert [axis.count for axis in equation.bind(at=Range(cut.T.t).at(1)).axes] == [1, 2]


def test_large_arrays_take_closed_forms() -> None:
    """128 x 128 over 512 steps: 8 million points, none visited."""
    cut = tiling(total=(128, 128, 512), T=(1, 1, 512), S=(128, 128, 1))
    equation = StreamingEquation("tau = row + col + it", cut, SpatialMapping("S.t->row", "S.o->col"))
    sizes = [len(equation.active(tau)) for tau in equation.range()]
    assert len(sizes) == 766
    assert sum(sizes) == 128 * 128 * 512
    assert max(sizes) == 128 * 128
    assert equation.utilisation == 512 / 766


@st.composite
def equations(draw: st.DrawFn) -> StreamingEquation:
    """Two dimensions in space, the third in time, any coefficients, units of several elements, edges."""
    time = draw(st.integers(0, 2))
    names = ["row", "col"]
    bindings, factors = [], []
    for axis, letter in enumerate("toi"):
        if axis != time:
            bindings.append(f"S.{letter}->{names[len(bindings)]}")
        factors.append(draw(st.integers(1, 4)))
    unit = draw(st.tuples(*[st.integers(1, 2)] * 3))
    total = tuple(draw(st.integers((f - 1) * u + 1, f * u)) for f, u in zip(factors, unit, strict=True))
    in_time = [factor if axis == time else 1 for axis, factor in enumerate(factors)]
    in_space = [1 if axis == time else factor for axis, factor in enumerate(factors)]
    cut = tiling(total=total, T=in_time, S=in_space, E=unit)
    a, b = draw(st.tuples(*[st.integers(-2, 2)] * 2))
    c = draw(st.sampled_from([-2, -1, 1, 2, 3]))
    text = f"tau = {a}*row + {b}*col + {c}*{'toi'[time]}t + {draw(st.integers(-3, 3))}"
    return StreamingEquation(text, cut, SpatialMapping(*bindings))


def visited(equation: StreamingEquation) -> dict[int, set[Point]]:
    """Every point by its time."""
    found: dict[int, set[Point]] = defaultdict(set)
    for point in product(*(range(each.count) for each in equation.variables)):
        pairs = zip(equation.variables, point, strict=True)
        found[equation.value.constant + sum(each.coefficient * value for each, value in pairs)].add(point)
    return found


def datum(equation: StreamingEquation, operand: str, point: Point) -> Point:
    letters = equation.operands[operand]
    pairs = zip(equation.variables, point, strict=True)
    return tuple(value for each, value in pairs if each.dimension in letters)


@settings(max_examples=60, deadline=None)
@given(equations())
@example(OUTPUT)
@example(WEIGHT)
@example(INPUT)
def test_active_sets_are_those_of_the_points(equation: StreamingEquation) -> None:
    points = visited(equation)
    assert (min(points), max(points)) == (equation.range().start, equation.range().stop - 1)
    for tau in equation.range():
        assert set(equation.active(tau)) == points[tau] == equation.active(tau).points
        assert len(equation.active(tau)) == len(points[tau])
        assert all(point in equation.active(tau) for point in points[tau])
        places = [point[:2] for point in points[tau]]
        assert len(set(places)) == len(places)  # one place works on one point at a time


@settings(max_examples=60, deadline=None)
@given(equations())
@example(OUTPUT)
def test_injected_sets_are_set_differences(equation: StreamingEquation) -> None:
    """A datum enters when it is first used, where its way begins, and leaves after its last use."""
    points = visited(equation)
    for operand in ("X", "W", "Y"):
        uses: dict[Point, list[int]] = defaultdict(list)
        for tau, each in points.items():
            for point in each:
                uses[datum(equation, operand, point)].append(tau)
        for tau in equation.range():
            entering = {datum(equation, operand, point) for point in equation.injected(operand, tau)}
            assert entering == {name for name, times in uses.items() if min(times) == tau}
            assert len(equation.injected(operand, tau)) == len(entering)
            leaving = {datum(equation, operand, point) for point in equation.ejected(operand, tau)}
            assert leaving == {name for name, times in uses.items() if max(times) == tau}
            assert (equation.active(tau) - equation.active(tau - 1))[operand] == set(
                equation.injected(operand, tau)
            )
        assert equation.injections(operand) == len(uses)


@settings(max_examples=60, deadline=None)
@given(equations())
@example(WEIGHT)
def test_flows_lead_from_each_use_to_the_next(equation: StreamingEquation) -> None:
    """After as many steps as the flow says, a datum is used one displacement further on, or has left."""
    points = visited(equation)
    everything = {point: tau for tau, each in points.items() for point in each}
    for operand in ("X", "W", "Y"):
        (flow,) = equation.flows(operand)
        for point, tau in everything.items():
            place = tuple(a + b for a, b in zip(point[:2], flow.displacement, strict=True))
            if flow.steps == 0:
                continue
            later = [
                other
                for other in points[tau + flow.steps]
                if datum(equation, operand, other) == datum(equation, operand, point)
            ]
            assert [other[:2] for other in later] == (
                [] if point in equation.ejected(operand, tau) else [place]
            )
        moved = {move for tau in equation.range() for move in equation.moves(operand, tau)}
        lengths = [axis.count for axis in equation.axes if axis.name == flow.axis]
        assert bool(moved) == (flow.kind == "hop" and lengths[0] > 1)
        assert all(tuple(b - a for a, b in zip(*move, strict=True)) == flow.displacement for move in moved)


@settings(max_examples=60, deadline=None)
@given(equations())
def test_work_and_elements_are_conserved(equation: StreamingEquation) -> None:
    assert equation.tiling is not None
    sizes = dict(zip("toi", equation.tiling.total, strict=True))
    assert sum(equation.macs(tau) for tau in equation.range()) == equation.tiling.volume
    for operand, letters in equation.operands.items():
        entered = sum(equation.injected(operand, tau).weigh(letters) for tau in equation.range())
        assert entered == sizes[letters[0]] * sizes[letters[1]] == equation.injected_elements(operand)
    assert equation.work.extents == sizes


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("tau = row + col + z", "'z' names no index"),
        ("tau = row + col + it + S.t", "'row' and 'S.t' both stand for index S.t"),
        ("row + col", "expected '=', got '.'"),
    ],
)
def test_equations_that_cannot_be_are_refused(text: str, problem: str) -> None:
    with pytest.raises(MappingError, match=problem):
        on_array(text)


def test_an_index_that_is_not_named_is_left_to_other_loops() -> None:
    """Without it, the array works on the first reduction step only."""
    assert on_array("tau = row + col").work.inside == (("i", 1),)
    assert len(on_array("tau = row + col").range()) == 3 + 4 - 1


def test_one_place_cannot_work_on_two_points_at_one_time() -> None:
    """it and ot of 3 and 2 values: 3 apart they never meet, 2 apart they do."""
    cut = tiling(total=(2, 4, 3), T=(1, 2, 3), S=(2, 2, 1))
    space = SpatialMapping("S.t->row", "S.o->col")
    assert StreamingEquation("tau = row + col + it + 3*ot", cut, space).busy_steps == 6
    with pytest.raises(
        MappingError, match=r"one place would work on two values of ot, it|it, ot at one time"
    ):
        StreamingEquation("tau = row + col + it + 2*ot", cut, space)


def test_an_equation_alone_says_nothing() -> None:
    equation = StreamingEquation("tau = row + col + it")
    with pytest.raises(UsageError, match="says nothing without the tiling and the array"):
        equation.range()
    assert equation.bind(OUTPUT.tiling, OUTPUT.space) == OUTPUT
    assert str(equation) == "tau = row + col + it"


def test_a_dimension_in_space_and_in_time_must_fill_both() -> None:
    """i = 2 * it + row: 6 elements do, 5 do not."""
    space = SpatialMapping("S.i->row", "S.o->col")
    even = StreamingEquation(
        "tau = row + col + tt + 3*it", tiling(total=(3, 2, 6), T=(3, 1, 3), S=(1, 2, 2)), space
    )
    assert sum(even.macs(tau) for tau in even.range()) == 3 * 2 * 6
    assert even.dataflow == "weight stationary"
    with pytest.raises(
        OutsideModelError, match=r"it and row both run along i, whose 5 elements are no multiple of 2"
    ):
        StreamingEquation("tau = row + col + it", tiling(total=(1, 2, 5), T=(1, 1, 3), S=(1, 2, 2)), space)


def test_what_an_array_cannot_take_is_refused() -> None:
    space = SpatialMapping("S.t->row", "S.o->col")
    masked = tiling(total=(4, 4, 2), domain=Domain("t >= o"), D=(2, 2, 1), T=(1, 1, 2), S=(2, 2, 1))
    for within in (None, Tile(masked, (0, 0, 0))):
        with pytest.raises(OutsideModelError, match="the domain 't >= o' masks points of the array's work"):
            StreamingEquation("tau = row + col + it", masked, space, within=within)
    below = StreamingEquation("tau = row + col + it", masked, space, within=Tile(masked, (1, 0, 0)))
    assert sum(below.macs(tau) for tau in below.range()) == 8
    uneven = tiling(total=(4, 4, 6), T=(1, 1, [2, 3]), S=(4, 4, 3))
    with pytest.raises(OutsideModelError, match=r"T.i is cut at given points; an array needs equal pieces"):
        StreamingEquation("tau = row + col + it", uneven, space)
    cut = tiling(total=(4, 4, 6), D=(1, 1, 1), T=(2, 2, 3), S=(2, 2, 2))
    with pytest.raises(MappingError, match=r"fixes T.i, which the array runs over"):
        StreamingEquation("tau = row + col + it", cut, space, within=Tile(cut, ((0, 0, 0), (0, 0, 1))))
    with pytest.raises(MappingError, match="level 'T' has 2 pieces along t, got index 2"):
        StreamingEquation("tau = row + col + it", cut, space).bind(
            at=LevelIndex((2,), IndexSpace(("t",), (3,), 1))
        )
    short = tiling(total=(3, 4, 6), T=(2, 2, 3), S=(4, 2, 2))
    with pytest.raises(MappingError, match="piece 1 of level 'T' along t does not exist here"):
        StreamingEquation("tau = row + col + it", short, space).bind(at=Range(short.T.t).at(0)).bind(
            at=LevelIndex((1,), IndexSpace(("t",), (2,), 0))
        )
    gap = tiling(total=(2, 2, 8), T=(1, 1, 2), M=(1, 1, 2), S=(2, 2, 2))
    with pytest.raises(MappingError, match=r"index M.i is bound to nothing, but T.i on another level is"):
        StreamingEquation("tau = row + col + it", gap, space)
    whole = tiling(
        total=(2, 2, 8), T=(1, 1, 2), M=(1, 1, 1), S=(2, 2, 4)
    )  # M does not cut i: nothing is missing
    assert len(StreamingEquation("tau = row + col + it", whole, space).range()) == 4
    with pytest.raises(MappingError, match="no operand 'Z'; allowed here: W, X, Y"):
        OUTPUT.flows("Z")
