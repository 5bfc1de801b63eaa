"""First and last reduction steps of a tile's outputs, in whole boxes and in domains.

Source: tile-language.md sections 1 and 5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pantile.tiling.tiling import Tiling


def begins_reduction(tiling: Tiling, start: Sequence[int], stop: Sequence[int]) -> bool:
    """Whether nothing is added to the outputs of a box from before it along any reduction.

    >>> from pantile.tiling.domain import Domain
    >>> from pantile.tiling.notation import tiling
    >>> band = tiling(total=(8, 4, 8), domain=Domain("0 <= t - i < 3"), D=(4, 1, 4), S=...)
    >>> begins_reduction(band, (4, 0, 2), (6, 4, 4)), begins_reduction(band, (4, 0, 4), (6, 4, 6))
    (True, False)
    """
    return _is_end(tiling, start, stop, before=True)


def ends_reduction(tiling: Tiling, start: Sequence[int], stop: Sequence[int]) -> bool:
    """Whether nothing is added to the outputs of a box from beyond it along any reduction."""
    return _is_end(tiling, start, stop, before=False)


def _is_end(tiling: Tiling, start: Sequence[int], stop: Sequence[int], *, before: bool) -> bool:
    axes = [tiling.axis(letter) for letter in tiling.reductions]
    if not tiling.inequalities:
        return all(start[axis] == 0 if before else stop[axis] == tiling.total[axis] for axis in axes)
    box = [
        (0, total) if axis in axes else (first, last)
        for axis, (total, first, last) in enumerate(zip(tiling.total, start, stop, strict=True))
    ]
    for axis in axes:
        rest = (0, start[axis]) if before else (stop[axis], tiling.total[axis])
        if tiling.count((*box[:axis], rest, *box[axis + 1 :])):
            return False
    return True
