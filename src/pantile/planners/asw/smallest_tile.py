"""What every memory of a core must hold for any tile at all: one grain along each axis.

Source: asw-theory.md section 2 (grain), sections 5 and 6.1 (two moves of each operand in L0A, L0B and L1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.planners.asw.candidates import DOUBLE_BUFFER
from pantile.planners.asw.entry import ACCUMULATOR_BYTES
from pantile.planners.asw.l0_tile import PING_PONG

if TYPE_CHECKING:
    from pantile.planners.asw.chip import Chip
    from pantile.planners.asw.problem import Problem


def too_small(problem: Problem, chip: Chip) -> str:
    """Return which memory holds not even the smallest tile, with its two numbers; empty if all do.

    >>> from pantile.planners.asw.chip import Chip
    >>> from pantile.planners.asw.problem import Problem
    >>> too_small(Problem(m=64, n=64, k=64), Chip(l0c_bytes=1023))
    'a 16 x 16 tile takes 1024 B of L0C, which holds 1023 B'
    """
    grain, width = chip.grain, problem.element_bytes
    step = grain * grain * width
    if chip.l0c_bytes < grain * grain * ACCUMULATOR_BYTES:
        need = grain * grain * ACCUMULATOR_BYTES
        return f"a {grain} x {grain} tile takes {need} B of L0C, which holds {chip.l0c_bytes} B"
    for name, held in (("L0A", chip.l0a_bytes), ("L0B", chip.l0b_bytes)):
        if held < PING_PONG * step:
            return (
                f"two steps of {grain} along k for a {grain} x {grain} tile take {PING_PONG * step} B of "
                f"{name}, which holds {held} B"
            )
    need = DOUBLE_BUFFER * 2 * step
    if chip.l1_bytes < need:
        return (
            f"constraint 2: two moves of {grain} along k for a {grain} x {grain} block take {need} B of L1, "
            f"which holds {chip.l1_bytes} B"
        )
    return ""
