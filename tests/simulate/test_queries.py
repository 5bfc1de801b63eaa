"""Programs that ask: the same statements have the same times, and answers decide what comes next."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pantile.errors import ProgramError
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
from pantile.simulate.engine import run_compiled
from pantile.simulate.execute import execute
from pantile.simulate.queries import simulate_dynamic
from pantile.simulate.timeline import simulate


def ping_pong(
    dynamic: bool, slots: int = 2, asks: list[tuple[bool, bool]] | None = None, releases: bool = True
) -> Program:
    tiling = Tiling("ti,oi->to", total=(16, 16, 32), D=(2, 2, 2), T=(1, 1, 2), S=...)
    core, ddr = Core(0, 1), DDR(0)
    sram, buf = SRAM(core), Buffer(slots=slots)

    @thread
    def load() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=core)
            if asks is not None:
                asks.append((buf.full, buf.empty))
            buf.acquire()
            start_writing(tile)
            load_store(src=ddr, dst=sram, tile=tile)
            finish_writing(tile)

    @thread
    def multiply() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=core)
            start_reading(tile)
            for t in Range(tiling.T):
                load_store(src=sram, dst=Compute(core), tile=tile.child(t))
                compute(tile.child(t))
            finish_reading(tile)
            if d.last("i"):
                load_store(src=sram, dst=ddr, tile=tile.Y)
            destroy(tile)
            if releases:
                buf.release()

    return Program(tiling, load, multiply, dynamic=dynamic)


@pytest.mark.parametrize("slots", [1, 2, 3])
@pytest.mark.parametrize("asking", [False, True])
@pytest.mark.parametrize("policy", ["shared", "exclusive", None])
def test_static_and_dynamic_give_the_same_times(
    machine: Callable[..., Machine], slots: int, asking: bool, policy: str | None
) -> None:
    made = machine(policy=policy, rate_bytes_per_second=3 * 10**10, latency_cycles=4) if policy else None
    static = simulate(ping_pong(False, slots), made)
    source = ping_pong(True, slots, [] if asking else None).source
    assert source is not None
    dynamic = simulate_dynamic(source, made)
    assert static.times.tolist() == dynamic.times.tolist()
    assert static.total > 0


@pytest.mark.slow
def test_compiled_engine_gives_the_times_of_the_dynamic_executor(machine: Callable[..., Machine]) -> None:
    source = ping_pong(True).source
    assert source is not None
    dynamic = simulate_dynamic(source, machine(policy="shared"))
    assert run_compiled(dynamic.bound).times.tolist() == dynamic.times.tolist()


def test_answers_are_those_of_the_moment_of_asking(machine: Callable[..., Machine]) -> None:
    """Two slots and slow computes: free at first, half taken next, then full whenever the loader asks."""
    asked: list[tuple[bool, bool]] = []
    source = ping_pong(True, 2, asked).source
    assert source is not None
    simulate_dynamic(source, machine())
    assert asked == [(False, True), (False, False), *[(True, False)] * 6]


def test_a_thread_can_do_something_else_while_a_buffer_is_full() -> None:
    """A loader with two buffers fills whichever has room; the run is a static program that computes right."""
    tiling = Tiling("ti,oi->to", total=(8, 4, 8), D=(4, 1, 1), T=(1, 1, 1), S=...)
    ddr, cores = DDR(0), (Core(0, 0), Core(0, 1))
    buffers = {core: Buffer(slots=1, name=f"buf{core.at}") for core in cores}
    order: list[int] = []

    @thread
    def load() -> None:
        waiting = {core: [d for d in Range(tiling.D) if d[0] % 2 == n] for n, core in enumerate(cores)}
        while any(waiting.values()):
            ready = [core for core in cores if waiting[core] and not buffers[core].full]
            core = ready[0] if ready else next(core for core in cores if waiting[core])
            d = waiting[core].pop(0)
            order.append(d[0])
            tile = Tile(tiling, d, location=core)
            buffers[core].acquire()
            start_writing(tile)
            load_store(src=ddr, dst=SRAM(core), tile=tile)
            finish_writing(tile)

    def work(number: int) -> Callable[[], None]:
        def body() -> None:
            core = cores[number]
            for d in Range(tiling.D):
                if d[0] % 2 == number:
                    tile = Tile(tiling, d, location=core)
                    start_reading(tile)
                    load_store(src=SRAM(core), dst=Compute(core), tile=tile)
                    compute(tile)
                    finish_reading(tile)
                    load_store(src=SRAM(core), dst=ddr, tile=tile.Y)
                    destroy(tile)
                    buffers[core].release()

        return body

    threads = [thread(name=f"work{number}")(work(number)) for number in range(2)]
    source = Program(tiling, load, *threads, dynamic=True).source
    assert source is not None
    timeline = simulate_dynamic(source)
    assert timeline.finished
    assert order == [0, 1, 2, 3]
    x, w = np.arange(64.0).reshape(8, 8), np.arange(32.0).reshape(4, 8)
    assert np.array_equal(execute(timeline.bound.program, {"x": x, "w": w}, timeline)["Y"], x @ w.T)


def test_a_dynamic_deadlock_says_what_the_static_one_says() -> None:
    source = ping_pong(True, releases=False).source
    assert source is not None
    dynamic, static = simulate_dynamic(source), simulate(ping_pong(False, releases=False))
    assert not dynamic.finished
    assert dynamic.stuck == static.stuck
    assert str(dynamic) == str(static)


def test_a_place_that_the_machine_lacks_is_refused(machine: Callable[..., Machine]) -> None:
    source = ping_pong(True).source
    assert source is not None
    with pytest.raises(ProgramError, match=r"test_queries\.py:\d+: machine 'mini' has a grid of 1 cores"):
        simulate_dynamic(source, machine((1,)))
