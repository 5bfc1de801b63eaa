"""A core at 1 GHz with round figures, so that times can be worked out by hand."""

from __future__ import annotations

import pytest

from pantile.machine import Clock, Engine, Grid, Machine, Memory, Path, Table

GB = 10**9


def core_machine(**family: int) -> Machine:
    """One core: 256 B a cycle to L0A, half of that to L0B, 64 B to L1 and out of L0C."""
    sizes = (("gm", None), ("l1", 524288), ("l0a", 65536), ("l0b", 65536), ("l0c", 131072), ("bt", 1024))
    ways = (("gm", "l1", "mte2", 64, 100), ("l1", "l0a", "mte1", 256, 28), ("l1", "l0b", "mte1", 128, 28))
    ways += (("l1", "bt", "mte1", 64, 28), ("l0c", "gm", "fixpipe", 64, 20))
    return Machine(
        name="core",
        clocks=(Clock("core", GB),),
        base_clock="core",
        memories=tuple(
            Memory(name=name, scope="chip" if name == "gm" else "core", capacity_bytes=size)
            for name, size in sizes
        ),
        engines=(
            *(
                Engine(name=name, scope="core", completes="in_order", duration="transfer")
                for name in ("mte1", "mte2", "fixpipe")
            ),
            Engine(
                name="cube",
                scope="core",
                completes="pipelined",
                duration="macs",
                parameters=Table({"macs_per_cycle": 4096}),
            ),
        ),
        paths=tuple(
            Path(
                origin=origin,
                destination=destination,
                engine=engine,
                rate_bytes_per_second=rate * GB,
                latency_cycles=latency,
            )
            for origin, destination, engine, rate, latency in ways
        ),
        grid=Grid((1,)),
        family=Table({"ascend": Table(dict(family))}),
    )


@pytest.fixture
def machine() -> Machine:
    """A core without further constants."""
    return core_machine()
