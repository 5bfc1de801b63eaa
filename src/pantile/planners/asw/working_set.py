"""What one wave of blocks reads: by formula, and exactly.

Source: asw-theory.md section 7; errata E-20 and E-22.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from pantile.planners.asw.block_order import window_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pantile.planners.asw.assignment import Assignment, Placed
    from pantile.planners.asw.problem import Problem


def wave_estimate(problem: Problem, cores: int, block: tuple[int, int], assignment: Assignment) -> Fraction:
    """Return the bytes that the formula gives one wave, for blocks of so many rows and columns.

    Under ``batch_first`` it is about at most as many batches as cores.

    >>> from pantile.planners.asw.problem import Problem
    >>> four = Problem(batch=4, m=2048, n=2048, k=1024)
    >>> [int(wave_estimate(four, 32, (256, 256), how)) >> 20 for how in ("linear", "batch_first")]
    [6, 12]
    """
    groups = 1 if assignment == "linear" else min(problem.batch, cores)
    each = cores // groups
    window = window_of(each)
    elements = groups * (window * block[0] + Fraction(each, window) * block[1])
    return elements * problem.k * problem.element_bytes


def wave_exact(problem: Problem, block: tuple[int, int], wave: Iterable[Placed]) -> int:
    """Return the bytes of the distinct panels that the blocks of one wave read, clipped at the edges.

    A panel of an operand that all batches share counts once.
    """
    shared_left, shared_right = problem.shares
    left, right = set[tuple[int, int]](), set[tuple[int, int]]()
    for each in wave:
        left.add((0 if shared_left else each.batch, each.row))
        right.add((0 if shared_right else each.batch, each.column))
    rows = _clipped(problem.m, block[0], [row for _, row in left])
    columns = _clipped(problem.n, block[1], [column for _, column in right])
    return (rows + columns) * problem.k * problem.element_bytes


def _clipped(size: int, piece: int, indices: list[int]) -> int:
    """Return the elements of some pieces of an axis, of which the last may be shorter."""
    last = (size - 1) // piece
    return len(indices) * piece - indices.count(last) * ((last + 1) * piece - size)


def panels_per_wave(blocks: Iterable[Placed]) -> list[tuple[int, int]]:
    """Return the distinct left and right panels of every wave, wave by wave."""
    waves: dict[int, tuple[set[tuple[int, int]], set[tuple[int, int]]]] = {}
    for each in blocks:
        left, right = waves.setdefault(each.wave, (set(), set()))
        left.add((each.batch, each.row))
        right.add((each.batch, each.column))
    return [(len(left), len(right)) for _, (left, right) in sorted(waves.items())]


def readers_per_wave(blocks: Iterable[Placed]) -> int:
    """Return the most cores that read one panel in one wave."""
    readers: dict[tuple[object, ...], int] = {}
    for each in blocks:
        for panel in (("a", each.wave, each.batch, each.row), ("b", each.wave, each.batch, each.column)):
            readers[panel] = readers.get(panel, 0) + 1
    return max(readers.values(), default=0)
