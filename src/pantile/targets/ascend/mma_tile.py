"""``mma_tile`` of the AscendNPU-IR template library, as an instruction stream, in two of its revisions.

``seed`` is revision fbc7d51ed (2026-06-30), ``head`` revision 52f96a130b52 (2026-08-22). They differ in three
points: which flags a single-buffered call waits for and raises, which id tells M that a part is loaded, and
what becomes of the unit flag. Oddities of the library are reproduced, not mended; ``docs/ascend-core.md``
lists them.

Source: ascend-core.md section 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pantile.targets.ascend.elements import BIAS_POINTER, is_forwarded, parts
from pantile.targets.ascend.instructions import (
    Instruction,
    call,
    pipe_barrier,
    pointer,
    set_flag,
    wait_flag,
)
from pantile.targets.ascend.mma_call import ABSENT, Events, MmaCall
from pantile.targets.ascend.mma_loads import Part, load_left, load_right
from pantile.targets.ascend.mma_split import Split, split_of
from pantile.targets.ascend.unit_flag import LIBRARY_EVENT, enter

Revision = Literal["head", "seed"]
REVISIONS: tuple[Revision, ...] = ("head", "seed")

HF32_BIT = 1 << 49
_HF32_OFF = 0xFFFDFFFFFFFFFFFF
_BACK = ("PIPE_M", "PIPE_MTE1")
_LOADED = ("PIPE_MTE1", "PIPE_M")
_ARRIVED = ("PIPE_MTE2", "PIPE_MTE1")
_USED = ("PIPE_MTE1", "PIPE_MTE2")


@dataclass(frozen=True, slots=True)
class TileStream:
    """What one call emits.

    Attributes:
        instructions: In order.
        trapped: Whether it ends in a trap.
        was_disabled: The state byte of its unit-flag group afterwards (``head`` only).
    """

    instructions: tuple[Instruction, ...]
    trapped: bool
    was_disabled: bool


def mma_tile(mma: MmaCall, revision: Revision = "head") -> TileStream:
    """Return the instruction stream of one call in a revision of the library."""
    if 0 in (mma.m, mma.n, mma.k):
        return TileStream(tuple(_pass_on(mma.events)), trapped=False, was_disabled=mma.was_disabled)
    split = split_of(mma)
    stream: list[Instruction] = []
    mode, disabled = mma.unit_flag, mma.was_disabled
    if revision == "head":
        whole = split.cube_n == split.sum_columns
        before, mode, disabled = enter(mode, was_disabled=disabled, covers_block=whole)
        stream += before
    if not split.fits:
        return TileStream((*stream, call("trap")), trapped=True, was_disabled=disabled)
    own = [at for at, event in enumerate((mma.events.back0, mma.events.back1)) if event == ABSENT]
    stream += [set_flag(*_BACK, event) for event in own]
    for index in range(split.count):
        stream += _part(mma, split, revision, mode, index)
    stream += [wait_flag(*_BACK, event) for event in own]
    return TileStream(tuple(stream), trapped=False, was_disabled=disabled)


def _pass_on(events: Events) -> list[Instruction]:
    """What a call without work does: it takes and gives the caller's flags."""
    waits = [wait_flag(*_ARRIVED, each) for each in (events.l1a_wait, events.l1b_wait) if each != ABSENT]
    return waits + [set_flag(*_USED, each) for each in (events.l1a_set, events.l1b_set) if each != ABSENT]


