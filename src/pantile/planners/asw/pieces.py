"""Strategy A1: cut only the blocks of the last wave, so that more cores share them.

Source: asw-theory.md sections 10.2 to 10.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from pantile.planners.asw.grain import up
from pantile.tiling.cut import ceil_div

if TYPE_CHECKING:
    from pantile.planners.asw.block_time import Bound, TimeModel
    from pantile.planners.asw.chip import Chip
    from pantile.planners.asw.single_core import SingleCore

Axis = Literal["n", "m"]

_ROUNDING = 10**15
"""Pieces whose times agree to a femtosecond count as equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """Into what the blocks of the last wave are cut.

    Attributes:
        axis: Along which axis.
        size: Elements of a piece along it.
        count: Pieces of a block.
        seconds: Time of one piece.
    """

    axis: Axis
    size: int
    count: int
    seconds: Fraction


def quickest_pieces(
    chip: Chip, model: TimeModel, block: SingleCore, remainder: int, bound: Bound
) -> Pieces | None:
    """Return the quickest cut of the last wave's blocks along either axis, or ``None`` if none is allowed.

    Ties go to n, then to fewer pieces.
    """
    best: tuple[tuple[int, int, int], Axis, int, Fraction] | None = None
    shared = model.shared_ticks / (model.problem.batch * block.rows * block.columns)
    unit = model.ticks.per_second
    for place, (axis, length) in enumerate((("n", block.n), ("m", block.m))):
        seen = 0
        for parts in range(2, chip.cores // remainder + 1):
            size = up(ceil_div(length, parts), chip.grain)
            count = ceil_div(length, size)
            if count < 2 or size == seen:
                continue
            seen = size
            m, n = (block.m, size) if axis == "n" else (size, block.n)
            if bound == "memory" and not _moves_well(chip, model, m, n, block.k_l1):
                continue
            own = max(model.compute(m, n), model.local_load(m, n, block.k_l1), model.write(m, n))
            ticks = max(Fraction(own), shared * size / length) + model.ticks.overhead
            rounded = int(ticks * _ROUNDING * 2 / unit + 1) // 2
            key = (rounded, place, count)
            if best is None or key < best[0]:
                best = (key, "n" if axis == "n" else "m", size, ticks)
    if best is None:
        return None
    (_, _, count), axis_, size, ticks_ = best
    return Pieces(axis=axis_, size=size, count=count, seconds=ticks_ / unit)


def _moves_well(chip: Chip, model: TimeModel, m: int, n: int, k_l1: int) -> bool:
    """Whether the moves of a piece keep the thresholds, as far as the operands can offer them."""
    problem, width = model.problem, model.problem.element_bytes
    right_run, whole = (k_l1, problem.k) if problem.transpose_b else (n, problem.n)
    return (
        right_run * width >= min(chip.run_bytes, whole * width)
        and k_l1 * n * width >= min(chip.move_bytes, problem.right_bytes)
        and m * k_l1 * width >= min(chip.move_bytes, problem.left_bytes)
    )
