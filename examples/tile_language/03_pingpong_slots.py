"""Ping-pong with 1, 2 and 3 slots on one core: timelines, and the closed forms that they equal.

A tile takes L to load and C to multiply; every fourth, which ends a reduction, S more to store.

    python examples/tile_language/03_pingpong_slots.py
"""

from pathlib import Path
from runpy import run_path

from pantile.machine import Clock, Engine, Grid, Machine, Memory, Table
from pantile.machine import Path as Way
from pantile.simulate.timeline import Timeline, simulate

ping_pong = run_path(str(Path(__file__).with_name("03_pingpong.py")))["ping_pong"]

TILE_BYTES, RESULT_BYTES = 4096, 1024
"""Two operands of 16 x 32 elements of 4 bytes; 16 x 16 results."""


def core(load: int, multiply: int, store: int) -> Machine:
    """Return a machine on which a tile takes that many nanoseconds; each a multiple of 8."""
    rates = {
        ("ddr", "sram"): TILE_BYTES * 10**9 // load,
        ("sram", "ddr"): RESULT_BYTES * 10**9 // store,
        ("sram", "compute"): 10**15,  # 2 ps each: the multiplier is to take its cycles
    }
    return Machine(
        name="one-core",
        clocks=(Clock("core", 10**9),),
        memories=(
            Memory(name="ddr", scope="chip", granule_bytes=64),
            Memory(name="sram", scope="core", granule_bytes=64),
            Memory(name="compute", scope="core"),
        ),
        engines=(
            Engine(name="dma", scope="chip", completes="pipelined", duration="transfer"),
            Engine(
                name="compute",
                scope="core",
                completes="in_order",
                duration="fixed",
                parameters=Table({"cycles": multiply // 8}),  # a tile is eight computes
            ),
        ),
        paths=tuple(
            Way(origin=origin, destination=end, engine="dma", rate_bytes_per_second=rate, policy="exclusive")
            for (origin, end), rate in rates.items()
        ),
        grid=Grid((1, 2)),
    )


def run(slots: int, load: int, multiply: int, store: int) -> Timeline:
    """Return the timeline of ping-pong with *slots* where a tile takes that many nanoseconds."""
    return simulate(ping_pong(slots=slots), core(load, multiply, store))


def closed_form(slots: int, load: int, multiply: int, store: int, tiles: int = 16) -> int | None:
    """Return how long that takes, in the unit of its figures; ``None`` where tiles are too unequal."""
    if slots == 1:
        return tiles * (load + multiply) + tiles // 4 * store
    if load <= multiply:  # the multiplier never waits again
        return load + tiles * multiply + tiles // 4 * store
    if load >= multiply + store:  # the loader never waits
        return tiles * load + multiply + store
    return None


def main() -> None:
    """Print the timelines of a loader that is faster, slower, and slower except where a store is due."""
    for load, multiply, store in ((32, 48, 16), (72, 48, 16), (56, 48, 32)):
        print(f"L = {load} ns, C = {multiply} ns, S = {store} ns")
        for slots in (1, 2, 3):
            timeline = run(slots, load, multiply, store)
            form = closed_form(slots, load, multiply, store)
            known = f"closed form {form} ns" if form else "no closed form: jitter"
            print(f"  {slots} slots: {timeline.total / 1000:.0f} ns, {known}")
            for line in timeline.show(60).splitlines():
                if line.startswith(("load ", "multiply ")):
                    print(f"    {line}")


if __name__ == "__main__":
    main()
