"""Paths: how data get from one memory to another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.machine.checks import check_choice, check_known, check_name, check_quantity
from pantile.machine.units import BYTES, BYTES_PER_SECOND, COUNT, Unit

if TYPE_CHECKING:
    from collections.abc import Mapping

POLICIES = ("shared", "exclusive")
"""``shared``: transfers under way divide the rate; ``exclusive``: one after the other."""

_UNITS: dict[str, tuple[Unit, int]] = {
    "rate_bytes_per_second": (BYTES_PER_SECOND, 1),
    "latency_cycles": (COUNT, 0),
    "granule_bytes": (BYTES, 1),
}
_KEYS = ("from", "to", "engine", "policy", "clock", *_UNITS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """One way from a memory to a memory.

    Attributes:
        origin: Name of the memory read (``from`` in files).
        destination: Name of the memory written (``to`` in files).
        engine: Name of the engine that carries it out.
        rate_bytes_per_second: Peak rate; ``None`` leaves the timing to the family's own model.
        latency_cycles: Cycles of *clock* before the first byte; ``None`` likewise.
        clock: Clock that the latency is counted in; ``None`` means the base clock.
        policy: What happens to several transfers at once, one of :data:`POLICIES`.
        granule_bytes: Bytes that a shared path serves of one transfer before it turns to the next.

    Raises:
        ConstantError: If a quantity is out of bounds or the policy unknown.
    """

    origin: str
    destination: str
    engine: str
    rate_bytes_per_second: int | None = None
    latency_cycles: int | None = None
    clock: str | None = None
    policy: str = "shared"
    granule_bytes: int | None = None

    def __post_init__(self) -> None:
        check_name("path", "from", self.origin)
        check_name("path", "to", self.destination)
        check_name(self.label, "engine", self.engine)
        check_choice(self.label, "policy", self.policy, POLICIES)
        if self.clock is not None:
            check_name(self.label, "clock", self.clock)
        for key, (_, minimum) in _UNITS.items():
            if getattr(self, key) is not None:
                check_quantity(self.label, key, getattr(self, key), minimum=minimum)

    @property
    def label(self) -> str:
        """How messages and listings name it, e.g. ``"path.dram>scratchpad"``."""
        return f"path.{self.origin}>{self.destination}"

    @classmethod
    def from_table(cls, table: Mapping[str, object]) -> Path:
        """Return the path that a ``[[path]]`` table describes; every quantity may carry a unit."""
        origin, destination = (check_name("path", key, table.get(key)) for key in ("from", "to"))
        label = f"path.{origin}>{destination}"
        check_known(label, table, _KEYS)
        sizes = {
            key: check_quantity(label, key, table[key], unit, minimum)
            for key, (unit, minimum) in _UNITS.items()
            if key in table
        }
        return cls(
            origin=origin,
            destination=destination,
            engine=check_name(label, "engine", table.get("engine")),
            clock=check_name(label, "clock", table["clock"]) if "clock" in table else None,
            policy=check_choice(label, "policy", table.get("policy", "shared"), POLICIES),
            **sizes,
        )

    def to_json(self) -> dict[str, object]:
        """Return the table that :meth:`from_table` reads back."""
        table: dict[str, object] = {"from": self.origin, "to": self.destination, "engine": self.engine}
        for key in (*_UNITS, "clock"):
            if getattr(self, key) is not None:
                table[key] = getattr(self, key)
        return table | {"policy": self.policy}
