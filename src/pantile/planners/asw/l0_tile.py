"""Stage 1: the tile of the output that L0C holds, and the K step that L0A and L0B hold.

Source: asw-theory.md section 5; errata E-07 (side), E-08 (rounding), E-09 (which side limits K).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import TYPE_CHECKING

from pantile.planners.asw.entry import ACCUMULATOR_BYTES
from pantile.planners.asw.grain import down, up
from pantile.tiling.cut import ceil_div

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.planners.asw.chip import Chip
    from pantile.planners.asw.problem import Problem

PING_PONG = 2


@dataclass(frozen=True, slots=True)
class BaseTile:
    """The tile that stage 1 starts from, in elements; 0 where the published rounding leaves nothing.

    Attributes:
        m: Rows.
        n: Columns.
        k_cap: Largest K step of which L0A and L0B hold two; 0 if not even one grain fits.
    """

    m: int
    n: int
    k_cap: int


@dataclass(frozen=True, slots=True)
class InnerTile:
    """The tile that is computed at a time, after the block of a core is known.

    Attributes:
        m: Rows, of equal tiles within the block under ``corrected``.
        n: Columns.
        k: K step.
        count: Tiles of a whole block.
        buffers: 2 if L0C holds two of them, else 1.
    """

    m: int
    n: int
    k: int
    count: int
    buffers: int


def side_of(chip: Chip, *, buffers: int = 1) -> int:
    """Return the side of the square that L0C holds, in whole grains; with two buffers, twice.

    >>> from pantile.planners.asw.chip import Chip
    >>> side_of(Chip()), side_of(Chip(), buffers=2)
    (256, 176)
    """
    return down(isqrt(chip.l0c_bytes // (ACCUMULATOR_BYTES * buffers)), chip.grain)


def base_tile(problem: Problem, chip: Chip, *, corrected: bool, buffers: int = 1) -> BaseTile:
    """Return stage 1: a square, or what a narrow matrix forces."""
    grain, side = chip.grain, side_of(chip, buffers=buffers)
    area = chip.l0c_bytes // (ACCUMULATOR_BYTES * buffers)
    narrow: Callable[[int, int], int] = up if corrected else down
    m, n = problem.m, problem.n
    if m < side and n < side:
        tile_m, tile_n = narrow(m, grain), narrow(n, grain)
    elif m < side:
        tile_m = narrow(m, grain)
        tile_n = _beside(area, tile_m, n, grain, corrected)
    elif n < side:
        tile_n = narrow(n, grain)
        tile_m = _beside(area, tile_n, m, grain, corrected)
    else:
        tile_m = tile_n = side
    if not tile_m or not tile_n:
        return BaseTile(0, 0, 0)
    return BaseTile(tile_m, tile_n, _k_cap(chip, tile_m, tile_n, problem.element_bytes))


def _beside(area: int, narrow: int, size: int, grain: int, corrected: bool) -> int:
    """Return the long side of a tile whose short side is *narrow*."""
    if not narrow:
        return 0
    return down(min(area // narrow, up(size, grain) if corrected else size), grain)


def _k_cap(chip: Chip, m: int, n: int, element_bytes: int) -> int:
    left = chip.l0a_bytes // (PING_PONG * m * element_bytes)
    right = chip.l0b_bytes // (PING_PONG * n * element_bytes)
    return down(min(left, right), chip.grain)


def inner_tile(
    problem: Problem, chip: Chip, base: BaseTile, block: tuple[int, int], k_l1: int, *, corrected: bool
) -> InnerTile:
    """Return the tile that a core computes at a time inside its *block* of rows and columns.

    Under ``corrected`` no side is so long that a single grain of K would not fit L0A or L0B twice, and the
    tiles of a block are of equal size (E-12). As published, they are cut as stage 1 says.
    """
    grain = chip.grain
    tile_m, tile_n = min(base.m, block[0]), min(base.n, block[1])
    if corrected:
        widest = PING_PONG * grain * problem.element_bytes
        tile_m = _equalised(block[0], min(tile_m, down(chip.l0a_bytes // widest, grain)), grain)
        tile_n = _equalised(block[1], min(tile_n, down(chip.l0b_bytes // widest, grain)), grain)
    step = max(grain, min(base.k_cap, up(min(k_l1, problem.k), grain)))
    count = ceil_div(block[0], tile_m) * ceil_div(block[1], tile_n)
    double = tile_m * tile_n * ACCUMULATOR_BYTES * 2 <= chip.l0c_bytes
    return InnerTile(tile_m, tile_n, step, count, 2 if double else 1)


def _equalised(size: int, tile: int, grain: int) -> int:
    """Return the size of equal tiles of *size*, as many as tiles of *tile* would be."""
    return up(ceil_div(size, ceil_div(size, max(tile, grain))), grain)
