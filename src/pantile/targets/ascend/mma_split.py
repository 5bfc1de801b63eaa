"""How ``mma_tile`` cuts K into parts that fit L0.

Source: ascend-core.md section 2.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.targets.ascend.elements import FRACTAL_ROWS, parts, up

if TYPE_CHECKING:
    from pantile.targets.ascend.mma_call import MmaCall

L0_BYTES = 65536
"""Size of L0A and of L0B, a constant of the library: it does not ask the SoC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Derived sizes of one call; *element* is what an address counts.

    Attributes:
        a_rows: M that the left operand's block is padded to; *a_depth* is its K.
        a_depth: K that it is padded to.
        b_rows: N that the right operand's block is padded to.
        b_depth: K that it is padded to.
        widest: The larger of both operands' rows: what decides how much K fits.
        sum_rows: M that the cube is told: the height of the result's block.
        sum_columns: N that the result's block is padded to.
        k_ceil: K, padded as loads pad it.
        kb_ceil: The same of int4's right operand, whose rows are single elements.
        cube_n: N that the cube is told.
        align_k: Whether the cube is told that K is padded to 16.
        is_double: Whether L0 is used in two halves.
        half_elements: Elements of what L0 is used in: a half, or all of it.
        k_part: K of one part; 0 if nothing fits.
        kb_part: The same of int4's right operand.
        count: Number of parts.
    """

    a_rows: int
    a_depth: int
    b_rows: int
    b_depth: int
    widest: int
    sum_rows: int
    sum_columns: int
    k_ceil: int
    kb_ceil: int
    cube_n: int
    align_k: bool
    is_double: bool
    half_elements: int
    k_part: int
    kb_part: int
    count: int

    @property
    def fits(self) -> bool:
        """Whether the smallest part fits L0; if not, the library traps."""
        return self.k_part > 0


def split_of(call: MmaCall) -> Split:
    """Return the derived sizes of *call*."""
    element, block = call.element, call.element.block
    a, b, c = call.a.sizes, call.b.sizes, call.c.sizes
    a_rows, a_depth = (a[0] * a[3], a[1] * a[2]) if call.ta else (a[1] * a[2], a[0] * a[3])
    b_rows, b_depth = (b[1] * b[2], b[0] * b[3]) if call.tb else (b[0] * b[3], b[1] * b[2])
    widest = max(a_rows, 2 * b_rows if element.is_int4 else b_rows)
    align_k = element.bytes == 4 and call.ta
    k_ceil = up(call.k, block)
    step = max(FRACTAL_ROWS, block)
    half, k_part = _half(L0_BYTES // 2 // element.bytes, widest, step)
    is_double = k_part > 0
    if not is_double:
        half, k_part = _half(L0_BYTES // element.bytes, widest, step)
    return Split(
        a_rows=a_rows,
        a_depth=a_depth,
        b_rows=b_rows,
        b_depth=b_depth,
        widest=widest,
        sum_rows=c[1] * c[2],
        sum_columns=c[0] * c[3],
        k_ceil=up(k_ceil, FRACTAL_ROWS) if align_k else k_ceil,
        kb_ceil=up(2 * call.k, block) if element.is_int4 else 0,
        cube_n=_cube_n(call, align_k),
        align_k=align_k,
        is_double=is_double,
        half_elements=half,
        k_part=k_part,
        kb_part=2 * k_part if element.is_int4 and a_rows < b_rows else k_part,
        count=parts(call.k, k_part) if k_part else 0,
    )


def _half(elements: int, widest: int, step: int) -> tuple[int, int]:
    """Return *elements*, and how much K fits beside *widest* rows, in steps."""
    padded = up(widest, step)
    return elements, elements // padded // step * step if padded else 0


def _cube_n(call: MmaCall, align_k: bool) -> int:
    """Return N as the cube is told: bytes come in the columns that a load delivers."""
    if align_k:
        return up(call.n, FRACTAL_ROWS)
    if call.element.bytes == 1 and not call.element.is_int4:
        return up(call.n, FRACTAL_ROWS if call.tb else call.element.block)
    return call.n
