"""The unit flag: blocks of L0C that M and FIX hand to one another, and who waits for whom because of it.

Every block of L0C, a fractal of 16 x 16 sums, belongs to M or to FIX; at first all are M's. An instruction
whose mode checks (2 or 3) touches a block when it is its own pipe's; mode 3 then gives each finished block to
the other pipe. Within one pipe instructions touch a block in the order of its queue, so that the n-th time
FIX needs a block it needs the n-th hand-over by M, and the n-th time that M goes on with it, the n-th return:
who waits for whom follows from the two queues alone, whatever the timing.

Source: ascend-core.md section 1.5.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pantile.targets.ascend.elements import FRACTAL_ROWS, parts

BLOCK = FRACTAL_ROWS * FRACTAL_ROWS * 4
"""Bytes of L0C that change hands at a time."""

MATRIX, OUT = "PIPE_M", "PIPE_FIX"
CHECK, HAND_OVER = 2, 3
_OTHER = {MATRIX: OUT, OUT: MATRIX}


class Touch(NamedTuple):
    """An instruction that checks the unit flag.

    Attributes:
        op: The operation that waits, and that all others come after.
        last: The operation that touches the last block; *op* itself where it is one with it.
        pipe: M or FIX.
        mode: 2 or 3.
        blocks: The blocks that it touches, in the order in which it does.
    """

    op: int
    last: int
    pipe: str
    mode: int
    blocks: tuple[int, ...]

    @property
    def gives(self) -> bool:
        """Whether it hands its blocks over."""
        return self.mode == HAND_OVER


class Wait(NamedTuple):
    """One instruction that waits for blocks of another.

    Attributes:
        touch: The one that waits, as a place among all.
        giver: The one that hands over; -1 if nobody does.
        first: How many blocks the giver must have handed over when *touch* begins.
        every: How many when it comes to its last block.
    """

    touch: int
    giver: int
    first: int
    every: int


@dataclass(frozen=True, slots=True)
class HandOvers:
    """What the unit flags of a program come to.

    Attributes:
        waits: Who waits for whom.
        kept: Instructions whose blocks belong to FIX at the end, with the number of those blocks.
    """

    waits: tuple[Wait, ...]
    kept: tuple[tuple[int, int], ...]


def mode_of(op: str, args: Mapping[str, Any]) -> int:
    """Return the unit-flag mode of an instruction; 0 where it has none."""
    name = "unit_flag_mode" if op.startswith("copy_matrix") else "unit_flag"
    return int(args.get(name, 0) or 0)


def blocks_of(op: str, args: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the blocks of L0C that a ``mad`` or a copy out of L0C touches, column of blocks by column."""
    if op.startswith("mad"):
        first, rows = int(args["dst"]["off"]) // BLOCK, parts(int(args["m"]), FRACTAL_ROWS)
        return tuple(range(first, first + rows * parts(int(args["n"]), FRACTAL_ROWS)))
    first, height = int(args["src"]["off"]) // BLOCK, parts(int(args["src_stride"]), FRACTAL_ROWS)
    rows, columns = (parts(int(args[name]), FRACTAL_ROWS) for name in ("m_size", "n_size"))
    return tuple(first + column * height + row for column in range(columns) for row in range(rows))


def blocks_between(ranges: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Return the blocks that byte ranges of L0C meet.

    >>> blocks_between([(0, 1025)])
    (0, 1)
    """
    return tuple(dict.fromkeys(block for lo, hi in ranges for block in range(lo // BLOCK, parts(hi, BLOCK))))


def hand_overs(touches: Sequence[Touch]) -> HandOvers:
    """Return who waits for whom among *touches*, which stand in the order of the listing."""
    given: dict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
    for number, touch in enumerate(touches):
        if touch.gives:
            for place, block in enumerate(touch.blocks):
                given[touch.pipe, block].append((number, place))
    passed: dict[tuple[str, int], int] = defaultdict(int)
    waits: list[Wait] = []
    for number, touch in enumerate(touches):
        waits += _waits_of(number, touch, given, passed)
        if touch.gives:
            for block in touch.blocks:
                passed[touch.pipe, block] += 1
    return HandOvers(tuple(waits), tuple(_kept(given)))


def _waits_of(
    number: int,
    touch: Touch,
    given: Mapping[tuple[str, int], Sequence[tuple[int, int]]],
    passed: Mapping[tuple[str, int], int],
) -> list[Wait]:
    """Return what one instruction waits for: the hand-overs of its blocks by the other pipe, by giver."""
    head_start = 1 if touch.pipe == MATRIX else 0  # M has every block at first
    needed: dict[int, list[int]] = defaultdict(list)
    for block in touch.blocks:
        turn = passed.get((touch.pipe, block), 0) - head_start
        if turn < 0:
            continue
        by = given.get((_OTHER[touch.pipe], block), ())
        giver, place = by[turn] if turn < len(by) else (-1, 0)
        needed[giver].append(place + 1)
    return [Wait(number, giver, counts[0], max(counts)) for giver, counts in needed.items()]


def _kept(given: Mapping[tuple[str, int], Sequence[tuple[int, int]]]) -> list[tuple[int, int]]:
    """Return the instructions that handed blocks to FIX which never came back."""
    kept: dict[int, int] = defaultdict(int)
    for (pipe, block), by in given.items():
        back = len(given.get((OUT, block), ()))
        if pipe == MATRIX and len(by) > back:
            kept[by[back][0]] += 1
    return sorted(kept.items())
