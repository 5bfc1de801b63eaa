"""What runs of a program that traps: nothing is issued after the first trap.

Source: ascend-core.md sections 1.2 and 2.3.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pantile.program.piece import Piece

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from pantile.program.program import Program

TRAP = "trap"


def until_trap(program: Program) -> tuple[Program, int]:
    """Return a core program up to its first trap, and how many instructions that leaves out.

    Operations keep their numbers. A program without a trap is returned as it is.
    """
    kept = program.parameters
    if TRAP not in program.names:
        return program, 0
    end = 1 + next(at for at, each in enumerate(kept["stream"]) if each["op"] == TRAP)
    left = len(kept["stream"]) - end
    if not left:
        return program, 0
    tables = _first(program.tables(), int(kept["starts"][end]))
    return replace(program, pieces=(Piece(tables),), parameters=_cut(kept, tables, end)), left


def _first(tables: Mapping[str, np.ndarray], operations: int) -> dict[str, np.ndarray]:
    """Return the rows of the first operations; threads and counters stay."""
    found = dict(tables)
    found["op"] = tables["op"][:operations]
    for name in ("access", "sync"):
        found[name] = tables[name][tables[name]["op"] < operations]
    return found


def _cut(kept: Mapping[str, Any], tables: Mapping[str, np.ndarray], end: int) -> dict[str, Any]:
    """Return what a program of the first *end* instructions keeps."""
    operations = len(tables["op"])
    found = {**kept, **{name: kept[name][:end] for name in ("stream", "lines", "starts")}}
    # Amounts of work are numbered as they are first asked for, so that those asked for are the first.
    found["works"] = kept["works"][: max(tables["op"]["duration_model"].tolist(), default=0)]
    found["accumulating"] = [each for each in kept["accumulating"] if each[0] < operations]
    if "calls" in kept:
        calls = (each for each in kept["calls"] if each["begin"] < end)
        found["calls"] = [{**each, "end": min(each["end"], end)} for each in calls]
    if "unit_flags" in kept:
        flags = kept["unit_flags"]
        found["unit_flags"] = {
            name: [each for each in flags[name] if each[0] < operations] for name in ("along", "kept")
        }
    if "emission" in kept:
        found["emission"] = [
            each for each in kept["emission"] if max(each["operations"], default=0) < operations
        ]
    return found
