"""How fast core programs are checked and simulated: ``make bench``.

The program is what one core runs of a large product: some 10^6 instructions of the library's macro GEMM. CPU
time of one warm process (``time.process_time`` around the call, median of several), beside a baseline of the
same process: a fixed loop of the interpreter, timed before and after. Compiling is not in the figures.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

from pantile.check.program import check_program
from pantile.machine import load_machine
from pantile.program.piece import Piece
from pantile.program.program import Program
from pantile.simulate.engine import run
from pantile.targets.ascend.block_call import BlockCall
from pantile.targets.ascend.block_gemm import gemm_block
from pantile.targets.ascend.elements import ELEMENTS
from pantile.targets.ascend.timing import bind_core
from pantile.targets.ascend.trace import program_of_trace

INSTRUCTIONS = 1_000_000


def baseline() -> int:
    """A million additions."""
    total = 0
    for each in range(1_000_000):
        total += each
    return total


def cpu(work: Callable[[], object], times: int) -> float:
    """Median seconds of CPU that *work* takes."""
    taken = []
    for _ in range(times):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return statistics.median(taken)


def block() -> Program:
    """One core's part of a product of a few hundred blocks."""
    launch = BlockCall(element=ELEMENTS["half"], m=256 * 8, n=128 * 8, k=1024)
    return program_of_trace(gemm_block(launch), "macro GEMM")


def repeated(program: Program, times: int) -> Program:
    """The program again and again: every flag that it raises it takes, so that one run follows another."""
    tables = program.tables()
    ops, counters = len(tables["op"]), len(tables["counter"])
    own = tables["counter"]["overflow"] == 2  # barriers count on; flags are the same ones every time
    parts = {name: [rows] for name, rows in tables.items() if name in ("op", "access", "sync", "counter")}
    adds = np.array(program.parameters["accumulating"]).reshape(-1, 2)
    accumulating = [adds]
    renumber = np.cumsum(own) - 1
    for copy in range(1, times):
        base = counters + (copy - 1) * int(own.sum())
        shift = {name: tables[name].copy() for name in parts}
        shift["op"]["id"] += copy * ops
        shift["op"]["listing_index"] += copy * ops
        shift["op"]["line"] += copy * ops
        shift["access"]["op"] += copy * ops
        shift["sync"]["op"] += copy * ops
        mine = own[tables["sync"]["counter"]]
        shift["sync"]["counter"] = np.where(
            mine, base + renumber[tables["sync"]["counter"]], tables["sync"]["counter"]
        )
        shift["counter"] = shift["counter"][own]
        shift["counter"]["id"] = base + np.arange(int(own.sum()))
        accumulating.append(adds + np.array([copy * ops, 0]))
        for name, rows in shift.items():
            parts[name].append(rows)
    joined = {**tables, **{name: np.concatenate(rows) for name, rows in parts.items()}}
    fields = {name: getattr(program, name) for name in Program.__dataclass_fields__}
    parameters = {**program.parameters, "accumulating": np.concatenate(accumulating).tolist()}
    return Program(**{**fields, "pieces": (Piece(joined),), "parameters": parameters})


def main() -> None:
    """Print the figures."""
    first, machine = block(), load_machine("ascend-910b")
    program = repeated(first, -(-INSTRUCTIONS // first.operations))
    check_program(program)  # compiles
    run(bind_core(program, machine))
    unit = cpu(baseline, 5)
    count = program.operations
    for what, work in (
        ("check", lambda: check_program(program)),
        ("simulate, binding included", lambda: run(bind_core(program, machine))),
    ):
        taken = cpu(work, 5)
        print(
            f"{what}: {count} operations in {taken:.2f} s, {count / taken / 1e6:.2f} M/s, "
            f"{taken / unit:.0f} baselines"
        )
    print(f"baseline: {unit:.4f} s before, {cpu(baseline, 5):.4f} s after")


if __name__ == "__main__":
    main()
