"""Counting whole-numbered points without visiting them.

Inequalities are pairs *(coefficients, constant)*: the sum of coefficient times coordinate, plus the constant,
is at least 0. A box is a half-open range *(first, stop)* per coordinate. All figures are exact.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, pairwise, product
from math import comb, gcd, prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Inequality = tuple[tuple[int, ...], int]
Box = tuple[tuple[int, int], ...]


def floor_sum(count: int, slope: int, offset: int, divisor: int) -> int:
    """Return the sum of ``(slope*x + offset) // divisor`` over x from 0 below *count*; *divisor* > 0.

    The steps are Euclid's, so that the work grows with the digits of the figures, not with *count*.

    >>> floor_sum(4, 3, 1, 2)  # 0 + 2 + 3 + 5
    10
    """
    total = 0
    while count > 0:
        total += count * (count - 1) // 2 * (slope // divisor) + count * (offset // divisor)
        slope, offset = slope % divisor, offset % divisor
        height = slope * count + offset
        # The lattice points under the line, now counted by rows instead of by columns.
        count, offset = height // divisor, height % divisor
        slope, divisor = divisor, slope
    return total


@lru_cache(maxsize=1 << 16)
def count_points(inequalities: tuple[Inequality, ...], box: Box) -> int:
    """Return how many points of the box satisfy every inequality.

    Coordinates that no inequality couples multiply, and two that are coupled are counted in closed form. Of
    more than two, all but two are enumerated, the shortest first.
    """
    if any(first >= stop for first, stop in box):
        return 0
    kept: list[Inequality] = []
    ranges = list(box)
    for coefficients, constant in inequalities:
        lowest, highest = _reach(coefficients, constant, ranges)
        if highest < 0:
            return 0
        if lowest >= 0:
            continue
        used = [axis for axis, factor in enumerate(coefficients) if factor]
        if len(used) == 1:
            ranges[used[0]] = _tightened(ranges[used[0]], coefficients[used[0]], constant)
        else:
            kept.append((coefficients, constant))
    if tuple(ranges) != box:
        return count_points(tuple(kept), tuple(ranges))
    total, free = 1, set(range(len(box)))
    for group in _coupled(kept):
        free -= group
        total *= _count_coupled([each for each in kept if _uses(each, group)], box, sorted(group))
    return total * prod(box[axis][1] - box[axis][0] for axis in free)


def count_shadow(inequalities: tuple[Inequality, ...], box: Box, axes: Sequence[int]) -> int:
    """Return how many points the satisfying points have when only the coordinates *axes* are looked at.

    The other coordinates are eliminated one by one. That is exact wherever, of a lower and an upper limit of
    an eliminated coordinate, one has coefficient 1; where neither has, the points are enumerated.
    """
    remaining = list(inequalities)
    for axis in sorted(set(range(len(box))) - set(axes)):
        eliminated = _eliminated(remaining, box, axis)
        if eliminated is None:
            return _count_shadow_by_visiting(inequalities, box, axes)
        remaining = eliminated
    narrow = tuple((tuple(factors[axis] for axis in axes), constant) for factors, constant in remaining)
    others = (box[axis] for axis in range(len(box)) if axis not in axes)
    if any(first >= stop for first, stop in others):
        return 0
    return count_points(narrow, tuple(box[axis] for axis in axes))


def count_solutions(coefficients: Sequence[int], extents: Sequence[int], target: int) -> int:
    """Return in how many ways the coefficients times coordinates from 0 below their extents sum to *target*.

    Closed forms where all coefficients are equal but for sign, and where at most two differ from 0; otherwise
    the shortest coordinate is enumerated.

    >>> count_solutions((1, 1, 1), (2, 2, 4), 3)  # row + col + it = 3
    4
    """
    if min(extents, default=1) < 1:
        return 0
    factors, sizes = [], []
    free = 1
    for factor, size in zip(coefficients, extents, strict=True):
        if factor == 0:
            free *= size
            continue
        if factor < 0:  # count down instead of up
            target += -factor * (size - 1)
        factors.append(abs(factor))
        sizes.append(size)
    return free * _count_positive(factors, sizes, target)


def _count_positive(factors: list[int], sizes: list[int], target: int) -> int:
    """:func:`count_solutions` for positive coefficients."""
    if not factors:
        return int(target == 0)
    common = gcd(*factors)
    if target < 0 or target % common:
        return 0
    factors, target = [factor // common for factor in factors], target // common
    if len(factors) == 1:
        return int(target < sizes[0])
    if set(factors) == {1}:
        return _count_ones(sizes, target)
    if len(factors) == 2:
        return _count_two(factors[0], factors[1], sizes[0], sizes[1], target)
    shortest = min(range(len(sizes)), key=sizes.__getitem__)
    factor, size = factors.pop(shortest), sizes[shortest]
    rest = sizes[:shortest] + sizes[shortest + 1 :]
    return sum(_count_positive(factors, rest, target - factor * value) for value in range(size))


def _count_ones(sizes: Sequence[int], target: int) -> int:
    """Count sums of bounded coordinates, by inclusion and exclusion of those that exceed their bound."""
    total = 0
    for many in range(len(sizes) + 1):
        for exceeded in combinations(sizes, many):
            rest = target - sum(exceeded)
            if rest >= 0:
                total += (-1) ** many * comb(rest + len(sizes) - 1, len(sizes) - 1)
    return total


def _count_two(a: int, b: int, size_a: int, size_b: int, target: int) -> int:
    """Count solutions of ``a*x + b*y = target`` with coprime a and b: every b-th x that y allows."""
    first = max(0, -((b * (size_b - 1) - target) // a))
    last = min(size_a - 1, target // a)
    residue = target * pow(a, -1, b) % b if b > 1 else 0
    if last < first:
        return 0
    return (last - residue) // b - (first - 1 - residue) // b


def _reach(coefficients: Sequence[int], constant: int, box: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the lowest and highest value of an expression over a box that is not empty."""
    lowest = highest = constant
    for factor, (first, stop) in zip(coefficients, box, strict=True):
        ends = (factor * first, factor * (stop - 1))
        lowest, highest = lowest + min(ends), highest + max(ends)
    return lowest, highest


