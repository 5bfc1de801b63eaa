"""How one level cuts each dimension, and the factors that follow from the others.

A level cuts every tile of the level above into equal pieces, or one dimension of it at given points. The
pieces of equal cuts may reach beyond the tile that they cut: the nominal size stays, the actual size is
clipped.

Source: tile-language.md section 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from types import EllipsisType
from typing import Any, SupportsIndex

from pantile.errors import MappingError, PantileError, raise_all, suggestion

Cut = int | tuple[int, ...] | EllipsisType
"""A number of equal pieces, points to cut at, or a factor that follows from the others."""


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a tiling.

    Attributes:
        name: Unique within its tiling, e.g. ``"tile"``.
        factors: Pieces per dimension; on the innermost level, elements per dimension.
        bounds: Where the pieces of a dimension start, and the end of the last, counted from the start of the
            tile that is cut; empty for a dimension in equal pieces, and altogether where all are.
    """

    name: str
    factors: tuple[int, ...]
    bounds: tuple[tuple[int, ...], ...] = ()

    def bounds_of(self, axis: int) -> tuple[int, ...]:
        """Return the bounds of the pieces along one dimension, none where they are equal."""
        return self.bounds[axis] if self.bounds else ()


def ceil_div(count: int, size: int) -> int:
    """Return how many pieces of *size* hold *count*."""
    return -(-count // size)


def widest(bounds: Sequence[int]) -> int:
    """Return the length of the longest piece."""
    return max(stop - start for start, stop in pairwise(bounds))


def nominal_sizes(levels: Sequence[Level], axis: int) -> tuple[int, ...]:
    """Return the nominal length of one tile of each level along one dimension, outermost level first.

    Of pieces that differ it is the longest.
    """
    sizes = [1]
    for level in reversed(levels):
        bounds = level.bounds_of(axis)
        if bounds:
            sizes[-1] = widest(bounds)
        sizes.append(bounds[-1] if bounds else level.factors[axis] * sizes[-1])
    return tuple(reversed(sizes[:-1]))


def read_levels(
    dimensions: Sequence[str], total: Sequence[int], given: Mapping[str, object]
) -> tuple[Level, ...]:
    """Return the levels that a user wrote, outermost first, with every factor that was left out.

    A level is ``...``, or one cut for each dimension, or a mapping from dimension to cut that leaves out
    those of one piece. A cut is a count of equal pieces, ``...``, or a list of cut points: where the pieces
    part, counted from the start of the tile that is cut; 0 and the end may stand in it or not.

    >>> read_levels("to", (32, 30), {"D": (2, [10, 25]), "S": ...})[1]
    Level(name='S', factors=(16, 15), bounds=())

    Raises:
        MappingError: If a level or cut is none of these, or a dimension is left out on two levels.
    """
    problems: list[PantileError] = []
    cuts = {name: _read_level(name, value, dimensions, problems) for name, value in given.items()}
    raise_all(problems)
    columns = [
        _resolve(dimension, total[axis], {name: cut[axis] for name, cut in cuts.items()}, problems)
        for axis, dimension in enumerate(dimensions)
    ]
    raise_all(problems)
    levels = []
    for at, name in enumerate(given):
        bounds = tuple(column[at][1] for column in columns)
        factors = tuple(column[at][0] for column in columns)
        levels.append(Level(name, factors, bounds if any(bounds) else ()))
    return tuple(levels)


def problems_of(
    dimensions: Sequence[str], total: Sequence[int], levels: Sequence[Level]
) -> list[PantileError]:
    """Return everything that keeps levels from being a tiling of a box of *total* elements."""
    found: list[PantileError] = []
    for level in levels:
        if len(level.factors) != len(dimensions):
            found.append(
                MappingError(
                    f"level {level.name!r} has {len(level.factors)} factors for "
                    f"{len(dimensions)} dimensions ({', '.join(dimensions)})"
                )
            )
            continue
        for axis, dimension in enumerate(dimensions):
            factor, bounds = level.factors[axis], level.bounds_of(axis)
            rising = all(start < stop for start, stop in pairwise(bounds))
            if factor < 1:
                found.append(
                    MappingError(
                        f"level {level.name!r}: factor of {dimension} must be at least 1, got {factor}"
                    )
                )
            elif bounds and not (rising and bounds[0] == 0 and len(bounds) == factor + 1):
                found.append(
                    MappingError(
                        f"level {level.name!r}: bounds of {factor} pieces of {dimension} must be "
                        f"{factor + 1} numbers that rise from 0, got {bounds}"
                    )
                )
    if found:
        return found
    for axis, dimension in enumerate(dimensions):
        found += _uncovered(levels, axis, dimension, total[axis])
    return found


def _uncovered(levels: Sequence[Level], axis: int, dimension: str, total: int) -> list[PantileError]:
    """Return the cuts of one dimension that leave elements out, each with the length that it must cover."""
    covered, inner = 1, len(levels)
    found: list[PantileError] = []
    lengths = [(-1, total)]
    lengths += [
        (at, widest(level.bounds_of(axis))) for at, level in enumerate(levels) if level.bounds_of(axis)
    ]
    for outer, length in reversed(lengths):
        covered *= prod(level.factors[axis] for level in levels[outer + 1 : inner])
        if covered < length:
            names = [f"{level.name} {level.factors[axis]}" for level in levels[outer + 1 : inner]]
            names += [
                f"{level.name} up to {level.bounds_of(axis)[-1]}" for level in levels[inner : inner + 1]
            ]
            whole = (
                "elements" if outer < 0 else f"elements of the longest piece of level {levels[outer].name!r}"
            )
            found.append(
                MappingError(
                    f"factors of {dimension} cover {covered} of {length} {whole} ({' × '.join(names)})",
                    mend=f"raise a factor of {dimension} on one level",
                )
            )
        covered, inner = levels[outer].bounds_of(axis)[-1] if outer >= 0 else 1, outer
    return found


def _read_level(
    name: str, value: object, dimensions: Sequence[str], problems: list[PantileError]
) -> list[Cut]:
    """Return one cut for each dimension; what is none goes to *problems*."""
    cuts: list[Any]
    if value is ...:
        cuts = [...] * len(dimensions)
    elif isinstance(value, Mapping):
        problems += [
            MappingError(
                f"level {name!r} cuts {dimension!r}, which is no dimension",
                mend=suggestion(str(dimension), dimensions),
            )
            for dimension in value
            if dimension not in dimensions
        ]
        cuts = [value.get(dimension, 1) for dimension in dimensions]
    elif isinstance(value, Sequence) and not isinstance(value, str) and len(value) == len(dimensions):
        cuts = list(value)
    else:
        got = f"{len(value)} of them" if isinstance(value, list | tuple) else repr(value)
        problems.append(
            MappingError(
                f"level {name!r} needs one factor for each dimension ({', '.join(dimensions)}), got {got}"
            )
        )
        return [1] * len(dimensions)
    return [_read_cut(name, dim, cut, problems) for dim, cut in zip(dimensions, cuts, strict=True)]


def _read_cut(name: str, dimension: str, cut: object, problems: list[PantileError]) -> Cut:
    """Return one cut of a level."""
    if cut is ...:
        return ...
    cut = _plain(cut)
    if isinstance(cut, int) and not isinstance(cut, bool):
        if cut >= 1:
            return cut
        problems.append(MappingError(f"level {name!r}: factor of {dimension} must be at least 1, got {cut}"))
        return 1
    points = [*map(_plain, cut)] if isinstance(cut, Sequence) and not isinstance(cut, str) else None
    if points is None or not all(isinstance(each, int) and not isinstance(each, bool) for each in points):
        problems.append(
            MappingError(
                f"level {name!r}: factor of {dimension} must be a whole number, a list of cut points or ..., "
                f"got {cut!r}"
            )
        )
        return 1
    if any(after <= before for before, after in pairwise(points)) or min(points, default=0) < 0:
        problems.append(
            MappingError(f"level {name!r}: cut points of {dimension} must rise from 0, got {points}")
        )
        return 1
    return tuple(points)


def _plain(number: Any) -> Any:
    """Return a whole number of any kind, such as NumPy's, as Python's; anything else as it is."""
    if isinstance(number, SupportsIndex) and not isinstance(number, bool):
        return number.__index__()
    return number


def _resolve(
    dimension: str, total: int, cuts: Mapping[str, Cut], problems: list[PantileError]
) -> list[tuple[int, tuple[int, ...]]]:
    """Return factor and bounds on each level for one dimension, from the outermost level inwards."""
    if _two_left_out(dimension, total, cuts, problems):
        return [(1, ())] * len(cuts)
    names = list(cuts)
    cut_last = max((at for at, name in enumerate(names) if isinstance(cuts[name], tuple)), default=-1)
    result: list[tuple[int, tuple[int, ...]]] = []
    length, outer = total, 1  # elements to be cut, and the equal pieces that they are in so far
    for at, (name, cut) in enumerate(cuts.items()):
        if isinstance(cut, tuple):
            length = ceil_div(length, outer)
            bounds = _bounds(name, dimension, cut, length, at == len(names) - 1, problems)
            result.append((max(1, len(bounds) - 1), bounds))
            length, outer = widest(bounds) if bounds else length, 1
            continue
        if isinstance(cut, int):
            factor = cut
        elif at > cut_last:
            inner = prod(each for each in map(cuts.get, names[at + 1 :]) if isinstance(each, int))
            factor = max(1, ceil_div(length, outer * inner))
        else:
            problems.append(
                MappingError(
                    f"level {name!r} leaves out the factor of {dimension}, which the cut points on level "
                    f"{names[cut_last]!r} inside it need",
                    mend=f"give {dimension} a factor on {name!r}",
                )
            )
            factor = 1
        result.append((factor, ()))
        outer *= factor
    return result


def _two_left_out(dimension: str, total: int, cuts: Mapping[str, Cut], problems: list[PantileError]) -> bool:
    """Whether several levels leave out the factor of a dimension, which then goes to *problems*."""
    missing = [name for name, cut in cuts.items() if cut is ...]
    if len(missing) > 1:
        levels = " and ".join(repr(name) for name in missing)
        problems.append(
            MappingError(
                f"levels {levels} both leave out the factor of {dimension}; of {total} elements only one "
                "can be inferred",
                mend=f"give {dimension} a factor on {missing[0]!r}",
            )
        )
    return len(missing) > 1


def _bounds(
    name: str,
    dimension: str,
    points: tuple[int, ...],
    length: int,
    innermost: bool,
    problems: list[PantileError],
) -> tuple[int, ...]:
    """Return cut points with both ends, or none where they cannot be."""
    if innermost:
        problems.append(
            MappingError(
                f"level {name!r} counts elements of {dimension}; it has no cut points, got {list(points)}"
            )
        )
        return ()
    if points and points[-1] > length:
        problems.append(
            MappingError(
                f"level {name!r}: cut point {points[-1]} of {dimension} lies beyond the {length} elements "
                "of the tile that it cuts"
            )
        )
        return ()
    inner = tuple(point for point in points if 0 < point < length)
    return (0, *inner, length) if length else ()
