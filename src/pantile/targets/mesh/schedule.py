"""Who needs which shard when, and where it comes from: what Cannon, SUMMA and no exchange differ in.

All let chiplet (r, c) of a grid of R rows and C columns compute block (r, c) of the output in steps, one
shard of each input at a time. The shard of a at (i, k) lies in the memory of chiplet (i mod R, k mod C), that
of b at (k, j) in the memory of (k mod R, j mod C).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

Chiplet = tuple[int, int]
"""Row and column."""

Exchange = Literal["cannon", "summa", "direct", "skewed"]
"""``cannon``: shards circulate. ``summa``: owners broadcast along rows and columns, each neighbour passing on
to the next. ``direct``: every chiplet loads all it needs; ``skewed``: the same, in Cannon's order."""

CIRCULAR = ("cannon", "skewed")
"""What begins with another piece on every chiplet, and needs as many rows as columns."""

Input = Literal["a", "b"]


@dataclass(frozen=True, slots=True)
class Schedule:
    """The steps of one round, in which every chiplet of the grid computes one block of the output.

    Attributes:
        exchange: How shards get to those who do not own them.
        rows: Rows of the grid.
        columns: Columns of the grid; as many as rows for what is circular.
        steps: Pieces of the reduction, one a step.
    """

    exchange: Exchange
    rows: int
    columns: int
    steps: int

    def __iter__(self) -> Iterator[Chiplet]:
        """Yield the chiplets row by row."""
        return product(range(self.rows), range(self.columns))

    def piece(self, chiplet: Chiplet, step: int) -> int:
        """Return the piece of the reduction that *chiplet* works on.

        Cannon's grids go through as many pieces as they have columns before the next ones are loaded.
        """
        if self.exchange not in CIRCULAR:
            return step
        turn, place = divmod(step, self.columns)
        return turn * self.columns + (sum(chiplet) + place) % self.columns

    def owner(self, operand: Input, chiplet: Chiplet, step: int) -> Chiplet:
        """Return the chiplet to which the memory belongs that has the shard which *chiplet* needs."""
        row, column = chiplet
        piece = self.piece(chiplet, step)
        return (row, piece % self.columns) if operand == "a" else (piece % self.rows, column)

    def giver(self, operand: Input, chiplet: Chiplet, step: int) -> Chiplet | None:
        """Return the neighbour that hands the shard on, or ``None`` where it comes from a memory off chip."""
        if self.exchange in ("direct", "skewed"):
            return None
        along = 1 if operand == "a" else 0
        ahead = list(chiplet)
        if self.exchange == "cannon":
            if step % self.columns == 0:  # skew: every chiplet loads the shard that it begins with
                return None
            ahead[along] = (ahead[along] + 1) % self.columns
        else:
            owner = self.owner(operand, chiplet, step)[along]
            if owner == ahead[along]:
                return None
            ahead[along] += 1 if owner > ahead[along] else -1
        return ahead[0], ahead[1]

    @property
    def lanes(self) -> tuple[str, ...]:
        """Buffers of each input on every chiplet.

        Owners that broadcast have one for what they own, so that their memories can work ahead of the turns.
        """
        return ("own", "passed") if self.exchange == "summa" else ("",)

    def lane(self, operand: Input, chiplet: Chiplet, step: int) -> str:
        """Return the buffer that the shard which *chiplet* needs goes to."""
        if len(self.lanes) == 1:
            return self.lanes[0]
        return self.lanes[0] if self.giver(operand, chiplet, step) is None else self.lanes[1]

    @property
    def lag(self) -> int:
        """Steps by which a taker uses a shard later than its giver."""
        return 1 if self.exchange == "cannon" else 0

    def takers(self, operand: Input, chiplet: Chiplet, step: int) -> list[Chiplet]:
        """Return the chiplets to which *chiplet* hands on the shard that it got for *step*, in row order."""
        taken_at = step + self.lag
        if taken_at >= self.steps:
            return []
        row, column = chiplet
        if operand == "a":
            near = [(row, (column + way) % self.columns) for way in (-1, 1)]
        else:
            near = [((row + way) % self.rows, column) for way in (-1, 1)]
        return sorted(
            {each for each in near if each != chiplet and self.giver(operand, each, taken_at) == chiplet}
        )
