"""How fast a program of a million operations is checked: ``make bench``.

Every figure is CPU time of one warm process (``time.process_time``, median of three), and stands
beside a fixed loop of the interpreter in the same process. The first check of all compiles, or reads what was
compiled before; it is timed apart.

    python benchmarks/check.py [MILLIONS]
"""

from __future__ import annotations

import sys
from math import ceil

from engine import baseline, cpu, ping_pong

from pantile.check.program import check_program


def main() -> None:
    """Print the figures."""
    millions = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    before = cpu(baseline, 5)
    first = ping_pong(1, 1, (20, 20, 6))
    print(f"first check, {first.operations} operations: {cpu(lambda: check_program(first), 1):.2f} s")
    for what, rows, columns in (("one core", 1, 1), ("16 cores", 4, 4)):
        steps = ceil(millions * 1e6 / (400 * 24 * rows * columns))
        program = ping_pong(rows, columns, (20, 20, steps))
        report = check_program(program)
        assert report.ok, report
        seconds = cpu(lambda: check_program(program), 3)  # noqa: B023 -- called at once
        count = program.operations
        print(
            f"{what}, {count} operations: {seconds:.2f} s = {count / seconds / 1e6:.2f} M/s "
            f"({seconds / before:.1f} baselines), {len(report.proved)} statements proved"
        )
    print(f"baseline: {before:.4f} s before, {cpu(baseline, 5):.4f} s after")


if __name__ == "__main__":
    main()
