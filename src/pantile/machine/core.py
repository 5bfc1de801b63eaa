"""What one core has different from the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.errors import MachineError
from pantile.machine.checks import ConstantError, check_known, check_quantity
from pantile.machine.memory import parse_sizes
from pantile.machine.table import Table
from pantile.machine.units import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

KINDS = ("memory", "engine", "family")
"""Tables that a core may override keys of."""


@dataclass(frozen=True, slots=True)
class CoreOverride:
    """Keys that one core overrides.

    Attributes:
        index: The core, counted from 0.
        changes: By kind (``memory``, ``engine``, ``family``), name and key, as in
            ``{"engine": {"array": {"rows": 16}}}``.

    Raises:
        ConstantError: If a kind is unknown or something other than tables of tables is given.
    """

    index: int
    changes: Table

    def __post_init__(self) -> None:
        check_quantity("core", "index", self.index, minimum=0)
        check_known(self.label, self.changes, KINDS)
        for kind, parts in self.changes.items():
            if not isinstance(parts, Table):
                raise ConstantError(self.label, kind, f"expected a table of names, got {shown(parts)}")
            for name, keys in parts.items():
                if not isinstance(keys, Table):
                    expected = f"expected a table such as {{ rows = 16 }}, got {shown(keys)}"
                    raise ConstantError(f"{self.label}.{kind}", name, expected)

    @property
    def label(self) -> str:
        """How messages and listings name it, e.g. ``"core.1"``."""
        return f"core.{self.index}"

    @classmethod
    def from_table(cls, table: Mapping[str, object]) -> CoreOverride:
        """Return the overrides that a ``[[core]]`` table describes; quantities may carry units."""
        if "index" not in table:
            raise ConstantError("core", "index", "missing: the core whose keys are overridden, from 0")
        index = check_quantity("core", "index", table["index"], minimum=0)
        given = cls(index, Table({key: value for key, value in table.items() if key != "index"}))
        memories = given.changes.table("memory")
        if not memories:
            return given
        sizes = {name: _sizes(memories.table(name)) for name in memories}
        return cls(index, Table({**given.changes, "memory": sizes}))

    def to_json(self) -> dict[str, object]:
        """Return the table that :meth:`from_table` reads back."""
        return {"index": self.index, **self.changes.to_json()}


def _sizes(table: Table) -> dict[str, object]:
    """Return *table* in base units; what is no quantity stays, for the machine to refuse in its place."""
    sizes: dict[str, object] = {}
    for key, value in table.items():
        try:
            sizes |= parse_sizes("memory", {key: value})
        except (MachineError, KeyError):
            sizes[key] = value
    return sizes
