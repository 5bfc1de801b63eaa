"""Who waits for whom because of unit flags, of kernels: tile after tile in one part of L0C.

What :func:`~pantile.targets.ascend.hand_over.hand_overs` finds block by block follows here from the number of
blocks of each tile alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TileHandOvers:
    """Instructions that check the unit flag, in order; all begin at the first block of L0C.

    Attributes:
        out: Whether it is a copy out of L0C.
        gives: Whether it hands its blocks over.
        blocks: How many blocks it touches.
    """

    out: npt.NDArray[np.bool_]
    gives: npt.NDArray[np.bool_]
    blocks: Ints

    @cached_property
    def copies(self) -> Ints:
        """The copies, in order; each ends a tile."""
        return np.flatnonzero(self.out)

    def waits(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Return who waits for whom, for how many blocks to begin, and for how many to come to the last.

        A product needs the blocks that earlier copies returned: each from the last one that took it.
        """
        tile = np.searchsorted(self.copies, np.arange(len(self.out)))
        bounds, spans = self._returned()
        sums = np.flatnonzero(~self.out)
        counts = np.where(self.out, 1, np.diff(bounds)[tile])
        waiter = np.repeat(np.arange(len(self.out)), counts)
        place = np.arange(len(waiter)) - np.repeat(np.cumsum(counts) - counts, counts)
        giver, first, every = (np.zeros(len(waiter), np.int64) for _ in range(3))
        mine = self.out[waiter]
        before = sums[np.searchsorted(sums, waiter[mine]) - 1]  # the product that hands the tile over
        giver[mine], first[mine], every[mine] = before, 1, self.blocks[waiter[mine]]
        span = spans[bounds[tile[waiter[~mine]]] + place[~mine]]
        giver[~mine], first[~mine], every[~mine] = span.T
        return waiter, giver, first, every

    def _returned(self) -> tuple[Ints, Ints]:
        """Return where each tile's spans begin, and all spans: a copy, its first block of them, its last.

        Copies that took fewer blocks than a later one are forgotten: the later one returned those too.
        """
        spans: list[tuple[int, int, int]] = []
        bounds, taken = [0], list[tuple[int, int]]()
        for copy, blocks in zip(self.copies.tolist(), self.blocks[self.copies].tolist(), strict=True):
            done = 0
            for earlier, reach in reversed(taken):
                if done >= blocks:
                    break
                spans.append((earlier, done + 1, min(reach, blocks)))
                done = min(reach, blocks)
            bounds.append(len(spans))
            while taken and taken[-1][1] <= blocks:
                taken.pop()
            taken.append((copy, blocks))
        return np.array(bounds, np.int64), np.array(spans, np.int64).reshape(-1, 3)
