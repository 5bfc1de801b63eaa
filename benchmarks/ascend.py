"""How fast Ascend plans are made: ``make bench``.

The problems are the 500 random ones of ``tests/golden/cann``. Every figure is user CPU time of one warm
process (``time.process_time``, best of three), and stands beside a fixed loop of the interpreter in it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

from pantile.conform.cann.inputs import platform_of_case, problem_of_case
from pantile.planners.cann.asw_basic import asw_basic
from pantile.planners.cann.fast import pick_many
from pantile.planners.cann.figures import Figures
from pantile.planners.cann.gates import BRANCHES, gate
from pantile.planners.cann.normalise import figures_of, normalise
from pantile.planners.cann.planner import plan_problem
from pantile.planners.cann.platform import Platform
from pantile.planners.cann.problem import OperatorProblem

TABLE = Path(__file__).parents[1] / "tests/golden/cann/bmm_random_table.json"
Call = tuple[OperatorProblem, Platform]


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


def recorded_calls() -> list[Call]:
    """The calls of the recorded table."""
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    platforms = [platform_of_case(each) for each in table["meta"]["platforms"]]
    rows = (dict(zip(table["columns"], row, strict=True)) for row in table["rows"])
    return [(problem_of_case(row), platforms[row["platform_index"]]) for row in rows]


def normalised(calls: list[Call]) -> list[Figures]:
    """The figures that the rules read."""
    return [figures_of(normalise(problem), platform) for problem, platform in calls]


def interpreted(calls: list[Call]) -> None:
    """Branch and block of every call, by the interpreter, without a log."""
    for f in normalised(calls):
        branch = next(at for at in range(len(BRANCHES)) if gate(f, at) == 0)
        if BRANCHES[branch] == "ASW_BASIC":
            _ = asw_basic(f).packed.words


def main() -> None:
    calls = recorded_calls()
    unit = cpu(baseline)
    print(f"unit: a loop of a million steps, {unit * 1000:.1f} ms")
    started = time.process_time()
    pick_many(normalised(calls))
    print(f"cann, compiled form ready after {time.process_time() - started:.2f} s (compiled once, then kept)")
    many = calls * 20
    forms: tuple[tuple[str, Callable[[], object], int], ...] = (
        ("with the decision log", lambda: [plan_problem(*call) for call in calls], len(calls)),
        ("interpreted, no log", lambda: interpreted(calls), len(calls)),
        ("compiled, no log", lambda: pick_many(normalised(many)), len(many)),
    )
    for name, run, count in forms:
        seconds = cpu(run)
        rate, ratio = count / seconds, seconds / count / unit
        print(f"cann, {name}: {rate:,.0f} shapes/s, {ratio:.5f} units a shape")


if __name__ == "__main__":
    main()
