"""Clocks that the parts of a machine run on."""

from __future__ import annotations

from dataclasses import dataclass

from pantile.machine.checks import ConstantError, check_name, check_quantity
from pantile.machine.units import HERTZ

PICOSECONDS_PER_SECOND = 10**12


@dataclass(frozen=True, slots=True)
class Clock:
    """One clock.

    Attributes:
        name: Unique in its machine, e.g. ``"core"``.
        hz: Ticks per second.

    Raises:
        ConstantError: If the frequency is below 1 Hz or its period below one picosecond.
    """

    name: str
    hz: int

    def __post_init__(self) -> None:
        check_name("clock", self.name, self.name)
        check_quantity("clock", self.name, self.hz)
        if self.hz > PICOSECONDS_PER_SECOND:
            problem = f"expected at most 1 THz, the period of which is 1 ps, got {self.hz} Hz"
            raise ConstantError("clock", self.name, problem)

    @property
    def period_ps(self) -> int:
        """Whole picoseconds per tick, the remainder dropped: 1200 MHz gives 833."""
        return PICOSECONDS_PER_SECOND // self.hz

    @classmethod
    def from_entry(cls, name: str, value: object) -> Clock:
        """Return the clock that ``name = value`` of the ``[clock]`` table describes."""
        return cls(name, check_quantity("clock", name, value, HERTZ))
