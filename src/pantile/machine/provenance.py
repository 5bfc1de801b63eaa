"""Where each constant comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.errors import MachineError, suggestion
from pantile.machine.checks import Loc
from pantile.machine.units import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

_KEYS = ("value", "source", "assumed")
_NOT_CONSTANTS = frozenset(
    {"schema", "name", "description", "planner", "from", "to", "engine", "clock", "index", "base"}
)
"""Keys that name or refer to something: they have no source."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a constant comes from.

    Attributes:
        source: Document, measurement or run, in the author's words; with *assumed*, the reason.
        assumed: Nobody stated it; it was chosen.

    Raises:
        MachineError: If it says nothing.
    """

    source: str = ""
    assumed: bool = False

    def __post_init__(self) -> None:
        if not self.source and not self.assumed:
            raise MachineError("expected a source, or assumed = true")

    def __str__(self) -> str:
        return ": ".join(filter(None, ("assumed" if self.assumed else "", self.source)))

    def to_json(self) -> dict[str, object]:
        """Return what a table of a machine file says about it."""
        return ({"source": self.source} if self.source else {}) | ({"assumed": True} if self.assumed else {})


@dataclass(slots=True)
class Lifted:
    """A document taken apart: *plain* without provenance, and the provenance by place.

    Attributes:
        plain: Every ``{ value = …, source = … }`` replaced by its value.
        origins: Provenance of each constant that has one; a constant's own goes before that of its
            table, and that before the file's.
        problems: What is wrong with the provenance itself, without the label of the place.
    """

    plain: dict[str, object]
    origins: dict[Loc, Provenance]
    problems: list[tuple[Loc, MachineError]]


def lift(document: Mapping[str, object]) -> Lifted:
    """Take the provenance out of a machine document."""
    lifted = Lifted({}, {}, [])
    lifted.plain = _lift_table(document, (), None, lifted)
    return lifted


def _lift(node: object, loc: Loc, inherited: Provenance | None, lifted: Lifted) -> object:
    if loc[-1] == "unread":  # what an import found and nothing reads: its words are not ours
        return node
    if isinstance(node, dict) and "value" in node:
        for key in node:
            if key not in _KEYS:
                mend = suggestion(key, _KEYS)
                lifted.problems.append((loc, MachineError(f"a constant has no key {key!r}", mend=mend)))
        own = _own(node, loc, lifted) or inherited
        if own:
            lifted.origins[loc] = own
        return node["value"]
    if isinstance(node, dict):
        return _lift_table(node, loc, inherited, lifted)
    if isinstance(node, list) and all(isinstance(item, dict) for item in node):
        return [_lift(item, (*loc, index), inherited, lifted) for index, item in enumerate(node)]
    if inherited and loc[-1] not in _NOT_CONSTANTS:
        lifted.origins[loc] = inherited
    return node


def _lift_table(
    table: Mapping[str, object], loc: Loc, inherited: Provenance | None, lifted: Lifted
) -> dict[str, object]:
    below = _own(table, loc, lifted) or inherited
    return {
        key: _lift(node, (*loc, key), below, lifted)
        for key, node in table.items()
        if key not in ("source", "assumed")
    }


def _own(table: Mapping[str, object], loc: Loc, lifted: Lifted) -> Provenance | None:
    source, assumed = table.get("source", ""), table.get("assumed", False)
    good = True
    for key, found, expected, fits in (
        ("source", source, "expected a text", isinstance(source, str) and (source or "source" not in table)),
        ("assumed", assumed, "expected true", assumed is True or "assumed" not in table),
    ):
        if not fits:
            good = False
            lifted.problems.append(((*loc, key), MachineError(f"{expected}, got {shown(found)}")))
    if not good or not ("source" in table or "assumed" in table):
        return None
    return Provenance(str(source), assumed is True)
