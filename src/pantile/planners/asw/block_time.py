"""How long one block takes.

Source: asw-theory.md section 10.1; errata E-11 (what is loaded, and how fast).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pantile.planners.asw.chip import Chip, Ticks
    from pantile.planners.asw.problem import Problem

Bound = Literal["compute", "memory", "write"]


@dataclass(frozen=True, slots=True)
class BlockTime:
    """The terms of one block, in seconds.

    Attributes:
        compute: On the cube.
        load: From L2 and memory.
        write: To memory.
        overhead: Spent whatever else the block does.
    """

    compute: Fraction
    load: Fraction
    write: Fraction
    overhead: Fraction = Fraction(0)

    @property
    def total(self) -> Fraction:
        """Seconds from a block's start to the next one's: the terms overlap, the overhead does not."""
        return max(self.compute, self.load, self.write) + self.overhead

    @property
    def bound(self) -> Bound:
        """Which term is the largest; a tie is no compute or write bound."""
        if self.write > max(self.compute, self.load):
            return "write"
        return "compute" if self.compute > self.load else "memory"


@dataclass(frozen=True, slots=True)
class TimeModel:
    """The two ways of counting what a block loads.

    Attributes:
        problem: What is computed.
        ticks: The unit of time.
        delivered: Bytes that memory delivers for all blocks together; ``None`` counts one K step of every
            block at the memory's rate, as published.
        overlapped: Whether results leave while the cube computes (UnitFlag).
    """

    problem: Problem
    ticks: Ticks
    delivered: Fraction | None
    overlapped: bool = True

    def compute(self, m: int, n: int) -> int:
        """Return the ticks that the cube takes for a block of m rows and n columns."""
        ticks = 2 * m * n * self.problem.k * self.ticks.flop
        return ticks if self.overlapped else ticks + self.write(m, n)

    def write(self, m: int, n: int) -> int:
        """Return the ticks in which the block's results go to memory."""
        return m * n * self.problem.out_bytes * self.ticks.gm_byte

    def local_load(self, m: int, n: int, k_l1: int) -> int:
        """Return the ticks of what the core itself pulls: all of K through L2, or one step as published."""
        perimeter = (m + n) * self.problem.element_bytes
        if self.delivered is None:
            return perimeter * k_l1 * self.ticks.gm_byte
        return perimeter * self.problem.k * self.ticks.l2_byte

    @property
    def shared_ticks(self) -> Fraction:
        """Ticks of all that memory delivers, at one core's share of its rate; 0 as published."""
        return (self.delivered or Fraction(0)) * self.ticks.gm_byte

    def block(self, m: int, n: int, k_l1: int, share: Fraction) -> BlockTime:
        """Return the times of a block with its *share* of what memory delivers for all blocks."""
        unit = self.ticks.per_second
        load = max(Fraction(self.local_load(m, n, k_l1)), self.shared_ticks * share)
        return BlockTime(
            Fraction(self.compute(m, n), unit),
            load / unit,
            Fraction(self.write(m, n), unit),
            Fraction(self.ticks.overhead, unit),
        )


def x_min(problem: Problem, chip: Chip, m: int, *, depth: int, rate: int) -> Fraction | None:
    """Return the fewest columns of a piece of *m* rows whose load the cube still hides.

    Args:
        problem: What is computed.
        chip: Where.
        m: Rows of the piece.
        depth: K extent that is loaded.
        rate: Bytes per second of the whole chip at which it is loaded.

    Returns:
        Columns, or ``None`` where no width hides it (E-15).
    """
    pulled = depth * problem.element_bytes * chip.peak_flops
    hidden = 2 * m * problem.k * rate - pulled
    return Fraction(m * pulled, hidden) if hidden > 0 else None
