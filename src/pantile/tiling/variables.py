"""What the names in a streaming equation run over, inside one tile.

Source: tile-language.md section 9.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from pantile.errors import MappingError, OutsideModelError
from pantile.tiling.cut import ceil_div
from pantile.tiling.index import IndexRef, find_index
from pantile.tiling.lattice import count_solutions
from pantile.tiling.maps import axis_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pantile.tiling.affine import Affine
    from pantile.tiling.tile import Tile
    from pantile.tiling.tiling import Tiling


@dataclass(frozen=True, slots=True)
class Variable:
    """One coordinate of the points that an array works on: one of its axes, or an index in time.

    Attributes:
        name: As in the equation: ``row``, ``it``.
        index: The tile index that it stands for.
        coefficient: What one step of it adds to the time.
        count: Values that it takes, from 0.
        piece: Elements that one value stands for.
        last_piece: Elements that the last value stands for.
        spatial: Whether it is an axis of the array.
    """

    name: str
    index: IndexRef
    coefficient: int
    count: int
    piece: int
    last_piece: int
    spatial: bool

    @property
    def dimension(self) -> str:
        """Dimension that it runs along."""
        return self.index.dimension

    @property
    def entering(self) -> int:
        """The value at which the time is least."""
        return self.count - 1 if self.coefficient < 0 else 0

    @property
    def leaving(self) -> int:
        """The value at which the time is greatest."""
        return self.count - 1 - self.entering


@dataclass(frozen=True, slots=True)
class Work:
    """The part of a tile that an array works on.

    Attributes:
        variables: Axes of the array in the order of the spatial mapping, then the indices that run in time.
        inside: Elements of each dimension that no variable runs along: one unit works on all of them at once.
    """

    variables: tuple[Variable, ...]
    inside: tuple[tuple[str, int], ...]

    @property
    def extents(self) -> dict[str, int]:
        """Elements of each dimension that the array works on."""
        found = dict(self.inside)
        for each in sorted(self.variables, key=lambda variable: variable.piece):  # the outermost cuts it all
            found[each.dimension] = (each.count - 1) * each.piece + each.last_piece
        return found


def bind(
    value: Affine,
    tiling: Tiling,
    axes: Sequence[tuple[str, IndexRef]],
    within: Tile | None,
    at: Mapping[IndexRef, int],
) -> Work:
    """Return what the names of an equation run over.

    Levels outside the array are fixed by the tile *within* and the indices *at*; where neither says more, at
    their first tile. What no variable runs along at the level of the array and below is inside one unit.

    Raises:
        MappingError: If a name is neither an axis nor an index, an index stands twice, or two points would be
            in one place at one time.
        OutsideModelError: If the tile is masked by a domain, or two variables share a dimension that they do
            not fill.
    """
    indices = _named(value, tiling, axes)
    array = min((index.level.depth for index, _, spatial in indices.values() if spatial), default=0)
    variables: list[Variable] = []
    inside: list[tuple[str, int]] = []
    box: list[tuple[int, int]] = []
    for dimension in tiling.dimensions:
        own = {n: each for n, each in indices.items() if each[0].dimension == dimension}
        own_indices = [index for index, _, _ in own.values()]
        _refuse_gap(tiling, dimension, own_indices, array)
        first, stop = _reach(tiling, dimension, own_indices, array, within, at)
        box.append((first, stop))
        if own:
            variables += _variables(own, tiling, dimension, stop - first)
        else:
            inside.append((dimension, stop - first))
    if tiling.count(tuple(box)) < prod(stop - first for first, stop in box):
        raise OutsideModelError(
            f"the domain {str(tiling.domain)!r} masks points of the array's work, which must be a box"
        )
    order = list(indices)
    variables.sort(key=lambda each: (not each.spatial, order.index(each.name)))
    _refuse_collision(variables)
    return Work(tuple(variables), tuple(inside))


def _named(
    value: Affine, tiling: Tiling, axes: Sequence[tuple[str, IndexRef]]
) -> dict[str, tuple[IndexRef, int, bool]]:
    """Return index and coefficient of each axis, and then of each other name, and whether it is an axis."""
    indices: dict[str, tuple[IndexRef, int, bool]] = {axis: (index, 0, True) for axis, index in axes}
    levels = [level.name for level in tiling.levels]
    for name, coefficient in value.coefficients:
        axis = axis_name(name)
        if axis in indices and indices[axis][2] and name.partition(".")[0] not in levels:
            index, so_far, _ = indices[axis]
            indices[axis] = (index, so_far + coefficient, True)
        else:
            indices[name] = (find_index(tiling, name), coefficient, False)
    bound = [index for index, _, _ in indices.values()]
    for index in bound:
        if bound.count(index) > 1:
            names = " and ".join(repr(name) for name, (each, _, _) in indices.items() if each == index)
            raise MappingError(f"{names} both stand for index {index}")
    return indices


def _refuse_gap(tiling: Tiling, dimension: str, bound: Sequence[IndexRef], array: int) -> None:
    """Refuse a level that cuts a dimension between its variables, or between one and the array."""
    depths = [index.level.depth for index in bound]
    for depth in range(min([*depths, array]), max([*depths, array])):
        level = tiling.levels[depth]
        if depth not in depths and level.factors[tiling.axis(dimension)] > 1:
            raise MappingError(
                f"index {level.name}.{dimension} is bound to nothing, but {bound[0]} on another level is",
                mend=f"name {level.name}.{dimension} in the equation",
            )


def _reach(
    tiling: Tiling,
    dimension: str,
    bound: Sequence[IndexRef],
    array: int,
    within: Tile | None,
    at: Mapping[IndexRef, int],
) -> tuple[int, int]:
    """Return first and stop of the elements that the array works on, once the levels outside it are fixed."""
    axis = tiling.axis(dimension)
    first, stop = (within.start[axis], within.stop[axis]) if within else (0, tiling.total[axis])
    outermost = min([index.level.depth for index in bound] + [array])
    for depth in range(len(within.path) if within else 0, outermost):
        level = tiling.levels[depth]
        index = at.get(IndexRef(tiling.level(level.name), dimension), 0)
        if not 0 <= index < level.factors[axis]:
            raise MappingError(
                f"level {level.name!r} has {level.factors[axis]} pieces along {dimension}, got index {index}"
            )
        start, end = tiling.piece(depth, axis, index)
        first, stop = first + start, min(first + end, stop)
        if first >= stop:
            raise MappingError(f"piece {index} of level {level.name!r} along {dimension} does not exist here")
    if bound and within and len(within.path) > outermost:
        raise MappingError(f"{within} fixes {bound[0]}, which the array runs over")
    return first, stop


def _variables(
    own: Mapping[str, tuple[IndexRef, int, bool]], tiling: Tiling, dimension: str, length: int
) -> list[Variable]:
    """Return the variables of one dimension, which together cut *length* elements."""
    axis = tiling.axis(dimension)
    made, whole = [], length
    for name, (index, coefficient, spatial) in sorted(own.items(), key=lambda each: each[1][0].level.depth):
        depth = index.level.depth
        if tiling.levels[depth].bounds_of(axis):
            raise OutsideModelError(f"{index} is cut at given points; an array needs equal pieces")
        piece = tiling.nominal_sizes[depth][axis]
        count = ceil_div(whole, piece)
        last = whole - (count - 1) * piece
        made.append(Variable(name, index, coefficient, count, piece, last, spatial))
        whole = piece
    if len(made) > 1 and any(each.last_piece != each.piece for each in made):
        names = " and ".join(each.name for each in made)
        raise OutsideModelError(
            f"{names} both run along {dimension}, whose {length} elements are no multiple of {made[0].piece}"
        )
    return made


def _refuse_collision(variables: Sequence[Variable]) -> None:
    """Refuse an equation by which one place has two points to work on at one time."""
    timed = [each for each in variables if not each.spatial and each.count > 1]
    factors = [each.coefficient for each in timed]
    spread = [2 * each.count - 1 for each in timed]  # differences of two values of each variable
    same = sum(factor * (each.count - 1) for factor, each in zip(factors, timed, strict=True))
    if count_solutions(factors, spread, same) > 1:
        names = ", ".join(each.name for each in timed)
        raise MappingError(
            f"one place would work on two values of {names} at one time: their coefficients are "
            f"{', '.join(map(str, factors))}",
            mend=f"give {names} coefficients that tell all their values apart",
        )
