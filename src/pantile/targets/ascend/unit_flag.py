"""The unit flag: how M and FIX hand blocks of the result to one another without flags of their pipes.

Source: ascend-core.md sections 1.5 and 2.4.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from pantile.targets.ascend.instructions import set_flag, wait_flag

if TYPE_CHECKING:
    from pantile.targets.ascend.instructions import Instruction

LIBRARY_EVENT = 7
"""The id that the template library keeps for itself."""


class UnitFlag(IntEnum):
    """Modes of a ``mad`` and of a copy out of L0C."""

    OFF = 0
    RESERVED = 1
    CHECK = 2
    """Wait until the block is one's own, and keep it."""
    HAND_OVER = 3
    """Wait until the block is one's own, then give it to the other side."""


def enter(mode: int, *, was_disabled: bool, covers_block: bool) -> tuple[list[Instruction], int, bool]:
    """Return what revision ``head`` emits before a tile, the mode it goes on with, and the state it leaves.

    Args:
        mode: The mode asked for.
        was_disabled: Whether the last tile of the group took the hand-over back, so that FIX still owes M.
        covers_block: Whether the tile computes every column of the result's block. If not, some blocks
            would never be handed over, and the tile keeps them.
    """
    if mode == UnitFlag.OFF:
        return [], mode, was_disabled
    ends = ("PIPE_FIX", "PIPE_M", LIBRARY_EVENT)
    before = [set_flag(*ends), wait_flag(*ends)] if was_disabled else []
    if mode == UnitFlag.CHECK and was_disabled:
        return before, int(UnitFlag.OFF), False
    if mode == UnitFlag.HAND_OVER:
        return (before, mode, False) if covers_block else (before, int(UnitFlag.CHECK), True)
    return before, mode, was_disabled
