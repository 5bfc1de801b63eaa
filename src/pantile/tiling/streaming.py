"""Streaming equations: time and space of an array in one line.

    StreamingEquation("tau = row + col + it", tiling, SpatialMapping("S.ts->row", "S.os->col"))

From the equation follow which units work when, what enters at the edges, how each operand moves, and which of
them stays.

Source: tile-language.md section 9.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from pantile.errors import MappingError, UsageError, suggestion
from pantile.tiling.active import Active
from pantile.tiling.affine import parse_equation
from pantile.tiling.flows import Flow, flows_of, moved_along
from pantile.tiling.front import Front
from pantile.tiling.index import IndexRef, LevelIndex, LevelRef
from pantile.tiling.variables import Variable, Work, bind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pantile.tiling.affine import Affine
    from pantile.tiling.front import Point
    from pantile.tiling.maps import SpatialMapping
    from pantile.tiling.tile import Tile
    from pantile.tiling.tiling import Tiling

Numbers: TypeAlias = range
"""A Python range, where the method of that name hides it."""

_STAYS = {"X": "input stationary", "W": "weight stationary", "Y": "output stationary"}


@dataclass(frozen=True)
class StreamingEquation:
    """An equation between time, the axes of an array, and the indices that run in time.

    Names are the axes of the spatial mapping and indices of the tiling (``it`` or ``T.i``). What no name runs
    along on the level of the array is inside one unit, which works on all of it in one step.

    Attributes:
        text: The equation, e.g. ``"tau = row + col + it"``.
        tiling: The tiling; may be left out and given to :meth:`bind`.
        space: The axes of the array.
        within: The tile that the array works on, whose edges may be ragged; the first one where left out.
        at: Indices, of levels between that tile and the array, that other loops have fixed.

    Raises:
        MappingError: If the text is no equation, a name is neither axis nor index, or two points would be
            in one place at one time.
    """

    text: str
    tiling: Tiling | None = None
    space: SpatialMapping | None = None
    within: Tile | None = None
    at: tuple[LevelIndex, ...] = ()

    def __post_init__(self) -> None:
        _ = self.value  # refuses a text that is no equation
        if self.tiling is not None and self.space is not None:
            _ = self.work  # refuses what cannot be

    def bind(
        self,
        tiling: Tiling | None = None,
        space: SpatialMapping | None = None,
        *,
        within: Tile | None = None,
        at: LevelIndex | Iterable[LevelIndex] = (),
    ) -> StreamingEquation:
        """Return the equation with a tiling and axes, or for another tile."""
        return replace(
            self,
            tiling=tiling or self.tiling,
            space=space or self.space,
            within=within,
            at=(at,) if isinstance(at, LevelIndex) else tuple(at),
        )

    @cached_property
    def value(self) -> Affine:
        """What the time equals."""
        return parse_equation(self.text)[1]

    @cached_property
    def work(self) -> Work:
        """What the names run over.

        Raises:
            UsageError: If tiling or spatial mapping are missing.
        """
        if self.tiling is None or self.space is None:
            raise UsageError(
                f"equation {self.text!r} says nothing without the tiling and the array that it is for",
                mend=f"write StreamingEquation({self.text!r}, tiling, SpatialMapping(...))",
            )
        fixed: dict[IndexRef, int] = {}
        for index in self.at:
            level = LevelRef(self.tiling, self.tiling.levels[index.space.depth].name)
            fixed |= {IndexRef(level, name): i for name, i in zip(index.names, index, strict=True)}
        return bind(self.value, self.tiling, self.space.resolve(self.tiling), self.within, fixed)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """What the numbers of a point stand for: axes first, then the indices that run in time."""
        return self.work.variables

    @property
    def axes(self) -> tuple[Variable, ...]:
        """Axes of the array, with the units that work along them."""
        return tuple(variable for variable in self.work.variables if variable.spatial)

    @property
    def operands(self) -> dict[str, str]:
        """Dimensions of each operand, by its name."""
        return self.tiling.operands if self.tiling else {}

    @property
    def busy_steps(self) -> int:
        """Steps from the first to the last in which one unit works on the tile."""
        timed = (each for each in self.work.variables if not each.spatial)
        return 1 + sum(abs(each.coefficient) * (each.count - 1) for each in timed)

    @property
    def utilisation(self) -> float:
        """Share of units and steps at which a unit works, from the first step to the last."""
        points = prod(each.count for each in self.work.variables)
        return points / (len(self.range()) * prod(axis.count for axis in self.axes))

    def range(self) -> Numbers:
        """Return the time steps from the first to the last at which a unit works.

        >>> from pantile.tiling.maps import SpatialMapping
        >>> from pantile.tiling.notation import tiling
        >>> cut = tiling(total=(4, 4, 3), T=(1, 1, 3), S=(4, 4, 1))
        >>> StreamingEquation("tau = row + col + it", cut, SpatialMapping("S.ts->row", "S.os->col")).range()
        range(0, 9)
        """
        first = self.value.constant + sum(each.coefficient * each.entering for each in self.variables)
        last = self.value.constant + sum(each.coefficient * each.leaving for each in self.variables)
        return range(first, last + 1)

    def active(self, tau: int) -> Active:
        """Return the points, such as (row, col, it), that are worked on at a time step."""
        return Active(self, self._front(tau))

    def macs(self, tau: int) -> int:
        """Return the multiply-accumulates of a time step."""
        return self._front(tau).weigh(each for letters in self.operands.values() for each in letters)

    def flows(self, operand: str) -> tuple[Flow, ...]:
        """Return how an operand moves: one flow for each axis along which it does, or a single one.

        Raises:
            MappingError: If there is no such operand.
        """
        return flows_of(self.work, operand, self._letters(operand), output=operand == "Y")

    @property
    def dataflow(self) -> str:
        """Which operand stays at its unit, in words: ``output stationary``, or ``nothing is stationary``."""
        names = [_STAYS[each] for each in self.operands if self.flows(each)[0].kind == "stationary"]
        return " and ".join(names) or "nothing is stationary"

    def injected(self, operand: str, tau: int) -> Front:
        """Return the points of a time step at which data enter the array, or are first used where they stay.

        They stand at the edge where the operand's flow begins; for an output they are where its sums begin.

        Raises:
            MappingError: If there is no such operand.
        """
        moved = moved_along(self.work, self._letters(operand))
        return self._front(tau).restricted((each.name, each.entering) for each in moved)

    def ejected(self, operand: str, tau: int) -> Front:
        """Return the points of a time step at which data are used for the last time, and leave.

        Raises:
            MappingError: If there is no such operand.
        """
        moved = moved_along(self.work, self._letters(operand))
        return self._front(tau).restricted((each.name, each.leaving) for each in moved)

    def injections(self, operand: str) -> int:
        """Return how many data enter in all, one that enters again counted again.

        Raises:
            MappingError: If there is no such operand.
        """
        moved = moved_along(self.work, self._letters(operand))
        return prod(each.count for each in self.work.variables if each not in moved)

    def injected_elements(self, operand: str) -> int:
        """Return how many elements enter in all: each datum by what it stands for, as often as it enters.

        Raises:
            MappingError: If there is no such operand.
        """
        letters = self._letters(operand)
        moved, extents = moved_along(self.work, letters), self.work.extents
        others = (each for each in self.work.variables if each.dimension not in letters)
        again = prod(each.count for each in others if each not in moved)
        return prod(extents[letter] for letter in letters) * again

    def moves(self, operand: str, tau: int) -> Iterator[tuple[Point, Point]]:
        """Return from where to where data move in order to be used at a time step: two places for each.

        Raises:
            MappingError: If there is no such operand.
        """
        names = [axis.name for axis in self.axes]
        entering = {axis.name: axis.entering for axis in self.axes}
        hops = [flow for flow in self.flows(operand) if flow.kind == "hop"]
        for point in self._front(tau):
            place = point[: len(names)]
            for flow in hops:
                at = names.index(flow.axis)
                if place[at] != entering[flow.axis]:
                    yield (*place[:at], place[at] - flow.hop, *place[at + 1 :]), place
                    break

    def _front(self, tau: int) -> Front:
        ranges = tuple((0, each.count) for each in self.work.variables)
        return Front(self.work, tau, self.value.constant, ranges)

    def _letters(self, operand: str) -> str:
        if operand not in self.operands:
            raise MappingError(f"no operand {operand!r}", mend=suggestion(operand, self.operands))
        return self.operands[operand]

    def __str__(self) -> str:
        return self.text


def ResolveRange(equation: StreamingEquation) -> Numbers:  # noqa: N802 - the tile language's name
    """Return the time steps of an equation, as :meth:`StreamingEquation.range` does."""
    return equation.range()


def ResolveActive(equation: StreamingEquation, tau: int) -> Active:  # noqa: N802 - the tile language's name
    """Return what works at a time step, as :meth:`StreamingEquation.active` does."""
    return equation.active(tau)
