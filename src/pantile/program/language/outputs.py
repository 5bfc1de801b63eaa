"""Output tiles without a state: born at the first compute that accumulates into them, ended when stored.

Source: tile-language.md section 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pantile.program.language.index import TileIndex, tile_index

if TYPE_CHECKING:
    from pantile.program.language.geometry import Geometry, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Outputs:
    """Output tiles that are touched somewhere; those inside another one lie in it.

    Attributes:
        index: Every output tile that is touched, by place.
        root: Number of the outermost tile around each.
        place: Where each outermost tile is.
        depth: Its depth.
        sizes: Its bytes.
    """

    index: TileIndex
    root: Ints
    place: Ints
    depth: Ints
    sizes: Ints

    def find(self, tiles: Ints, places: Ints) -> Ints:
        """Return the number of the outermost output tile that holds each tile's output, or -1."""
        found = self.index.outermost(self.index.geometry.operands.output, tiles, places)
        return np.where(found >= 0, self.root[found], -1) if len(self.root) else found


def outputs_of(geometry: Geometry, tiles: Ints, places: Ints) -> Outputs:
    """Return the output tiles of *tiles* at *places*; one row per mention, in order of operations."""
    output = geometry.operands.output
    depth = geometry.depth[tiles]
    index = tile_index(geometry, np.full(len(tiles), output), tiles, depth, places)
    tile, place = tiles[index.rows], places[index.rows]
    outermost = index.outermost(output, tile, place)
    roots, root = np.unique(outermost, return_inverse=True)
    tile, place = tile[roots], place[roots]
    depth = geometry.depth[tile]
    return Outputs(index, root.reshape(-1), place, depth, geometry.sizes(output, tile, depth))
