"""The instructions of one program, tile by tile, numbered as in every other verb."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pantile.targets.systolic.instructions import Instruction, tile_instructions
from pantile.targets.systolic.tiles import tiles_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from pantile.program.program import Program
    from pantile.targets.systolic.config import SystolicConfig

MAX_LISTED = 100_000
"""Operations that a listing holds at most; a window selects others."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One listed instruction.

    Attributes:
        number: Its number in the program.
        tile: Number of its tile.
        place: Its position in the tile.
        index: The tile's loop indices, outermost loop first.
        instruction: What it does.
    """

    number: int
    tile: int
    place: int
    index: tuple[int, ...]
    instruction: Instruction


@dataclass(frozen=True, eq=False)
class Listing:
    """A program's instructions, or those of one core or window.

    Attributes:
        program: What runs.
        config: The machine.
        layer: Position of the program among the layers, on which the cores of its tiles depend.
        core: Only this core's tiles are listed; ``None`` lists all.
        window: Only operations with these numbers are listed.
    """

    program: Program
    config: SystolicConfig
    layer: int
    core: int | None
    window: range

    @cached_property
    def tile_rows(self) -> npt.NDArray[np.void]:
        """Rows of :data:`pantile.targets.systolic.tiles.TILE`, one per tile, in creation order."""
        return tiles_of(self.program)

    @cached_property
    def _lengths(self) -> npt.NDArray[np.int64]:
        """Instructions of every tile."""
        by_piece = np.array([piece.operations for piece in self.program.pieces], np.int64)
        lengths: npt.NDArray[np.int64] = by_piece[self.tile_rows["piece"]]
        return lengths

    @cached_property
    def starts(self) -> npt.NDArray[np.int64]:
        """Number of the first instruction of every tile, in creation order."""
        starts: npt.NDArray[np.int64] = np.cumsum(self._lengths) - self._lengths
        return starts

    @cached_property
    def cores(self) -> npt.NDArray[np.int64]:
        """Core of every tile: the layer's turn moves the core counter on (onnxim-model.md section 5)."""
        counters: npt.NDArray[np.int64] = self.tile_rows["region"] + self.layer + 1
        return counters % self.config.cores

    @cached_property
    def tiles(self) -> list[int]:
        """Numbers of the tiles of which anything is listed."""
        starts, stops = self.starts, self.starts + self._lengths
        shown = (starts < self.window.stop) & (stops > self.window.start)
        if self.core is not None:
            shown &= self.cores == self.core
        chosen: list[int] = np.flatnonzero(shown).tolist()
        return chosen

    @cached_property
    def count(self) -> int:
        """Instructions that are listed."""
        first = np.maximum(self.starts[self.tiles], self.window.start)
        last = np.minimum((self.starts + self._lengths)[self.tiles], self.window.stop)
        return int((last - first).sum())

    def tile_instructions(self, tile: int) -> list[Instruction]:
        """Return all instructions of one tile."""
        row = self.tile_rows[tile]
        return tile_instructions(self.program, int(row["piece"]), row["step"], self.config)

    def __iter__(self) -> Iterator[Listed]:
        loops = len(self.program.loops)
        for tile in self.tiles:
            start = int(self.starts[tile])
            index = tuple(self.tile_rows["index"][tile, :loops].tolist())
            for place, instruction in enumerate(self.tile_instructions(tile)):
                if start + place in self.window:
                    yield Listed(start + place, tile, place, index, instruction)
