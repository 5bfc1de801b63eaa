"""Getting stationary data into an array and out of it: many units, few ports.

A stationary output is complete at its unit when the unit has taken its last step; n² results then leave
through n ports, the drain. A stationary input has to be at its unit before the unit's first step, which is
the same with time reversed. In both cases a port passes one datum a step, and a unit gives up its datum at
the earliest in the step after its last one, at the latest in the step in which it starts on the next tile.

Source: tile-language.md section 9; the ports and the latest moment are this project's model.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from pantile.errors import MappingError
from pantile.tiling.cut import ceil_div

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pantile.tiling.streaming import StreamingEquation


@dataclass(frozen=True, slots=True)
class PortPhase:
    """What it costs to move a stationary operand through the ports, for one tile after another.

    Attributes:
        operand: Name of the operand.
        data: Data to be moved: one for each unit of the array that works.
        ports: Data that pass in one step.
        steps: Steps that the ports need for them.
        compute_steps: Steps of a tile from the first to the last in which a unit works.
        exposed_steps: Steps that a single tile takes longer, if data move as soon as they may.
        period: Least distance in steps between the starts of two tiles, if data move while others work.
    """

    operand: str
    data: int
    ports: int
    steps: int
    compute_steps: int
    exposed_steps: int
    period: int

    @property
    def serial_period(self) -> int:
        """Distance between the starts of two tiles if no data move while a unit works."""
        return self.compute_steps + self.steps

    def total_steps(self, tiles: int, *, overlap: bool = True) -> int:
        """Return the steps of several tiles, from the first datum that moves or is used to the last.

        Raises:
            MappingError: If there is not at least one tile.
        """
        if tiles < 1:
            raise MappingError(f"steps can be counted of at least 1 tile, got {tiles}")
        if not overlap:
            return tiles * self.serial_period
        return (tiles - 1) * self.period + self.compute_steps + self.exposed_steps


def drain(equation: StreamingEquation, ports: int | None = None) -> PortPhase | None:
    """Return how results leave an output-stationary array; ``None`` where they leave as they move.

    Without *ports* there is one for each unit along all axes but the first: n for an array of n by n.

    Raises:
        MappingError: If there is not at least one port.
    """
    return _phase(equation, "Y", ports) if _stays(equation, "Y") else None


def preload(equation: StreamingEquation, ports: int | None = None) -> PortPhase | None:
    """Return how the stationary input enters an array; ``None`` where no input is stationary.

    Raises:
        MappingError: If there is not at least one port.
    """
    stationary = [operand for operand in equation.operands if operand != "Y" and _stays(equation, operand)]
    return _phase(equation, stationary[0], ports) if stationary else None


def _stays(equation: StreamingEquation, operand: str) -> bool:
    return equation.flows(operand)[0].kind == "stationary"


def _phase(equation: StreamingEquation, operand: str, ports: int | None) -> PortPhase:
    sizes = [axis.count for axis in equation.axes]
    wide = prod(sizes[1:]) if ports is None else ports
    if wide < 1:
        raise MappingError(f"{operand} needs at least 1 port to pass through, got {ports}")
    if operand == "Y":
        ready = [len(equation.ejected(operand, tau)) for tau in equation.range()]
    else:  # entering is leaving, backwards in time
        ready = [len(equation.injected(operand, tau)) for tau in reversed(equation.range())]
    data = sum(ready)
    return PortPhase(
        operand,
        data,
        wide,
        ceil_div(data, wide),
        len(ready),
        _steps_after(ready, wide),
        _period(ready, wide, equation.busy_steps),
    )


def _steps_after(ready: list[int], ports: int) -> int:
    """Return how many steps after the last of *ready* the queue before the ports is empty."""
    waiting = 0
    for arriving in ready:
        waiting = max(0, waiting - ports) + arriving
    return ceil_div(waiting, ports)


def _period(ready: list[int], ports: int, busy: int) -> int:
    """Return the least distance of tiles at which every datum passes before its place is needed."""
    period = max(busy, ceil_div(sum(ready), ports))
    while _longest_queue(ready, ports, period) > ports * (period - busy + 1):
        period += 1
    return period


def _longest_queue(ready: Iterable[int], ports: int, period: int) -> int:
    """Return the most data that ever wait, once tiles follow one another at this distance."""
    arriving = [0] * period
    for at, count in enumerate(ready):
        arriving[at % period] += count
    waiting = longest = 0
    for _ in range(2):  # the second round starts with what the first leaves, and so repeats for ever
        longest = 0
        for count in arriving:
            waiting = max(0, waiting - ports) + count
            longest = max(longest, waiting)
    return longest
