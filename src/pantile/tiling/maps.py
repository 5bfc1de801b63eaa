"""Which indices of a tiling run over space, and which in time.

    SpatialMapping("S.ts->row", "S.os->col")      SpatialMapping(tile="S")
    TemporalMapping(tile=tiling.D)                TemporalMapping(tile=(tiling.T.t, tiling.T.o))

Source: tile-language.md sections 4 and 9.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.errors import MappingError
from pantile.tiling.index import IndexRef, LevelRef, find_index
from pantile.tiling.ranges import Part, Range

if TYPE_CHECKING:
    from pantile.tiling.tile import Tile
    from pantile.tiling.tiling import Tiling

Timed = LevelRef | IndexRef | Part | str
"""What a temporal mapping runs: a level, an index, an order over indices, or the name of a level or index."""


@dataclass(frozen=True, slots=True, init=False)
class SpatialMapping:
    """Indices that are coordinates of the hardware.

    Attributes:
        pairs: Both sides of each ``index->axis``; the sides may be exchanged.
        tile: The level that is bound whole, if one is; its axes are then called after its indices.

    Raises:
        MappingError: If a text is no pair, or nothing is bound.
    """

    pairs: tuple[tuple[str, str], ...]
    tile: LevelRef | str | None

    def __init__(self, *bindings: str, tile: LevelRef | str | None = None) -> None:
        texts = [each for text in bindings for each in text.split(",")]
        pairs = []
        for text in texts:
            left, arrow, right = (side.strip() for side in text.partition("->"))
            if not (left and arrow and right) or "->" in right:
                raise MappingError(f"expected an index and an axis such as 'S.ts->row', got {text.strip()!r}")
            pairs.append((left, right))
        if not pairs and tile is None:
            raise MappingError("a spatial mapping needs an index, as in 'S.ts->row', or a level; got nothing")
        object.__setattr__(self, "pairs", tuple(pairs))
        object.__setattr__(self, "tile", tile)

    def resolve(self, tiling: Tiling) -> tuple[tuple[str, IndexRef], ...]:
        """Return each axis with the index that runs over it.

        Raises:
            MappingError: If neither side of a pair is an index of the tiling, or one is bound twice.
        """
        bound = [_oriented(tiling, left, right) for left, right in self.pairs]
        if self.tile is not None:
            level = tiling.level(self.tile) if isinstance(self.tile, str) else self.tile
            bound += [(str(index), index) for index in level.indices]
        for what, names in (
            ("axis", [axis for axis, _ in bound]),
            ("index", [str(index) for _, index in bound]),
        ):
            for name in names:
                if names.count(name) > 1:
                    raise MappingError(
                        f"{what} {name!r} is bound {names.count(name)} times in one spatial mapping"
                    )
        return tuple(bound)


@dataclass(frozen=True, slots=True)
class TemporalMapping:
    """Indices that run in time, in their order.

    Attributes:
        tile: A level, some indices of one level, or an order over them, outermost loop first.
    """

    tile: Timed | tuple[Timed, ...]

    def parts(self, tiling: Tiling) -> tuple[LevelRef | IndexRef | Part, ...]:
        """Return what a :class:`Range` takes.

        Raises:
            MappingError: If something is no level, index or order of the tiling, nor the name of one.
        """
        timed = self.tile if isinstance(self.tile, tuple) else (self.tile,)
        levels = [level.name for level in tiling.levels]
        found: list[LevelRef | IndexRef | Part] = []
        for each in timed:
            if isinstance(each, str):
                found.append(tiling.level(each) if each in levels else find_index(tiling, each))
            elif isinstance(each, LevelRef | IndexRef | Part):
                found.append(each)
            else:
                raise MappingError(
                    f"a temporal mapping runs a level or indices of one, got {self.tile!r}",
                    mend=f"write tile=tiling.{levels[0]} or tile={levels[0]!r}",
                )
        return tuple(found)

    def indices(self, tiling: Tiling) -> tuple[IndexRef, ...]:
        """Return the indices that run in time, outermost loop first.

        Raises:
            MappingError: As :meth:`range`.
        """
        names = self.range(tiling).space.names
        level = tiling.levels[self.range(tiling).space.depth].name
        return tuple(IndexRef(tiling.level(level), name) for name in names)

    def range(self, tiling: Tiling, within: Tile | None = None) -> Range:
        """Return the indices as a program goes through them; see :class:`Range`.

        Raises:
            MappingError: If they belong to several levels.
        """
        return Range(*self.parts(tiling), within=within)


def axis_name(text: str) -> str:
    """Return the name of a hardware axis: ``row`` of ``Spatial.row``.

    >>> axis_name("Spatial.row")
    'row'
    """
    return text.rpartition(".")[2]


def _oriented(tiling: Tiling, left: str, right: str) -> tuple[str, IndexRef]:
    """Return axis and index of a pair, whichever side the index stands on."""
    levels = [level.name for level in tiling.levels]
    for index, axis in ((left, right), (right, left)):
        if index.rpartition(".")[0].strip() in levels:
            return axis_name(axis), find_index(tiling, index)
    problem = None
    for index, axis in ((left, right), (right, left)):
        try:
            return axis_name(axis), find_index(tiling, index)
        except MappingError as error:
            problem = problem or error
    raise problem or MappingError(f"neither {left!r} nor {right!r} is an index of the tiling")