def _part(mma: MmaCall, split: Split, revision: Revision, mode: int, index: int) -> list[Instruction]:
    """What one part of K emits."""
    events = mma.events
    first, last = index == 0, index + 1 == split.count
    half = _half_of(mma, split, index)
    back = (events.back0, events.back1)[half]
    own = half if back == ABSENT else back
    # Where L0 is used whole, revision head takes both halves, by their usual ids whatever was passed.
    frees = (0, 1) if revision == "head" and not split.is_double else (own,)
    loaded = LIBRARY_EVENT if revision == "head" else own
    left, right = _extents(mma, split, index, half * split.half_elements * mma.element.bytes)
    stream = [wait_flag(*_BACK, event) for event in frees]
    stream += _guarded(load_left(mma, split, left), first, last, events.l1a_wait, events.l1a_set)
    stream += _guarded(load_right(mma, split, right), first, last, events.l1b_wait, events.l1b_set)
    stream += _load_bias(mma, split)
    stream += [call("set_ctrl", HF32_BIT)] if mma.hf32 else []
    stream += [set_flag(*_LOADED, loaded), wait_flag(*_LOADED, loaded)]
    stream.append(_mad(mma, split, left, _unit_flag(mode, last), starts=mma.init and first))
    if not is_forwarded(split.sum_rows, mma.n):
        stream.append(pipe_barrier("PIPE_M"))
    stream += [set_flag(*_BACK, event) for event in frees]
    return stream + ([call("set_ctrl", HF32_BIT & _HF32_OFF)] if mma.hf32 else [])


def _guarded(loads: list[Instruction], first: bool, last: bool, arrived: int, used: int) -> list[Instruction]:
    """Loads of an operand between the caller's flags: the first part waits, the last one frees L1."""
    before = [wait_flag(*_ARRIVED, arrived)] if first and arrived != ABSENT else []
    return [*before, *loads, *([set_flag(*_USED, used)] if last and used != ABSENT else [])]


def _half_of(mma: MmaCall, split: Split, index: int) -> int:
    if not split.is_double:
        return 0
    turns = mma.events.kloop * split.count if mma.events.kloop != ABSENT else 0
    return (turns + index) % 2


def _extents(mma: MmaCall, split: Split, index: int, l0: int) -> tuple[Part, Part]:
    """Return one part as the loads of the left and of the right operand see it."""

    def part(k_part: int, k_ceil: int, k: int) -> Part:
        if index + 1 < split.count:
            return Part(index=index, k_part=k_part, k_ceil=k_part, k_actual=k_part, l0=l0)
        done = index * k_part
        return Part(index=index, k_part=k_part, k_ceil=k_ceil - done, k_actual=k - done, l0=l0)

    left = part(split.k_part, split.k_ceil, mma.k)
    if not mma.element.is_int4:
        return left, left
    return left, part(split.kb_part, split.kb_ceil, 2 * mma.k)


def _load_bias(mma: MmaCall, split: Split) -> list[Instruction]:
    """The bias is loaded in every part, and no event of its own guards it."""
    if mma.bias is None:
        return []
    width = mma.bias.bytes
    source = pointer("L1", mma.bias.block.address(width), BIAS_POINTER[mma.bias.dtype])
    return [call("copy_cbuf_to_bt", 0, source, int(width == 2), 1, parts(split.b_rows * width, 64), 0, 0)]


def _unit_flag(mode: int, last: bool) -> int:
    """Only the last part hands the result over; the earlier ones check that M may touch it."""
    if mode == 0:
        return 0
    return mode if last else 2


def _mad(mma: MmaCall, split: Split, part: Part, unit_flag: int, *, starts: bool) -> Instruction:
    """The product of one part. Its sizes are cut to 16 bits, as the library casts them."""
    element = mma.element
    twice = 2 if element.is_int4 else 1
    operand = "void" if element.is_int4 else element.pointer
    sizes = (split.sum_rows, twice * part.k_actual, twice * split.cube_n)
    return call(
        "mad_s4" if element.is_int4 else "mad",
        pointer("L0C", mma.c.address(4), element.accumulator),
        pointer("L0A", part.l0, operand),
        pointer("L0B", part.l0, operand),
        *(size & 0xFFFF for size in sizes),
        unit_flag,
        split.align_k and not element.is_int4,
        starts and mma.bias is not None,
        starts and mma.bias is None,
    )
