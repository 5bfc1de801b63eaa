"""How large a product and a chip may be for the analysis to go through what it tries, one after another.

The columns of candidates count in 64 bits; beyond these sizes they would not, or would take for ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.errors import OutsideModelError, raise_all
from pantile.tiling.cut import ceil_div

if TYPE_CHECKING:
    from pantile.planners.asw.chip import Chip
    from pantile.planners.asw.problem import Problem

LARGEST_SIZE = 2**31 - 1
"""Of batch, m, n, k and the grain: what the operator itself takes."""

LARGEST_COUNT = 2**63 - 1
"""Of the smallest blocks of all batches, and of every constant of a chip."""

MOST_CORES = 4096
MOST_TRIED = 2**22
"""Cuts, or groups, that are tried for one product; on the chip of the analysis there are at most 2**18."""


def refuse_sizes(problem: Problem, chip: Chip) -> None:
    """Return if the analysis can count everything about *problem* on *chip*.

    Raises:
        OutsideModelError: If a size is above what it counts; all of them at once.
    """
    sizes = {"batch": problem.batch, "m": problem.m, "n": problem.n, "k": problem.k, "grain": chip.grain}
    bounds = {name: (size, LARGEST_SIZE) for name, size in sizes.items()}
    bounds["cores"] = (chip.cores, MOST_CORES)
    smallest = problem.batch * ceil_div(problem.m, chip.grain) * ceil_div(problem.n, chip.grain)
    bounds["blocks of one grain"] = (smallest, LARGEST_COUNT)
    for name in chip.__dataclass_fields__:
        value = getattr(chip, name)
        if name not in bounds and value is not None:
            bounds[name] = (value, LARGEST_COUNT)
    raise_all(
        [
            OutsideModelError(f"planner asw takes {name} up to {most}, got {value}")
            for name, (value, most) in bounds.items()
            if value > most
        ]
    )


def refuse_many(count: int, what: str) -> None:
    """Return if so many of *what* may be tried.

    Raises:
        OutsideModelError: If they are too many.
    """
    if count > MOST_TRIED:
        raise OutsideModelError(f"planner asw tries all {what}, at most {MOST_TRIED}, and there are {count}")
