"""What a shared cache makes memory deliver: waves in step, panels in slices, the least recently used goes.

All cores take their n-th block at the same time. Panels are cut along K into slices; slice by slice, every
core touches the slice of its left panel and that of its right panel. What is not held is read from memory.

Source: asw-theory.md section 14; errata E-20, E-21.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pantile.planners.asw.assignment import Placed
    from pantile.planners.asw.problem import Problem

SLICES = 4
"""Slices of a panel along K."""


@dataclass(frozen=True, slots=True)
class CacheTraffic:
    """What a run moved, in bytes.

    Attributes:
        delivered: From memory into the cache.
        touched: From the cache into cores.
    """

    delivered: Fraction
    touched: Fraction


def cache_traffic(
    problem: Problem, blocks: Iterable[Placed], block: tuple[int, int], capacity_bytes: int | Fraction
) -> CacheTraffic:
    """Return what the cache moves for blocks of so many rows and columns, placed as given.

    A panel at the edge is as small as what is left there. An operand that all batches share is one object.
    """
    shared_left, shared_right = problem.shares
    held: OrderedDict[tuple[str, int, int, int], int] = OrderedDict()
    filled = delivered = touched = 0  # in parts of a byte, so that every slice is a whole number of them
    depth, capacity = problem.k * problem.element_bytes, capacity_bytes * SLICES
    for wave in _waves(blocks):
        for part in range(SLICES):
            for each in wave:
                for name in (
                    ("a", 0 if shared_left else each.batch, each.row, part),
                    ("b", 0 if shared_right else each.batch, each.column, part),
                ):
                    along, total = (0, problem.m) if name[0] == "a" else (1, problem.n)
                    length = min(block[along], total - name[2] * block[along])
                    size = length * depth
                    touched += size
                    if name in held:
                        held.move_to_end(name)
                        continue
                    delivered += size
                    held[name] = size
                    filled += size
                    while filled > capacity and held:
                        filled -= held.popitem(last=False)[1]
    return CacheTraffic(Fraction(delivered, SLICES), Fraction(touched, SLICES))


def _waves(blocks: Iterable[Placed]) -> list[list[Placed]]:
    """Return the blocks wave by wave, each by core."""
    waves: dict[int, list[Placed]] = {}
    for each in blocks:
        waves.setdefault(each.wave, []).append(each)
    return [sorted(waves[number]) for number in sorted(waves)]
