"""Along which axes the cores share the work, from what costs least sharing to what costs most.

Source: asw-theory.md section 7, after [5.4].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from pantile.planners.asw.infeasible import what_fails
from pantile.planners.asw.single_core import traffic_bytes

if TYPE_CHECKING:
    from pantile.planners.asw.candidates import Candidates
    from pantile.planners.asw.chip import Chip
    from pantile.planners.asw.entry import Entry
    from pantile.planners.asw.problem import Problem
    from pantile.planners.asw.single_core import SingleCore

SplitKind = Literal["B", "M", "N", "mixed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitChoice:
    """One way of sharing the work, cut no finer than the cores need.

    Attributes:
        kind: What is cut.
        rows: Blocks of a batch along m; likewise columns.
        shared_bytes: Bytes that blocks read beyond once each.
        remark: Why it is not what was chosen; empty where it is.
    """

    kind: SplitKind
    rows: int
    columns: int
    shared_bytes: int
    remark: str


def split_kind(rows: int, columns: int) -> SplitKind:
    """Return what a cut into so many rows and columns of blocks is called."""
    if rows == columns == 1:
        return "B"
    if columns == 1:
        return "M"
    return "N" if rows == 1 else "mixed"


def residency(problem: Problem, chip: Chip) -> tuple[bool, bool]:
    """Return whether L2 holds a whole left operand, and a whole right one."""
    return problem.left_bytes <= chip.l2_bytes, problem.right_bytes <= chip.l2_bytes


def ranked_splits(
    problem: Problem, chip: Chip, entry: Entry, block: SingleCore, found: Candidates
) -> tuple[SplitChoice, ...]:
    """Return the ways of sharing in the order of what they cost, with what speaks against each.

    *found* are the candidates among which *block* was chosen.
    """
    fewest = entry.blocks_per_batch
    chosen = split_kind(block.rows, block.columns)
    left, right = residency(problem, chip)
    options: tuple[tuple[SplitKind, int, int], ...] = (
        ("B", 1, 1),
        ("M", fewest, 1),
        ("N", 1, fewest),
        ("mixed", block.rows, block.columns),
    )
    once = traffic_bytes(problem, 1, 1)
    choices = []
    for kind, rows, columns in options:
        if kind == chosen:
            rows, columns, remark = block.rows, block.columns, ""
        elif kind == "mixed":
            continue
        elif kind == "B" and fewest > 1:
            remark = f"{problem.batch} batches do not give {chip.cores} cores a block each"
        elif kind != "B" and fewest == 1:
            remark = "nothing needs to be cut"
        else:
            resident = {"B": True, "M": right, "N": left}[kind]
            remark = "" if resident else "the shared operand does not fit L2; "
            remark += _against(
                problem, chip, found, rows, columns, traffic_bytes(problem, block.rows, block.columns)
            )
        shared = traffic_bytes(problem, rows, columns) - once
        choices.append(SplitChoice(kind=kind, rows=rows, columns=columns, shared_bytes=shared, remark=remark))
    return tuple(choices)


def _against(
    problem: Problem, chip: Chip, found: Candidates, rows: int, columns: int, chosen_bytes: int
) -> str:
    """Return what speaks against a cut into so many rows and columns of blocks."""
    at = np.flatnonzero((found.rows == rows) & (found.columns == columns))
    if not at.size:
        return f"{rows} x {columns} equal blocks are no candidate"
    fails = what_fails(problem, chip, found, int(at[0]), rows * columns)
    if fails:
        return fails
    moved = traffic_bytes(problem, rows, columns)
    return f"{moved} B through L2, {chosen_bytes} B as chosen"
