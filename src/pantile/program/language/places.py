"""Places: where copies of tiles live, and the grids that places form.

A place is a memory of one unit. :class:`Core` names a unit; as the location of data it stands for its SRAM.
Places are tuples, so that a recorder can look them up a million times a second.

Source: tile-language.md sections 3 and 10.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pantile.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Coordinates = tuple[int, ...]

OFF_CHIP, ON_CHIP, IN_ENGINE = 0, 10, 20
"""Levels of DDR, SRAM and Compute: data moves toward compute when the level rises."""


class Place(NamedTuple):
    """One memory of one unit.

    Attributes:
        memory: Kind of memory, e.g. ``"sram"``; ``"core"`` for the unit itself.
        at: Coordinates of the unit, or the number of the memory.
        level: How near to compute it is.
    """

    memory: str
    at: Coordinates
    level: int

    @property
    def name(self) -> str:
        """How tables and listings call the place.

        >>> SRAM(Core(0, 1)).name
        'sram@(0,1)'
        >>> DDR(0).name
        'ddr@0'
        """
        if len(self.at) == 1:
            return f"{self.memory}@{self.at[0]}"
        return f"{self.memory}@({','.join(map(str, self.at))})" if self.at else self.memory

    def __str__(self) -> str:
        return self.name


class Core(Place):
    """A compute unit with its own memory, at *row* and *column* of a grid."""

    __slots__ = ()

    def __new__(cls, *at: int) -> Core:
        """Name the core at coordinates, by default (0, 0)."""
        return super().__new__(cls, "core", at or (0, 0), ON_CHIP)


class DDR(Place):
    """An off-chip memory; it holds every operand at the operand's own addresses."""

    __slots__ = ()

    def __new__(cls, *at: int) -> DDR:
        """Name the memory of a number, by default 0."""
        return super().__new__(cls, "ddr", at or (0,), OFF_CHIP)


class SRAM(Place):
    """The on-chip memory of a core."""

    __slots__ = ()

    def __new__(cls, core: Place | None = None) -> SRAM:
        """Name the memory of a core, by default (0, 0)."""
        found = _SRAMS.get(core)
        if found is None:
            found = _SRAMS[core] = super().__new__(cls, "sram", unit_of(core), ON_CHIP)
        return found


class Compute(Place):
    """The engine of a core, with the registers that feed it."""

    __slots__ = ()

    def __new__(cls, core: Place | None = None) -> Compute:
        """Name the engine of a core, by default (0, 0)."""
        found = _ENGINES.get(core)
        if found is None:
            found = _ENGINES[core] = super().__new__(cls, "compute", unit_of(core), IN_ENGINE)
        return found


_SRAMS: dict[Place | None, SRAM] = {}
_ENGINES: dict[Place | None, Compute] = {}
# Loops make the same few over and over: ``dst=Compute(core)`` stands inside of them.


class Memory(Place):
    """Any other memory of a core, e.g. the skew registers of a systolic array.

    Args:
        name: Kind of memory.
        core: Whose it is.
        level: Between :data:`ON_CHIP` and :data:`IN_ENGINE` for what lies between SRAM and compute.
    """

    __slots__ = ()

    def __new__(
        cls, name: str, core: Place | None = None, *, level: int = (ON_CHIP + IN_ENGINE) // 2
    ) -> Memory:
        """Name a memory of a core."""
        return super().__new__(cls, name, unit_of(core), level)


Any = Place("any", (), ON_CHIP)
"""Whichever place has the copy; it can be read, never written."""


def unit_of(core: Place | None) -> Coordinates:
    """Return the coordinates of a core, or of the core that a memory belongs to; (0, 0) if none is named.

    Raises:
        UsageError: If *core* is no place of a core.
    """
    if core is None:
        return (0, 0)
    if not isinstance(core, Place) or core.level == OFF_CHIP or not core.at:
        raise UsageError(f"expected a core, got {core}", mend="write for example Core(0, 1)")
    return core.at


