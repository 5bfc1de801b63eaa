"""Code around a call of ``mma_tile``, which keeps its side of the flags that it passes.

A call alone waits for flags that nobody raises. To be checked it needs a caller: one that loads the operands,
raises what the call waits for, takes what it raises, and then loads the next operands over those used up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.targets.ascend.elements import BIAS_POINTER, BLOCK_BYTES, parts
from pantile.targets.ascend.instructions import (
    Instruction,
    call,
    pipe_barrier,
    pointer,
    set_flag,
    wait_flag,
)
from pantile.targets.ascend.mma_call import ABSENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pantile.targets.ascend.memref import Memref
    from pantile.targets.ascend.mma_call import MmaCall


@dataclass(frozen=True, slots=True)
class InCaller:
    """A call with its caller's code.

    Attributes:
        stream: All instructions.
        lines: Lines of the call's own listing, from 1; what comes before has 0 and less.
    """

    stream: tuple[Instruction, ...]
    lines: tuple[int, ...]


def in_caller(mma: MmaCall, instructions: Sequence[Instruction]) -> InCaller:
    """Return the stream of a call between the code of a caller that passes its events."""
    before, after = _before(mma), _after(mma)
    lines = range(1 - len(before), 1 + len(instructions) + len(after))
    return InCaller((*before, *instructions, *after), tuple(lines))


def _before(mma: MmaCall) -> list[Instruction]:
    """Loads and flags; operands whose event is not passed are made ready by a barrier."""
    events = mma.events
    stream = [
        set_flag("PIPE_M", "PIPE_MTE1", event) for event in (events.back0, events.back1) if event != ABSENT
    ]
    if mma.bias is not None:  # first: no event of its own guards it
        elem = BIAS_POINTER[mma.bias.dtype]
        stream += _load(mma.bias.block, mma.bias.bytes, elem, "GM_BIAS")
    for block, tensor, event in ((mma.a, "GM_A", events.l1a_wait), (mma.b, "GM_B", events.l1b_wait)):
        stream += _load(block, mma.element.bytes, mma.element.pointer, tensor)
        stream += [set_flag("PIPE_MTE2", "PIPE_MTE1", event)] if event != ABSENT else []
    if ABSENT in (events.l1a_wait, events.l1b_wait):
        stream.append(pipe_barrier("PIPE_ALL"))
    return stream


def _after(mma: MmaCall) -> list[Instruction]:
    events = mma.events
    stream: list[Instruction] = []
    for block, tensor, event in ((mma.a, "GM_A", events.l1a_set), (mma.b, "GM_B", events.l1b_set)):
        if event != ABSENT:
            stream.append(wait_flag("PIPE_MTE1", "PIPE_MTE2", event))
            stream += _load(block, mma.element.bytes, mma.element.pointer, f"{tensor}_NEXT")
    passed = [event for event in (events.back0, events.back1) if event != ABSENT]
    return stream + [wait_flag("PIPE_M", "PIPE_MTE1", event) for event in passed]


def _load(block: Memref, width: int, elem: str, tensor: str) -> list[Instruction]:
    """Return the copy of a whole block to L1, laid out in GM as it is there."""
    blocks = parts(block.elements * width, BLOCK_BYTES)
    if not blocks:
        return []
    to, source = pointer("L1", block.address(width), elem), pointer(tensor, 0, elem)
    return [call("copy_gm_to_cbuf", to, source, 0, 1, blocks, 0, 0, "PAD_NONE")]
