"""The points of an iteration space: those of its box, or of the domain that restricts it.

Source: tile-language.md section 1: tiles outside the domain do not exist, coverage counts its points only.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from pantile.tiling.lattice import count_shadow
from pantile.tiling.tiling import Tiling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pantile.program.program import Program
    from pantile.tiling.lattice import Inequality


@dataclass(frozen=True, slots=True)
class Points:
    """Points of a program's space, seen along some of its axes.

    Attributes:
        extents: Elements along every axis of the space.
        axes: The axes that are looked at.
        inequalities: What the domain asks of a point; nothing where the space is a box.
    """

    extents: tuple[int, ...]
    axes: tuple[int, ...]
    inequalities: tuple[Inequality, ...] = ()

    @classmethod
    def of(cls, program: Program, axes: Sequence[int]) -> Points:
        """Return the points of *program* along *axes*."""
        stated = program.parameters.get("tiling")
        inequalities = Tiling.from_json(stated).inequalities if stated else ()
        return cls(tuple(program.extents), tuple(axes), inequalities)

    @property
    def total(self) -> int:
        """All of them."""
        return self.within(tuple((0, self.extents[axis]) for axis in self.axes))

    def within(self, cell: Sequence[tuple[int, int]]) -> int:
        """Return how many lie in a cell, given by ranges along the axes."""
        if not self.inequalities:
            return prod(stop - first for first, stop in cell)
        ranges = [(0, extent) for extent in self.extents]
        for axis, (first, stop) in zip(self.axes, cell, strict=True):
            ranges[axis] = (first, stop)
        return count_shadow(self.inequalities, tuple(ranges), self.axes)

    def may_hold(self, edges: Sequence[np.ndarray]) -> np.ndarray | bool:
        """Return which cells of a grid may hold points: all but those beyond one of the domain's limits.

        Args:
            edges: Where cells begin along each of the axes, and the end.
        """
        may: np.ndarray | bool = True
        for factors, constant in self.inequalities:
            most: np.ndarray | int = constant
            for axis, extent in enumerate(self.extents):
                if axis in self.axes:
                    cuts = edges[self.axes.index(axis)]
                    best = np.maximum(factors[axis] * cuts[:-1], factors[axis] * (cuts[1:] - 1))
                    shape = [1] * len(self.axes)
                    shape[self.axes.index(axis)] = len(best)
                    most = most + best.reshape(shape)
                else:
                    most = most + max(0, factors[axis] * (extent - 1))
            may = may & (most >= 0)
        return may
