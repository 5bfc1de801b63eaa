"""The grid of cores."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from pantile.machine.checks import ConstantError, check_known, check_quantity
from pantile.machine.units import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_CORES = 65_536
"""More cores than any machine here has; a misplaced unit should not ask for gigabytes of columns."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Cores side by side, or in rows and columns.

    Attributes:
        shape: Extent of each direction, outermost first; ``(4,)`` is four cores in a row.

    Raises:
        ConstantError: If an extent is below 1 or there are more than :data:`MOST_CORES` cores.
    """

    shape: tuple[int, ...] = (1,)

    def __post_init__(self) -> None:
        if not self.shape:
            raise ConstantError("grid", "shape", "expected at least one extent, got none")
        for extent in self.shape:
            check_quantity("grid", self.key, extent)
        if self.cores > MOST_CORES:
            problem = f"expected at most {MOST_CORES} cores, got {self.cores}"
            raise ConstantError("grid", self.key, problem)

    @property
    def cores(self) -> int:
        """Number of cores; they are indexed in row-major order."""
        return prod(self.shape)

    @property
    def key(self) -> str:
        """The key that describes it: ``cores`` for one direction, else ``shape``."""
        return "cores" if len(self.shape) == 1 else "shape"

    @classmethod
    def from_table(cls, table: Mapping[str, object]) -> Grid:
        """Return the grid that a ``[grid]`` table describes: ``cores = 4`` or ``shape = [2, 2]``."""
        check_known("grid", table, ("cores", "shape"))
        if len(table) != 1:
            key, given = ("shape", "both") if table else ("cores", "neither")
            raise ConstantError("grid", key, f"expected either cores or shape, got {given}")
        if "cores" in table:
            return cls((check_quantity("grid", "cores", table["cores"]),))
        shape = table["shape"]
        if not isinstance(shape, (list, tuple)):
            raise ConstantError("grid", "shape", f"expected a list of whole numbers, got {shown(shape)}")
        return cls(tuple(check_quantity("grid", "shape", extent) for extent in shape))

    def to_json(self) -> dict[str, object]:
        """Return the table that :meth:`from_table` reads back."""
        return {"cores": self.cores} if self.key == "cores" else {"shape": list(self.shape)}
