"""How fast the exact simulation is: ``make bench``.

Every figure is user CPU time of one warm process (``time.process_time`` around the call, median of
several), and stands beside a baseline of the same process: a fixed loop of the interpreter. The original's
own figures, measured once on another day, are given for orientation.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from pantile.targets.systolic.fast import simulate_fast
from pantile.targets.systolic.plain import simulate_plain
from pantile.targets.systolic.stream import stream_of
from pantile.verbs.arguments import PlanOptions
from pantile.verbs.sessions import sessions_of

CASES = (
    # workload, machine, the original's seconds
    ("gemm:m=1024,n=1024,k=1024", "systolic-ws-8x8", 7.5),
    ("gemm:m=2048,n=2048,k=2048", "systolic-ws-128x128-c4", 4.8),
    ("gemm:m=2048,n=2048,k=2048", "systolic-ws-8x8", None),
)
SMALL = ("gemm:m=128,n=128,k=128", "systolic-ws-8x8")


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


def main() -> None:
    """Print the figures."""
    unit = cpu(baseline, 5)
    print(f"baseline: a loop of a million additions takes {unit * 1000:.0f} ms")
    (session,) = sessions_of(*SMALL, PlanOptions())
    stream = stream_of(session.execution(), session.config)
    started = time.process_time()
    result = simulate_fast(stream, session.config)
    print(f"first compiled run, with compiling or loading: {time.process_time() - started:.2f} s")
    plain = cpu(lambda: simulate_plain(stream, session.config), 3)
    fast = cpu(lambda: simulate_fast(stream, session.config), 9)
    print(
        f"{SMALL[0]} on {SMALL[1]}: {result.core_ticks} cycles, plain {plain:.3f} s, "
        f"compiled {fast * 1000:.2f} ms, ratio {plain / fast:.0f}"
    )
    for workload, machine, original in CASES:
        (session,) = sessions_of(workload, machine, PlanOptions())
        stream = stream_of(session.execution(), session.config)
        cycles = simulate_fast(stream, session.config).core_ticks
        seconds = cpu(lambda: simulate_fast(stream, session.config), 7)  # noqa: B023 - called at once
        versus = f", the original {original} s" if original else ""
        print(
            f"{workload} on {machine}: {cycles} cycles in {seconds * 1000:.0f} ms "
            f"({seconds / unit:.1f} baselines){versus}"
        )
    print(f"peak resident memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")
    command = [sys.executable, "-m", "pantile.cli.main", "--help"]
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    print(f"pantile --help: {time.perf_counter() - started:.2f} s")


if __name__ == "__main__":
    main()