def _tightened(limits: tuple[int, int], factor: int, constant: int) -> tuple[int, int]:
    """Return the part of a range where ``factor * x + constant`` is at least 0."""
    if factor > 0:
        return max(limits[0], -(constant // factor)), limits[1]
    return limits[0], min(limits[1], constant // -factor + 1)


def _uses(inequality: Inequality, axes: set[int]) -> bool:
    return any(inequality[0][axis] for axis in axes)


def _coupled(inequalities: Iterable[Inequality]) -> list[set[int]]:
    """Return the sets of coordinates that inequalities tie together."""
    groups: list[set[int]] = []
    for coefficients, _ in inequalities:
        group = {axis for axis, factor in enumerate(coefficients) if factor}
        apart = [each for each in groups if not each & group]
        groups = [*apart, group.union(*(each for each in groups if each & group))]
    return groups


def _count_coupled(inequalities: list[Inequality], box: Box, axes: list[int]) -> int:
    """Count the points of two or more coordinates that hang together."""
    narrow = [(tuple(factors[axis] for axis in axes), constant) for factors, constant in inequalities]
    ranges = tuple(box[axis] for axis in axes)
    if len(axes) == 2:
        return _count_plane(narrow, ranges)
    shortest = min(range(len(axes)), key=lambda at: ranges[at][1] - ranges[at][0])
    rest = ranges[:shortest] + ranges[shortest + 1 :]
    total = 0
    for value in range(*ranges[shortest]):
        sliced = tuple(
            (factors[:shortest] + factors[shortest + 1 :], constant + factors[shortest] * value)
            for factors, constant in narrow
        )
        total += count_points(sliced, rest)
    return total


def _count_plane(inequalities: list[Inequality], box: Box) -> int:
    """Count points (x, y): two sums of floors for each stretch of x with one lowest and highest line."""
    (x_first, x_stop), (y_first, y_stop) = box
    lower, upper = [(0, y_first, 1)], [(0, y_stop - 1, 1)]  # lines (a, c, d): y against (a*x + c) / d
    for (a, b), constant in inequalities:
        if b > 0:
            lower.append((-a, -constant, b))
        else:
            upper.append((a, constant, -b))
    limits = (x_first, x_stop)
    for (a, c, d), (e, f, g) in product(lower, upper):  # x where no upper line is below a lower one
        slope, offset = e * d - a * g, f * d - c * g
        if slope == 0 and offset < 0:
            return 0
        if slope:
            limits = _tightened(limits, slope, offset)
    if limits[0] >= limits[1]:
        return 0
    breaks = {limits[0], limits[1]}
    for lines in (lower, upper):
        for (a, c, d), (e, f, g) in combinations(lines, 2):
            slope, offset = a * g - e * d, f * d - c * g
            if slope:
                breaks.add(min(max(offset // slope + 1, limits[0]), limits[1]))
    stretches = sorted(breaks)
    total = 0
    for start, stop in pairwise(stretches):
        total += _sum_line(_outer(upper, start, -1), start, stop)
        a, c, d = _outer(lower, start, 1)
        total += _sum_line((-a, -c, d), start, stop) + (stop - start)  # minus the ceiling, plus 1 for each x
    return total


def _outer(lines: list[tuple[int, int, int]], x: int, sign: int) -> tuple[int, int, int]:
    """Return the lowest (sign -1) or highest (sign 1) line at the start of a stretch, and so all along it."""
    scale = prod(d for _, _, d in lines)
    return max(lines, key=lambda line: sign * (line[0] * x + line[1]) * scale // line[2])


def _sum_line(line: tuple[int, int, int], start: int, stop: int) -> int:
    """Return the sum of ``(a*x + c) // d`` over x from start to stop - 1."""
    a, c, d = line
    return floor_sum(stop - start, a, a * start + c, d)


def _eliminated(inequalities: list[Inequality], box: Box, axis: int) -> list[Inequality] | None:
    """Return what holds exactly where some value of one coordinate fits, ``None`` if no inequalities do."""
    unit = tuple(int(at == axis) for at in range(len(box)))
    against = tuple(-each for each in unit)
    first, stop = box[axis]
    result = [each for each in inequalities if each[0][axis] == 0]
    lower = [(unit, -first), *(each for each in inequalities if each[0][axis] > 0)]
    upper = [(against, stop - 1), *(each for each in inequalities if each[0][axis] < 0)]
    for (low, low_constant), (high, high_constant) in product(lower, upper):
        a, b = low[axis], -high[axis]
        if min(a, b) > 1:
            return None
        factors = tuple(b * one + a * other for one, other in zip(low, high, strict=True))
        constant = b * low_constant + a * high_constant
        if any(factors) or constant < 0:
            result.append((factors, constant))
    return result


def _count_shadow_by_visiting(inequalities: tuple[Inequality, ...], box: Box, axes: Sequence[int]) -> int:
    """:func:`count_shadow`, one point after the other."""
    total = 0
    for point in product(*(range(*box[axis]) for axis in axes)):
        at = dict(zip(axes, point, strict=True))
        pinned = tuple((at[axis], at[axis] + 1) if axis in at else limits for axis, limits in enumerate(box))
        total += count_points(inequalities, pinned) > 0
    return total
