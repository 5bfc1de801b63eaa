"""Stage 4: what becomes of a last wave that does not fill all cores.

A0 leaves it, A1 cuts its blocks into pieces, B cuts the whole output again into full waves, and B* may take
fewer of them.

Source: asw-theory.md section 10; errata E-15 to E-18, E-32, E-33, E-37.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pantile.planners.asw.block_time import BlockTime
    from pantile.planners.asw.pieces import Pieces
    from pantile.planners.asw.recut import Recut

Strategy = Literal["none", "A0", "A1", "B"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """Stage 4; times in seconds.

    Attributes:
        blocks: Blocks of all batches.
        waves: Rounds of all cores that they take.
        remainder: Blocks of the last round; 0 if it is full.
        time: Of one block.
        seconds_a0: With the last wave as it is; likewise the others, ``None`` where they are not possible.
        pieces: What A1 cuts a block of the last wave into.
        recut: What B cuts the output into.
        fewer: What B* cuts it into.
        strategy: What the rule says.
        effective: What is left of it: A1 or A0 where B is chosen and there is no such cut.
        seconds: Time of the effective strategy.
        x_min: Columns below which the load of a piece shows; ``None`` if it always does.
        printed: What the published table looks at; ``None`` under ``corrected``.
    """

    blocks: int
    waves: int
    remainder: int
    time: BlockTime
    seconds_a0: Fraction
    seconds_a1: Fraction | None
    seconds_b: Fraction | None
    seconds_fewer: Fraction | None
    pieces: Pieces | None
    recut: Recut | None
    fewer: Recut | None
    strategy: Strategy
    effective: Strategy
    seconds: Fraction
    x_min: Fraction | None
    printed: PrintedRule | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedRule:
    """What the published decision table reads and says.

    Attributes:
        s_star: Pieces of a block that A1 may cut along n (s*).
        direction: Along which axis the text would cut.
        growth: How many times more blocks full waves have (g).
        gate: Whether the older rule, of at most three waves, would cut at all.
        extra: Seconds beyond a perfect division (dT).
        row: The table's row that holds.
    """

    s_star: int
    direction: str
    growth: Fraction
    gate: bool
    extra: Fraction
    row: str
