"""How an iteration space is cut, level by level."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from math import prod
from operator import lt
from typing import TYPE_CHECKING, Any

from pantile.errors import MappingError, PantileError, raise_all, suggestion
from pantile.tiling.cut import Level, ceil_div, nominal_sizes, problems_of
from pantile.tiling.domain import Domain
from pantile.tiling.index import LevelRef
from pantile.tiling.lattice import count_points
from pantile.workload.einsum import Einsum

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pantile.tiling.lattice import Inequality

__all__ = ["OPERANDS", "Level", "Tiling"]

OPERANDS = ("X", "W", "Y")
"""Names of the two inputs and the output of an Einstein sum, in its order."""


@dataclass(frozen=True)
class Tiling:
    """Nested cuts of an iteration space, outermost level first.

    A cut that reaches beyond the total is clipped: the nominal size stays, the actual size
    shrinks, and a tile that would be empty does not exist.

    Attributes:
        dimensions: Names of the dimensions, e.g. ``("m", "n", "k")``.
        total: Element count of each dimension.
        levels: At least one; the innermost gives element counts. ``tiling.D`` is the level called D.
        subscripts: The Einstein sum over the dimensions, e.g. ``"ti,oi->to"``; empty where there are no
            operands.
        domain: What restricts the space to a part of its box, if anything does.
        moves: Per operand the levels at which it is moved; one that is not named is moved at all.

    Raises:
        MappingError: If there is no level, a name occurs twice, a total is negative, a factor is below
            1, a level has another number of factors than there are dimensions, the factors of a
            dimension do not cover its total, or the other attributes name what there is not.
    """

    dimensions: tuple[str, ...]
    total: tuple[int, ...]
    levels: tuple[Level, ...]
    subscripts: str = ""
    domain: Domain | None = None
    moves: tuple[tuple[str, tuple[str, ...]], ...] = ()

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
        problems = problems_of(self.dimensions, self.total, self.levels)
        raise_all([*problems, *self._problems_of_operands()])
        if self.inequalities and min(self.total) > 0 and self.volume == 0:
            raise MappingError(f"domain {str(self.domain)!r} holds no point of {self._sizes(self.total)}")

    def _problems_of_operands(self) -> list[PantileError]:
        found: list[PantileError] = []
        names = [level.name for level in self.levels]
        if self.subscripts and set(Einsum(self.subscripts, self.total).dimensions) != set(self.dimensions):
            found.append(MappingError(f"{self.subscripts!r} is no sum over {', '.join(self.dimensions)}"))
        for operand, levels in self.moves:
            if operand not in self.operands:
                found.append(
                    MappingError(f"no operand {operand!r} to move", mend=suggestion(operand, self.operands))
                )
            if not levels or len(set(levels)) != len(levels):
                found.append(
                    MappingError(f"operand {operand} must move at one level or at several, got {levels}")
                )
            found += [
                MappingError(
                    f"operand {operand} cannot move at {level!r}, which is no level",
                    mend=suggestion(str(level), names),
                )
                for level in levels
                if level not in names
            ]
        return found

    def __getattr__(self, name: str) -> LevelRef:
        """Return the level of that name."""
        levels: tuple[Level, ...] = self.__dict__.get("levels", ())
        if any(level.name == name for level in levels):
            return LevelRef(self, name)
        raise AttributeError(
            f"a tiling has no {name!r}; its levels are {', '.join(each.name for each in levels)}"
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return what makes the tiling, without what is derived and kept."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def level(self, name: str) -> LevelRef:
        """Return the level of that name, which ``tiling.NAME`` does too.

        Raises:
            MappingError: If there is none.
        """
        self.depth(name)
        return LevelRef(self, name)

    @cached_property
    def nominal_sizes(self) -> tuple[tuple[int, ...], ...]:
        """Nominal element counts of one tile of each level, outermost level first.

        A tile of the outermost level is what one index of that level selects; the innermost level's
        tile is a single element. Where a level is cut at given points, its longest piece counts.
        """
        columns = [nominal_sizes(self.levels, axis) for axis in range(len(self.dimensions))]
        return tuple(zip(*columns, strict=True)) if columns else ((),) * len(self.levels)

    @cached_property
    def operands(self) -> dict[str, str]:
        """Dimensions of each operand, by its name: the inputs, then the output."""
        if not self.subscripts:
            return {}
        einsum = Einsum(self.subscripts, self.total)
        return dict(zip(OPERANDS, (*einsum.operands, einsum.output), strict=True))

    @cached_property
    def operand_axes(self) -> dict[str, tuple[int, ...]]:
        """Position among :attr:`dimensions` of each dimension of each operand."""
        places = {dimension: axis for axis, dimension in enumerate(self.dimensions)}
        return {name: tuple(places[each] for each in letters) for name, letters in self.operands.items()}

    @cached_property
    def inequalities(self) -> tuple[Inequality, ...]:
        """What the domain asks of a point, in the order of the dimensions; nothing where it is a box."""
        return self.domain.inequalities(self.dimensions) if self.domain else ()

    @property
    def reductions(self) -> tuple[str, ...]:
        """Dimensions that the output lacks."""
        output = self.operands[OPERANDS[-1]] if self.subscripts else self.dimensions
        return tuple(dimension for dimension in self.dimensions if dimension not in output)

    @property
    def volume(self) -> int:
        """Points of the iteration space."""
        return self.count(tuple((0, total) for total in self.total))

    def count(self, box: tuple[tuple[int, int], ...]) -> int:
        """Return how many points of the space lie in a box of element ranges."""
        return count_points(self.inequalities, box)

    def axis(self, dimension: str) -> int:
        """Position of a dimension among :attr:`dimensions`.

        Raises:
            MappingError: If there is no such dimension.
        """
        if dimension not in self.dimensions:
            raise MappingError(f"no dimension {dimension!r}", mend=suggestion(dimension, self.dimensions))
        return self.dimensions.index(dimension)

    def depth(self, level: str) -> int:
        """Position of a level among :attr:`levels`.

        Raises:
            MappingError: If there is no such level.
        """
        names = [each.name for each in self.levels]
        if level not in names:
            raise MappingError(f"no level {level!r}", mend=suggestion(level, names))
        return names.index(level)

    def pieces(self, depth: int, size: Sequence[int]) -> tuple[int, ...]:
        """Return into how many pieces a level cuts a tile of an actual *size*, along each dimension."""
        level, nominal = self.levels[depth], self.nominal_sizes[depth]
        return tuple(
            sum(start < length for start in level.bounds_of(axis)[:-1])
            if level.bounds_of(axis)
            else ceil_div(length, nominal[axis])
            for axis, length in enumerate(size)
        )

    def piece(self, depth: int, axis: int, index: int) -> tuple[int, int]:
        """Return nominal start and stop of a piece, counted from the start of the tile that is cut."""
        bounds = self.levels[depth].bounds_of(axis)
        if bounds:
            return bounds[index], bounds[index + 1]
        size = self.nominal_sizes[depth][axis]
        return index * size, (index + 1) * size

    @cached_property
    def offset(self) -> Callable[[int, tuple[int, ...]], tuple[tuple[int, ...], tuple[int, ...]]]:
        """Nominal start and stop of a piece, counted from the start of the tile that it is cut from.

        ``tiling.offset(depth, index)`` raises MappingError for an index outside the level. Lately used
        offsets are kept, because programs name the same indices inside tile after tile.
        """

        @lru_cache(maxsize=1 << 12)
        def find(depth: int, index: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
            level = self.levels[depth]
            if (
                len(index) != len(level.factors)
                or not all(map(lt, index, level.factors))
                or min(index, default=0) < 0
            ):
                raise MappingError(
                    f"level {level.name!r} has no tile {index}; its counts are {level.factors}"
                )
            ends = [self.piece(depth, axis, i) for axis, i in enumerate(index)]
            return tuple(start for start, _ in ends), tuple(stop for _, stop in ends)

        return find

    @cached_property
    def is_even(self) -> bool:
        """Whether all tiles of a level have one size: nothing is clipped, and every index is a tile."""
        covered = (prod(level.factors[axis] for level in self.levels) for axis in range(len(self.dimensions)))
        irregular = any(level.bounds for level in self.levels)
        return not self.inequalities and not irregular and tuple(covered) == self.total

    def moves_at(self, operand: str, level: str) -> bool:
        """Whether an operand is moved when a tile of that level is, rather than held where it is."""
        self.depth(level)
        return level in dict(self.moves).get(operand, (level,))

    def _sizes(self, sizes: Sequence[int]) -> str:
        return ", ".join(f"{name}={size}" for name, size in zip(self.dimensions, sizes, strict=True))

    def __str__(self) -> str:
        """Print the sum, the total and each level with its factors."""
        parts = [self.subscripts] if self.subscripts else []
        parts.append(self._sizes(self.total))
        for level in self.levels:
            cuts = (
                f"[{', '.join(map(str, level.bounds_of(axis)[1:-1]))}]"
                if level.bounds_of(axis)
                else str(factor)
                for axis, factor in enumerate(level.factors)
            )
            parts.append(f"{level.name}=({', '.join(cuts)})")
        if self.inequalities:
            parts.append(f"where {self.domain}")
        return " ".join(parts)

    def to_json(self) -> dict[str, object]:
        """Return a JSON-able description, read back by :meth:`from_json`."""
        levels: list[dict[str, object]] = []
        for level in self.levels:
            bounds: dict[str, object] = (
                {"bounds": [list(each) for each in level.bounds]} if level.bounds else {}
            )
            levels.append({"name": level.name, "factors": list(level.factors), **bounds})
        data: dict[str, object] = {
            "dimensions": list(self.dimensions),
            "total": list(self.total),
            "levels": levels,
        }
        if self.subscripts:
            data["subscripts"] = self.subscripts
        if self.domain is not None:
            data["domain"] = list(self.domain.where)
        if self.moves:
            data["moves"] = {operand: list(at) for operand, at in self.moves}
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Tiling:
        """Rebuild a tiling from :meth:`to_json`'s object."""
        return cls(
            tuple(data["dimensions"]),
            tuple(data["total"]),
            tuple(
                Level(level["name"], tuple(level["factors"]), tuple(map(tuple, level.get("bounds", ()))))
                for level in data["levels"]
            ),
            data.get("subscripts", ""),
            Domain(data["domain"]) if "domain" in data else None,
            tuple((operand, tuple(at)) for operand, at in data.get("moves", {}).items()),
        )
