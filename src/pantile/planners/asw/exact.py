"""A judge that counts every block at its true size: the time of the busiest core.

Source: asw-theory.md section 14.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from pantile.planners.asw.chip import ticks_of
from pantile.planners.asw.grain import up

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pantile.planners.asw.chip import Chip
    from pantile.planners.asw.pieces import Pieces
    from pantile.planners.asw.problem import Problem


@dataclass(frozen=True, slots=True)
class CoreTimes:
    """Seconds of the busiest and of the idlest core."""

    longest: Fraction
    shortest: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """The exact evaluator for one product.

    Attributes:
        problem: What is computed.
        chip: Where.
        reread: Bytes of inputs that memory delivers, over the bytes of all inputs (r_in).
        working: Cores that get blocks; 0 is all of them.
    """

    problem: Problem
    chip: Chip
    reread: Fraction = Fraction(1)
    working: int = 0

    @property
    def cores(self) -> int:
        """Cores that get blocks."""
        return self.working or self.chip.cores

    def block(self, m: int, n: int) -> Fraction:
        """Return the seconds of a block of m rows and n columns, computed in whole grains."""
        problem, ticks, grain = self.problem, ticks_of(self.chip), self.chip.grain
        padded = up(m, grain) * up(n, grain) * up(problem.k, grain)
        delivered = self.reread * problem.input_bytes
        share = Fraction(m * n, problem.batch * problem.m * problem.n)
        return (
            max(
                Fraction(2 * padded * ticks.flop),
                Fraction((m + n) * problem.k * problem.element_bytes * ticks.l2_byte),
                delivered * share * ticks.gm_byte,
                Fraction(m * n * problem.out_bytes * ticks.gm_byte),
            )
            + ticks.overhead
        ) / ticks.per_second

    def whole(self, m: int, n: int) -> CoreTimes:
        """Return the times when blocks of m rows and n columns are dealt in turn, none cut again (A0).

        The shortest time is 0 where some cores get no block.
        """
        seconds = self._seconds(m, n)
        return CoreTimes(max(seconds), min(seconds))

    def with_pieces(self, m: int, n: int, pieces: Pieces) -> CoreTimes:
        """Return the times when the last wave's blocks are cut into pieces (A1), dealt in turn."""
        rows, columns = _counts(self.problem, m, n)
        cores, blocks = self.cores, self.problem.batch * rows * columns
        seconds = self._seconds(m, n)
        known: dict[tuple[int, int], Fraction] = {}

        def time(size: tuple[int, int]) -> Fraction:
            if size not in known:
                known[size] = self.block(*size)
            return known[size]

        at = 0
        for index in range(blocks // cores * cores, blocks):
            size = self._size(index % (rows * columns), m, n, columns)
            seconds[index % cores] -= time(size)
            for piece in _cut(size, pieces):
                seconds[at % cores] += time(piece)
                at += 1
        return CoreTimes(max(seconds), min(seconds))

    def _seconds(self, m: int, n: int) -> list[Fraction]:
        """Return what every core takes for whole blocks, dealt in turn."""
        rows, columns = _counts(self.problem, m, n)
        kinds = _edges(self.problem, m, n, rows, columns)
        seconds = [Fraction(0)] * self.cores
        for (height, width), dealt in zip(
            kinds, _dealt(self.problem, self.cores, rows, columns), strict=True
        ):
            if any(dealt):
                time = self.block(height, width)
                seconds = [core + count * time for core, count in zip(seconds, dealt, strict=True)]
        return seconds

    def _size(self, position: int, m: int, n: int, columns: int) -> tuple[int, int]:
        row, column = divmod(position, columns)
        return min(m, self.problem.m - row * m), min(n, self.problem.n - column * n)


def _counts(problem: Problem, m: int, n: int) -> tuple[int, int]:
    return -(-problem.m // m), -(-problem.n // n)


def _edges(problem: Problem, m: int, n: int, rows: int, columns: int) -> list[tuple[int, int]]:
    """Return the four sizes that blocks have: inside, last column, last row, the corner."""
    last_m, last_n = problem.m - (rows - 1) * m, problem.n - (columns - 1) * n
    return [(m, n), (m, last_n), (last_m, n), (last_m, last_n)]


def _dealt(problem: Problem, cores: int, rows: int, columns: int) -> list[list[int]]:
    """Return, for each of the four sizes, how many such blocks every core gets."""
    blocks = rows * columns
    one = [[0] * cores for _ in range(4)]
    for core in range(cores):
        one[0][core] = blocks // cores + (core < blocks % cores)
    for row, times in _turns(rows - 1, cores):
        core = (row * columns + columns - 1) % cores
        one[1][core] += times
        one[0][core] -= times
    for column, times in _turns(columns - 1, cores):
        core = ((rows - 1) * columns + column) % cores
        one[2][core] += times
        one[0][core] -= times
    one[3][(blocks - 1) % cores] += 1
    one[0][(blocks - 1) % cores] -= 1
    starts = [0] * cores
    for batch, times in _turns(problem.batch, cores):
        starts[batch * blocks % cores] += times
    return [
        [sum(starts[start] * kind[(core - start) % cores] for start in range(cores)) for core in range(cores)]
        for kind in one
    ]


def _turns(count: int, cores: int) -> Iterator[tuple[int, int]]:
    """Yield each of *count* whose core is not that of an earlier one, and how many share its core.

    Things that lie equally far apart come back to the same core after as many of them as there are cores.
    """
    for at in range(min(count, cores)):
        yield at, count // cores + (at < count % cores)


def _cut(size: tuple[int, int], pieces: Pieces) -> Iterator[tuple[int, int]]:
    """Yield the pieces of one block, clipped to it."""
    m, n = size
    length = n if pieces.axis == "n" else m
    for start in range(0, length, pieces.size):
        part = min(pieces.size, length - start)
        yield (m, part) if pieces.axis == "n" else (part, n)
