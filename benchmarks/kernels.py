"""How fast whole kernels are lowered, checked and simulated: ``make bench``.

A program of a million instructions: one core, tile after tile of a product of halves, once with sums handed
over by unit flags and once by flags of two parts of L0C. Every figure is CPU time of one warm process
(``time.process_time``, best of three), and stands beside a fixed loop of the interpreter in it. Lowering ends
with the program's tables; simulating begins with them, and leaves when every operation happened.

    python benchmarks/kernels.py [MILLIONS]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TypeVar

from pantile.check.program import check_program
from pantile.machine import load_machine
from pantile.program.program import Program
from pantile.simulate.engine import run
from pantile.targets.ascend.elements import ELEMENTS
from pantile.targets.ascend.kernel import Kernel, works_of
from pantile.targets.ascend.kernel_program import program_of_core
from pantile.targets.ascend.kernel_stream import core_stream
from pantile.targets.ascend.timing import bind_core
from pantile.verbs.ascend_check import buffers_of

Result = TypeVar("Result")
MACHINE = load_machine("ascend-950pr")
TURNS = (("unit flags, 256 x 256", 256, 1), ("flags, 128 x 128", 128, 2))


def cpu(call: Callable[[], Result], times: int = 3) -> tuple[Result, float]:
    """A result, and the least CPU seconds of several calls."""
    seconds = []
    for _ in range(times):
        started = time.process_time()
        result = call()
        seconds.append(time.process_time() - started)
    return result, min(seconds)


def baseline() -> None:
    """A fixed amount of interpreted work."""
    total = 0
    for step in range(1_000_000):
        total += step & 7


def kernel_of(size: int, sums: int) -> Kernel:
    """A product of one tile over a long K."""
    return Kernel(
        element=ELEMENTS["half"],
        out="half",
        m=size,
        n=size,
        k=4096,
        tile_m=size,
        tile_n=size,
        chunk=256,
        step=64,
        sums=sums,
        capacities=buffers_of(MACHINE)[0],
    )


def lowered(kernel: Kernel, tiles: int) -> Program:
    """The program of a core that computes so many tiles."""
    rows = [(at, at, at, 0, 0, 0, kernel.m, kernel.n, kernel.k, False) for at in range(tiles)]
    return program_of_core(core_stream(kernel, works_of(rows)), "core 0")


def main() -> None:
    millions = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    _, unit = cpu(baseline)
    print(f"unit: a loop of a million steps, {unit * 1000:.1f} ms")
    for what, size, sums in TURNS:
        kernel = kernel_of(size, sums)
        one = len(lowered(kernel, 2).parameters["stream"]) - len(lowered(kernel, 1).parameters["stream"])
        tiles = max(1, round(millions * 1e6 / one))
        program, seconds = cpu(lambda: lowered(kernel, tiles))  # noqa: B023 -- called at once
        count = len(program.parameters["stream"])
        report = check_program(program)  # compiles, or reads what was compiled before
        assert report.ok, report
        run(bind_core(program, MACHINE))
        _, checking = cpu(lambda: check_program(program))  # noqa: B023
        _, running = cpu(lambda: run(bind_core(program, MACHINE)))  # noqa: B023
        for verb, spent in (("lower", seconds), ("check", checking), ("simulate", running)):
            told = f"{spent:.2f} s = {count / spent / 1e6:.2f} M/s, {spent / unit:.1f} units"
            print(f"{verb}, {what}, {count} instructions: {told}")


if __name__ == "__main__":
    main()
