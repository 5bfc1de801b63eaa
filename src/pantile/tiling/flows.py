"""How each operand moves through an array, as its streaming equation implies.

Source: tile-language.md section 9.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pantile.tiling.variables import Variable, Work

FlowKind = Literal["stationary", "hop", "multicast", "reduce", "once"]
"""``stationary``: a datum stays at its unit; ``hop``: it moves along an axis; ``multicast``: all units
along an axis use it at once; ``reduce``: all of them add into it at once; ``once``: it has a single use."""


@dataclass(frozen=True, slots=True)
class Flow:
    """The way of one datum of an operand from one use to the next.

    Attributes:
        operand: Name of the operand.
        kind: What happens between two uses.
        axis: The axis along which it moves, empty where it does not.
        hop: Units that it moves along the axis from one use to the next: 1, -1 or 0.
        steps: Time steps from one use to the next.
        displacement: Units moved from one use to the next, per axis of the array.
        skew: How many steps later a datum enters for each step along an axis of the array that it depends on.
    """

    operand: str
    kind: FlowKind
    axis: str
    hop: int
    steps: int
    displacement: tuple[int, ...]
    skew: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        """Print the flow in words, e.g. ``X hops +1 along col every step``."""
        if self.kind == "stationary":
            return f"{self.operand} is stationary"
        if self.kind == "once":
            return f"{self.operand} is used once"
        if self.kind == "hop":
            every = "every step" if self.steps == 1 else f"every {self.steps} steps"
            return f"{self.operand} hops {self.hop:+d} along {self.axis} {every}"
        verb = "is multicast along" if self.kind == "multicast" else "is summed at once along"
        return f"{self.operand} {verb} {self.axis}"


def free_variables(work: Work, dimensions: str) -> tuple[Variable, ...]:
    """Return the variables that an operand does not depend on: those of the dimensions that it lacks."""
    return tuple(variable for variable in work.variables if variable.dimension not in dimensions)


def moved_along(work: Work, dimensions: str) -> tuple[Variable, ...]:
    """Return the variables whose values one stay of a datum runs through, from first use to last.

    They are the axes along which it moves; where it moves along none, the indices in time over which it
    stays.
    """
    free = free_variables(work, dimensions)
    return tuple(variable for variable in free if variable.spatial) or free


def flows_of(work: Work, operand: str, dimensions: str, *, output: bool) -> tuple[Flow, ...]:
    """Return the flows of an operand: one for each axis along which it moves, or a single one.

    The uses of one datum are the values of the variables that it does not depend on. If one of these is an
    axis of the array, the datum moves along it, by one unit in as many steps as the equation's coefficient
    says; 0 steps are a multicast. If none is, it stays where it is.
    """
    axes = [variable for variable in work.variables if variable.spatial]
    free = free_variables(work, dimensions)
    skew = tuple((axis.name, axis.coefficient) for axis in axes if axis not in free)
    moving = [variable for variable in free if variable.spatial]
    if not moving:
        kind: FlowKind = "stationary" if free else "once"
        steps = min((abs(variable.coefficient) for variable in free), default=0)
        return (Flow(operand, kind, "", 0, steps, (0,) * len(axes), skew),)
    found = []
    for along in moving:
        steps = abs(along.coefficient)
        hop = (along.coefficient > 0) - (along.coefficient < 0)
        kind = "hop" if steps else "reduce" if output else "multicast"
        displacement = tuple(hop if axis is along else 0 for axis in axes)
        found.append(Flow(operand, kind, along.name, hop, steps, displacement, skew))
    return tuple(found)
