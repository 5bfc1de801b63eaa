"""Memories: what a machine keeps data in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pantile.machine.checks import ConstantError, check_choice, check_known, check_name, check_quantity
from pantile.machine.units import BYTES, COUNT, Unit

if TYPE_CHECKING:
    from collections.abc import Mapping

SCOPES = ("core", "chip", "grid")
"""How many there are of a part: one per core, one per chip, one for the whole grid."""

_UNITS: dict[str, Unit] = {"capacity_bytes": BYTES, "slots": COUNT, "granule_bytes": BYTES}

OVERRIDABLE = tuple(_UNITS)
"""Keys of a memory that one core may override."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One memory, cut into equal slots.

    Attributes:
        name: Unique in its machine, e.g. ``"scratchpad"``.
        scope: How many there are: one per ``core``, ``chip`` or ``grid``.
        capacity_bytes: Size of all slots of one instance together; ``None`` means that it is never full.
        slots: Tiles that can be resident at once; 2 makes it ping-pong.
        granule_bytes: Space is given out, and requests are made, in multiples of this.

    Raises:
        ConstantError: If a quantity is below 1, or the slots do not divide the capacity.
    """

    name: str
    scope: str
    capacity_bytes: int | None = None
    slots: int = 1
    granule_bytes: int = 1

    def __post_init__(self) -> None:
        check_name("memory", "name", self.name)
        label = self.label
        check_choice(label, "scope", self.scope, SCOPES)
        check_quantity(label, "slots", self.slots)
        check_quantity(label, "granule_bytes", self.granule_bytes)
        if self.capacity_bytes is None:
            return
        check_quantity(label, "capacity_bytes", self.capacity_bytes)
        if self.capacity_bytes % self.slots:
            raise ConstantError(
                label,
                "slots",
                f"{self.slots} slots do not divide {self.capacity_bytes} B",
                mend="make capacity_bytes a multiple of slots",
            )

    @property
    def label(self) -> str:
        """How messages and listings name it, e.g. ``"memory.scratchpad"``."""
        return f"memory.{self.name}"

    @property
    def slot_bytes(self) -> int | None:
        """Bytes that one resident tile may occupy; ``None`` without a capacity."""
        return None if self.capacity_bytes is None else self.capacity_bytes // self.slots

    @classmethod
    def from_table(cls, table: Mapping[str, object]) -> Memory:
        """Return the memory that a ``[[memory]]`` table describes; every quantity may carry a unit."""
        name = check_name("memory", "name", table.get("name"))
        label = f"memory.{name}"
        check_known(label, table, ("name", "scope", *_UNITS))
        sizes = {key: value for key, value in table.items() if key in _UNITS}
        scope = check_choice(label, "scope", table.get("scope"), SCOPES)
        return cls(name=name, scope=scope, **parse_sizes(label, sizes))

    def with_changes(self, changes: Mapping[str, object]) -> Memory:
        """Return the memory as a core with these overrides has it.

        Raises:
            ConstantError: If a key may not be overridden, or the result cannot be.
        """
        if not changes:
            return self
        check_known(self.label, changes, OVERRIDABLE)
        return replace(self, **parse_sizes(self.label, changes))  # type: ignore[arg-type]  # sizes only

    def to_json(self) -> dict[str, object]:
        """Return the table that :meth:`from_table` reads back."""
        table: dict[str, object] = {"name": self.name, "scope": self.scope}
        if self.capacity_bytes is not None:
            table["capacity_bytes"] = self.capacity_bytes
        return table | {"slots": self.slots, "granule_bytes": self.granule_bytes}


def parse_sizes(label: str, table: Mapping[str, object]) -> dict[str, int]:
    """Return the quantities of a memory's *table* in base units."""
    return {key: check_quantity(label, key, value, _UNITS[key]) for key, value in table.items()}
