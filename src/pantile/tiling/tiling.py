"""How an iteration space is cut, level by level."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

from pantile.errors import MappingError

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a tiling.

    Attributes:
        name: Unique within its tiling, e.g. ``"tile"``.
        factors: Pieces per dimension; on the innermost level, elements per dimension.
    """

    name: str
    factors: tuple[int, ...]


@dataclass(frozen=True)
class Tiling:
    """Nested uniform cuts of a box, outermost level first.

    A cut that reaches beyond the total is clipped: the nominal size stays, the actual size
    shrinks, and a tile that would be empty does not exist.

    Attributes:
        dimensions: Names of the dimensions, e.g. ``("m", "n", "k")``.
        total: Element count of each dimension.
        levels: At least one; the innermost gives element counts.

    Raises:
        MappingError: If there is no level, a name occurs twice, a total is negative, a factor is below
            1, a level has another number of factors than there are dimensions, or the factors of a
            dimension do not cover its total.
    """

    dimensions: tuple[str, ...]
    total: tuple[int, ...]
    levels: tuple[Level, ...]

    def __post_init__(self) -> None:
        if not self.levels:
            raise MappingError("a tiling needs at least one level, got none")
        if len(self.total) != len(self.dimensions):
            raise MappingError(f"{len(self.total)} totals for {len(self.dimensions)} dimensions")
        for names in (self.dimensions, tuple(level.name for level in self.levels)):
            if len(set(names)) != len(names):
                raise MappingError(f"names must be unique, got {', '.join(names)}")
        for dimension, total in zip(self.dimensions, self.total, strict=True):
            if total < 0:
                raise MappingError(f"total of {dimension} must not be negative, got {total}")
        for level in self.levels:
            if len(level.factors) != len(self.dimensions):
                raise MappingError(
                    f"level {level.name!r} has {len(level.factors)} factors for "
                    f"{len(self.dimensions)} dimensions ({', '.join(self.dimensions)})"
                )
            for dimension, factor in zip(self.dimensions, level.factors, strict=True):
                if factor < 1:
                    raise MappingError(
                        f"level {level.name!r}: factor of {dimension} must be at least 1, got {factor}"
                    )
        for axis, dimension in enumerate(self.dimensions):
            covered = prod(level.factors[axis] for level in self.levels)
            if covered < self.total[axis]:
                raise MappingError(
                    f"factors of {dimension} cover {covered} of {self.total[axis]} elements",
                    mend=f"raise a factor of {dimension} on one level",
                )

    @cached_property
    def nominal_sizes(self) -> tuple[tuple[int, ...], ...]:
        """Nominal element counts of one tile of each level, outermost level first.

        A tile of the outermost level is what one index of that level selects; the innermost level's
        tile is a single element.
        """
        sizes = [tuple(1 for _ in self.dimensions)]
        for level in reversed(self.levels[1:]):
            sizes.append(tuple(f * s for f, s in zip(level.factors, sizes[-1], strict=True)))
        return tuple(reversed(sizes))

    def axis(self, dimension: str) -> int:
        """Position of a dimension among :attr:`dimensions`."""
        return self.dimensions.index(dimension)

    def depth(self, level: str) -> int:
        """Position of a level among :attr:`levels`."""
        return [each.name for each in self.levels].index(level)

    def to_json(self) -> dict[str, object]:
        """Return a JSON-able description, read back by :meth:`from_json`."""
        return {
            "dimensions": list(self.dimensions),
            "total": list(self.total),
            "levels": [{"name": level.name, "factors": list(level.factors)} for level in self.levels],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Tiling:
        """Rebuild a tiling from :meth:`to_json`'s object."""
        levels = data["levels"]
        assert isinstance(levels, list)
        dimensions, total = data["dimensions"], data["total"]
        assert isinstance(dimensions, list)
        assert isinstance(total, list)
        return cls(
            tuple(dimensions),
            tuple(total),
            tuple(Level(level["name"], tuple(level["factors"])) for level in levels),
        )
