"""Laws over random tilings, orders, programs and machines: executors, bounds, slots, policies, values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.check.order import happens_before
from pantile.language import (
    DDR,
    SRAM,
    Buffer,
    Compute,
    Core,
    Program,
    Range,
    Tile,
    Tiling,
    compute,
    destroy,
    finish_reading,
    finish_writing,
    load_store,
    start_reading,
    start_writing,
    thread,
)
from pantile.machine import Machine
from pantile.simulate.execute import execute
from pantile.simulate.queries import simulate_dynamic
from pantile.simulate.timeline import Timeline, simulate

pytestmark = pytest.mark.slow

Make = Callable[..., Machine]
Cut = tuple[int, int, int]


@dataclass(frozen=True)
class Shape:
    """What a random program looks like."""

    total: Cut
    outer: Cut
    inner: Cut
    order: tuple[int, ...]
    cores: int
    slots: int
    to_engine: bool
    kept: bool  # whether operands have states of their own instead of a bundle


@st.composite
def shapes(draw: st.DrawFn, cores: int = 2) -> Shape:
    return Shape(
        draw(st.tuples(*[st.integers(1, 9)] * 3)),
        draw(st.tuples(*[st.integers(1, 3)] * 3)),
        draw(st.tuples(*[st.integers(1, 2)] * 3)),
        tuple(draw(st.permutations(range(3)))),
        draw(st.integers(1, cores)),
        draw(st.integers(1, 3)),
        draw(st.booleans()),
        draw(st.booleans()),
    )


def program(shape: Shape, *, dynamic: bool = False, slots: int = 0) -> Program:
    """Ping-pong on every core: rows of tiles go to the cores in turn, in any order of loops."""
    tiling = Tiling("ti,oi->to", total=shape.total, D=shape.outer, T=shape.inner, S=...)
    level: Any = tiling.D
    order = [level.index("toi"[axis]) for axis in shape.order]
    threads = []
    for number in range(shape.cores):
        core = Core(0, number)
        tiles = [Tile(tiling, d, location=core) for d in Range(*order)]
        mine = [tile for tile in tiles if tile.path[0][0] % shape.cores == number]
        threads += on_core(core, mine, slots or shape.slots, shape)
    return Program(tiling, *threads, dynamic=dynamic)


def on_core(core: Core, tiles: list[Tile], slots: int, shape: Shape) -> list[Any]:
    buffer, sram, ddr = Buffer(slots=slots), SRAM(core), DDR(0)

    def named(tile: Tile) -> list[Any]:
        return [tile.X, tile.W] if shape.kept else [tile]

    @thread(name=f"load{core.at[1]}", core=core)
    def load() -> None:
        for tile in tiles:
            buffer.acquire()
            for each in named(tile):
                start_writing(each)
            load_store(src=ddr, dst=sram, tile=tile)
            for each in named(tile):
                finish_writing(each)

    @thread(name=f"multiply{core.at[1]}", core=core)
    def multiply() -> None:
        for tile in tiles:
            for each in named(tile):
                start_reading(each)
            for child in tile.children():
                if shape.to_engine:
                    load_store(src=sram, dst=Compute(core), tile=child)
                compute(child)
            for each in named(tile):
                finish_reading(each)
            load_store(src=sram, dst=ddr, tile=tile)
            for each in named(tile):
                destroy(each)
            buffer.release()

    return [load, multiply]


policies = st.sampled_from(["shared", "exclusive"])
rates = st.sampled_from([10**9, 7 * 10**9, 10**11])
latencies = st.integers(0, 30)


@settings(max_examples=40, deadline=None)
@given(shapes(), policies, rates, latencies)
def test_static_and_dynamic_agree_bounds_hold_and_values_are_numpy_s(
    machine: Make, shape: Shape, policy: str, rate: int, latency: int
) -> None:
    made = machine(policy=policy, rate_bytes_per_second=rate, latency_cycles=latency)
    static = simulate(program(shape), made)
    source = program(shape, dynamic=True).source
    assert source is not None
    dynamic = simulate_dynamic(source, made)
    assert static.times.tolist() == dynamic.times.tolist()
    assert static.finished
    assert all(bound <= static.total for bound in static.lower_bounds.values())
    assert all(sum(terms.values()) == static.total for terms in static.unit_terms.values())
    rng = np.random.default_rng(4)
    t, o, i = shape.total
    x, w = rng.integers(-5, 6, (t, i)).astype(np.float32), rng.integers(-5, 6, (o, i)).astype(np.float32)
    assert np.array_equal(execute(static.bound.program, {"x": x, "w": w}, static)["Y"], x @ w.T)


@settings(max_examples=30, deadline=None)
@given(shapes(cores=1), policies, rates)
def test_a_slot_or_bandwidth_more_never_slows_one_core_down(
    machine: Make, shape: Shape, policy: str, rate: int
) -> None:
    """Nobody has a choice: one thread takes slots, and every link carries the moves of one thread."""
    made = machine(policy=policy, rate_bytes_per_second=rate)
    before = simulate(program(shape), made)
    assert simulate(program(shape, slots=shape.slots + 1), made).total <= before.total
    faster = machine(policy=policy, rate_bytes_per_second=2 * rate)
    assert simulate(program(shape), faster).total <= before.total


@settings(max_examples=20, deadline=None)
@given(shapes(), rates)
def test_policies_of_links_differ_in_time_never_in_order(machine: Make, shape: Shape, rate: int) -> None:
    runs = [
        simulate(program(shape), machine(policy=policy, rate_bytes_per_second=rate))
        for policy in ("shared", "exclusive")
    ]
    orders = [happens_before(each.bound.program) for each in runs]
    ops = np.arange(runs[0].bound.operations)
    pairs = np.repeat(ops, len(ops)), np.tile(ops, len(ops))
    assert np.array_equal(orders[0].before(*pairs), orders[1].before(*pairs))
    for run in runs:  # and each run keeps to that order
        first, second = (each[orders[0].before(*pairs)] for each in pairs)
        assert np.all(run.times["finish"][first] <= run.times["start"][second])
        assert values_are_right(run)


def values_are_right(run: Timeline) -> bool:
    t, o, i = run.bound.program.extents
    x, w = np.arange(1.0, t * i + 1).reshape(t, i), np.arange(1.0, o * i + 1).reshape(o, i)
    return np.array_equal(
        execute(run.bound.program, {"x": x, "w": w}, run)["Y"], (x @ w.T).astype(np.float32)
    )
