"""Whether what is read from copies was moved there: the tile, one around it, or all of its parts.

Source: tile-language.md section 3: a statement on a copy says nothing of its bytes; moves do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.program.language.index import dense

if TYPE_CHECKING:
    from pantile.program.language.access import Touches
    from pantile.program.language.geometry import Geometry, Ints


def unfilled(geometry: Geometry, reads: Touches, fills: Touches, copies: int) -> Ints:
    """Return the rows of *reads* whose operand tile is never moved into the copy that holds it.

    Args:
        geometry: Boxes of the tiles.
        reads: What is read of one operand.
        fills: What is moved of it.
        copies: Number of copies with a state; what others hold is looked after elsewhere.
    """
    rows = np.flatnonzero((reads.found.owner >= 0) & (reads.found.owner < copies))
    if not len(rows):
        return rows
    span = 1 + max(int(each.found.generation.max(initial=0)) for each in (reads, fills))
    into, out_of = (each.found.owner * span + each.found.generation for each in (fills, reads))
    whole = geometry.depth[fills.tile] <= fills.found.depth  # the usual move: all that the copy holds
    rows = rows[~np.isin(out_of[rows], into[whole])]
    kept = fills.found.owner >= 0
    for depth in range(int(geometry.depth[fills.tile].max(initial=-1)) + 1):
        around = np.flatnonzero(kept & (geometry.depth[fills.tile] == depth))
        inside = geometry.depth[reads.tile[rows]] >= depth
        deep = rows[inside]
        have, want = _pairs(geometry, reads.operand, depth, (into, fills, around), (out_of, reads, deep))
        rows = np.concatenate([rows[~inside], deep[~np.isin(want, have)]])
    for depth in np.unique(geometry.depth[reads.tile[rows]]).tolist():
        parts = np.flatnonzero(kept & (geometry.depth[fills.tile] > depth))
        level = geometry.depth[reads.tile[rows]] == depth
        mine = rows[level]
        have, want = _pairs(geometry, reads.operand, depth, (into, fills, parts), (out_of, reads, mine))
        moved = _bytes_by_group(geometry, fills, parts, into[parts], have, int(want.max(initial=0)) + 1)
        complete = moved[want] >= geometry.sizes(reads.operand, reads.tile[mine], depth)
        rows = np.concatenate([rows[~level], mine[~complete]])
    return np.sort(rows)


def _pairs(
    geometry: Geometry, operand: int, depth: int, *sides: tuple[Ints, Touches, Ints]
) -> tuple[Ints, Ints]:
    """Return numbers that tell copy and operand tile at *depth* apart, for chosen rows of both sides."""
    first, second = (
        (copy[rows], geometry.keys(operand, touches.tile[rows], depth, touches.place[rows]))
        for copy, touches, rows in sides
    )
    copy = dense(np.concatenate([first[0], second[0]]))[1]
    tile = dense(np.concatenate([first[1], second[1]]))[1]
    pair = dense(copy * (int(tile.max(initial=0)) + 1) + tile)[1]
    return pair[: len(first[0])], pair[len(first[0]) :]


def _bytes_by_group(
    geometry: Geometry, fills: Touches, rows: Ints, copy: Ints, group: Ints, groups: int
) -> Ints:
    """Return the bytes that parts of each group bring, a part that is moved twice counted once."""
    box = [geometry.lo[-1, axis, fills.tile[rows]] for axis in geometry.operands.axes[fills.operand]]
    columns = np.stack([copy, group, geometry.depth[fills.tile[rows]], *box])
    _, once = np.unique(columns, axis=1, return_index=True)
    moved = np.zeros(max(groups, int(group.max(initial=0)) + 1), np.int64)
    np.add.at(moved, group[once], geometry.sizes(fills.operand, fills.tile[rows][once], -1))
    return moved
