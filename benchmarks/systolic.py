"""How fast the exact simulation is: ``make bench``.

Every figure is CPU time of one warm process (``time.process_time`` around the call, median of several),
and stands beside a baseline of the same process: a fixed loop of the interpreter, timed before and after.
Compiling is timed apart, in a process of its own with an empty cache. The original's own figures, measured
once on another day, are given for orientation.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from pantile.targets.systolic.fast import is_compiled, simulate_fast
from pantile.targets.systolic.plain import simulate_plain
from pantile.targets.systolic.stream import stream_of
from pantile.verbs.arguments import PlanOptions
from pantile.verbs.sessions import sessions_of

CASES = (
    # workload, machine, the original's seconds
    ("gemm:m=1024,n=1024,k=1024", "systolic-ws-8x8", 7.5),
    ("gemm:m=2048,n=2048,k=2048", "systolic-ws-128x128-c4", 4.8),
    ("gemm:m=2048,n=2048,k=2048", "systolic-ws-8x8", None),
    ("gemm:m=1,n=4096,k=4096", "systolic-ws-128x128-c4", None),
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


def prepared(workload: str, machine: str) -> tuple[object, object]:
    """What runs, ready for either form, and its machine."""
    (session,) = sessions_of(workload, machine, PlanOptions())
    return stream_of(session.execution(), session.config), session.config


def peak_mib() -> float:
    """Most memory that this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def print_first_run() -> None:
    """Print what the first compiled run of a process takes."""
    stream, config = prepared(*SMALL)
    word = "read from the disk" if is_compiled() else "compiled"
    started = time.process_time()
    simulate_fast(stream, config)
    print(f"kernel {word}: {time.process_time() - started:.2f} s, peak resident memory {peak_mib():.0f} MiB")


def print_compiling() -> None:
    """Print what compiling from nothing takes."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": folder}
        subprocess.run([sys.executable, __file__, "first-run"], check=True, env=environment)


def print_cases(unit: float) -> None:
    """Print the warm figures; *unit* is the baseline's."""
    stream, config = prepared(*SMALL)
    plain = cpu(lambda: simulate_plain(stream, config), 3)
    compiled = cpu(lambda: simulate_fast(stream, config), 9)
    cycles = simulate_fast(stream, config).core_ticks
    print(
        f"{SMALL[0]} on {SMALL[1]}: {cycles} cycles, plain {plain:.3f} s, "
        f"compiled {compiled * 1000:.2f} ms, ratio {plain / compiled:.0f}"
    )
    for workload, machine, original in CASES:
        stream, config = prepared(workload, machine)
        cycles = simulate_fast(stream, config).core_ticks
        seconds = cpu(lambda: simulate_fast(stream, config), 9)  # noqa: B023 - called at once
        versus = f", the original {original} s" if original else ""
        print(
            f"{workload} on {machine}: {cycles} cycles in {seconds * 1000:.0f} ms "
            f"({seconds / unit:.1f} baselines){versus}"
        )


def main() -> None:
    """Print the figures."""
    print_compiling()
    print_first_run()
    unit = cpu(baseline, 9)
    print(f"baseline: a loop of a million additions takes {unit * 1000:.0f} ms")
    print_cases(unit)
    again = cpu(baseline, 9)
    print(f"baseline again: {again * 1000:.0f} ms; peak resident memory {peak_mib():.0f} MiB")
    command = [sys.executable, "-m", "pantile.cli.main", "--help"]
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    print(f"pantile --help: {time.perf_counter() - started:.2f} s")


if __name__ == "__main__":
    print_first_run() if sys.argv[1:] == ["first-run"] else main()
