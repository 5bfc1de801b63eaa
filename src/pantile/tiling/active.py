"""What an array works on at one time step, and what is new there since another.

Source: tile-language.md section 9.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.tiling.flows import moved_along

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pantile.tiling.front import Front, Point
    from pantile.tiling.streaming import StreamingEquation
    from pantile.tiling.variables import Variable


@dataclass(frozen=True, slots=True)
class Active:
    """The points that an array works on at a time step; a set whose size takes no counting.

    ``active(tau) - active(tau - 1)`` is what has to be injected: the data in use now that were not in the
    array then.

    Attributes:
        equation: Where it comes from.
        front: The points as an equation.
    """

    equation: StreamingEquation
    front: Front

    @property
    def tau(self) -> int:
        """The time step."""
        return self.front.tau

    @property
    def points(self) -> frozenset[Point]:
        """All points as a set."""
        return frozenset(self.front)

    @property
    def places(self) -> frozenset[Point]:
        """Coordinates of the units that work, on the axes of the array."""
        axes = len(self.equation.axes)
        return frozenset(point[:axes] for point in self.front)

    def data(self, operand: str) -> frozenset[Point]:
        """Return the data of an operand in use: the numbers of the points that the operand depends on."""
        letters = self.equation.operands[operand]
        return frozenset(_datum(point, self.equation.variables, letters) for point in self.front)

    def __len__(self) -> int:
        return len(self.front)

    def __iter__(self) -> Iterator[Point]:
        return iter(self.front)

    def __contains__(self, point: object) -> bool:
        return point in self.front

    def __sub__(self, before: Active | AbstractSet[Point]) -> Injection:
        """Return what is in use now and was not in the array then; everything, if *before* is empty."""
        if isinstance(before, Active):
            return Injection(self, before.tau)
        return Injection(self, None) if not before else NotImplemented


@dataclass(frozen=True, slots=True)
class Injection:
    """Data that are in use at a time step and were not in the array at another.

    Attributes:
        active: What is in use.
        since: The other time step; ``None`` where the array was empty.
    """

    active: Active
    since: int | None

    def __getitem__(self, operand: str) -> frozenset[Point]:
        """Return the points at which data of an operand enter: one for each datum, the first on its way."""
        equation = self.active.equation
        moved = moved_along(equation.work, equation.operands[operand])
        places = {each.name: at for at, each in enumerate(equation.variables)}
        at_once = [each for each in moved if each.coefficient == 0]
        found = set()
        for point in self.active.front.restricted((each.name, each.entering) for each in at_once):
            way = [(abs(each.coefficient), each, point[places[each.name]]) for each in moved]
            first = self.active.tau - sum(steps * abs(value - each.entering) for steps, each, value in way)
            last = self.active.tau + sum(steps * abs(value - each.leaving) for steps, each, value in way)
            if self.since is None or not first <= self.since <= last:
                found.add(point)
        return frozenset(found)

    def data(self, operand: str) -> frozenset[Point]:
        """Return the data of an operand that enter: the numbers of the points that the operand depends on."""
        equation = self.active.equation
        letters = equation.operands[operand]
        return frozenset(_datum(point, equation.variables, letters) for point in self[operand])

    def __len__(self) -> int:
        return sum(len(self[operand]) for operand in self.active.equation.operands)


def Empty() -> frozenset[Point]:  # noqa: N802 - the tile language's name
    """Return what an array works on before its first step: nothing."""
    return frozenset()


def _datum(point: Point, variables: tuple[Variable, ...], letters: str) -> Point:
    return tuple(number for number, each in zip(point, variables, strict=True) if each.dimension in letters)
