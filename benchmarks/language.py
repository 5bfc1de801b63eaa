"""How fast tile-language programs are recorded and lowered to tables: ``make bench``.

Recording runs the threads; lowering makes the tables. Every figure is user CPU time of one warm process
(``time.process_time``, best of three), and stands beside a fixed loop of the interpreter in the same process.

    python benchmarks/language.py [MILLIONS]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from math import ceil
from typing import TypeVar

from pantile.language import (
    DDR,
    SRAM,
    Buffer,
    Compute,
    Core,
    Range,
    Thread,
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
from pantile.program.language.lower import lower
from pantile.program.language.run import record, uncollected
from pantile.tiling.tiling import Tiling as TilingValue

CORE, DDR0 = Core(0, 1), DDR(0)
SRAM1 = SRAM(CORE)
T = TypeVar("T")


def ping_pong(tiling: TilingValue, *, inner: bool) -> list[Thread]:
    """The ping-pong of the specification, with or without an inner loop nest."""
    buffer = Buffer(slots=2)

    @thread
    def load() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=CORE)
            buffer.acquire()
            start_writing(tile)
            load_store(src=DDR0, dst=SRAM1, tile=tile)
            finish_writing(tile)

    @thread
    def multiply() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=CORE)
            start_reading(tile)
            if inner:
                for t in Range(tiling.T):
                    child = tile.child(t)
                    load_store(src=SRAM1, dst=Compute(CORE), tile=child)
                    compute(child)
            else:
                compute(tile)
            finish_reading(tile)
            load_store(src=SRAM1, dst=DDR0, tile=tile)
            destroy(tile)
            buffer.release()

    return [load, multiply]


def cpu(call: Callable[[], T]) -> tuple[float, T]:
    """CPU seconds of *call*, and what it returned."""
    started = time.process_time()
    result = call()
    return time.process_time() - started, result


def baseline() -> None:
    """A fixed amount of interpreted work."""
    total = 0
    for step in range(1_000_000):
        total += step & 7


def main() -> None:
    """Print the figures."""
    millions = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    unit = min(cpu(baseline)[0] for _ in range(5))
    print(f"baseline: a loop of a million additions takes {unit * 1000:.0f} ms")
    cases = (("statements of states and buffers", False, 10), ("inner loop nest", True, 138))
    for what, inner, per_tile in cases:
        tiles = ceil(millions * 1e6 / per_tile)
        tiling = Tiling(total=(32, 32, 64 * tiles), D=(1, 1, tiles), T=(4, 4, 4), S=(8, 8, 16))
        seconds = []
        for _ in range(3):
            threads = ping_pong(tiling, inner=inner)
            with uncollected():  # as the class Program does
                recorded, recording = cpu(lambda: record(tiling, threads))  # noqa: B023 -- called at once
                lowered, program = cpu(lambda: lower(recording, name="bench"))  # noqa: B023
            seconds.append((recorded + lowered, recorded, lowered))
        total, recorded, lowered = min(seconds)
        count = program.operations
        rates = [f"{count / each / 1e6:.2f} M/s" for each in (recorded, lowered, total)]
        print(
            f"{what}, {count} operations: recorded {rates[0]}, lowered {rates[1]}, both {rates[2]} "
            f"({total / unit:.0f} baselines)"
        )


if __name__ == "__main__":
    main()
