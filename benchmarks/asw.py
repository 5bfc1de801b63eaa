"""How fast plans of the ASW_Basic theory are made: ``make bench``.

The problems are 1000 random ones: batches 1 to 96, sides 200 to 8192, k from 64 to 16384. Every figure is CPU
time of one warm process (``time.process_time``, best of three), beside a fixed loop of the interpreter in it.
Nothing is compiled; the time of the whole process, with all imports, is printed too.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random

STARTED = time.process_time()

from pantile.planners.asw.chip import Chip  # noqa: E402  # imports count
from pantile.planners.asw.errata import errata_met  # noqa: E402
from pantile.planners.asw.judge import judged  # noqa: E402
from pantile.planners.asw.pipeline import SEMANTICS, run_stages  # noqa: E402
from pantile.planners.asw.planner import plan_of  # noqa: E402
from pantile.planners.asw.problem import Problem  # noqa: E402

CHIP = Chip()
DEPTHS = (64, 128, 256, 512, 777, 1024, 4096, 16384)


def cpu(call: Callable[[], object]) -> float:
    """Least CPU seconds of three calls."""
    seconds = []
    for _ in range(3):
        started = time.process_time()
        call()
        seconds.append(time.process_time() - started)
    return min(seconds)


def baseline() -> None:
    """A fixed amount of interpreted work."""
    total = 0
    for step in range(1_000_000):
        total += step & 7


def problems(count: int) -> list[Problem]:
    """Random problems, the same every time."""
    random = Random(1)
    return [
        Problem(
            batch=random.randint(1, 96),
            m=random.randint(200, 8192),
            n=random.randint(200, 8192),
            k=random.choice(DEPTHS),
        )
        for _ in range(count)
    ]


def main() -> None:
    many = problems(1000)
    started = time.process_time()
    plan_of(run_stages(many[0], CHIP))
    print(f"asw, first plan: {(time.process_time() - started) * 1000:.1f} ms, nothing is compiled")
    unit = cpu(baseline)
    print(f"unit: a loop of a million steps, {unit * 1000:.1f} ms")
    for semantics in SEMANTICS:
        for name, run in (
            ("the stages", lambda each, how=semantics: run_stages(each, CHIP, how)),
            ("with the decision log", lambda each, how=semantics: plan_of(run_stages(each, CHIP, how))),
        ):
            seconds = cpu(lambda run=run: [run(each) for each in many])
            rate, ratio = len(many) / seconds, seconds / len(many) / unit
            print(f"asw {semantics}, {name}: {rate:,.0f} shapes/s, {ratio:.5f} units a shape")
    seconds = cpu(lambda: [errata_met(each, CHIP) for each in many])
    print(f"asw, errata of a shape: {len(many) / seconds:,.0f} shapes/s")
    seconds = cpu(lambda: [judged(each, CHIP, (256, 256), "exact") for each in many])
    print(f"asw, exact judge of 256 x 256 blocks: {len(many) / seconds:,.0f} shapes/s")
    print(f"whole process: {time.process_time() - STARTED:.1f} s of CPU time")


if __name__ == "__main__":
    main()
