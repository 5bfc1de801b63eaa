"""What a mapping does along one loop: tiles, blocks, and elements reached, lost or repeated.

Source: onnxim-model.md section 4, quirks Q4 to Q8.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pantile.tiling.onnxim import Mapping

ROLES = {
    "N": "rows",
    "C": "reduction elements",
    "M": "columns",
    "S": "kernel rows",
    "R": "kernel columns",
    "Q": "output rows",
    "P": "output columns",
}
"""What each loop counts."""


def ceil_div(a: int, b: int) -> int:
    """Return a / b rounded up."""
    return -(-a // b)


def round_up(size: int, grain: int) -> int:
    """Return the least multiple of *grain* that is not below *size*."""
    return ceil_div(size, grain) * grain


@dataclass(frozen=True, slots=True)
class AxisCut:
    """One loop, cut into tiles of *inner* elements that are processed in blocks of *side*.

    Attributes:
        total: Elements of the loop.
        outer: Tiles planned.
        inner: Nominal elements of a tile.
        side: Elements of a block.
        clipped: Whether blocks end at the tile's nominal end; if not, a tile's last block reaches into
            the next tile (rows and columns of a product, Q8).
    """

    total: int
    outer: int
    inner: int
    side: int
    clipped: bool

    @property
    def tiles(self) -> int:
        """Tiles that start inside the total."""
        return min(self.outer, ceil_div(self.total, self.inner)) if self.inner else 0

    @property
    def surplus(self) -> int:
        """Tiles that start at the total's end or beyond."""
        return self.outer - self.tiles

    @property
    def reach(self) -> int:
        """Elements from a tile's start to the end of its last block, before clipping at the total."""
        return self.inner if self.clipped else round_up(self.inner, self.side)

    @property
    def computed(self) -> int:
        """Elements processed, repeated ones counted again."""
        tiles, inner, reach = self.tiles, self.inner, self.reach
        whole = min(tiles, (self.total - reach) // inner + 1) if tiles and self.total >= reach else 0
        tails = tiles - whole
        starts = (whole + tiles - 1) * tails // 2 * inner  # their sum, an arithmetic series
        return whole * reach + tails * self.total - starts

    @property
    def covered(self) -> int:
        """Elements processed at least once: a prefix of the loop."""
        return min(self.total, (self.tiles - 1) * self.inner + self.reach) if self.tiles else 0

    @property
    def lost(self) -> int:
        """Elements never processed."""
        return self.total - self.covered

    @property
    def repeated(self) -> int:
        """Elements processed again."""
        return self.computed - self.covered

    @property
    def final_stages(self) -> int:
        """Tiles that reach the total's end, surplus ones among them; a product stores after each (Q6)."""
        return max(0, self.outer - ceil_div(self.total, self.inner) + 1) if self.inner else 0

    @property
    def blocks(self) -> int:
        """Blocks of all tiles."""
        if not self.tiles:
            return 0
        last = min(self.inner, self.total - (self.tiles - 1) * self.inner)
        return (self.tiles - 1) * ceil_div(self.inner, self.side) + ceil_div(last, self.side)

    @property
    def block_sizes(self) -> Counter[int]:
        """How many blocks have which size, where blocks end at their tile's end."""
        sizes: Counter[int] = Counter()
        if self.tiles:
            last = min(self.inner, self.total - (self.tiles - 1) * self.inner)
            for count, size in ((self.tiles - 1, self.inner), (1, last)):
                sizes[self.side] += count * (size // self.side)
                if size % self.side:
                    sizes[size % self.side] += count
        return sizes


def gemm_axes(mapping: Mapping, height: int) -> dict[str, AxisCut]:
    """Return the loops of a product on an array of *height* rows, by ONNXim's letter."""
    return {
        letter: AxisCut(
            mapping.total[letter], mapping.outer[letter], mapping.inner[letter], height, letter == "C"
        )
        for letter in "NCM"
    }


CONVOLUTION_ORDER = "NPQMSRC"
"""Loops over a convolution's tiles, outermost first (onnxim-conv.md C3)."""


def convolution_axes(mapping: Mapping, width: int) -> dict[str, AxisCut]:
    """Return the loops of a convolution on an array of *width* columns; every loop is clipped."""
    return {
        letter: AxisCut(
            mapping.total[letter],
            mapping.outer[letter],
            mapping.inner[letter],
            width if letter in "CMQP" else 1,
            True,
        )
        for letter in CONVOLUTION_ORDER
    }