def storage(place: Place) -> Place:
    """Return the memory that *place* means as the location of data: a core's is its SRAM."""
    return SRAM(place) if place.memory == "core" else place


@dataclass(frozen=True, slots=True)
class Chiplet:
    """A grid of chiplets, and which off-chip memories are wired to which of them.

    Attributes:
        rows: Chiplets from top to bottom.
        columns: Chiplets from left to right.
        wires: Coordinates of the chiplets wired to each memory, by the memory's number; by default
            memory *i* belongs to chiplet *i*, counted row by row.

    Raises:
        UsageError: If the grid is empty or a wire leads out of it.
    """

    rows: int
    columns: int
    wires: Mapping[int, Sequence[tuple[int, int]]] | None = None

    def __post_init__(self) -> None:
        if self.rows < 1 or self.columns < 1:
            raise UsageError(f"a grid needs rows and columns, got {self.rows} x {self.columns}")
        for number, ends in (self.wires or {}).items():
            for at in ends:
                if not self._has(at):
                    raise UsageError(
                        f"memory {number} is wired to {at}, outside {self.rows} x {self.columns}"
                    )

    def __len__(self) -> int:
        return self.rows * self.columns

    def __iter__(self) -> Iterator[Core]:
        """Yield the cores row by row."""
        return (Core(row, column) for row in range(self.rows) for column in range(self.columns))

    def __getitem__(self, at: tuple[int, int]) -> Core:
        if not self._has(at):
            raise UsageError(f"no chiplet {at} in a grid of {self.rows} x {self.columns}")
        return Core(*at)

    def _has(self, at: Sequence[int]) -> bool:
        return len(at) == 2 and 0 <= at[0] < self.rows and 0 <= at[1] < self.columns

    def wired(self, number: int) -> tuple[Core, ...]:
        """Return the chiplets wired to memory *number*, lowest coordinates first."""
        if self.wires is None:
            return (Core(*divmod(number, self.columns)),) if 0 <= number < len(self) else ()
        return tuple(Core(*at) for at in sorted(self.wires.get(number, ())))

    def hops(self, one: Place, other: Place) -> int:
        """Return the links between two places, along rows and columns; leaving the chip is one more."""
        ends = [[place] if place.level != OFF_CHIP else self.wired(place.at[0]) for place in (one, other)]
        outside = sum(place.level == OFF_CHIP for place in (one, other))
        between = (
            sum(abs(a - b) for a, b in zip(start.at, end.at, strict=True))
            for start in ends[0]
            for end in ends[1]
        )
        return outside + min(between, default=self.rows + self.columns)

    def nearest(self, reader: Place, candidates: Sequence[Place]) -> Place:
        """Return the candidate with the fewest hops to *reader*, the lowest coordinates on a tie."""
        return min(candidates, key=lambda place: (self.hops(reader, place), place.at))


def Adjacent(place: Place, grid: Chiplet | None = None) -> tuple[Core, ...]:  # noqa: N802 -- notation's word
    """Return the chiplets next to *place*: those wired to a memory, or a core's neighbours.

    Inside a thread the program's own grid is meant, if none is named.

    >>> [core.at for core in Adjacent(Core(0, 0), Chiplet(2, 2))]
    [(0, 1), (1, 0)]
    >>> Adjacent(DDR(3), Chiplet(2, 2))[0].at
    (1, 1)

    Raises:
        UsageError: If there is no grid.
    """
    grid = grid or GRID.get()
    if grid is None:
        raise UsageError(
            f"what {place.name} is next to depends on the grid",
            mend="write Adjacent(place, grid), or give the program its grid=Chiplet(rows, columns)",
        )
    if place.level == OFF_CHIP:
        return grid.wired(place.at[0])
    return tuple(
        core for core in grid if sum(abs(a - b) for a, b in zip(core.at, place.at, strict=True)) == 1
    )


GRID: ContextVar[Chiplet | None] = ContextVar("grid", default=None)
"""The grid of the program whose threads are being recorded."""
