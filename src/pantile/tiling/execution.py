"""Executions: a tiling with a place and a time for every tile.

    Execution(
        tiling,
        SpatialMapping("S.ts->row", "S.os->col"),
        TemporalMapping(tile="D"),
        TemporalMapping(tile=("T.t", "T.o")),
        StreamingEquation("tau = row + col + it"),
        hardware={"row": 8, "col": 8},
    )

Source: tile-language.md sections 4 and 9.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pantile.errors import MappingError, PantileError, raise_all, suggestion
from pantile.tiling.index import IndexRef
from pantile.tiling.maps import SpatialMapping, TemporalMapping, axis_name
from pantile.tiling.streaming import StreamingEquation
from pantile.tiling.tile import Tile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pantile.tiling.tiling import Tiling

Map = SpatialMapping | TemporalMapping | StreamingEquation


@dataclass(frozen=True, init=False)
class Execution:
    """A tiling whose tile indices are each bound to space, to time, or to both by a streaming equation.

    Indices that take one value need no binding. With a streaming equation, indices on the level of the array
    and below that are not bound lie inside one unit.

    Attributes:
        tiling: The tiling.
        maps: Spatial and temporal mappings and at most one streaming equation. Time runs level by level,
            the outermost outside, on one level in the order of the mappings.
        hardware: Units along each axis, where they are known.

    Raises:
        MappingError: If an index is bound to nothing or more than once, an axis twice, or an index has more
            pieces than its axis has units.
    """

    tiling: Tiling
    maps: tuple[Map, ...]
    hardware: tuple[tuple[str, int], ...]

    def __init__(self, tiling: Tiling, *maps: Map, hardware: Mapping[str, int] | None = None) -> None:
        object.__setattr__(self, "tiling", tiling)
        object.__setattr__(self, "maps", maps)
        object.__setattr__(self, "hardware", tuple((hardware or {}).items()))
        equations = [each for each in maps if isinstance(each, StreamingEquation)]
        if len(equations) > 1:
            texts = " and ".join(repr(each.text) for each in equations)
            raise MappingError(f"an execution has one streaming equation, got {texts}")
        raise_all(self._problems_of_places())
        raise_all(self._problems_of_indices())

    @cached_property
    def places(self) -> tuple[tuple[str, IndexRef], ...]:
        """Each axis of the hardware with the index that runs over it."""
        spatial = (each for each in self.maps if isinstance(each, SpatialMapping))
        return tuple(pair for each in spatial for pair in each.resolve(self.tiling))

    @cached_property
    def loops(self) -> tuple[tuple[TemporalMapping, tuple[IndexRef, ...]], ...]:
        """Temporal mappings with their indices, the outermost loop first."""
        timed = [(each, each.indices(self.tiling)) for each in self.maps if isinstance(each, TemporalMapping)]
        return tuple(sorted(timed, key=lambda loop: loop[1][0].level.depth))

    @cached_property
    def equation(self) -> StreamingEquation | None:
        """The streaming equation, bound to the tiling and to the axes of the level that it names."""
        for each in self.maps:
            if isinstance(each, StreamingEquation):
                space = each.space or self._array(each)
                return each.bind(self.tiling, space, within=each.within, at=each.at)
        return None

    def _array(self, equation: StreamingEquation) -> SpatialMapping:
        """Return the axes on the level of those that the equation names."""
        named = {axis_name(name) for name in equation.value.names}
        levels = {index.level for axis, index in self.places if axis in named}
        pairs = [f"{index}->{axis}" for axis, index in self.places if index.level in levels]
        if not pairs:
            axes = ", ".join(axis for axis, _ in self.places) or "none"
            raise MappingError(f"equation {equation.text!r} names no axis; bound to space: {axes}")
        return SpatialMapping(*pairs)

    @property
    def is_spatial_only(self) -> bool:
        """Whether every level is bound whole to space or whole to time."""
        if self.equation is not None:
            return False
        space = {index.level for _, index in self.places if index.count > 1}
        time = {index.level for _, indices in self.loops for index in indices if index.count > 1}
        return not space & time

    def place(self, tile: Tile) -> dict[str, int]:
        """Return the coordinate of a tile on each axis whose index its path fixes."""
        return {
            axis: tile.path[index.level.depth][self.tiling.axis(index.dimension)]
            for axis, index in self.places
            if index.level.depth < len(tile.path)
        }

    def when(self, tile: Tile) -> tuple[int, ...]:
        """Return the time of a tile: its position in each loop that its path fixes, then its time step.

        Of two tiles at one place, the one with the lesser time comes first. Positions count the tiles that
        exist; the time step is that of the streaming equation, where the path fixes all that it names.
        """
        times = []
        for mapping, indices in self.loops:
            depth = indices[0].level.depth
            if depth < len(tile.path):
                parent = Tile(self.tiling, tile.path[:depth])
                values = [tile.path[depth][self.tiling.axis(index.dimension)] for index in indices]
                times.append(mapping.range(self.tiling, within=parent).position(values))
        if self.equation is not None:
            variables = self.equation.variables
            if all(each.index.level.depth < len(tile.path) for each in variables):
                times.append(
                    self.equation.value.constant
                    + sum(
                        each.coefficient * tile.path[each.index.level.depth][self.tiling.axis(each.dimension)]
                        for each in variables
                    )
                )
        return tuple(times)

    def _problems_of_indices(self) -> list[PantileError]:
        bound = {index: [f"axis {axis}"] for axis, index in self.places}
        for _, indices in self.loops:
            for index in indices:
                bound.setdefault(index, []).append("time")
        array = len(self.tiling.levels)
        if self.equation is not None:
            array = min(axis.index.level.depth for axis in self.equation.axes)
            for each in self.equation.variables:
                if not each.spatial:
                    bound.setdefault(each.index, []).append(f"equation {self.equation.text!r}")
        found: list[PantileError] = []
        for level in self.tiling.levels:
            for index in self.tiling.level(level.name).indices:
                to = bound.get(index, [])
                if len(to) > 1:
                    found.append(
                        MappingError(f"index {index} is bound {len(to)} times: to {' and to '.join(to)}")
                    )
                elif not to and index.count > 1 and index.level.depth < array:
                    found.append(
                        MappingError(
                            f"index {index} of {index.count} pieces is bound to neither space nor time",
                            mend=f'add TemporalMapping(tile="{index}") or SpatialMapping("{index}->…")',
                        )
                    )
        return found

    def _problems_of_places(self) -> list[PantileError]:
        axes = [axis for axis, _ in self.places]
        units = dict(self.hardware)
        found: list[PantileError] = [
            MappingError(f"axis {axis!r} is bound {axes.count(axis)} times")
            for axis in dict.fromkeys(axes)
            if axes.count(axis) > 1
        ]
        for index in dict.fromkeys(index for _, index in self.places):
            to = [f"axis {axis}" for axis, other in self.places if other == index]
            if len(to) > 1:
                found.append(
                    MappingError(f"index {index} is bound {len(to)} times: to {' and to '.join(to)}")
                )
        for axis, index in self.places if self.hardware else ():
            if axis not in units:
                found.append(MappingError(f"the hardware has no axis {axis!r}", mend=suggestion(axis, units)))
            elif index.count > units[axis]:
                found.append(
                    MappingError(
                        f"{index} has {index.count} pieces, axis {axis!r} only {units[axis]} units",
                        mend=f"cut {index.dimension} into at most {units[axis]} on level {index.level}",
                    )
                )
        return found
