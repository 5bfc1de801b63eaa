"""Hilbert order of rectangles of any size.

The rectangle is split into three parts, as Hilbert's square is into four of which the middle two are taken
together, or into two where it is much longer than wide; each part is walked in the same way, and ends beside
the corner where the next begins. Where the lengths that have to be halved are odd, a step may be diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.tiling.orders import Index, Order, check_loops

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class _Walk:
    """A rectangle to be walked from one corner to the other end of its long side.

    *row* and *column* are the corner; *along* and *across* are the sides as (rows, columns), signed by the
    direction in which they leave the corner; one of the two numbers is 0.
    """

    row: int
    column: int
    along: tuple[int, int]
    across: tuple[int, int]

    @property
    def size(self) -> int:
        return abs(sum(self.along)) * abs(sum(self.across))

    def holds(self, row: int, column: int) -> bool:
        """Whether a cell belongs to the rectangle."""
        return _between(self.row, self.along[0] + self.across[0], row) and _between(
            self.column, self.along[1] + self.across[1], column
        )

    def parts(self) -> Iterator[_Walk]:
        """Return the rectangles that are walked one after the other, where there are several."""
        length, width = abs(sum(self.along)), abs(sum(self.across))
        if 2 * length > 3 * width:
            half = _even_half(length)
            first, second = _scaled(self.along, half), _scaled(self.along, length - half)
            yield _Walk(self.row, self.column, first, self.across)
            yield _Walk(self.row + first[0], self.column + first[1], second, self.across)
            return
        half_across, half_along = _even_half(width), length // 2
        rise, rest = _scaled(self.across, half_across), _scaled(self.across, width - half_across)
        near, far = _scaled(self.along, half_along), _scaled(self.along, length - half_along)
        yield _Walk(self.row, self.column, rise, near)
        yield _Walk(self.row + rise[0], self.column + rise[1], self.along, rest)
        end = [
            corner + side - _sign(side) + up - _sign(up)
            for corner, side, up in zip((self.row, self.column), self.along, rise, strict=True)
        ]
        yield _Walk(end[0], end[1], (-rise[0], -rise[1]), (-far[0], -far[1]))


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def _scaled(side: tuple[int, int], length: int) -> tuple[int, int]:
    """Return a side of another length in the same direction."""
    return _sign(side[0]) * length, _sign(side[1]) * length


def _even_half(length: int) -> int:
    """Return half of a length, made even where it can be: an odd half would end in a wrong corner."""
    half = length // 2
    return half + 1 if half % 2 and length > 2 else half


def _between(corner: int, extent: int, at: int) -> bool:
    """Whether a coordinate lies on the *extent* cells that leave a corner in the direction of its sign."""
    return 0 <= (at - corner) * _sign(extent) < abs(extent)


@dataclass(frozen=True, slots=True)
class Hilbert(Order):
    """A walk over a rectangle in which the last many indices are always close together.

    Raises:
        MappingError: If there are not two loops.
    """

    loops: tuple[str, ...]
    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        check_loops(self.loops, self.counts, 2)

    def _whole(self) -> _Walk:
        rows, columns = self.counts
        return (
            _Walk(0, 0, (0, columns), (rows, 0)) if columns >= rows else _Walk(0, 0, (rows, 0), (0, columns))
        )

    def at(self, position: int) -> Index:
        """Return row and column at a position.

        >>> [Hilbert(("m", "n"), (2, 2)).at(position) for position in range(4)]
        [(0, 0), (1, 0), (1, 1), (0, 1)]
        """
        self.refuse_position(position)
        walk = self._whole()
        while (line := _line(walk)) is None:
            for part in walk.parts():
                if position < part.size:
                    walk = part
                    break
                position -= part.size
        return walk.row + line[0] * position, walk.column + line[1] * position

    def position(self, index: Index) -> int:
        """Return the place of row and column."""
        self.refuse_index(index)
        walk, total = self._whole(), 0
        while _line(walk) is None:
            for part in walk.parts():
                if part.holds(*index):
                    walk = part
                    break
                total += part.size
        return total + abs(index[0] - walk.row) + abs(index[1] - walk.column)


def _line(walk: _Walk) -> tuple[int, int] | None:
    """Return the step of a rectangle that is one cell wide, ``None`` for a wider one."""
    for side, other in ((walk.along, walk.across), (walk.across, walk.along)):
        if abs(sum(other)) == 1:
            return _sign(side[0]), _sign(side[1])
    return None
