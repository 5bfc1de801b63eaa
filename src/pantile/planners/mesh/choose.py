"""The choice of pieces: the fewest bytes from memories off chip that fit the chiplets' own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.planners.mesh.cut import Cut
from pantile.tiling.cut import ceil_div

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pantile.planners.mesh.product import Product

SHOWN = 3
"""Alternatives that a decision names."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen, and what lost.

    Attributes:
        cut: The cut; ``None`` where nothing fits.
        rejected: Some alternatives with reasons, the nearest first.
        least_bytes: The least that any cut needs of a chiplet's memory.
    """

    cut: Cut | None
    rejected: tuple[str, ...]
    least_bytes: int


@dataclass(frozen=True, slots=True)
class Space:
    """Cuts to choose from.

    Attributes:
        product: What is cut.
        grid: Rows and columns of the chiplets that work.
        slots: Shards that each buffer holds.
        buffers: Buffers of each input on every chiplet.
        turn: Pieces along k come in multiples of this; or, if *partial*, in fewer where k has no more.
        partial: See *turn*.
        capacity: Bytes of a chiplet's memory; ``None`` where none is stated.
    """

    product: Product
    grid: tuple[int, int]
    slots: int
    buffers: int
    turn: int
    partial: bool
    capacity: int | None

    def cut(self, along_m: int, along_n: int, pieces: int) -> Cut:
        """Return the cut into rounds along m and n and pieces along k."""
        counts = (self.product.sizes[0], along_m * self.grid[0], along_n * self.grid[1], pieces)
        return Cut(self.grid, counts, self.slots)

    def needed(self, cut: Cut) -> int:
        """Return the bytes of a chiplet's memory that a cut needs."""
        return cut.bytes_needed(self.product, self.buffers)

    @property
    def most_pieces(self) -> int:
        """The most pieces along k."""
        k = self.product.sizes[3]
        return k if self.partial else k // self.turn * self.turn

    def fewest_pieces(self, along_m: int, along_n: int) -> int | None:
        """Return the fewest pieces along k that fit, or ``None`` if none do."""
        k = self.product.sizes[3]
        if self.capacity is None:
            return min(self.turn, self.most_pieces)
        cut = self.cut(along_m, along_n, self.most_pieces)
        m, n, _ = cut.shard_sizes(self.product)
        a, b, out = self.product.widths
        left = self.capacity - m * n * out
        longest = left // (self.buffers * self.slots * (m * a + n * b))
        if longest < 1:
            return None
        pieces = ceil_div(ceil_div(k, longest), self.turn) * self.turn
        if self.partial:
            pieces = min(pieces, k)
        fits = pieces <= self.most_pieces and self.needed(self.cut(along_m, along_n, pieces)) <= self.capacity
        return pieces if fits else None

    def rounds(self) -> Iterator[tuple[int, int]]:
        """Yield rounds along m and n to try: powers of two, and the most there can be."""
        most = [size // ends for size, ends in zip(self.product.sizes[1:3], self.grid, strict=True)]
        for along_m in _powers(most[0]):
            for along_n in _powers(most[1]):
                yield along_m, along_n

    def traffic(self, along_m: int, along_n: int) -> int:
        """Return the bytes that leave memories off chip if a shard leaves once in a round that needs it."""
        a, b, _ = self.product.operand_bytes
        return a * along_n + b * along_m


def _powers(most: int) -> list[int]:
    found = [1]
    while found[-1] * 2 < most:
        found.append(found[-1] * 2)
    return found + [most] * (most > 1)


def choose(space: Space) -> Choice:
    """Return the cut with the fewest bytes from off chip, then the fewest computes, that fits."""
    fitting: list[tuple[int, int, Cut]] = []
    failing: list[tuple[int, int, Cut]] = []
    for rounds in space.rounds():
        pieces = space.fewest_pieces(*rounds)
        cut = space.cut(*rounds, pieces or space.most_pieces)
        entry = (space.traffic(*rounds), cut.pieces[1] * cut.pieces[2] * cut.pieces[3], cut)
        (fitting if pieces else failing).append(entry)
    fitting.sort(key=lambda each: each[:2])
    failing.sort(key=lambda each: each[:2])
    least = min(space.needed(each[2]) for each in (*fitting, *failing))
    if not fitting:
        return Choice(None, tuple(_too_large(space, each[2]) for each in failing[:SHOWN]), least)
    traffic, computes, cut = fitting[0]
    better = [each for each in failing if each[:2] < fitting[0][:2]]
    lost = [_too_large(space, each[2]) for each in better[:SHOWN]]
    fewer = space.cut(*cut.rounds, cut.pieces[3] - space.turn) if cut.pieces[3] > space.turn else None
    if fewer is not None and space.needed(fewer) > (space.capacity or 0):
        lost.append(_too_large(space, fewer))
    lost += [_worse(each, traffic, computes) for each in fitting[1 : 1 + SHOWN]]
    return Choice(cut, tuple(lost), least)


def _worse(other: tuple[int, int, Cut], traffic: int, computes: int) -> str:
    """Say why a cut that fits lost."""
    if other[0] > traffic:
        return f"{other[2]}: {other[0]} B leave memories off chip, not {traffic}"
    if other[1] > computes:
        return f"{other[2]}: {other[1]} computes, not {computes}"
    return f"{other[2]}: the same bytes and computes, more rounds along m"


def _too_large(space: Space, cut: Cut) -> str:
    return f"{cut}: needs {space.needed(cut)} B of sram, a chiplet has {space.capacity} B"
