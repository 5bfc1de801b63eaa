"""Systolic arrays: what one tile is for an array that a streaming equation describes.

    space = SpatialMapping("S.ts->row", "S.os->col")
    array = SystolicArray(StreamingEquation("tau = row + col + it", cut, space))
    array.run(tile).total, array.run(tile).injected("X"), array.steps()

A tile is one operation of the array: it keeps the next one out for ``held`` steps and takes ``total`` from
the first datum that enters to the last result that leaves. Units, injections and results follow from the
equation.

Source: tile-language.md section 9; the ports are those of :mod:`pantile.tiling.ports`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from pantile.errors import MappingError
from pantile.tiling.ports import drain, preload
from pantile.tiling.tile import Tile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pantile.tiling.ports import PortPhase
    from pantile.tiling.streaming import StreamingEquation
    from pantile.tiling.tiling import Tiling


@dataclass(frozen=True, slots=True)
class ArrayRun:
    """One tile on an array; every step is a cycle of the array.

    Attributes:
        units: Units that work along each axis; fewer than there are at a ragged edge.
        macs: Multiply-accumulates.
        injections: Elements that enter at the edges, by operand; of an output, sums that begin.
        steps: Steps from the first to the last in which a unit works.
        held: Steps after which the next tile may begin.
        total: Steps from the first datum that moves or is used to the last.
        phase: What the ports do before or after the work; ``None`` where no operand is stationary.
    """

    units: tuple[int, ...]
    macs: int
    injections: tuple[tuple[str, int], ...]
    steps: int
    held: int
    total: int
    phase: PortPhase | None

    def injected(self, operand: str) -> int:
        """Return the elements of an operand that enter."""
        return dict(self.injections)[operand]


@dataclass(frozen=True, slots=True)
class SystolicArray:
    """An array of units, described by its streaming equation.

    Attributes:
        equation: Which unit works on what and when, with its tiling and axes.
        ports: Data that can enter or leave the array in one step, where an operand is stationary; by default
            one for each unit along all axes but the first: n for n by n.
        overlap: Whether stationary data move while others work; else the array works and moves in turn.

    Raises:
        UsageError: If the equation has no tiling or no axes.
    """

    equation: StreamingEquation
    ports: int | None = None
    overlap: bool = True

    def __post_init__(self) -> None:
        _ = self.equation.work  # refuses an equation that says nothing

    @property
    def tiling(self) -> Tiling:
        """The tiling that its tiles belong to."""
        tiling = self.equation.tiling
        assert tiling is not None  # __post_init__ let nothing else through
        return tiling

    @property
    def sides(self) -> dict[str, int]:
        """Units along each axis, by its name, as the tiling asks for them."""
        tiling = self.tiling
        return {
            axis.name: tiling.levels[axis.index.level.depth].factors[tiling.axis(axis.dimension)]
            for axis in self.equation.axes
        }

    @property
    def depth(self) -> int:
        """Indices in the path of a tile that the array takes at once."""
        return min(each.index.level.depth for each in self.equation.variables)

    def run(self, tile: Tile) -> ArrayRun:
        """Return what *tile* is for the array.

        Raises:
            MappingError: If the array cannot take it at once.
            OutsideModelError: If a domain masks some of it.
        """
        bound = self.equation.bind(within=tile)
        steps = len(bound.range())
        macs = prod(bound.work.extents.values())
        if macs != tile.volume:
            raise MappingError(
                f"the array does {macs} of the {tile.volume} multiply-accumulates of {tile}",
                mend=f"give it tiles of {self.depth} indices, or name the other indices in {self.equation}",
            )
        phase = drain(bound, self.ports) or preload(bound, self.ports)
        if phase is None:
            held, total = bound.busy_steps, steps
        elif self.overlap:
            held, total = phase.period, steps + phase.exposed_steps
        else:
            held = total = phase.serial_period
        units = tuple(axis.count for axis in bound.axes)
        entered = tuple((name, bound.injected_elements(name)) for name in bound.operands)
        return ArrayRun(units, macs, entered, steps, held, total, phase)

    def tiles(self) -> Iterator[Tile]:
        """Yield all tiles that the array takes, one after the other, in the tiling's order."""
        return _tiles(Tile(self.tiling), self.depth)

    def steps(self, tiles: Iterable[Tile] | None = None) -> int:
        """Return the steps of several tiles, by default all, if each begins as soon as it may.

        Raises:
            MappingError: As :meth:`run`.
        """
        known: dict[tuple[int, ...], ArrayRun] = {}
        start = end = 0
        for tile in self.tiles() if tiles is None else tiles:
            run = known.get(tile.size)
            if run is None:
                run = known[tile.size] = self.run(tile)
            end = max(end, start + run.total)
            start += run.held
        return max(start, end)


def _tiles(tile: Tile, depth: int) -> Iterator[Tile]:
    if depth == 0:
        yield tile
        return
    for child in tile.children():
        yield from _tiles(child, depth - 1)
