"""Which operations must be recorded so that it can be told what the listed ones waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.program.tables import Kind
from pantile.targets.systolic.rows import RESIDENT_LIMIT

if TYPE_CHECKING:
    import numpy.typing as npt

    from pantile.verbs.listing import Listing


def with_releasers(listing: Listing) -> range:
    """Return the operations of *listing* and, before them, those that may have released one of them.

    What releases an operation stands in its own tile, in an earlier tile of its output region, in the
    other tile that was resident on its core, or is the compute that left the array's pipeline for it.
    """
    rows = listing.tile_rows
    region = rows["region"][listing.tiles[0]]
    first = int(np.searchsorted(rows["region"], region))  # tiles of a region follow one another
    before = [_earlier(listing, first, core) for core in np.unique(listing.cores[listing.tiles])]
    return range(int(listing.starts[min(first, *before)]), listing.window.stop)


def _earlier(listing: Listing, first: int, core: int) -> int:
    """The earliest tile of *core* before tile *first* that can have been resident with a later one."""
    mine = np.flatnonzero(listing.cores[:first] == core)[::-1]
    if not len(mine):
        return first
    in_pipeline = listing.config.heights[core]
    filled = int(np.searchsorted(np.cumsum(_computes(listing)[mine]), in_pipeline)) + 1
    return int(mine[min(max(filled, RESIDENT_LIMIT), len(mine)) - 1])


def _computes(listing: Listing) -> npt.NDArray[np.int64]:
    """Computes of every tile."""
    tables = [piece.tables["op"] for piece in listing.program.pieces]
    by_piece = np.array([int(ops["count"][ops["kind"] == Kind.COMPUTE].sum()) for ops in tables], np.int64)
    counts: npt.NDArray[np.int64] = by_piece[listing.tile_rows["piece"]]
    return counts
