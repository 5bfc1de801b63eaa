"""Every statement of synchronisation of a mesh program left out, one at a time: told, or harmless."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from pantile.check.program import check_program
from pantile.machine import Machine
from pantile.program.piece import Piece
from pantile.program.program import Program
from pantile.simulate.execute import execute
from pantile.simulate.timeline import simulate
from pantile.targets.mesh.routes import mesh_route


def without(program: Program, op: int) -> Program:
    """Return the program in which one operation neither waits nor posts."""
    tables = dict(program.pieces[0].tables)
    tables["sync"] = tables["sync"][tables["sync"]["op"] != op]
    return replace(program, pieces=(Piece(tables),))


def speeds(machine: Machine, seed: int) -> Machine:
    """Return the machine with links and memories as fast as chance has it."""
    random = np.random.default_rng(seed)
    paths = tuple(
        replace(path, rate_bytes_per_second=int(random.integers(1, 300)) * 10**7, latency_cycles=0)
        for path in machine.paths
    )
    return replace(machine, paths=paths)


@pytest.mark.slow
def test_every_statement_left_out_is_told_or_harmless(
    kit: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    case = kit.Case("cannon", (2, 2), (1, 2, 2, 4), (1, 2, 2, 4))
    program = case.program()
    tables = program.tables()
    x, w = case.arrays()
    table: Counter[tuple[str, str]] = Counter()
    fetches = [
        program.text(int(row["name"])) in ("fetch a (0,0)", "fetch b (1,0)") for row in tables["thread"]
    ]
    multiplies = [program.text(int(row["name"])) == "multiply (0,0)" for row in tables["thread"]]
    mine = np.array(fetches) | np.array(multiplies)  # chiplets are alike
    for op in np.unique(tables["sync"]["op"]).tolist():
        if not mine[tables["op"]["thread"][op]]:
            continue
        mutant = without(program, op)
        report = check_program(mutant, budget=20_000)
        told = sorted({each.code for each in report.findings if each.severity != "note"})
        table[program.text(int(tables["op"]["opcode"][op])), ", ".join(told) or "harmless"] += 1
        for seed in range(0 if told else 3):
            machine = speeds(kit.mesh(), seed)
            timeline = simulate(mutant, machine, route=mesh_route(machine))
            assert timeline.finished, op
            assert np.array_equal(execute(mutant, {"x": x, "w": w}, timeline)["Y"], case.expected()), op
    with capsys.disabled():
        print("\nstatements left out of a mesh program:")
        for (what, told_as), count in sorted(table.items()):
            print(f"  {what:15} {count:3}  {told_as}")
    assert sum(table.values()) > 50
    named = {what for what, told_as in table if told_as != "harmless"}
    assert {"acquire", "release", "start_writing", "finish_writing", "start_reading"} <= named
