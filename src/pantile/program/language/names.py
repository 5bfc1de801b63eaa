"""What listings and messages call tiles and their copies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.program.language.geometry import ALL

if TYPE_CHECKING:
    from pantile.program.language.geometry import Geometry
    from pantile.program.language.recorder import Recording


class Names:
    """Names of what a recording mentions."""

    def __init__(self, recording: Recording, geometry: Geometry) -> None:
        self.recording, self.geometry = recording, geometry

    def tile(self, tile: int, operand: int | None = None, depth: int | None = None) -> str:
        """Return the name of a tile, e.g. ``D(0,0,1)``, or of the operand tile around it, e.g. ``X D(0,1)``.

        Args:
            tile: Its number.
            operand: An operand, of whose dimensions the indices are; by default the tile's own.
            depth: How much of the path counts; all of it by default.
        """
        geometry = self.geometry
        operand = int(geometry.operand[tile]) if operand is None else operand
        path = self.recording.paths[tile][:depth]
        if operand != geometry.operand[tile]:
            path = tuple(tuple(index[axis] for axis in geometry.operands.axes[operand]) for index in path)
        steps = [
            f"{level.name}({','.join(map(str, index))})"
            for level, index in zip(geometry.tiling.levels, path, strict=False)
        ]
        prefix = "" if operand == ALL else f"{geometry.operands.names[operand]} "
        return prefix + ("/".join(steps) or "the whole")

    def place(self, place: int) -> str:
        """Return the name of a place; of one that is not said, ``Any``."""
        return self.recording.places[place].name if place >= 0 else "Any"
