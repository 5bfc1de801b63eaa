"""Routes: which links a transfer takes on a grid of chiplets with a memory of its own each.

Routes are dimension-ordered: along the row to the target's column, then along the column. Links are taken in
that order, so on exclusive links no two transfers can each hold what the other waits for: a transfer goes
from a memory's wire to links within rows, then to links within columns, then to a wire, and never back.

Source: tile-language.md sections 7 and 10.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.errors import ProgramError
from pantile.simulate.links import Link, path_links
from pantile.simulate.spaces import Space
from pantile.simulate.work import cycles_ticks
from pantile.targets.mesh.config import OFF_CHIP, ON_CHIP, find_path, mesh_config

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pantile.machine import Machine
    from pantile.simulate.links import Route

Chiplet = tuple[int, int]
"""Row and column of a chiplet."""


@dataclass(frozen=True, slots=True)
class Topology:
    """Where memories are, and what lies between them.

    Attributes:
        rows: Chiplets from top to bottom.
        columns: Chiplets from left to right.
        wires: Chiplet that each memory off chip is wired to, counted row by row.
        bus: Whether one bus links everything, instead of links between neighbours.
    """

    rows: int
    columns: int
    wires: tuple[int, ...]
    bus: bool = False

    def home(self, space: Space) -> Chiplet:
        """Return the chiplet that a memory belongs to, or is wired to.

        Raises:
            ProgramError: If there is no such memory.
        """
        if space.kind != OFF_CHIP:
            row, column = (0, 0, *space.at)[-2:] if len(space.at) > 1 else divmod(sum(space.at), self.columns)
            return row, column
        number = space.at[0] if space.at else 0
        if len(space.at) > 1 or number >= len(self.wires):
            last = len(self.wires) - 1
            raise ProgramError(f"the machine has memories ddr@0 to ddr@{last}, not {space.name!r}")
        row, column = divmod(self.wires[number], self.columns)
        return row, column

    def hops(self, source: Space, target: Space) -> int:
        """Return the links between chiplets that a transfer takes, those to memories off chip left out."""
        if self.bus:
            return int(source.kind == OFF_CHIP or target.kind == OFF_CHIP or self._apart(source, target))
        return len(list(steps(self.home(source), self.home(target))))

    def _apart(self, source: Space, target: Space) -> bool:
        return self.home(source) != self.home(target)


def steps(start: Chiplet, end: Chiplet) -> Iterator[tuple[Chiplet, Chiplet]]:
    """Yield the links from one chiplet to another: first along the row, then along the column.

    >>> list(steps((0, 0), (1, 2)))
    [((0, 0), (0, 1)), ((0, 1), (0, 2)), ((0, 2), (1, 2))]
    """
    row, column = start
    while column != end[1]:
        ahead = column + (1 if end[1] > column else -1)
        yield (row, column), (row, ahead)
        column = ahead
    while row != end[0]:
        ahead = row + (1 if end[0] > row else -1)
        yield (row, column), (ahead, column)
        row = ahead


def topology_of(machine: Machine) -> Topology:
    """Return the topology of a mesh machine.

    Raises:
        MachineError: If it is none; all problems at once.
    """
    config = mesh_config(machine)
    return Topology(config.rows, config.columns, config.wires, config.topology == "bus")


def mesh_route(machine: Machine) -> Route:
    """Return the function that gives the links between two memories of *machine*, in route order.

    Raises:
        MachineError: If it is no mesh machine; all problems at once.
    """
    topology = topology_of(machine)

    def route(source: Space, target: Space) -> list[Link]:
        start, end = topology.home(source), topology.home(target)
        if start == end and OFF_CHIP not in (source.kind, target.kind):
            return path_links(source, target, machine)  # within a chiplet: no matter of topology
        links = _leave(source, start, machine)
        if topology.bus:
            outside = OFF_CHIP in (source.kind, target.kind)
            links += [_link("bus", machine)] if outside or start != end else []
        else:
            links += [_link(f"{_at(here)}>{_at(there)}", machine) for here, there in steps(start, end)]
        return links + _arrive(target, end, machine)

    return route


def _leave(source: Space, chiplet: Chiplet, machine: Machine) -> list[Link]:
    """Links from a memory to its chiplet's crossing of links."""
    if source.kind == ON_CHIP:
        return []
    if source.kind == OFF_CHIP:
        return [_link(f"{source.name}>{_at(chiplet)}", machine, (OFF_CHIP, ON_CHIP))]
    return path_links(source, Space(ON_CHIP, chiplet), machine)


def _arrive(target: Space, chiplet: Chiplet, machine: Machine) -> list[Link]:
    """Links from a chiplet's crossing of links to one of its memories."""
    if target.kind == ON_CHIP:
        return []
    if target.kind == OFF_CHIP:
        return [_link(f"{_at(chiplet)}>{target.name}", machine, (ON_CHIP, OFF_CHIP))]
    return path_links(Space(ON_CHIP, chiplet), target, machine)


def _link(name: str, machine: Machine, ends: tuple[str, str] = (ON_CHIP, ON_CHIP)) -> Link:
    """Return the link called *name*, with the figures of the path between two kinds of memories."""
    path = find_path(machine, *ends)
    assert path is not None  # mesh_config refused it
    assert path.rate_bytes_per_second is not None  # likewise
    granules = [machine.memory(kind).granule_bytes for kind in ends]
    return Link(
        name=name,
        rate_bytes_per_second=path.rate_bytes_per_second,
        latency_ticks=cycles_ticks(path.latency_cycles or 0, machine, path.clock),
        policy=path.policy,
        quantum_bytes=path.granule_bytes or max(granules),
    )


def _at(chiplet: Chiplet) -> str:
    return f"({chiplet[0]},{chiplet[1]})"
