"""Why there is no plan: the constraint that nothing meets, with its two numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.planners.asw.candidates import DOUBLE_BUFFER, largest_side
from pantile.planners.asw.grain import aligned_cuts, down
from pantile.tiling.cut import ceil_div

if TYPE_CHECKING:
    from pantile.planners.asw.candidates import Candidates, Mask
    from pantile.planners.asw.chip import Chip
    from pantile.planners.asw.pipeline import Stages
    from pantile.planners.asw.problem import Problem


def why_infeasible(stages: Stages) -> str:
    """Return one sentence for a product without a plan; its constraints are tried in their order."""
    problem, chip, base, entry = stages.problem, stages.chip, stages.base, stages.entry
    if entry.mode == "rejected":
        filled = float(entry.parallelism)
        return f"the product fills {filled:.6g} L0C < {chip.cores} cores, and a branch that cuts k takes it"
    if stages.too_small:
        return stages.too_small
    if not base.m:
        side, size = ("m", problem.m) if problem.m < chip.grain else ("n", problem.n)
        return (
            f"base=0: {side} = {size} rounded down to the cube's grain of {chip.grain} leaves nothing (E-08)"
        )
    if entry.mode == "reduce":
        need = DOUBLE_BUFFER * (base.m + base.n) * chip.grain * problem.element_bytes
        return (
            f"constraint 2: two moves of {chip.grain} along k for a {base.m} x {base.n} block take {need} B, "
            f"L1 holds {chip.l1_bytes} B"
        )
    return _no_block(stages)


def _no_block(stages: Stages) -> str:
    problem, chip, found = stages.problem, stages.chip, stages.candidates
    assert found is not None
    if not found.m.size:
        return _no_cut(stages)
    if not found.enough.any():
        most = int((found.rows * found.columns)[found.k_l1 > 0].max(initial=0))
        if not most:
            return (
                f"constraint 2: L1 of {chip.l1_bytes} B holds no {chip.grain} rows of k for any block twice"
            )
        fewest = stages.entry.blocks_per_batch
        return f"constraint 1: {most} blocks per batch at most, {chip.cores} cores need {fewest}"
    width = problem.element_bytes
    with_runs = found.enough & found.runs
    if not with_runs.any():
        run = found.m if problem.transpose_a else found.k_l1
        best = _largest(run * width, found.enough)
        return f"constraint 3: left runs of {best} B at most, {chip.run_bytes} B are needed (dValue)"
    moves = np.minimum(found.m, found.n) * found.k_l1 * width
    best = _largest(moves, with_runs)
    return f"constraint 3: moves of {best} B at most, {chip.move_bytes} B are needed (min_TileSize)"


def _no_cut(stages: Stages) -> str:
    """Say along which axis L1 holds no block at all, or no cut into equal blocks gives whole tiles."""
    problem, chip, base = stages.problem, stages.chip, stages.base
    largest = largest_side(problem, chip)  # above 0, since L1 holds two moves of the smallest block
    for name, size, tile in (("m", problem.m, base.m), ("n", problem.n, base.n)):
        sizes, _ = aligned_cuts(size, chip.grain, most=ceil_div(size, tile), largest=largest)
        if not sizes.size:
            smallest = ceil_div(ceil_div(size, ceil_div(size, tile)), chip.grain) * chip.grain
            held = down(largest, chip.grain)
            return f"constraint 2: blocks of {smallest} along {name} at least, L1 holds {held} of them twice"
        if not (sizes % tile == 0).any():
            nearest = int(sizes[np.argmin(np.abs(sizes - tile))])
            return (
                f"constraint 4: no cut of {name} = {size} gives blocks that are a multiple of {tile}; "
                f"the nearest is {nearest} (E-12)"
            )
    raise AssertionError("both axes have cuts")


def _largest(values: np.ndarray[tuple[int, ...], np.dtype[np.int64]], among: Mask) -> int:
    return int(values[among].max())


def what_fails(problem: Problem, chip: Chip, found: Candidates, at: int, fewest: int) -> str:
    """Return which constraint one candidate fails, with its two numbers; empty if it passes all.

    *fewest* are the blocks of a batch that give every core one.
    """
    width = problem.element_bytes
    m, n, k_l1, rows, columns = found.at(at)
    if rows * columns < fewest:
        return f"constraint 1: {rows * columns} blocks per batch < {fewest}"
    if not k_l1:
        return f"constraint 2: {m} + {n} rows and columns leave no room for {chip.grain} of k in L1"
    if not found.runs[at]:
        runs = {
            "left": (m if problem.transpose_a else k_l1) * width,
            "right": (k_l1 if problem.transpose_b else n) * width,
        }
        operand = min(runs, key=lambda name: runs[name])
        return f"constraint 3: {operand} runs of {runs[operand]} B < {chip.run_bytes} B"
    if not found.moves[at]:
        return f"constraint 3: a move of {min(m, n) * k_l1 * width} B < {chip.move_bytes} B"
    return ""
