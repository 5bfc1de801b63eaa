"""How a product is cut for a grid of chiplets, and the memory that a cut takes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.errors import MappingError, Place
from pantile.tiling.cut import ceil_div
from pantile.tiling.notation import tiling as make_tiling

if TYPE_CHECKING:
    from pantile.planners.mesh.product import Product
    from pantile.tiling.tiling import Tiling

_TEXT = re.compile(
    r"\s*\[grid\]\s*(\d{1,9})\s*x\s*(\d{1,9})\s*"
    r"\[pieces\]\s*b(\d{1,9})\s+m(\d{1,9})\s+n(\d{1,9})\s+k(\d{1,9})\s*\[slots\]\s*(\d{1,9})\s*"
)
EXAMPLE = "[grid] 2x2 [pieces] b1 m2 n2 k4 [slots] 2"


@dataclass(frozen=True, slots=True)
class Cut:
    """A cut into pieces, the grid that works on them, and the slots for them.

    Attributes:
        grid: Rows and columns of the chiplets that work.
        pieces: Pieces along b, m, n and k. Those along m are a multiple of the rows, those along n of the
            columns: the first ones are computed in the first round, and so on.
        slots: Shards that each buffer holds.
    """

    grid: tuple[int, int]
    pieces: tuple[int, int, int, int]
    slots: int

    @property
    def rounds(self) -> tuple[int, int]:
        """Rounds along m and along n."""
        return self.pieces[1] // self.grid[0], self.pieces[2] // self.grid[1]

    def shard_sizes(self, product: Product) -> tuple[int, int, int]:
        """Return the longest piece along m, n and k."""
        _, m, n, k = (ceil_div(size, count) for size, count in zip(product.sizes, self.pieces, strict=True))
        return m, n, k

    def bytes_needed(self, product: Product, buffers: int) -> int:
        """Return what a chiplet's memory must hold: slots of both inputs, and a block of the output.

        Args:
            product: What is cut.
            buffers: Buffers of each input on every chiplet.
        """
        m, n, k = self.shard_sizes(product)
        a, b, out = product.widths
        return buffers * self.slots * (m * k * a + k * n * b) + m * n * out

    def tiling(self, product: Product) -> Tiling:
        """Return the cut as a tiling: pieces, and the elements of the longest one.

        Pieces that do not divide a size differ by one element at most.
        """
        cuts = [_cut(size, count) for size, count in zip(product.sizes, self.pieces, strict=True)]
        elements = (1, *self.shard_sizes(product))
        return make_tiling(product.subscripts, total=product.sizes, shard=tuple(cuts), element=elements)

    def __str__(self) -> str:
        rows, columns = self.grid
        counts = " ".join(f"{name}{count}" for name, count in zip("bmnk", self.pieces, strict=True))
        return f"[grid] {rows}x{columns} [pieces] {counts} [slots] {self.slots}"


def _cut(size: int, count: int) -> int | list[int]:
    return count if size % count == 0 else [size * each // count for each in range(1, count)]


def parse_cut(text: str) -> Cut:
    """Return the cut that *text* describes.

    >>> str(parse_cut("[grid] 2x2 [pieces] b1 m2 n2 k4 [slots] 2"))
    '[grid] 2x2 [pieces] b1 m2 n2 k4 [slots] 2'

    Raises:
        MappingError: If it describes none.
    """
    match = _TEXT.fullmatch(text)
    if match is None:
        raise MappingError(f"expected a mapping such as {EXAMPLE!r}, got {text!r}", place=Place("--mapping"))
    rows, columns, b, m, n, k, slots = (int(each) for each in match.groups())
    if min(rows, columns, b, m, n, k, slots) < 1:
        raise MappingError(f"every count must be at least 1, got {text!r}", place=Place("--mapping"))
    return Cut((rows, columns), (b, m, n, k), slots)
