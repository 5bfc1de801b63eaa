"""The figures of a mesh machine that routes and programs depend on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.errors import MachineError, raise_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pantile.machine import Machine, Path

FAMILY = "mesh"

OFF_CHIP, ON_CHIP = "ddr", "sram"
"""Names of the memory that is wired to a chiplet, and of the chiplet's own."""

PATHS = ((OFF_CHIP, ON_CHIP), (ON_CHIP, OFF_CHIP), (ON_CHIP, ON_CHIP))
"""Paths that a mesh machine has, each with a rate: two to its memories, and the link between neighbours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeshConfig:
    """What routes, planners and programs read of a mesh machine.

    Attributes:
        name: The machine's name.
        rows: Chiplets from top to bottom.
        columns: Chiplets from left to right.
        topology: ``mesh`` or ``bus``.
        wires: Chiplet that each memory off chip is wired to, counted row by row.
        sram_bytes: Capacity of each chiplet's memory, the smallest of all; ``None`` where none is stated.
        slots: Shards of each operand that a chiplet keeps at once.
        precision: Bytes of an element of a product that names no type.
        array: Rows and columns of the smallest array.
        core_hz: The base clock.
        ddr_rate: Bytes per second from a memory off chip to its chiplet.
        link_rate: Bytes per second between neighbours, or of the bus.
    """

    name: str
    rows: int
    columns: int
    topology: str
    wires: tuple[int, ...]
    sram_bytes: int | None
    slots: int
    precision: int
    array: tuple[int, int]
    core_hz: int
    ddr_rate: int
    link_rate: int

    @property
    def chiplets(self) -> int:
        """Number of chiplets."""
        return self.rows * self.columns

    @property
    def wired_one_to_one(self) -> bool:
        """Whether memory *i* belongs to chiplet *i*."""
        return self.wires == tuple(range(self.chiplets))


def mesh_config(machine: Machine) -> MeshConfig:
    """Return the figures of *machine*.

    Raises:
        MachineError: If it has no table ``[family.mesh]``, no grid of rows and columns, or lacks a part that
            a mesh machine has; all problems at once.
    """
    table = machine.family_table(FAMILY)
    raise_all(list(_problems(machine)))
    rows, columns = machine.grid.shape
    cores = range(rows * columns)
    arrays = [machine.engine(name, core) for name in _engines(machine) for core in cores]
    sizes = [machine.memory(ON_CHIP, core).capacity_bytes for core in cores]
    precision = table["precision_bytes"]
    assert isinstance(precision, int)  # Machine let nothing else through
    return MeshConfig(
        name=machine.name,
        rows=rows,
        columns=columns,
        topology=str(table["topology"]),
        wires=wires_of(machine),
        sram_bytes=min((size for size in sizes if size is not None), default=None),
        slots=min(machine.memory(ON_CHIP, core).slots for core in cores),
        precision=precision,
        array=(
            min(array.parameter("rows") for array in arrays),
            min(array.parameter("columns") for array in arrays),
        ),
        core_hz=machine.clock(machine.base_clock).hz,
        ddr_rate=_rate(find_path(machine, OFF_CHIP, ON_CHIP)),
        link_rate=_rate(find_path(machine, ON_CHIP, ON_CHIP)),
    )


def wires_of(machine: Machine) -> tuple[int, ...]:
    """Return the chiplet that each memory off chip is wired to, counted row by row."""
    wires = machine.family_table(FAMILY).get("wires")
    if wires is None:
        return tuple(range(machine.grid.cores))
    assert isinstance(wires, tuple)  # Machine let nothing else through
    return tuple(each for each in wires if isinstance(each, int))


def find_path(machine: Machine, origin: str, destination: str) -> Path | None:
    """Return the path between two kinds of memories, if the machine has one."""
    found = (path for path in machine.paths if (path.origin, path.destination) == (origin, destination))
    return next(found, None)


def _rate(path: Path | None) -> int:
    assert path is not None  # _problems refused it
    assert path.rate_bytes_per_second is not None  # likewise
    return path.rate_bytes_per_second


def _engines(machine: Machine) -> list[str]:
    return [engine.name for engine in machine.engines if engine.duration == "systolic"]


def _problems(machine: Machine) -> Iterator[MachineError]:
    """Yield what keeps *machine* from being a mesh; a memory that is missing is raised at once."""
    if len(machine.grid.shape) != 2:
        yield MachineError(
            f"grid.{machine.grid.key}: expected rows and columns, got {machine.grid.cores} cores in a row",
            place=machine.place("grid"),
            mend=f"write shape = [1, {machine.grid.cores}] or another grid",
        )
    for name in (OFF_CHIP, ON_CHIP):
        if machine.memory(name).scope != "core":
            problem = f"memory.{name}.scope: expected 'core', one for each chiplet"
            yield MachineError(
                f"{problem}, got {machine.memory(name).scope!r}", place=machine.place("memory")
            )
    if len(_engines(machine)) != 1:
        yield MachineError(
            f"expected one engine of duration 'systolic', got {len(_engines(machine))}",
            place=machine.place("engine"),
        )
    for ends in PATHS:
        path = find_path(machine, *ends)
        if path is None or path.rate_bytes_per_second is None:
            label, lacks = f"path.{'>'.join(ends)}", "no such path" if path is None else "no rate"
            yield MachineError(
                f"{label}: expected a rate in bytes per second on a mesh machine, got {lacks}",
                place=machine.place("path" if path is None else label),
                mend='add rate_bytes_per_second = "…" to a [[path]] between them',
            )
    for chiplet in wires_of(machine):
        if chiplet >= machine.grid.cores:
            yield MachineError(
                f"family.mesh.wires: there is no chiplet {chiplet}, expected 0 to {machine.grid.cores - 1}",
                place=machine.place("family.mesh.wires"),
            )
    if len(wires_of(machine)) > machine.grid.cores:
        yield MachineError(
            f"family.mesh.wires: expected at most {machine.grid.cores} memories, one for each chiplet, "
            f"got {len(wires_of(machine))}",
            place=machine.place("family.mesh.wires"),
        )
