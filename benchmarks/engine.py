"""How fast the general event engine is: ``make bench``.

Every figure is CPU time of one warm process (``time.process_time`` around the call, median of several),
and stands beside a baseline of the same process: a fixed loop of the interpreter, timed before and after.
Compiling is timed apart, in a process of its own with an empty cache. Times of all operations are always
kept: they are what the engine works with.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from pantile.language import (
    DDR,
    SRAM,
    Buffer,
    Chiplet,
    Compute,
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
from pantile.machine import Clock, Engine, Grid, Machine, Memory, Path, Table
from pantile.simulate.bind import bind
from pantile.simulate.bound import BoundProgram
from pantile.simulate.engine import is_compiled, run_compiled
from pantile.simulate.engine_plain import run_plain
from pantile.simulate.timeline import Timeline

CASES = (
    # what, rows of cores, columns, tiles of the outermost level, policy of the links
    ("one core, exclusive links", 1, 1, (20, 20, 100), "exclusive"),
    ("one core, shared links", 1, 1, (20, 20, 100), "shared"),
    ("16 cores on one shared link", 4, 4, (20, 20, 6), "shared"),
)
SMALL = ("one core, shared links", 1, 1, (2, 2, 20), "shared")


def machine(policy: str, rows: int, columns: int) -> Machine:
    """DDR for all, SRAM and an 8 x 8 array per core."""
    ways = (("ddr", "sram"), ("sram", "ddr"), ("sram", "compute"))
    return Machine(
        name="bench",
        clocks=(Clock("core", 10**9),),
        memories=(
            Memory(name="ddr", scope="chip", granule_bytes=64),
            Memory(name="sram", scope="core", granule_bytes=32),
            Memory(name="compute", scope="core"),
        ),
        engines=(
            Engine(name="dma", scope="chip", completes="pipelined", duration="transfer"),
            Engine(name="feed", scope="core", completes="in_order", duration="transfer"),
            Engine(
                name="compute",
                scope="core",
                completes="pipelined",
                duration="systolic",
                parameters=Table({"rows": 8, "columns": 8}),
            ),
        ),
        paths=tuple(
            Path(
                origin=origin,
                destination=destination,
                engine="dma" if "ddr" in (origin, destination) else "feed",
                rate_bytes_per_second=64 * 10**9,
                latency_cycles=20,
                policy=policy,
            )
            for origin, destination in ways
        ),
        grid=Grid((rows, columns)),
    )


def ping_pong(rows: int, columns: int, counts: tuple[int, int, int]) -> Program:
    """Ping-pong on every core of a grid, each on a product of its own share of the output."""
    t, o, i = counts
    cut = (2, 2, 2)
    size = (8, 8, 16)
    total = (t * rows * cut[0] * size[0], o * columns * cut[1] * size[1], i * cut[2] * size[2])
    tiling = Tiling("ti,oi->to", total=total, D=(t * rows, o * columns, i), T=cut, S=size)
    threads = []
    for core in Chiplet(rows, columns):
        threads += core_threads(tiling, core, counts)
    return Program(tiling, *threads, name="bench")


def core_threads(tiling: object, core: object, counts: tuple[int, int, int]) -> list[object]:
    """The loader and the multiplier of one core."""
    ddr, sram, buf = DDR(0), SRAM(core), Buffer(slots=2)
    t, o, i = counts
    mine = [
        Tile(tiling, (core.at[0] * t + row, core.at[1] * o + column, step), location=core)
        for row in range(t)
        for column in range(o)
        for step in range(i)
    ]

    @thread
    def load() -> None:
        for tile in mine:
            buf.acquire()
            start_writing(tile)
            load_store(src=ddr, dst=sram, tile=tile)
            finish_writing(tile)

    @thread
    def multiply() -> None:
        for tile in mine:
            start_reading(tile)
            for part in Range(tiling.T):
                child = tile.child(part)
                load_store(src=sram, dst=Compute(core), tile=child)
                compute(child)
            finish_reading(tile)
            if tile.path[0][2] == i - 1:
                load_store(src=sram, dst=ddr, tile=tile.Y)
            destroy(tile)
            buf.release()

    return [load, multiply]


def cpu(call: Callable[[], object], repeats: int) -> float:
    """Median CPU seconds of *call*."""
    seconds = []
    for _ in range(repeats):
        started = time.process_time()
        call()
        seconds.append(time.process_time() - started)
    return statistics.median(seconds)


def baseline() -> None:
    """A fixed amount of interpreted work."""
    total = 0
    for step in range(1_000_000):
        total += step & 7


def bound_case(case: tuple[str, int, int, tuple[int, int, int], str]) -> BoundProgram:
    """A case, bound to its machine."""
    _, rows, columns, counts, policy = case
    return bind(ping_pong(rows, columns, counts), machine(policy, rows, columns))


def print_first_run() -> None:
    """Print what the first compiled run of a process takes."""
    bound = bound_case(SMALL)
    word = "read from the disk" if is_compiled() else "compiled"
    started = time.process_time()
    run_compiled(bound)
    print(f"engine {word}: {time.process_time() - started:.2f} s")


def print_compiling() -> None:
    """Print what compiling from nothing takes."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": folder}
        subprocess.run([sys.executable, __file__, "first-run"], check=True, env=environment)


def print_cases(unit: float) -> None:
    """Print the warm figures; *unit* is the baseline's."""
    bound = bound_case(SMALL)
    plain, compiled = cpu(lambda: run_plain(bound), 3), cpu(lambda: run_compiled(bound), 9)
    print(
        f"{bound.operations} operations: plain {plain:.3f} s ({bound.operations / plain / 1e3:.0f} k/s), "
        f"compiled {compiled * 1000:.2f} ms"
    )
    for case in CASES:
        _, rows, columns, counts, policy = case
        program, made = ping_pong(rows, columns, counts), machine(policy, rows, columns)
        binding = cpu(lambda: bind(program, made), 3)  # noqa: B023 -- called at once
        bound = bind(program, made)
        engine = cpu(lambda: run_compiled(bound), 5)  # noqa: B023 -- called at once
        timeline = Timeline(bound, run_compiled(bound))
        terms = cpu(lambda: timeline.terms, 1)  # noqa: B023 -- called at once
        count = bound.operations
        print(
            f"{case[0]}: {count} operations, {timeline.total / 1e6:.0f} us on the machine; "
            f"engine {engine:.3f} s = {count / engine / 1e6:.2f} M/s ({engine / unit:.1f} baselines), "
            f"binding {binding:.3f} s = {count / binding / 1e6:.2f} M/s, terms {terms:.2f} s"
        )


def main() -> None:
    """Print everything."""
    if sys.argv[1:] == ["first-run"]:
        print_first_run()
        return
    before = cpu(baseline, 5)
    print_compiling()
    print_first_run()
    print_cases(before)
    print(f"baseline: {before:.4f} s before, {cpu(baseline, 5):.4f} s after")


if __name__ == "__main__":
    main()
