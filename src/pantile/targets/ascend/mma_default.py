"""A call of ``mma_tile`` where nobody says where its operands lie: one after another in L1, without a gap.

The right operand begins at 128 KiB where the left one ends before, and the bias in the last 4 KiB where those
are free, as the recorded calls have it.
"""

from __future__ import annotations

from pantile.targets.ascend.elements import BLOCK_BYTES, Element, up
from pantile.targets.ascend.memref import dense, left_extents, right_extents, sum_extents
from pantile.targets.ascend.mma_call import Bias, Events, MmaCall

_RIGHT_BASE = 131072
_BIAS_ROOM, _BIAS_STEP = 4096, 64
L1_BYTES = 524288


def default_call(
    element: Element,
    m: int,
    n: int,
    k: int,
    *,
    ta: bool = False,
    tb: bool = False,
    hf32: bool = False,
    bias: str | None = None,
    init: bool = True,
    events: Events | None = None,
    unit_flag: int = 0,
    l1_bytes: int = L1_BYTES,
) -> MmaCall:
    """Return the call with blocks as small as the type and the transposes allow.

    Of int4, *n* and *k* count bytes, as the library's arguments do.

    Args:
        element: Type of both operands.
        m: Rows of the result.
        n: Columns of the result.
        k: The reduction.
        ta: Whether the left operand is stored transposed.
        tb: Whether the right operand is.
        hf32: Whether fp32 is rounded to HF32.
        bias: Type of the bias, if there is one.
        init: Whether the sum starts anew.
        events: Event ids.
        unit_flag: Mode of the hand-over to FIX.
        l1_bytes: Size of L1, at whose end the bias lies.

    Raises:
        ProgramError: If the library has no such call; all problems at once.
    """
    a = dense(0, left_extents(element, m, k, transposed=ta))
    end = up(a.elements * element.bytes, BLOCK_BYTES)
    b = dense(max(end, _RIGHT_BASE), right_extents(element, n, k, transposed=tb))
    c = dense(0, sum_extents(element, m, n, ta=ta, tb=tb))
    used = up(b.base + b.elements * element.bytes, _BIAS_STEP)
    block = dense(max(l1_bytes - _BIAS_ROOM, used), (1, 1, 1, n))
    return MmaCall(
        element=element,
        ta=ta,
        tb=tb,
        hf32=hf32,
        init=init,
        m=m,
        n=n,
        k=k,
        a=a,
        b=b,
        c=c,
        bias=None if bias is None else Bias(bias, block),
        events=events or Events(),
        unit_flag=unit_flag,
    )
