"""Whether a block fits the memories; on the chips that the source knows it always does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.planners.cann import stages

if TYPE_CHECKING:
    from pantile.planners.cann.asw_basic import AswBasic


def violated(asw: AswBasic) -> str:
    """Return the memory that a plan overflows, with what it needs and what there is; empty if none."""
    f, m, n, k = asw.figures, asw.base_m, asw.base_n, asw.base_k
    size = f.element_bytes
    block = f"a block of {m} x {n} x {k}"
    if asw.steps < 1:
        room = stages.available_l1(f, n)
        needed = max(2 * (m + n) * k * size, 4 * max(m, n) * k * size - f.l1 + room)
        return f"{block} needs {needed} B of L1, which has {room} B"
    for memory, needed, capacity in (
        ("L0A", 2 * m * k * size, f.l0a),
        ("L0B", 2 * n * k * size, f.l0b),
        ("L0C", asw.packed.l0c_db * m * n * 4, f.l0c),
        ("the bias table", n * 4 if f.bias_bytes else 0, f.bt),
    ):
        if needed > capacity:
            return f"{block} needs {needed} B of {memory}, which has {capacity} B"
    return ""
