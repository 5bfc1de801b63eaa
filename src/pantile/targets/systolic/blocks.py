"""Do the blocks of a program's computes fit onto the arrays that they may run on?

ONNXim cuts a product by the height of core 0's array, and a convolution by its width, in columns as in
the reduction, and counts a block as if it filled any array once per row (quirks Q10, Q19). Where an array
is smaller than the block, its figures stand for more products per cycle than it has elements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.errors import OutsideModelError
from pantile.program.tables import Kind

if TYPE_CHECKING:
    from pantile.program.program import Program
    from pantile.targets.systolic.config import SystolicConfig


def require_blocks_fit(program: Program, config: SystolicConfig) -> None:
    """Raise unless no compute has more columns, or a longer reduction, than every array.

    Raises:
        OutsideModelError: Naming the first core whose array is too small, with both sizes.
    """
    depth, columns = _largest_block(program)
    for core, (height, width) in enumerate(zip(config.heights, config.widths, strict=True)):
        if depth > height or columns > width:
            raise OutsideModelError(
                f"blocks of {depth} x {columns} on an array of {height} x {width}, of core {core}: "
                f"ONNXim counts more products per cycle than it has elements (Q10, Q19)",
                mend="make the array square and no core's smaller than core 0's, or use --semantics faithful",
            )


def _largest_block(program: Program) -> tuple[int, int]:
    """Longest reduction and most columns of any compute."""
    columns_axis = program.axes.index("n" if "k" in program.axes else "m")
    depth = columns = 0
    for piece in program.pieces:
        boxes = piece.tables["box"][piece.tables["op"]["kind"] == Kind.COMPUTE]
        if len(boxes):
            along = boxes["length"][np.arange(len(boxes)), boxes["axis"]]
            depth = max(depth, int(np.minimum(boxes["step"], along).max()))
            columns = max(columns, int(boxes["length"][:, columns_axis].max()))
    return depth, columns
