"""What a ``load_store`` moves: neither its direction nor its operands are written out.

Toward compute it moves the input operands, and the output's partial sums unless this is the first reduction
step: those that the program moved away before they were complete. Away from compute it moves the output when
this is the last reduction step, or a spill is forced. Between places that are equally near it moves the
inputs. A tile of one operand moves that operand, whatever the step.

Source: tile-language.md section 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pantile.program.language.geometry import ALL
from pantile.program.language.index import tile_index
from pantile.program.language.recorder import REUSE, SPILL

if TYPE_CHECKING:
    from pantile.program.language.geometry import Geometry, Ints
    from pantile.program.language.ops import Ops


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """Operand tiles that are moved, in order of operations; one row each.

    Attributes:
        op: The load_store.
        operand: The operand.
        tile: The tile, whose operand tile is moved.
        src: Place it comes from.
        dst: Place it goes to.
        reuse: Whether it may be left out where it is present.
    """

    op: Ints
    operand: Ints
    tile: Ints
    src: Ints
    dst: Ints
    reuse: np.ndarray

    def __len__(self) -> int:
        return len(self.op)

    def where(self, chosen: np.ndarray) -> Moves:
        """Return the chosen rows."""
        return Moves(
            self.op[chosen],
            self.operand[chosen],
            self.tile[chosen],
            self.src[chosen],
            self.dst[chosen],
            self.reuse[chosen],
        )


def moves_of(ops: Ops, geometry: Geometry, rows: Ints, src: Ints, dst: Ints, levels: Ints) -> Moves:
    """Return what the load_stores *rows* move.

    Args:
        ops: All operations.
        geometry: Boxes of the tiles.
        rows: The load_stores.
        src: Place that each moves from.
        dst: Place that each moves to.
        levels: How near to compute each place is.
    """
    operands, output = geometry.operands, geometry.operands.output
    tile, flags = ops.tile[rows], ops.flags[rows]
    named = geometry.operand[tile]
    toward, away = levels[dst] > levels[src], levels[dst] < levels[src]
    moved = np.equal.outer(named, np.arange(len(operands.names)))
    for operand in operands.inputs:
        moved[:, operand] |= (named == ALL) & ~away & _moves_here(geometry, operand, tile)
    leaves = (named == ALL) & away & (geometry.last_step(tile) | (flags & SPILL > 0))
    moved[:, output] |= leaves & _moves_here(geometry, output, tile)
    returns = np.flatnonzero((named == ALL) & toward & ~geometry.first_step(tile))
    spills = np.flatnonzero(moved[:, output] & away)
    others = rows[spills] - spills  # operations before each that are no load_stores
    found = _spilled(geometry, tile, src, dst, returns, spills, others, len(levels))
    moved[returns[found], output] = True
    row, which = np.nonzero(moved)
    reuse = (flags[row] & REUSE) > 0
    return Moves(rows[row], which, tile[row], src[row], dst[row], reuse)


def _moves_here(geometry: Geometry, operand: int, tile: Ints) -> np.ndarray:
    """Whether each tile's level is one at which the operand is moved; elsewhere its copy is held."""
    tiling, name = geometry.tiling, geometry.operands.names[operand]
    allowed = [True, *(tiling.moves_at(name, level.name) for level in tiling.levels)]
    return np.array(allowed)[geometry.depth[tile]]


def _repeated(ids: Ints, others: Ints) -> np.ndarray:
    """Whether each store is one of several of its tile between which more is done than moving."""
    tiles, which = np.unique(ids, return_inverse=True)
    least, most = np.full(len(tiles), np.iinfo(np.int64).max), np.full(len(tiles), -1)
    np.minimum.at(least, which, others)
    np.maximum.at(most, which, others)
    return np.asarray((most > least)[which])


def _spilled(
    geometry: Geometry,
    tile: Ints,
    src: Ints,
    dst: Ints,
    returns: Ints,
    spills: Ints,
    others: Ints,
    places: int,
) -> np.ndarray:
    """Whether each of *returns* finds partial sums where it loads from: some spill moved them there.

    A spill is a move away before the last reduction step, or one that is repeated for the same output tile
    after something else was done; *others* counts, for each of *spills*, what was done before it but moves.
    """
    output = geometry.operands.output
    pairs, pair = np.unique(
        np.concatenate([src[spills] * places + dst[spills], dst[returns] * places + src[returns]]),
        return_inverse=True,
    )
    assert len(pairs) >= 0
    left, back = pair[: len(spills)], pair[len(spills) :]

    def index(rows: Ints, where: Ints) -> tuple[object, Ints]:
        depths = geometry.depth[tile[rows]]
        made = tile_index(geometry, np.full(len(rows), output), tile[rows], depths, where)
        return made, made.ids

    _, ids = index(spills, left)
    repeated = _repeated(ids, others)
    whole = geometry.operand[tile[spills]] == ALL
    partial = repeated | (whole & ~geometry.last_step(tile[spills]))
    spills, left = spills[partial], left[partial]
    around = tile_index(
        geometry, np.full(len(spills), output), tile[spills], geometry.depth[tile[spills]], left
    ).nearest(output, tile[returns], back)
    inside = tile_index(
        geometry, np.full(len(returns), output), tile[returns], geometry.depth[tile[returns]], back
    )
    hit = inside.nearest(output, tile[spills], left)
    return np.asarray((around >= 0) | np.isin(inside.ids, hit[hit >= 0]))
