"""The points of an array's work that fall on one time step.

Source: tile-language.md section 9.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from pantile.tiling.lattice import count_solutions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pantile.tiling.variables import Variable, Work

Point = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Front:
    """The points of some ranges of the variables at which the equation gives one time.

    It is kept as an equation: counting it takes a closed form, and only going through it visits points.

    Attributes:
        work: The variables; a point has a number for each, in their order.
        tau: The time.
        constant: What the equation adds to the variables' part.
        ranges: First value and stop of each variable.
    """

    work: Work
    tau: int
    constant: int
    ranges: tuple[tuple[int, int], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Name of each number of a point."""
        return tuple(variable.name for variable in self.work.variables)

    def restricted(self, values: Iterable[tuple[str, int]]) -> Front:
        """Return the points at which the named variables have these values."""
        fixed = dict(values)
        ranges = tuple(
            (max(first, fixed[name]), min(stop, fixed[name] + 1)) if name in fixed else (first, stop)
            for name, (first, stop) in zip(self.names, self.ranges, strict=True)
        )
        return Front(self.work, self.tau, self.constant, ranges)

    def __len__(self) -> int:
        variables = self.work.variables
        target = self.tau - self.constant
        for variable, (first, _) in zip(variables, self.ranges, strict=True):
            target -= variable.coefficient * first
        extents = [stop - first for first, stop in self.ranges]
        return count_solutions([variable.coefficient for variable in variables], extents, target)

    def __iter__(self) -> Iterator[Point]:
        return self._points(0, self.tau - self.constant)

    def _points(self, axis: int, target: int) -> Iterator[Point]:
        """Return what the variables from *axis* on can add up to *target* with, in rising order."""
        if axis == len(self.ranges):
            if target == 0:
                yield ()
            return
        variable, (first, stop) = self.work.variables[axis], self.ranges[axis]
        lowest = highest = 0
        for other, (start, end) in zip(self.work.variables[axis + 1 :], self.ranges[axis + 1 :], strict=True):
            if start >= end:
                return
            ends = (other.coefficient * start, other.coefficient * (end - 1))
            lowest, highest = lowest + min(ends), highest + max(ends)
        for value in range(first, stop):
            rest = target - variable.coefficient * value
            if lowest <= rest <= highest:
                for point in self._points(axis + 1, rest):
                    yield (value, *point)

    def __contains__(self, point: object) -> bool:
        if not isinstance(point, tuple) or len(point) != len(self.ranges):
            return False
        inside = all(first <= value < stop for value, (first, stop) in zip(point, self.ranges, strict=True))
        total = sum(each.coefficient * value for each, value in zip(self.work.variables, point, strict=True))
        return inside and total == self.tau - self.constant

    def weigh(self, dimensions: Iterable[str]) -> int:
        """Return the elements of *dimensions* that one point stands for, summed over all points.

        Only the last value of a variable may stand for fewer elements than the others, so that the sum
        takes a count for each set of variables that are at their last value.
        """
        chosen = set(dimensions)
        weight = prod(size for dimension, size in self.work.inside if dimension in chosen)
        halves = []
        for variable in self._innermost(chosen):
            first, stop = self.ranges[self.names.index(variable.name)]
            last = variable.count - 1
            parts = [(variable.name, variable.piece, (first, min(stop, last)))]
            halves.append([*parts, (variable.name, variable.last_piece, (max(first, last), stop))])
        total = 0
        for choice in product(*halves):
            limits = {name: limit for name, _, limit in choice}
            ranges = [limits.get(name, own) for name, own in zip(self.names, self.ranges, strict=True)]
            part = Front(self.work, self.tau, self.constant, tuple(ranges))
            total += len(part) * prod(size for _, size, _ in choice)
        return total * weight

    def _innermost(self, dimensions: set[str]) -> list[Variable]:
        """Return the variable of each dimension whose values stand for the fewest elements."""
        found: dict[str, Variable] = {}
        for variable in self.work.variables:
            if variable.dimension in dimensions:
                so_far = found.setdefault(variable.dimension, variable)
                if variable.piece < so_far.piece:
                    found[variable.dimension] = variable
        return list(found.values())
