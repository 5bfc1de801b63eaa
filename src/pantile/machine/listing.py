"""A machine as a table that people read."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from pantile.machine.table import Table
from pantile.machine.units import BYTES, BYTES_PER_SECOND, HERTZ, format_quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pantile.machine.engine import Engine
    from pantile.machine.machine import Machine
    from pantile.machine.memory import Memory
    from pantile.machine.path import Path
    from pantile.machine.table import Value

_REFERENCES = ("name", "from", "to", "index")


@dataclass(frozen=True, slots=True)
class ListedConstant:
    """One row of the listing.

    Attributes:
        label: Dotted name, e.g. ``"memory.scratchpad.capacity_bytes"``.
        value: As people read it, e.g. ``"64 KiB"``.
        origin: Source or assumption; empty where nothing is said.
    """

    label: str
    value: str
    origin: str = ""


def constants(machine: Machine) -> list[ListedConstant]:
    """Return every constant of *machine* in the order in which a file declares them."""
    origins = {label: str(origin) for label, origin in machine.provenance}
    return [
        ListedConstant(label, value, origins.get(label, ""))
        for label, value in (*_common(machine), *_free("family", machine.family), *_core_rows(machine))
    ]


def _common(machine: Machine) -> Iterator[tuple[str, str]]:
    for clock in machine.clocks:
        yield f"clock.{clock.name}", format_quantity(clock.hz, HERTZ)
    parts: list[Memory | Engine | Path] = [*machine.memories, *machine.engines, *machine.paths]
    for part in parts:
        for key, value in part.to_json().items():
            if key not in _REFERENCES:
                yield f"{part.label}.{key}", _shown(key, value)
    grid = " x ".join(str(extent) for extent in machine.grid.shape)
    yield f"grid.{machine.grid.key}", grid


def _core_rows(machine: Machine) -> Iterator[tuple[str, str]]:
    for core in machine.cores:
        yield from _free(core.label, core.changes)


def _free(label: str, table: Mapping[str, Value]) -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, Table):
            yield from _free(f"{label}.{key}", value)
        else:
            yield f"{label}.{key}", _shown(key, value)


def _shown(key: str, value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        if key.endswith("_bytes_per_second"):
            return format_quantity(value, BYTES_PER_SECOND)
        return format_quantity(value, BYTES) if key.endswith("_bytes") else str(value)
    if isinstance(value, tuple):
        return ", ".join(_shown(key, item) for item in value)
    return str(value)


def _heading(machine: Machine) -> str:
    ticks = f"ticks of {machine.base_clock}" if len(machine.clocks) == 1 else "picoseconds"
    planner = f"planner {machine.planner}" if machine.planner else "no planner of its own"
    return f"{planner} · cycles are those of {machine.base_clock} · time in {ticks}"


def text_table(machine: Machine) -> str:
    """Return the listing with one constant a line, grouped by table, its origin behind it."""
    rows = constants(machine)
    label_width = max(len(row.label) for row in rows)
    value_width = max(len(row.value) for row in rows)
    lines = [f"{machine.name}  {machine.description}".rstrip(), _heading(machine)]
    for _, group in groupby(rows, key=lambda row: row.label.rpartition(".")[0]):
        lines.append("")
        lines += [
            f"{row.label:{label_width}}  {row.value:{value_width}}  {row.origin}".rstrip() for row in group
        ]
    return "\n".join(lines)


def html_table(machine: Machine) -> str:
    """Return the listing as an HTML table for a notebook."""
    from html import escape  # costs more than a preset takes to load

    rows = "".join(
        f"<tr><td>{escape(row.label)}</td><td>{escape(row.value)}</td><td>{escape(row.origin)}</td></tr>"
        for row in constants(machine)
    )
    return (
        f"<p><b>{escape(machine.name)}</b> {escape(machine.description)}<br>{escape(_heading(machine))}</p>"
        f"<table><thead><tr><th>constant</th><th>value</th><th>from</th></tr></thead><tbody>{rows}</tbody></table>"
    )
