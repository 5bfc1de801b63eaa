"""Engines: what carries out operations."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pantile.machine.checks import check_choice, check_known, check_name, check_quantity
from pantile.machine.constant import Constant, constant_problems
from pantile.machine.memory import SCOPES
from pantile.machine.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

COMPLETES = ("in_order", "pipelined")
"""``in_order``: an operation starts when the one before it has finished; ``pipelined``: they overlap."""

DURATIONS: dict[str, dict[str, Constant]] = {
    "systolic": {
        "rows": Constant(meaning="height of the array in processing elements", per_core=True),
        "columns": Constant(meaning="width of the array in processing elements", per_core=True),
    },
    "macs": {"macs_per_cycle": Constant(meaning="multiply-accumulates per cycle", per_core=True)},
    "transfer": {},
    "fixed": {"cycles": Constant(meaning="cycles of every operation", minimum=0, per_core=True)},
}
"""How long an operation takes, and the parameters of each model: ``systolic`` fills and drains an
array, ``macs`` does a number at a time, ``transfer`` is timed by the paths that the engine drives,
``fixed`` is a constant."""

FIXED_KEYS = ("name", "scope", "completes", "queue_depth", "duration")
"""Keys of an ``[[engine]]`` table other than the parameters of its duration model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """One engine with its issue queue.

    Attributes:
        name: Unique in its machine, e.g. ``"array"``.
        scope: How many there are: one per ``core``, ``chip`` or ``grid``.
        completes: ``in_order`` or ``pipelined``.
        queue_depth: Operations that may wait in front of it; ``None`` means any number.
        duration: One of :data:`DURATIONS`.
        parameters: What that duration model needs.

    Raises:
        ConstantError: If a choice is none of those allowed, or a parameter is missing, unknown or
            out of bounds.
    """

    name: str
    scope: str
    completes: str
    duration: str
    queue_depth: int | None = None
    parameters: Table = field(default_factory=Table)

    def __post_init__(self) -> None:
        check_name("engine", "name", self.name)
        check_choice(self.label, "scope", self.scope, SCOPES)
        check_choice(self.label, "completes", self.completes, COMPLETES)
        check_choice(self.label, "duration", self.duration, DURATIONS)
        if self.queue_depth is not None:
            check_quantity(self.label, "queue_depth", self.queue_depth)
        for problem in constant_problems(self.label, self.parameters, DURATIONS[self.duration], FIXED_KEYS):
            raise problem

    @property
    def label(self) -> str:
        """How messages and listings name it, e.g. ``"engine.array"``."""
        return f"engine.{self.name}"

    def parameter(self, key: str) -> int:
        """Return one parameter of the duration model."""
        value = self.parameters[key]
        assert isinstance(value, int)  # __post_init__ let nothing else through
        return value

    @classmethod
    def from_table(cls, table: Mapping[str, object]) -> Engine:
        """Return the engine that an ``[[engine]]`` table describes."""
        name = check_name("engine", "name", table.get("name"))
        label, depth = f"engine.{name}", table.get("queue_depth")
        return cls(
            name=name,
            scope=check_choice(label, "scope", table.get("scope"), SCOPES),
            completes=check_choice(label, "completes", table.get("completes"), COMPLETES),
            duration=check_choice(label, "duration", table.get("duration"), DURATIONS),
            queue_depth=None if depth is None else check_quantity(label, "queue_depth", depth),
            parameters=Table({key: value for key, value in table.items() if key not in FIXED_KEYS}),
        )

    @property
    def overridable(self) -> tuple[str, ...]:
        """Keys that one core may override."""
        per_core = (key for key, constant in DURATIONS[self.duration].items() if constant.per_core)
        return ("queue_depth", *per_core)

    def with_changes(self, changes: Mapping[str, object]) -> Engine:
        """Return the engine as a core with these overrides has it.

        Raises:
            ConstantError: If a key may not be overridden, or the result cannot be.
        """
        if not changes:
            return self
        check_known(self.label, changes, self.overridable)
        parameters = {key: value for key, value in changes.items() if key != "queue_depth"}
        depth = changes.get("queue_depth", self.queue_depth)
        return replace(
            self,
            queue_depth=None if depth is None else check_quantity(self.label, "queue_depth", depth),
            parameters=Table({**self.parameters, **parameters}),
        )

    def to_json(self) -> dict[str, object]:
        """Return the table that :meth:`from_table` reads back."""
        table: dict[str, object] = {"name": self.name, "scope": self.scope, "completes": self.completes}
        if self.queue_depth is not None:
            table["queue_depth"] = self.queue_depth
        return table | {"duration": self.duration} | self.parameters.to_json()
