"""Whether a call of ``mma_tile`` fits a core.

The library looks at L0 alone, by constants of its own, and traps. That operands fit L1, the result L0C and
the bias its table is left to its caller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.errors import CapacityError, PantileError
from pantile.targets.ascend.elements import FRACTAL_ROWS, up
from pantile.targets.ascend.mma_split import L0_BYTES, split_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pantile.targets.ascend.mma_call import MmaCall


def capacity_problems(mma: MmaCall, capacities: Mapping[str, int]) -> list[PantileError]:
    """Return one problem per buffer that a call overflows, each with both numbers; L0 first.

    Args:
        mma: The call.
        capacities: Bytes of each buffer.
    """
    needs = [_l0(mma)] if mma.m and mma.n and mma.k else []
    c, element = mma.c, mma.element
    rows, columns = c.sizes[1] * c.sizes[2], c.sizes[0] * c.sizes[3]
    needs.append(("L0C", c.address(4) + 4 * c.elements, f"{rows} x {columns} sums of 4 B"))
    blocks, what = [(mma.a, element.bytes), (mma.b, element.bytes)], "both operands"
    if mma.bias is not None:
        blocks.append((mma.bias.block, mma.bias.bytes))
        what = "both operands and the bias"
        needs.append(("BT", 4 * mma.n, f"the bias of {mma.n} columns of 4 B"))
    end = max(block.address(width) + block.elements * width for block, width in blocks)
    needs.append(("L1", end, what))
    return [
        CapacityError(
            f"{buffer} needs {need} B of {capacities[buffer]} B for {what}", mend="make the tile smaller"
        )
        for buffer, need, what in needs
        if need > capacities.get(buffer, need)
    ]


def _l0(mma: MmaCall) -> tuple[str, int, str]:
    """Return what the smallest part of K takes of the L0 buffer that fills up first."""
    split = split_of(mma)
    step = max(FRACTAL_ROWS, mma.element.block)
    wide_b = 2 * split.b_rows if mma.element.is_int4 else split.b_rows
    buffer = "L0A" if split.a_rows >= wide_b else "L0B"
    need = up(split.widest, step) * step * mma.element.bytes
    assert split.fits == (need <= L0_BYTES)
    return buffer, need, f"{split.widest} rows of {step} elements of K, the smallest part"
